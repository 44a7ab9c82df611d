/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See qmp.h. Runs on the event loop's thread. */
#include "engine/qmp.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

#define QMP_ID 1 /* of a command whose answer is waited for; the greeting's has none */

/**
 * qmp_init() - a conversation that has not begun
 * @q: the caller's memory; end it with qmp_fini()
 * @fd: a connected stream socket; stays the caller's
 * @event: called for each event with its name and data (maybe NULL), during reads
 * @ctx: handed to @event
 */
void qmp_init(struct qmp *q, int fd, void (*event)(void *ctx, const char *name, json_t *data),
	      void *ctx)
{
	*q = (struct qmp){.fd = fd, .event = event, .ctx = ctx};
}

/**
 * qmp_fini() - free what was read
 * @q: an initialised conversation
 */
void qmp_fini(struct qmp *q)
{
	free(q->buf);
	json_decref(q->answer);
	*q = (struct qmp){.fd = -1};
}

static int send_line(struct qmp *q, const char *line)
{
	size_t len = strlen(line);

	/* A handful of short lines: they always fit into the socket's buffer. */
	if (send(q->fd, line, len, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)len) {
		return -EPIPE;
	}
	return 0;
}

/**
 * qmp_greet() - leave the negotiation mode and let a machine that was started with -S run
 * @q: an initialised conversation
 * @run: false: somebody else lets it run, a debugger
 *
 * Nothing is waited for: QEMU takes both commands when it gets there, and a RESUME event follows.
 *
 * Return: 0, or -EPIPE when the other side is gone.
 */
int qmp_greet(struct qmp *q, bool run)
{
	return send_line(q, run ? "{\"execute\":\"qmp_capabilities\"}\n{\"execute\":\"cont\"}\n"
				: "{\"execute\":\"qmp_capabilities\"}\n");
}

static void take_greeting(struct qmp *q, json_t *greeting)
{
	int major = 0, minor = 0, micro = 0;
	const char *package = "";

	if (json_unpack(greeting, "{s:{s:{s:i, s:i, s:i}, s?s}}", "version", "qemu", "major",
			&major, "minor", &minor, "micro", &micro, "package", &package) == 0) {
		snprintf(q->version, sizeof(q->version), "%d.%d.%d%s%s%s", major, minor, micro,
			 *package ? " (" : "", package, *package ? ")" : "");
	}
}

static void take_line(struct qmp *q, const char *line, size_t len)
{
	json_t *j = json_loadb(line, len, 0, NULL);
	json_t *id = json_object_get(j, "id");
	const char *event = json_string_value(json_object_get(j, "event"));

	if (event) {
		q->event(q->ctx, event, json_object_get(j, "data"));
	} else if (json_object_get(j, "QMP")) {
		take_greeting(q, json_object_get(j, "QMP"));
	} else if (json_integer_value(id) == QMP_ID) {
		json_decref(q->answer);
		q->answer = json_incref(j);
	}
	json_decref(j);
}

static void take_lines(struct qmp *q)
{
	char *start = q->buf, *end;

	while ((end = memchr(start, '\n', q->len - (size_t)(start - q->buf)))) {
		take_line(q, start, (size_t)(end - start));
		start = end + 1;
	}
	q->len -= (size_t)(start - q->buf);
	memmove(q->buf, start, q->len);
}

/**
 * qmp_read() - take what has come, without waiting
 * @q: an initialised conversation
 *
 * Return: 0 when there is no more for now, -EPIPE at the end, -ENOMEM, -EPROTO for an endless line.
 * Context: calls the conversation's event function.
 */
int qmp_read(struct qmp *q)
{
	for (;;) {
		ssize_t n;

		if (q->room - q->len < 4096) {
			char *p = realloc(q->buf, q->room + 16384);

			if (!p) {
				return -ENOMEM;
			}
			q->buf = p;
			q->room += 16384;
		}
		n = recv(q->fd, q->buf + q->len, q->room - q->len, MSG_DONTWAIT);
		if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
			return 0;
		}
		if (n <= 0) {
			return -EPIPE;
		}
		q->len += (size_t)n;
		take_lines(q);
		if (q->len > QMP_LINE_MAX) {
			return -EPROTO;
		}
	}
}

static int ask(struct qmp *q, json_t *request, unsigned int timeout_ms)
{
	uint64_t end = clock_now_ns(&clock_monotonic) + timeout_ms * NS_PER_MSEC;
	char line[256];
	size_t n = json_dumpb(request, line, sizeof(line) - 2, JSON_COMPACT);
	int r;

	if (n == 0 || n > sizeof(line) - 2) {
		return -EINVAL;
	}
	memcpy(line + n, "\n", 2);
	json_decref(q->answer);
	q->answer = NULL;
	r = send_line(q, line);
	while (r == 0 && !q->answer) {
		struct pollfd p = {.fd = q->fd, .events = POLLIN};
		uint64_t now = clock_now_ns(&clock_monotonic);

		if (now >= end) {
			return -ETIMEDOUT;
		}
		if (poll(&p, 1, (int)((end - now) / NS_PER_MSEC) + 1) > 0) {
			r = qmp_read(q);
		}
	}
	return q->answer ? 0 : r;
}

/**
 * qmp_command() - run a command without arguments and wait for its answer
 * @q: a conversation after qmp_greet()
 * @command: such as "stop"
 * @timeout_ms: how long to wait at most
 *
 * Return: 0, -ETIMEDOUT, -EPIPE, -EPROTO when QEMU refuses it.
 * Context: blocks; calls the conversation's event function.
 */
int qmp_command(struct qmp *q, const char *command, unsigned int timeout_ms)
{
	json_t *request = json_pack("{s:s, s:i}", "execute", command, "id", QMP_ID);
	int r = request ? ask(q, request, timeout_ms) : -ENOMEM;

	json_decref(request);
	if (r == 0 && !json_object_get(q->answer, "return")) {
		return -EPROTO;
	}
	return r;
}

/**
 * qmp_monitor_command() - run a command of the human monitor and wait for its text
 * @q: a conversation after qmp_greet()
 * @command: such as "info registers -a"
 * @timeout_ms: how long to wait at most
 * @ret_text: set on success; the caller frees it
 *
 * Return: 0, -ENOMEM, -ETIMEDOUT, -EPIPE, -EPROTO when QEMU refuses it.
 * Context: blocks; calls the conversation's event function.
 */
int qmp_monitor_command(struct qmp *q, const char *command, unsigned int timeout_ms,
			char **ret_text)
{
	json_t *request = json_pack("{s:s, s:{s:s}, s:i}", "execute", "human-monitor-command",
				    "arguments", "command-line", command, "id", QMP_ID);
	int r = request ? ask(q, request, timeout_ms) : -ENOMEM;
	const char *text;

	json_decref(request);
	if (r < 0) {
		return r;
	}
	text = json_string_value(json_object_get(q->answer, "return"));
	if (!text) {
		return -EPROTO;
	}
	*ret_text = strdup(text);
	return *ret_text ? 0 : -ENOMEM;
}
