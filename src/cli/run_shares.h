/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What "ringside run" lets the guest see of the host's files: --share and --root. */
#ifndef CLI_RUN_SHARES_H
#define CLI_RUN_SHARES_H

#include <jansson.h>

#include "cli/options.h"
#include "cli/run_devices.h"
#include "engine/backend.h"
#include "guest/job.h"

#define RUN_SHARE_ID_MAX 24

/* Directories to share, of which the root may be one, and what the agent is told of them. */
struct run_shares {
	size_t count;
	struct backend_share share[BACKEND_SHARES_MAX]; /* their paths are owned */
	size_t at_count;
	struct job_share at[BACKEND_SHARES_MAX]; /* their texts are owned */
	struct job_root root;
	char root_id[RUN_SHARE_ID_MAX];
	char *cwd; /* owned: where the command starts in the root, or NULL */
};

int run_shares_parse(const struct opt_list *values, struct run_shares *ret,
		     struct err *e) __must_check;
int run_root_parse(const char *value, bool init, struct run_shares *shares, struct run_disks *disks,
		   struct err *e) __must_check;
json_t *run_shares_to_json(const struct run_shares *s, const struct run_disks *disks);
void run_shares_fini(struct run_shares *s);

#endif
