/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See sink.h. Runs on the event loop's thread. */
#include "engine/sink.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

/**
 * sink_init() - a sink with nothing waiting
 * @s: the caller's memory; end it with sink_fini()
 * @loop: where it waits for room
 * @fd: an open descriptor, which stays the caller's; -1 drops everything
 * @name: what messages call it; static
 * @changed: called with @ctx when waiting bytes were written, or writing failed
 * @ctx: handed to @changed
 */
void sink_init(struct sink *s, struct evloop *loop, int fd, const char *name,
	       void (*changed)(void *ctx, struct sink *s), void *ctx)
{
	*s = (struct sink){.loop = loop, .fd = fd, .name = name, .changed = changed, .ctx = ctx};
}

/**
 * sink_fini() - drop what still waits
 * @s: an initialised sink
 */
void sink_fini(struct sink *s)
{
	evloop_remove(s->source);
	free(s->data);
	*s = (struct sink){.fd = -1};
}

/*
 * One write that does not block: a pipe that polls writable takes PIPE_BUF bytes, and a terminal or
 * socket takes some. Returns what was written, 0 when it would block, or a negative errno.
 */
static ssize_t write_some(int fd, const char *data, size_t len)
{
	struct pollfd p = {.fd = fd, .events = POLLOUT};
	ssize_t n;

	if (poll(&p, 1, 0) == 0) {
		return 0;
	}
	n = write(fd, data, len < PIPE_BUF ? len : PIPE_BUF);
	if (n < 0) {
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	}
	return n;
}

static int drain(struct sink *s)
{
	while (s->len > 0) {
		ssize_t n = write_some(s->fd, s->data + s->start, s->len);

		if (n < 0) {
			s->error = (int)n;
			s->len = 0;
			return s->error;
		}
		if (n == 0) {
			return 0;
		}
		s->start += (size_t)n;
		s->len -= (size_t)n;
	}
	s->start = 0;
	return 0;
}

static void on_room(void *ctx, int fd, uint32_t events)
{
	struct sink *s = ctx;

	if (drain(s) < 0 || s->len == 0) {
		evloop_remove(s->source);
		s->source = NULL;
	}
	s->changed(s->ctx, s);
}

static int keep(struct sink *s, const void *data, size_t len)
{
	if (s->start + s->len + len > s->room) {
		size_t room = s->len + len + SINK_EMPTY_BYTES;
		char *p = malloc(room);

		if (!p) {
			return -ENOMEM;
		}
		if (s->len) {
			memcpy(p, s->data + s->start, s->len);
		}
		free(s->data);
		s->data = p;
		s->room = room;
		s->start = 0;
	}
	memcpy(s->data + s->start + s->len, data, len);
	s->len += len;
	if (!s->source) {
		return evloop_add_fd(s->loop, s->fd, EPOLLOUT, on_room, s, &s->source);
	}
	return 0;
}

/**
 * sink_write() - write bytes, or keep them until there is room
 * @s: an initialised sink
 * @data: the bytes
 * @len: how many
 *
 * Return: 0; -ENOMEM; or the errno of write(2), -EPIPE and -ENOSPC among them, then and ever after.
 */
int sink_write(struct sink *s, const void *data, size_t len)
{
	const char *p = data;
	int r;

	if (s->error || s->fd < 0) {
		return s->error;
	}
	while (s->len == 0 && len > 0) {
		ssize_t n = write_some(s->fd, p, len);

		if (n < 0) {
			s->error = (int)n;
			return s->error;
		}
		if (n == 0) {
			break;
		}
		p += n;
		len -= (size_t)n;
	}
	r = len ? keep(s, p, len) : 0;
	if (r < 0) {
		s->error = r;
	}
	return r;
}

/**
 * sink_is_full() - whether its source is to be stopped
 * @s: an initialised sink
 *
 * Return: true above SINK_FULL_BYTES.
 */
bool sink_is_full(const struct sink *s)
{
	return s->len > SINK_FULL_BYTES;
}

/**
 * sink_may_go_on() - whether a stopped source may go on
 * @s: an initialised sink
 *
 * Return: true below SINK_EMPTY_BYTES.
 */
bool sink_may_go_on(const struct sink *s)
{
	return s->len < SINK_EMPTY_BYTES;
}

/**
 * sink_is_idle() - whether nothing waits
 * @s: an initialised sink
 *
 * Return: true when all was written, or writing failed.
 */
bool sink_is_idle(const struct sink *s)
{
	return s->len == 0;
}
