/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See job.h: the networks of a job, from JSON. Any thread. */
#include "guest/job_priv.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

static int net_from_json(const json_t *o, struct job_net *n, struct err *e)
{
	const char *mac = json_string_value(json_object_get(o, "mac"));

	n->address = json_string_value(json_object_get(o, "address"));
	n->gateway = json_string_value(json_object_get(o, "gateway"));
	n->dns = json_string_value(json_object_get(o, "dns"));
	if (!mac || strlen(mac) != sizeof(n->mac) - 1 || !n->address) {
		return err_set(e, -EINVAL, "job: 'net' has an entry without 'mac' or 'address'");
	}
	memcpy(n->mac, mac, sizeof(n->mac));
	return 0;
}

/**
 * job_nets_from_json() - the networks of a job
 * @a: value of "net", or NULL
 * @job: gets them; its strings are those of @a
 * @e: set on failure
 *
 * Return: 0, or -EINVAL.
 */
int job_nets_from_json(const json_t *a, struct job *job, struct err *e)
{
	size_t n = json_array_size(a);
	int r = 0;

	if (!a || json_is_null(a)) {
		return 0;
	}
	if (!json_is_array(a) || n > JOB_NETS_MAX) {
		return err_set(e, -EINVAL, "job: 'net' is no list of at most %d networks",
			       JOB_NETS_MAX);
	}
	for (size_t i = 0; i < n && r == 0; i++) {
		r = net_from_json(json_array_get(a, i), &job->nets[i], e);
	}
	job->net_count = n;
	return r;
}
