/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The end of "ringside ctl" that is in the running machine: takes connections, answers requests,
 * and shows the console to whoever attached to it. All on the event loop's thread, without waiting
 * for anybody: who does not read is dropped, and what is kept for one is bounded.
 */
#ifndef ENGINE_CONTROL_H
#define ENGINE_CONTROL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/evloop.h"

#define CONTROL_CLIENTS_MAX 16
#define CONTROL_BEHIND_MAX                                                             \
	(256U << 10)         /* bytes that a client may be behind before it is dropped \
			      */
#define CONTROL_HISTORY 4096 /* bytes of console that one who attaches is shown first */

/* What can be done to the machine. */
struct control_ops {
	json_t *(*status)(void *ctx); /* an object; NULL: no memory */
	/* Let it stand still or go on; control_standing() may follow during the call or later. */
	int (*freeze)(void *ctx, bool on, struct err *e);
	bool (*stands)(void *ctx);
	void (*stop)(void *ctx);
	/* Bytes typed into the console; returns how many were taken, control_room() follows. */
	size_t (*type)(void *ctx, const void *data, size_t len);
	bool (*may_type)(void *ctx); /* false: another one types, the run's own stdin */
};

struct control;

int control_create(struct evloop *loop, int fd, const struct control_ops *ops, void *ctx,
		   struct control **ret) __must_check;
void control_destroy(struct control *c);
void control_output(struct control *c, const void *data, size_t len);
void control_standing(struct control *c, bool on);
void control_room(struct control *c);

#endif
