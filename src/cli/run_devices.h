/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What "ringside run" gives the guest beside its console: the values of --disk and --vsock. */
#ifndef CLI_RUN_DEVICES_H
#define CLI_RUN_DEVICES_H

#include "cli/options.h"
#include "engine/backend.h"

struct run_disks {
	size_t count;
	struct backend_disk disk[BACKEND_DISKS_MAX]; /* their paths are owned */
};

int run_disks_parse(const struct opt_list *values, struct run_disks *ret,
		    struct err *e) __must_check;
void run_disks_fini(struct run_disks *d);

struct run_vsock {
	char *path;   /* owned; NULL: no socket device */
	uint32_t cid; /* 0: the default */
};

int run_vsock_parse(const char *value, struct run_vsock *ret, struct err *e) __must_check;
void run_vsock_fini(struct run_vsock *v);

#endif
