/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See clock.h. Any thread. */
#include "base/clock.h"

#include <time.h>

static uint64_t now_of(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_SEC + (uint64_t)ts.tv_nsec;
}

static uint64_t monotonic_now_ns(void *ctx)
{
	(void)ctx;
	return now_of(CLOCK_MONOTONIC);
}

const struct clock_ops clock_monotonic = {.now_ns = monotonic_now_ns};

/**
 * clock_process_start_ns() - when this process was started, on the monotonic clock
 *
 * All its CPU time so far was spent since, so it is this early at the latest. It is earlier by what
 * the process waited: call this first of all. (/proc has the start in hundredths of a second,
 * rounded down, which says less.)
 *
 * Return: nanoseconds on the clock of clock_monotonic.
 * Context: any thread.
 */
uint64_t clock_process_start_ns(void)
{
	uint64_t used = now_of(CLOCK_PROCESS_CPUTIME_ID);

	return now_of(CLOCK_MONOTONIC) - used;
}
