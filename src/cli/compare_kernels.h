/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files behind the kernels of a plan, and the images that are built for it first. */
#ifndef CLI_COMPARE_KERNELS_H
#define CLI_COMPARE_KERNELS_H

#include <limits.h>
#include <stdbool.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "engine/plan.h"

/* Where the kernel of an arm was found. */
struct kernel_file {
	char path[PATH_MAX];
};

struct compare_kernels {
	struct kernel_file *files; /* of each arm, group by group */
	size_t count;
};

int compare_kernels_find(struct compare_kernels *x, struct plan *p, bool build,
			 struct err *e) __must_check;
const char *compare_kernels_path(const struct compare_kernels *x, const struct plan *p,
				 const struct schedule_boot *b);
void compare_kernels_fini(struct compare_kernels *x);

#endif
