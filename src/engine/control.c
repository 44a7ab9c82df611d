/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See control.h. */
#include "engine/control.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "engine/control_wire.h"

enum mode {
	MODE_REQUESTS,
	MODE_PAUSING,  /* asked for a pause, and is answered when the machine stands */
	MODE_STOPPING, /* is answered, and sees the end by its connection's */
	MODE_CONSOLE,
};

struct client {
	struct control *c;
	int fd; /* −1: a free place */
	struct evloop_source *source;
	enum mode mode;
	bool asked;  /* a request of it was understood: not to be put out for a new one */
	bool writer; /* may type */
	bool at_end; /* it sends no more */
	bool failed; /* to be dropped as soon as nobody uses it */
	uint64_t number;
	char in[CONTROL_LINE_MAX + 1]; /* a request's beginning, or keys that the guest had no room
					  for */
	size_t in_len;
	char *out;
	size_t out_start, out_len, out_room;
};

struct control {
	struct evloop *loop;
	int fd; /* not owned */
	struct evloop_source *source;
	const struct control_ops *ops;
	void *ctx;
	struct client clients[CONTROL_CLIENTS_MAX];
	const struct client *freezing; /* the call that it asked for is still going on */
	uint64_t taken;                /* connections so far */
	char history[CONTROL_HISTORY]; /* a ring */
	uint64_t history_bytes;        /* written so far */
};

static void drop(struct client *k)
{
	evloop_remove(k->source);
	close(k->fd);
	free(k->out);
	*k = (struct client){.c = k->c, .fd = -1};
}

static bool reads(const struct client *k)
{
	return !k->at_end && !(k->mode == MODE_CONSOLE && k->in_len > 0) && k->mode != MODE_PAUSING;
}

/* Sets what is waited for, and drops a client that failed or has had all it can get. */
static void settle(struct client *k)
{
	uint32_t events = (reads(k) ? EPOLLIN : 0) | (k->out_len ? EPOLLOUT : 0);
	bool waits = k->mode == MODE_PAUSING || k->mode == MODE_STOPPING;

	if (k->failed || (k->at_end && !waits && k->mode != MODE_CONSOLE && k->out_len == 0) ||
	    evloop_set_events(k->source, events) < 0) {
		drop(k);
	}
}

static void flush(struct client *k)
{
	while (k->out_len > 0) {
		ssize_t n =
			send(k->fd, k->out + k->out_start, k->out_len, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0) {
			k->failed |= errno != EAGAIN && errno != EINTR;
			return;
		}
		k->out_start += (size_t)n;
		k->out_len -= (size_t)n;
	}
	k->out_start = 0;
}

/* Who is too far behind is lost: nothing may be left out of what it is shown. */
static void say(struct client *k, const void *data, size_t len)
{
	size_t end = k->out_start + k->out_len;

	if (k->failed || len == 0) {
		return;
	}
	if (k->out_len + len > CONTROL_BEHIND_MAX) {
		k->failed = true;
		return;
	}
	if (end + len > k->out_room) {
		size_t room = k->out_len + len + 4096;
		char *p = malloc(room);

		if (!p) {
			k->failed = true;
			return;
		}
		if (k->out_len) {
			memcpy(p, k->out + k->out_start, k->out_len);
		}
		free(k->out);
		k->out = p;
		k->out_room = room;
		k->out_start = 0;
		end = k->out_len;
	}
	memcpy(k->out + end, data, len);
	k->out_len += len;
	flush(k);
}

static void answer(struct client *k, json_t *fields, const char *error)
{
	char line[CONTROL_ANSWER_MAX];
	size_t n = control_answer_write(fields, error, line, sizeof(line));

	if (n == 0) {
		k->failed = true;
		return;
	}
	say(k, line, n);
}

static bool writer_taken(const struct control *c)
{
	for (size_t i = 0; i < CONTROL_CLIENTS_MAX; i++) {
		if (c->clients[i].fd >= 0 && c->clients[i].writer) {
			return true;
		}
	}
	return !c->ops->may_type(c->ctx);
}

