/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the words of "ringside run" say of the machine, read without anything being started. */
#ifndef CLI_RUN_WORDS_H
#define CLI_RUN_WORDS_H

#include "base/err.h"
#include "cli/run_devices.h"
#include "cli/run_net.h"
#include "cli/run_options.h"
#include "cli/run_shares.h"

/* Where they go. */
struct run_parts {
	struct run_disks *disks;
	struct run_vsock *vsock;
	struct run_shares *shares;
	struct run_nets *nets;
};

int run_parts_parse(const struct run_options *o, const struct run_parts *ret,
		    struct err *e) __must_check;
int run_words_check(int argc, char **argv, struct err *e) __must_check;

#endif
