/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bytes on their way out to a descriptor that may be slow or gone. Writing never blocks the event
 * loop and never changes the descriptor, which may be shared with other programs. What waits is
 * bounded by the user: it must stop its source when a sink says that it is full.
 */
#ifndef ENGINE_SINK_H
#define ENGINE_SINK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "base/evloop.h"

#define SINK_FULL_BYTES  (256U << 10) /* above it, the source is to be stopped */
#define SINK_EMPTY_BYTES (64U << 10)  /* below it, the source may go on */

struct sink {
	struct evloop *loop;
	int fd; /* not owned */
	const char *name;
	struct evloop_source *source; /* while bytes wait */
	char *data;
	size_t start, len, room;
	int error;                                  /* the negative errno that ended it, or 0 */
	void (*changed)(void *ctx, struct sink *s); /* it drained, or failed */
	void *ctx;
};

void sink_init(struct sink *s, struct evloop *loop, int fd, const char *name,
	       void (*changed)(void *ctx, struct sink *s), void *ctx);
void sink_fini(struct sink *s);
int sink_write(struct sink *s, const void *data, size_t len) __must_check;
bool sink_is_full(const struct sink *s);
bool sink_may_go_on(const struct sink *s);
bool sink_is_idle(const struct sink *s);

#endif
