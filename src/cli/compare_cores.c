/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See compare_cores.h. Main thread, before the first boot. */
#include "cli/compare_cores.h"

#include <errno.h>
#include <stdlib.h>

/**
 * compare_cores_group() - put processors together that are threads of one core
 * @host: the processors that this process may run on
 * @ret: set: their cores, in the order of their first processors, at most COMPARE_JOBS_MAX
 *
 * Context: any thread; pure.
 */
void compare_cores_group(const struct pin_host *host, struct compare_cores *ret)
{
	unsigned int core[COMPARE_JOBS_MAX];

	ret->count = 0;
	for (size_t i = 0; i < host->count; i++) {
		const struct pin_cpu *c = &host->cpu[i];
		size_t k = 0;

		while (k < ret->count && core[k] != c->core) {
			k++;
		}
		if (k == COMPARE_JOBS_MAX) {
			continue;
		}
		if (k == ret->count) {
			core[k] = c->core;
			CPU_ZERO(&ret->set[k]);
			ret->count++;
		}
		CPU_SET(c->number, &ret->set[k]);
	}
}

/**
 * compare_cores_read() - the cores of this machine that we may use
 * @ret: set on success
 * @e: set on failure
 *
 * Return: 0, -ENOMEM, or as pin_host_read().
 * Context: reads /sys.
 */
int compare_cores_read(struct compare_cores *ret, struct err *e)
{
	_cleanup_free_ struct pin_host *host = malloc(sizeof(*host));
	int r = host ? pin_host_read(true, host, e) : err_set(e, -ENOMEM, "out of memory");

	if (r == 0) {
		compare_cores_group(host, ret);
	}
	return r;
}
