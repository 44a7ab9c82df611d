/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From what one boot left behind to what happened in it: never from one signal alone. Pure but for
 * reading the files of the case's directory: no process, no clock.
 */
#ifndef ENGINE_TEST_JUDGE_H
#define ENGINE_TEST_JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "engine/spawn.h"
#include "engine/suite.h"
#include "samples/test_result.h"

/* What one attempt left. */
struct test_attempt {
	const struct spawn_result *spawn; /* how "ringside run" ended, and its record */
	const char *ended;                /* not NULL: the scheduler ended it, and this is why */
	bool silent;                      /* and that was for its silence */
	const char *stdout_path, *stderr_path, *console_path; /* in the case's directory */
	uint64_t wall_ns;
};

int test_judge(const struct suite_case *c, const struct test_attempt *a, const char *today,
	       struct test_result *r, struct err *e) __must_check;

#endif
