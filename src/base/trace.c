/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See trace.h. trace_put() runs on the ring's own thread, everything else on one that drains. */
#include "base/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"

#define TRACK_NAME 32
#define BUF_BYTES  65536
#define EVENT_MAX  512 /* of one, in the file */

struct trace {
	int fd; /* the caller's */
	uint64_t start_ns;
	int error;
	bool any; /* an event stands in the file or in buf */
	struct trace_ring *rings[TRACE_RINGS_MAX];
	unsigned int ring_count;
	char tracks[TRACE_TRACKS_MAX][TRACK_NAME];
	unsigned int track_count;
	size_t len;
	char buf[BUF_BYTES];
};

static void flush(struct trace *t)
{
	int r = t->error || t->len == 0 ? 0 : io_write_all(t->fd, t->buf, t->len);

	t->len = 0;
	if (r < 0) {
		t->error = r;
	}
}

/* Room for one event more, and what stands before it. */
static char *begin_event(struct trace *t)
{
	if (BUF_BYTES - t->len < EVENT_MAX) {
		flush(t);
	}
	t->len += (size_t)snprintf(t->buf + t->len, EVENT_MAX, "%s", t->any ? ",\n" : "[\n");
	t->any = true;
	return t->buf + t->len;
}

/* Microseconds with three digits, exactly. */
#define US     "%" PRIu64 ".%03" PRIu64
#define OF(ns) (uint64_t)(ns) / 1000, (uint64_t)(ns) % 1000

static void write_args(struct trace *t, const char *const *keys, const uint64_t *values)
{
	t->len += (size_t)snprintf(t->buf + t->len, EVENT_MAX / 4, ",\"args\":{");
	for (unsigned int i = 0; i < 2 && keys[i]; i++) {
		t->len += (size_t)snprintf(t->buf + t->len, EVENT_MAX / 4, "%s\"%.32s\":%" PRIu64,
					   i ? "," : "", keys[i], values[i]);
	}
	t->len += (size_t)snprintf(t->buf + t->len, EVENT_MAX / 4, "}}");
}

static void write_record(struct trace *t, const struct trace_record *r)
{
	uint64_t at = r->start_ns > t->start_ns ? r->start_ns - t->start_ns : 0;
	char *to = begin_event(t);
	int n = snprintf(to, EVENT_MAX / 2,
			 "{\"name\":\"%.40s\",\"pid\":1,\"tid\":%u,\"ts\":" US ",\"ph\":\"%c\"",
			 r->name, r->track, OF(at), "XiC"[r->kind]);

	t->len += (size_t)n;
	if (r->kind == TRACE_SPAN) {
		t->len += (size_t)snprintf(t->buf + t->len, EVENT_MAX / 4, ",\"dur\":" US,
					   OF(r->end_ns - r->start_ns));
	} else if (r->kind == TRACE_COUNTER) {
		/* A counter is its name and this, whatever its track. */
		t->len += (size_t)snprintf(t->buf + t->len, EVENT_MAX / 4, ",\"id\":\"%u\"",
					   r->track);
	} else {
		t->len += (size_t)snprintf(t->buf + t->len, EVENT_MAX / 4, ",\"s\":\"t\"");
	}
	write_args(t, r->keys, r->values);
}

/**
 * trace_create() - a trace without threads
 * @fd: an open file, the caller's, until trace_finish()
 * @start_ns: what its times count from, monotonic
 * @ret: set on success
 *
 * Return: 0 or −ENOMEM.
 */
int trace_create(int fd, uint64_t start_ns, struct trace **ret)
{
	struct trace *t = calloc(1, sizeof(*t));

	if (!t) {
		return -ENOMEM;
	}
	t->fd = fd;
	t->start_ns = start_ns;
	*ret = t;
	return 0;
}

/**
 * trace_destroy() - free a trace and its rings; what is in them is lost
 * @t: a trace, or NULL
 *
 * Context: when no thread writes its ring any more.
 */