static void show_history(struct client *k)
{
	const struct control *c = k->c;
	uint64_t from = c->history_bytes > CONTROL_HISTORY ? c->history_bytes - CONTROL_HISTORY : 0;
	size_t at = (size_t)(from % CONTROL_HISTORY), n = (size_t)(c->history_bytes - from);
	size_t first = n < CONTROL_HISTORY - at ? n : CONTROL_HISTORY - at;

	say(k, c->history + at, first);
	say(k, c->history, n - first);
}

static void freeze(struct client *k, bool on)
{
	struct control *c = k->c;
	struct err e = ERR_INIT;

	int r;

	c->freezing = k;
	r = c->ops->freeze(c->ctx, on, &e);
	c->freezing = NULL;
	if (r < 0) {
		answer(k, NULL, e.text);
	} else if (!on || c->ops->stands(c->ctx)) {
		answer(k, c->ops->status(c->ctx), NULL);
	} else {
		k->mode = MODE_PAUSING;
	}
}

static void obey(struct client *k, enum control_verb verb)
{
	struct control *c = k->c;

	k->asked = true;
	switch (verb) {
	case CONTROL_STATUS:
		answer(k, c->ops->status(c->ctx), NULL);
		break;
	case CONTROL_PAUSE:
	case CONTROL_RESUME:
		freeze(k, verb == CONTROL_PAUSE);
		break;
	case CONTROL_STOP:
		k->mode = MODE_STOPPING;
		answer(k, NULL, NULL);
		c->ops->stop(c->ctx);
		break;
	default:
		k->mode = MODE_CONSOLE;
		k->writer = !writer_taken(c);
		answer(k, json_pack("{s:b}", "writer", k->writer), NULL);
		show_history(k);
		break;
	}
}

static void type(struct client *k)
{
	size_t n = k->in_len;

	/* Of one who may only look, keys are read and forgotten. */
	if (k->writer && k->in_len > 0) {
		n = k->c->ops->type(k->c->ctx, k->in, k->in_len);
	}
	k->in_len -= n;
	memmove(k->in, k->in + n, k->in_len);
}

/* Takes what came, as far as the client's mode lets it. */
static void take(struct client *k)
{
	while (k->mode == MODE_REQUESTS && k->in_len > 0 && !k->failed) {
		char *end = memchr(k->in, '\n', k->in_len);
		size_t len = end ? (size_t)(end - k->in) : k->in_len;
		struct err e = ERR_INIT;
		enum control_verb verb;

		if (!end && k->in_len <= CONTROL_LINE_MAX) {
			return;
		}
		if (!end) {
			err_set(&e, -E2BIG, "a request of more than %d bytes", CONTROL_LINE_MAX);
		}
		if (!end || control_request_read(k->in, len, &verb, &e) < 0) {
			answer(k, NULL, e.text);
			k->at_end = true;
			k->in_len = 0;
			return;
		}
		k->in_len -= len + 1;
		memmove(k->in, end + 1, k->in_len);
		obey(k, verb);
	}
	if (k->mode == MODE_CONSOLE) {
		type(k);
	} else if (k->mode == MODE_STOPPING) {
		k->in_len = 0;
	}
}

static void on_client(void *ctx, int fd, uint32_t events)
{
	struct client *k = ctx;

	if (reads(k)) {
		ssize_t n = recv(k->fd, k->in + k->in_len, sizeof(k->in) - k->in_len, MSG_DONTWAIT);

		if (n > 0) {
			k->in_len += (size_t)n;
			take(k);
		} else if (n == 0) {
			k->at_end = true;
			k->writer = false;
		} else if (errno != EAGAIN && errno != EINTR) {
			k->failed = true;
		}
	}
	if (events & EPOLLOUT) {
		flush(k);
	}
	/* Gone for good. What it asked for before that was read above. */
	if ((events & (EPOLLHUP | EPOLLERR)) && !reads(k)) {
		k->failed = true;
	}
	settle(k);
}

/* A place for a new client: a free one, or that of the oldest which has never asked anything. */
static struct client *find_place(struct control *c)
{
	struct client *oldest = NULL;

	for (size_t i = 0; i < CONTROL_CLIENTS_MAX; i++) {
		struct client *k = &c->clients[i];

		if (k->fd < 0) {
			return k;
		}
		if (!k->asked && (!oldest || k->number < oldest->number)) {
			oldest = k;
		}
	}
	if (oldest) {
		drop(oldest);
	}
	return oldest;
}

