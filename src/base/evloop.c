/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See evloop.h. All of it runs on the loop's thread. */
#include "base/evloop.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/clock.h"

struct evloop_source {
	struct evloop *loop;
	struct evloop_source *next; /* in loop->sources or loop->dead */
	int fd;
	bool is_timer; /* then the loop owns fd */
	bool always;   /* a regular file, which epoll refuses: it is always ready */
	bool dead;
	uint32_t events;
	evloop_fd_fn fd_fn;
	evloop_timer_fn timer_fn;
	void *ctx;
};

struct evloop {
	int epoll_fd;
	bool stop;
	unsigned int always_count;
	struct evloop_source *sources;
	struct evloop_source *dead; /* freed when no event of the batch can name them */
};

/**
 * evloop_create() - make an empty loop
 * @ret: set on success; end it with evloop_destroy()
 *
 * Return: 0, -ENOMEM, or the errno of epoll_create1(2).
 * Context: the thread that will run it.
 */
int evloop_create(struct evloop **ret)
{
	_cleanup_(evloop_destroy_p) struct evloop *l = calloc(1, sizeof(*l));

	if (!l) {
		return -ENOMEM;
	}
	l->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (l->epoll_fd < 0) {
		return -errno;
	}
	*ret = TAKE_PTR(l);
	return 0;
}

static void free_list(struct evloop_source **list)
{
	while (*list) {
		struct evloop_source *s = *list;

		*list = s->next;
		if (s->is_timer) {
			close(s->fd);
		}
		free(s);
	}
}

/**
 * evloop_destroy() - end a loop and every source still registered with it
 * @l: the loop, or NULL; descriptors given to evloop_add_fd() stay open
 *
 * Context: the loop's thread, not inside a callback.
 */
void evloop_destroy(struct evloop *l)
{
	if (!l) {
		return;
	}
	free_list(&l->sources);
	free_list(&l->dead);
	if (l->epoll_fd >= 0) {
		close(l->epoll_fd);
	}
	free(l);
}

static int add_source(struct evloop *l, const struct evloop_source *init,
		      struct evloop_source **ret)
{
	struct evloop_source *s = malloc(sizeof(*s));
	struct epoll_event ev = {.events = init->events, .data.ptr = s};

	if (!s) {
		return -ENOMEM;
	}
	*s = *init;
	s->loop = l;
	if (epoll_ctl(l->epoll_fd, EPOLL_CTL_ADD, s->fd, &ev) < 0) {
		if (errno != EPERM) {
			int r = -errno;

			free(s);
			return r;
		}
		s->always = true;
		l->always_count++;
	}
	s->next = l->sources;
	l->sources = s;
	*ret = s;
	return 0;
}

/**
 * evloop_add_fd() - call a function when a descriptor is ready
 * @l: the loop
 * @fd: a descriptor, which stays the caller's; a regular file counts as always ready
 * @events: EPOLLIN, EPOLLOUT, ...
 * @fn: called with @ctx, the descriptor and what is ready
 * @ctx: handed to @fn
 * @ret: set on success; end it with evloop_remove()
 *
 * Return: 0, -ENOMEM, or the errno of epoll_ctl(2).
 * Context: the loop's thread.
 */
int evloop_add_fd(struct evloop *l, int fd, uint32_t events, evloop_fd_fn fn, void *ctx,
		  struct evloop_source **ret)
{
	struct evloop_source init = {.fd = fd, .events = events, .fd_fn = fn, .ctx = ctx};

	return add_source(l, &init, ret);
}

/**
 * evloop_set_events() - change what a descriptor is watched for
 * @s: a source of evloop_add_fd()
 * @events: EPOLLIN, EPOLLOUT, ..., or 0 to pause it
 *
 * Return: 0, or the errno of epoll_ctl(2).
 * Context: the loop's thread.
 */
int evloop_set_events(struct evloop_source *s, uint32_t events)
{
	struct epoll_event ev = {.events = events, .data.ptr = s};

	s->events = events;
	if (!s->always && epoll_ctl(s->loop->epoll_fd, EPOLL_CTL_MOD, s->fd, &ev) < 0) {
		return -errno;
	}
	return 0;
}

/**
 * evloop_add_timer() - make a timer, not yet armed
 * @l: the loop
 * @fn: called with @ctx when it expires
 * @ctx: handed to @fn
 * @ret: set on success; end it with evloop_remove()
 *
 * Return: 0, -ENOMEM, or the errno of timerfd_create(2).
 * Context: the loop's thread.
 */
