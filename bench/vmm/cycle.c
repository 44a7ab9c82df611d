/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cycle: make, start, and end a machine again and again in one process, and see what is left.
 *
 * usage: cycle PAYLOAD COUNT
 *
 * Each machine has a payload that writes the exit port at once, 16 MiB of memory and an entropy
 * device. The first WARM_UP are left out: libraries keep what they allocate once. Printed is one
 * line: cycles, nanoseconds for all of them, then descriptors, threads and KiB of private memory
 * before and after. Exit status: 0 when nothing is left, 1 when something is or a machine fails.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/evloop.h"
#include "vmm/vmm.h"

#define MEMORY_BYTES (UINT64_C(16) << 20)
#define WARM_UP      20
/* What the allocator may keep for itself; a descriptor's or a thread's worth leaked in each of
 * 1,000 cycles would be more. */
#define KEPT_MAX_KIB 256

struct left {
	long fds, threads, kib;
};

static long entries(const char *path)
{
	DIR *d = opendir(path);
	long n = 0;

	while (d && readdir(d)) {
		n++;
	}
	if (d) {
		closedir(d);
	}
	return n;
}

/* Private pages that were written, which is what a leak is made of. */
static long private_kib(void)
{
	FILE *f = fopen("/proc/self/smaps_rollup", "re");
	long kib, found = -1;
	char line[256];

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "Private_Dirty: %ld", &kib) == 1) {
			found = kib;
		}
	}
	if (f) {
		fclose(f);
	}
	return found;
}

static struct left look(void)
{
	malloc_trim(0);
	return (struct left){.fds = entries("/proc/self/fd"),
			     .threads = entries("/proc/self/task"),
			     .kib = private_kib()};
}

struct ended {
	struct evloop *loop;
	bool well;
};

static void on_output(void *ctx, enum machine_line line, const void *data, size_t bytes)
{
}

static void on_stopped(void *ctx, const struct machine_result *result)
{
	struct ended *ended = ctx;

	ended->well = result->end == MACHINE_END_EXIT_PORT && result->value == 0;
	evloop_stop(ended->loop);
}

static int cycle(const char *payload, struct err *e)
{
	static const struct machine_callbacks events = {.output = on_output, .stopped = on_stopped};
	const struct machine_config cfg = {.kernel_path = payload,
					   .memory_bytes = MEMORY_BYTES,
					   .cpus = 1,
					   .rng = true,
					   .time_exits = true};
	struct ended ended = {.well = false};
	struct machine *m = NULL;
	int r = evloop_create(&ended.loop);

	if (r < 0) {
		return err_errno(e, r, "an event loop");
	}
	r = machine_build(&cfg, &m, e);
	if (r == 0) {
		r = machine_start(m, ended.loop, &events, &ended, e);
	}
	if (r == 0) {
		r = evloop_run(ended.loop);
	}
	if (r == 0 && !ended.well) {
		r = err_set(e, -EIO, "the payload did not end by itself");
	}
	machine_destroy(m);
	evloop_destroy(ended.loop);
	return r;
}

int main(int argc, char **argv)
{
	struct left before = {0}, after;
	uint64_t start = 0;
	long count;

	if (argc != 3 || (count = strtol(argv[2], NULL, 10)) < 1) {
		fprintf(stderr, "usage: cycle PAYLOAD COUNT\n");
		return 2;
	}
	for (long i = -WARM_UP; i < count; i++) {
		struct err e = ERR_INIT;

		if (i == 0) {
			before = look();
			start = clock_now_ns(&clock_monotonic);
		}
		if (cycle(argv[1], &e) < 0) {
			fprintf(stderr, "cycle %ld: %s\n", i, e.text);
			return 1;
		}
	}
	start = clock_now_ns(&clock_monotonic) - start;
	after = look();
	printf("%ld %" PRIu64 " %ld %ld %ld %ld %ld %ld\n", count, start, before.fds, after.fds,
	       before.threads, after.threads, before.kib, after.kib);
	return after.fds == before.fds && after.threads == before.threads &&
			       after.kib <= before.kib + KEPT_MAX_KIB
		       ? 0
		       : 1;
}
