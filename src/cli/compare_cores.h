/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The cores that boots side by side run on: each its own, with all threads of it. */
#ifndef CLI_COMPARE_CORES_H
#define CLI_COMPARE_CORES_H

#include <sched.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "cli/run_pin.h"
#include "engine/compare.h"

struct compare_cores {
	size_t count;
	cpu_set_t set[COMPARE_JOBS_MAX]; /* the processors of each */
};

void compare_cores_group(const struct pin_host *host, struct compare_cores *ret);
int compare_cores_read(struct compare_cores *ret, struct err *e) __must_check;

#endif