int evloop_add_timer(struct evloop *l, evloop_timer_fn fn, void *ctx, struct evloop_source **ret)
{
	struct evloop_source init = {
		.fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK),
		.events = EPOLLIN,
		.is_timer = true,
		.timer_fn = fn,
		.ctx = ctx,
	};
	int r;

	if (init.fd < 0) {
		return -errno;
	}
	r = add_source(l, &init, ret);
	if (r < 0) {
		close(init.fd);
	}
	return r;
}

/**
 * evloop_arm_timer() - say when a timer expires
 * @s: a source of evloop_add_timer()
 * @at_ns: when, on the monotonic clock, nanoseconds; 0 disarms it, a time gone by is at once
 * @every_ns: then again after each of these, nanoseconds; 0 is once
 *
 * Return: 0, or the errno of timerfd_settime(2).
 * Context: the loop's thread.
 */
int evloop_arm_timer(struct evloop_source *s, uint64_t at_ns, uint64_t every_ns)
{
	struct itimerspec its = {
		.it_value = {(time_t)(at_ns / NS_PER_SEC), (long)(at_ns % NS_PER_SEC)},
		.it_interval = {(time_t)(every_ns / NS_PER_SEC), (long)(every_ns % NS_PER_SEC)},
	};

	assert(s->is_timer);
	return timerfd_settime(s->fd, TFD_TIMER_ABSTIME, &its, NULL) < 0 ? -errno : 0;
}

/**
 * evloop_remove() - end a source
 * @s: a source, or NULL; it is not called again, even when it is ready now
 *
 * Context: the loop's thread.
 */
void evloop_remove(struct evloop_source *s)
{
	struct evloop_source **p;
	struct evloop *l;

	if (!s) {
		return;
	}
	l = s->loop;
	for (p = &l->sources; *p != s; p = &(*p)->next) {
		assert(*p);
	}
	*p = s->next;
	if (s->always) {
		l->always_count--;
	} else {
		epoll_ctl(l->epoll_fd, EPOLL_CTL_DEL, s->fd, NULL);
	}
	if (s->is_timer) {
		close(s->fd);
		s->is_timer = false;
	}
	s->dead = true;
	s->next = l->dead;
	l->dead = s;
}

static void source_fire(struct evloop_source *s, uint32_t events)
{
	uint64_t ticks;

	if (s->dead) {
		return;
	}
	if (!s->is_timer) {
		s->fd_fn(s->ctx, s->fd, events);
	} else if (read(s->fd, &ticks, sizeof(ticks)) == (ssize_t)sizeof(ticks)) {
		s->timer_fn(s->ctx);
	}
}

/* Sources may be added and removed by the callbacks; a dead one keeps its place until the end. */
static void fire_always_ready(struct evloop *l)
{
	struct evloop_source *ready[16];
	size_t n = 0;

	for (struct evloop_source *s = l->sources; s && n < ARRAY_SIZE(ready); s = s->next) {
		if (s->always && s->events) {
			ready[n++] = s;
		}
	}
	for (size_t i = 0; i < n && !l->stop; i++) {
		source_fire(ready[i], ready[i]->events);
	}
}

static bool any_always_ready(const struct evloop *l)
{
	for (const struct evloop_source *s = l->sources; s && l->always_count; s = s->next) {
		if (s->always && s->events) {
			return true;
		}
	}
	return false;
}

/**
 * evloop_run() - call what is ready until evloop_stop()
 * @l: the loop
 *
 * Return: 0 after evloop_stop(), or the errno of epoll_wait(2).
 * Context: the loop's thread.
 */
int evloop_run(struct evloop *l)
{
	struct epoll_event events[16];

	l->stop = false;
	while (!l->stop) {
		int n = epoll_wait(l->epoll_fd, events, ARRAY_SIZE(events),
				   any_always_ready(l) ? 0 : -1);

		if (n < 0 && errno != EINTR) {
			return -errno;
		}
		for (int i = 0; i < n && !l->stop; i++) {
			source_fire(events[i].data.ptr, events[i].events);
		}
		if (!l->stop) {
			fire_always_ready(l);
		}
		free_list(&l->dead);
	}
	return 0;
}

/**
 * evloop_stop() - make evloop_run() return after the callback that runs
 * @l: the loop
 *
 * Context: the loop's thread, inside a callback.
 */
void evloop_stop(struct evloop *l)
{
	l->stop = true;
}
