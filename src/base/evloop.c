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
#include "base/log.h"

struct evloop_source {
	struct evloop *loop;
	struct evloop_source *next; /* in loop->sources or loop->dead */
	int fd;                     /* -1: a timer */
	bool always;                /* a regular file, which epoll refuses: it is always ready */
	bool dead;
	uint32_t events;
	evloop_fd_fn fd_fn;
	evloop_timer_fn timer_fn;
	uint64_t at_ns, every_ns; /* of a timer: when it expires, or 0, and how often then */
	uint64_t round;           /* in which of the loop's rounds it was armed */
	void *ctx;
};

/* One timerfd for all timers, set for the first of them: a start that arms few pays for one. */
struct evloop {
	int epoll_fd, timer_fd; /* timer_fd: -1 without timers */
	uint64_t timer_at_ns;   /* for when it is set, or 0 */
	uint64_t round;         /* of calling the timers that are due */
	bool stop, in_round;
	unsigned int always_count;
	unsigned int told; /* lines on sources so far: guests can cause some */
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
	l->timer_fd = -1;
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
	if (l->timer_fd >= 0) {
		close(l->timer_fd);
	}
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
	if (s->fd >= 0 && epoll_ctl(l->epoll_fd, EPOLL_CTL_ADD, s->fd, &ev) < 0) {
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
	log_debug_few(&l->told, "loop", "%s %d comes, for events 0x%x%s",
		      s->fd < 0 ? "timer" : "descriptor", s->fd, s->events,
		      s->always ? ": a file, which is always ready" : "");
	*ret = s;
	return 0;
}

/**
 * evloop_add_fd() - call a function when a descriptor is ready
 * @l: the loop
 * @fd: a descriptor, which stays the caller's; a regular file counts as always ready
 * @events: EPOLLIN, EPOLLOUT, ...; with EPOLLET each time that it becomes ready again
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

static int make_timer_fd(struct evloop *l)
{
	/* No source: it is the loop's own. */
	struct epoll_event ev = {.events = EPOLLIN, .data.ptr = NULL};
	_cleanup_close_ int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);

	if (fd < 0 || epoll_ctl(l->epoll_fd, EPOLL_CTL_ADD, fd, &ev) < 0) {
		return -errno;
	}
	l->timer_fd = TAKE_FD(fd);
	return 0;
}

/**
 * evloop_add_timer() - make a timer, not yet armed
 * @l: the loop
 * @fn: called with @ctx when it expires
 * @ctx: handed to @fn
 * @ret: set on success; end it with evloop_remove()
 *
 * Return: 0, -ENOMEM, or, of the loop's first, the errno of timerfd_create(2) or epoll_ctl(2).
 * Context: the loop's thread.
 */
int evloop_add_timer(struct evloop *l, evloop_timer_fn fn, void *ctx, struct evloop_source **ret)
{
	struct evloop_source init = {.fd = -1, .timer_fn = fn, .ctx = ctx};
	int r = l->timer_fd >= 0 ? 0 : make_timer_fd(l);

	return r < 0 ? r : add_source(l, &init, ret);
}

/* Of the timers that expire up to @now_ns, and were not armed in this round, the first. */
static struct evloop_source *first_timer(const struct evloop *l, uint64_t now_ns)
{
	struct evloop_source *first = NULL;

	for (struct evloop_source *s = l->sources; s; s = s->next) {
		if (s->at_ns && s->at_ns <= now_ns && s->round != l->round &&
		    (!first || s->at_ns < first->at_ns)) {
			first = s;
		}
	}
	return first;
}

/* Has the descriptor expire with the first of all timers. */
static int set_timer_fd(struct evloop *l)
{
	const struct evloop_source *first;
	struct itimerspec its = {0};
	uint64_t at_ns;

	l->round++;
	first = first_timer(l, UINT64_MAX);
	at_ns = first ? first->at_ns : 0;
	if (at_ns == l->timer_at_ns) {
		return 0;
	}
	its.it_value.tv_sec = (time_t)(at_ns / NS_PER_SEC);
	its.it_value.tv_nsec = (long)(at_ns % NS_PER_SEC);
	if (timerfd_settime(l->timer_fd, TFD_TIMER_ABSTIME, &its, NULL) < 0) {
		return -errno;
	}
	l->timer_at_ns = at_ns;
	return 0;
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
	assert(s->timer_fn);
	s->at_ns = at_ns;
	s->every_ns = every_ns;
	s->round = s->loop->round;
	/* Between the rounds; in one, its end does it. */
	return s->loop->in_round ? 0 : set_timer_fd(s->loop);
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
	log_debug_few(&l->told, "loop", "%s %d goes", s->fd < 0 ? "timer" : "descriptor", s->fd);
	if (s->always) {
		l->always_count--;
	} else if (s->fd >= 0) {
		epoll_ctl(l->epoll_fd, EPOLL_CTL_DEL, s->fd, NULL);
	}
	s->dead = true;
	s->next = l->dead;
	l->dead = s;
}

/* The next time of its rhythm that has not gone by, or none. */
static void count_on(struct evloop_source *s, uint64_t now_ns)
{
	uint64_t missed = s->every_ns ? (now_ns - s->at_ns) / s->every_ns : 0;

	s->at_ns = s->every_ns ? s->at_ns + (missed + 1) * s->every_ns : 0;
}

/* Each that is due once, in their order. What is armed meanwhile waits for the next round. */
static int fire_timers(struct evloop *l)
{
	uint64_t now_ns = clock_now_ns(&clock_monotonic), ticks;
	struct evloop_source *s;

	(void)!read(l->timer_fd, &ticks, sizeof(ticks));
	l->timer_at_ns = 0;
	l->round++;
	l->in_round = true;
	while (!l->stop && (s = first_timer(l, now_ns))) {
		count_on(s, now_ns);
		s->timer_fn(s->ctx);
	}
	l->in_round = false;
	return set_timer_fd(l);
}

static int source_fire(struct evloop *l, struct evloop_source *s, uint32_t events)
{
	if (!s) {
		return fire_timers(l);
	}
	if (!s->dead) {
		s->fd_fn(s->ctx, s->fd, events);
	}
	return 0;
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
		source_fire(l, ready[i], ready[i]->events);
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
 * Return: 0 after evloop_stop(), or the errno of epoll_wait(2) or timerfd_settime(2).
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
			int r = source_fire(l, events[i].data.ptr, events[i].events);

			if (r < 0) {
				return r;
			}
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
