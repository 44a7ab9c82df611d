/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The values of "ringside run --net". */
#ifndef CLI_RUN_NET_H
#define CLI_RUN_NET_H

#include <jansson.h>

#include "cli/options.h"
#include "engine/backend.h"
#include "guest/job.h"

struct run_nets {
	size_t count;
	struct backend_net net[BACKEND_NETS_MAX];
	char *text[BACKEND_NETS_MAX]; /* what their strings point into; owned */
};

int run_nets_parse(const struct opt_list *values, struct run_nets *ret, struct err *e) __must_check;
void run_nets_fini(struct run_nets *n);
bool run_nets_has_fd(const struct run_nets *n);
void run_nets_job(const struct run_nets *n, struct job *job);
json_t *run_nets_to_json(const struct run_nets *n);

#endif
