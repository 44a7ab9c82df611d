/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A trace: what happened when, as a JSON array in the Chrome trace event format, for Perfetto and
 * chrome://tracing. Each thread that tells has a ring of its own and is the only one that writes
 * it; one thread, which drains them all, writes the file. A full ring drops what is new and counts
 * it, so that a trace never holds up what it watches; what was dropped stands at the end of the
 * file.
 *
 * Spans are written whole, when they end, so nothing is ever open in the file. A file that ends
 * without the closing bracket (the program was killed) is one that those viewers still read.
 *
 * Who may be traced has a pointer to a ring, NULL when there is no trace: that is all it costs.
 */
#ifndef BASE_TRACE_H
#define BASE_TRACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/clock.h"

#define TRACE_RINGS_MAX  264
#define TRACE_TRACKS_MAX 576
#define TRACE_RECORDS    8192 /* of a ring, a power of two */

enum trace_kind { TRACE_SPAN, TRACE_INSTANT, TRACE_COUNTER };

struct trace_record {
	uint64_t start_ns, end_ns; /* monotonic; an instant has no end */
	const char *name;          /* plain words, like the keys; they outlive the trace */
	const char *keys[2];       /* NULL: none */
	uint64_t values[2];
	enum trace_kind kind;
	uint32_t track; /* of trace_add_track() */
};

struct trace_ring {
	_Atomic uint32_t head; /* the writer's */
	_Atomic uint32_t tail; /* the drainer's */
	_Atomic uint64_t dropped;
	struct trace_record records[TRACE_RECORDS];
};

struct trace;

int trace_create(int fd, uint64_t start_ns, struct trace **ret) __must_check;
void trace_destroy(struct trace *t);
DEFINE_CLEANUP(struct trace *, trace_destroy)

int trace_add_track(struct trace *t, const char *name, uint32_t *ret) __must_check;
int trace_add_ring(struct trace *t, struct trace_ring **ret) __must_check;
int trace_drain(struct trace *t) __must_check;
int trace_finish(struct trace *t) __must_check;

void trace_put(struct trace_ring *ring, const struct trace_record *r);

static inline uint64_t trace_now_ns(void)
{
	return clock_now_ns(&clock_monotonic);
}

#endif
