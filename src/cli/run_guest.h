/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What "ringside run" puts into the guest: its job, its initramfs and its command line. */
#ifndef CLI_RUN_GUEST_H
#define CLI_RUN_GUEST_H

#include "base/err.h"
#include "cli/run_net.h"
#include "cli/run_options.h"
#include "cli/run_shares.h"
#include "guest/initramfs.h"

int run_guest_initramfs(const struct run_options *o, const struct run_shares *shares,
			const struct run_nets *nets, struct initramfs **ret,
			struct err *e) __must_check;
int run_guest_append(const struct run_options *o, const char *kernel_path, bool qemu, char **ret,
		     struct err *e) __must_check;

#endif