void trace_destroy(struct trace *t)
{
	for (unsigned int i = 0; t && i < t->ring_count; i++) {
		free(t->rings[i]);
	}
	free(t);
}

/**
 * trace_add_track() - a line of the picture
 * @t: the trace
 * @name: plain words; cut to 31 bytes
 * @ret: set to its number
 *
 * Return: 0, or −ENOSPC after TRACE_TRACKS_MAX.
 * Context: before anything is told.
 */
int trace_add_track(struct trace *t, const char *name, uint32_t *ret)
{
	if (t->track_count == TRACE_TRACKS_MAX) {
		return -ENOSPC;
	}
	snprintf(t->tracks[t->track_count], TRACK_NAME, "%s", name);
	*ret = t->track_count++;
	begin_event(t);
	t->len += (size_t)snprintf(t->buf + t->len, EVENT_MAX / 2,
				   "{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":1,\"tid\":%u,"
				   "\"args\":{\"name\":\"%s\"}}",
				   *ret, t->tracks[*ret]);
	return 0;
}

/**
 * trace_add_ring() - a ring for one thread
 * @t: the trace, which owns it
 * @ret: set to the ring, all of it in memory
 *
 * Return: 0; −ENOMEM; −ENOSPC after TRACE_RINGS_MAX.
 * Context: before the thread runs.
 */
int trace_add_ring(struct trace *t, struct trace_ring **ret)
{
	struct trace_ring *ring;

	if (t->ring_count == TRACE_RINGS_MAX) {
		return -ENOSPC;
	}
	ring = aligned_alloc(64, (sizeof(*ring) + 63) / 64 * 64);
	if (!ring) {
		return -ENOMEM;
	}
	memset(ring, 0, sizeof(*ring));
	t->rings[t->ring_count++] = ring;
	*ret = ring;
	return 0;
}

/**
 * trace_put() - tell of something
 * @ring: the calling thread's
 * @r: what
 *
 * Context: that thread alone. No lock, no system call, no allocation; a full ring drops it.
 */
void trace_put(struct trace_ring *ring, const struct trace_record *r)
{
	uint32_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);

	if (head - atomic_load_explicit(&ring->tail, memory_order_acquire) == TRACE_RECORDS) {
		atomic_store_explicit(&ring->dropped,
				      atomic_load_explicit(&ring->dropped, memory_order_relaxed) +
					      1,
				      memory_order_relaxed);
		return;
	}
	ring->records[head % TRACE_RECORDS] = *r;
	atomic_store_explicit(&ring->head, head + 1, memory_order_release);
}

/**
 * trace_drain() - write what the rings hold into the file
 * @t: the trace
 *
 * Return: 0, or the −errno of the first write that failed, then and ever after.
 * Context: one thread, at any time.
 */
int trace_drain(struct trace *t)
{
	for (unsigned int i = 0; i < t->ring_count; i++) {
		struct trace_ring *ring = t->rings[i];
		uint32_t head = atomic_load_explicit(&ring->head, memory_order_acquire);
		uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);

		for (; tail != head; tail++) {
			write_record(t, &ring->records[tail % TRACE_RECORDS]);
		}
		atomic_store_explicit(&ring->tail, tail, memory_order_release);
	}
	flush(t);
	return t->error;
}

/**
 * trace_finish() - write the rest, what was dropped, and the end
 * @t: the trace, not written to afterwards
 *
 * Return: 0, or the −errno of the first write that failed.
 * Context: when no thread writes its ring any more.
 */
int trace_finish(struct trace *t)
{
	uint64_t dropped = 0;

	(void)!trace_drain(t);
	for (unsigned int i = 0; i < t->ring_count; i++) {
		dropped += atomic_load(&t->rings[i]->dropped);
	}
	begin_event(t);
	t->len += (size_t)snprintf(t->buf + t->len, EVENT_MAX / 2,
				   "{\"name\":\"trace_dropped\",\"ph\":\"M\",\"pid\":1,\"tid\":0,"
				   "\"args\":{\"events\":%" PRIu64 "}}\n]\n",
				   dropped);
	flush(t);
	return t->error;
}
