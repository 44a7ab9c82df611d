/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a guest was when it failed: its vCPUs, and the stack traces on its console, each line with
 * the place in the source behind it where that is known. For people, and for reports.
 */
#ifndef ENGINE_BACKTRACE_H
#define ENGINE_BACKTRACE_H

#include <jansson.h>

#include "engine/backend.h"
#include "engine/console_watch.h"
#include "engine/decoder.h"
#include "engine/stack_scan.h"

#define BACKTRACE_LINES_MAX 120

struct backtrace_line {
	char text[CONSOLE_WATCH_LINE_MAX];
	int query; /* which; -1: nothing was asked */
};

struct backtrace {
	struct backtrace_line lines[BACKTRACE_LINES_MAX];
	size_t count;
	struct decoder_query queries[BACKTRACE_LINES_MAX];
	size_t query_count;
	bool decoded; /* a line has a place */
	bool scanned; /* lines are of the vCPUs' stacks */
};

void backtrace_read(struct backtrace *b, const struct backend_cpu_state *cpus, size_t cpu_count,
		    const struct stack_scan *stacks, const struct console_watch *console);
void backtrace_name(struct backtrace *b, int symbols_fd);
void backtrace_decode(struct backtrace *b, struct decoder *d, uint64_t deadline_ns);
json_t *backtrace_to_json(const struct backtrace *b);

#endif
