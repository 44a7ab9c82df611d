/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The number of blocks of a comparison, chosen from a pilot that is booted before it. */
#ifndef CLI_COMPARE_PILOT_H
#define CLI_COMPARE_PILOT_H

#include <limits.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "cli/compare_options.h"
#include "engine/comparison.h"

/* What a pilot's options point into. */
struct compare_pilot {
	struct compare_options options;
	char results[PATH_MAX];
};

int compare_pilot_options(const struct compare_options *o, struct compare_pilot *ret,
			  struct err *e) __must_check;
int compare_pilot_check(const struct compare_options *o, const struct plan *p,
			struct err *e) __must_check;
int compare_pilot_choose(const struct comparison *pilot, unsigned int jobs,
			 struct compare_options *o, struct plan_sizing *ret_size,
			 struct err *e) __must_check;

#endif
