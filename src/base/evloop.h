/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The event loop: epoll, with timers. One thread runs it and owns everything registered with it;
 * another thread reaches it through an eventfd that is registered like any descriptor. A callback
 * may add and remove any source, itself included.
 */
#ifndef BASE_EVLOOP_H
#define BASE_EVLOOP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>

#include "base/cleanup.h"

struct evloop;
struct evloop_source;

typedef void (*evloop_fd_fn)(void *ctx, int fd, uint32_t events);
typedef void (*evloop_timer_fn)(void *ctx);

int evloop_create(struct evloop **ret) __must_check;
void evloop_destroy(struct evloop *l);
DEFINE_CLEANUP(struct evloop *, evloop_destroy)

int evloop_add_fd(struct evloop *l, int fd, uint32_t events, evloop_fd_fn fn, void *ctx,
		  struct evloop_source **ret) __must_check;
int evloop_set_events(struct evloop_source *s, uint32_t events) __must_check;
int evloop_add_timer(struct evloop *l, evloop_timer_fn fn, void *ctx,
		     struct evloop_source **ret) __must_check;
int evloop_arm_timer(struct evloop_source *s, uint64_t at_ns, uint64_t every_ns) __must_check;
void evloop_remove(struct evloop_source *s);

int evloop_run(struct evloop *l) __must_check;
void evloop_stop(struct evloop *l);

#endif