static void on_connection(void *ctx, int listening, uint32_t events)
{
	struct control *c = ctx;
	int fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct client *k = fd < 0 ? NULL : find_place(c);

	if (!k) {
		if (fd >= 0) {
			close(fd);
		}
		return;
	}
	k->fd = fd;
	k->number = ++c->taken;
	if (evloop_add_fd(c->loop, fd, EPOLLIN, on_client, k, &k->source) < 0) {
		k->source = NULL;
		drop(k);
	}
}

/**
 * control_create() - begin to take connections
 * @loop: where they are waited for
 * @fd: a listening socket that does not block; stays the caller's
 * @ops: what can be done to the machine
 * @ctx: first argument of those
 * @ret: set on success; end it with control_destroy()
 *
 * Return: 0, −ENOMEM or the errno of epoll_ctl(2).
 * Context: the event loop's thread.
 */
int control_create(struct evloop *loop, int fd, const struct control_ops *ops, void *ctx,
		   struct control **ret)
{
	struct control *c = calloc(1, sizeof(*c));
	int r;

	if (!c) {
		return -ENOMEM;
	}
	c->loop = loop;
	c->fd = fd;
	c->ops = ops;
	c->ctx = ctx;
	for (size_t i = 0; i < CONTROL_CLIENTS_MAX; i++) {
		c->clients[i] = (struct client){.c = c, .fd = -1};
	}
	r = evloop_add_fd(loop, fd, EPOLLIN, on_connection, c, &c->source);
	if (r < 0) {
		free(c);
		return r;
	}
	*ret = c;
	return 0;
}

/**
 * control_destroy() - close every connection
 * @c: from control_create(), or NULL
 *
 * Context: the event loop's thread, not inside an event of it.
 */
void control_destroy(struct control *c)
{
	if (!c) {
		return;
	}
	for (size_t i = 0; i < CONTROL_CLIENTS_MAX; i++) {
		if (c->clients[i].fd >= 0) {
			drop(&c->clients[i]);
		}
	}
	evloop_remove(c->source);
	free(c);
}

static void remember(struct control *c, const char *data, size_t len)
{
	size_t skip = len > CONTROL_HISTORY ? len - CONTROL_HISTORY : 0;

	c->history_bytes += skip;
	for (data += skip, len -= skip; len > 0; data++, len--) {
		c->history[c->history_bytes++ % CONTROL_HISTORY] = *data;
	}
}

/**
 * control_output() - show what the guest wrote to its console
 * @c: from control_create(), or NULL
 * @data: the bytes
 * @len: how many
 *
 * Context: the event loop's thread, not inside an event of @c.
 */
void control_output(struct control *c, const void *data, size_t len)
{
	if (!c) {
		return;
	}
	remember(c, data, len);
	for (size_t i = 0; i < CONTROL_CLIENTS_MAX; i++) {
		struct client *k = &c->clients[i];

		if (k->fd >= 0 && k->mode == MODE_CONSOLE) {
			say(k, data, len);
			settle(k);
		}
	}
}

/**
 * control_standing() - the machine came to stand, or goes on
 * @c: from control_create(), or NULL
 * @on: it stands
 *
 * Context: the event loop's thread, also inside the call of freeze().
 */
void control_standing(struct control *c, bool on)
{
	for (size_t i = 0; c && on && i < CONTROL_CLIENTS_MAX; i++) {
		struct client *k = &c->clients[i];

		if (k->fd >= 0 && k->mode == MODE_PAUSING && k != c->freezing) {
			k->mode = MODE_REQUESTS;
			answer(k, c->ops->status(c->ctx), NULL);
			take(k);
			settle(k);
		}
	}
}

/**
 * control_room() - the guest's console takes bytes again
 * @c: from control_create(), or NULL
 *
 * Context: the event loop's thread, not inside an event of @c.
 */
void control_room(struct control *c)
{
	for (size_t i = 0; c && i < CONTROL_CLIENTS_MAX; i++) {
		struct client *k = &c->clients[i];

		if (k->fd >= 0 && k->mode == MODE_CONSOLE && k->in_len > 0) {
			type(k);
			settle(k);
		}
	}
}
