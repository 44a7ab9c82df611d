/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See clock.h. Any thread. */
#include "base/clock.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

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
 * The kernel keeps it in ticks since boot (proc(5), /proc/PID/stat, field 22), so it is exact to
 * 1/_SC_CLK_TCK of a second only, and may lie up to that much before the exec.
 *
 * Return: nanoseconds on the clock of clock_monotonic, or 0 when /proc cannot be read.
 * Context: any thread.
 */
uint64_t clock_process_start_ns(void)
{
	char line[1024];
	FILE *f = fopen("/proc/self/stat", "re");
	unsigned long long start = 0;
	char *p;
	size_t n;

	if (!f) {
		return 0;
	}
	n = fread(line, 1, sizeof(line) - 1, f);
	fclose(f);
	line[n] = '\0';
	/* The name in field 2 may hold anything, so count from its closing parenthesis. */
	p = strrchr(line, ')');
	if (!p || sscanf(p + 1,
			 " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d "
			 "%*d %llu",
			 &start) != 1) {
		return 0;
	}
	start = start * (NS_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK));
	/* Field 22 counts on the boot-time clock, which also runs while the host sleeps. */
	return start - (now_of(CLOCK_BOOTTIME) - now_of(CLOCK_MONOTONIC));
}
