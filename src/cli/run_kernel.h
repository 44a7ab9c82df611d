/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What "ringside run" finds out about its kernel before it starts it. */
#ifndef CLI_RUN_KERNEL_H
#define CLI_RUN_KERNEL_H

#include <stdbool.h>

#include "cli/run_options.h"

int run_kernel_check_debug(const char *kernel_path, const char *debug_path,
			   struct err *e) __must_check;
int run_kernel_entry(const struct run_options *o, const char *kernel_path, bool qemu, bool *ret_pvh,
		     struct err *e) __must_check;
bool run_kernel_acpi(const struct run_options *o, const char *kernel_path, const char *append,
		     bool matters);

#endif
