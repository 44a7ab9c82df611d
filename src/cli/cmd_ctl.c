/* SPDX-License-Identifier: GPL-2.0-or-later */
/* "ringside ctl": asks something of machines that run, over the sockets of engine/control.h. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/io.h"
#include "base/log.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/ctl_console.h"
#include "cli/options.h"
#include "cli/status.h"
#include "engine/control_path.h"
#include "engine/control_wire.h"

/* An answer, and what came behind it. */
struct answer {
	char buf[CONTROL_ANSWER_MAX];
	size_t len;  /* bytes in it */
	size_t line; /* the answer's, with its newline */
	json_t *fields;
};

static int ask(int fd, enum control_verb verb, struct answer *a, struct err *e)
{
	char request[CONTROL_LINE_MAX];
	size_t n = control_request_write(verb, request, sizeof(request));
	int r = io_write_all(fd, request, n);
	char *end;

	*a = (struct answer){.len = 0};
	if (r < 0) {
		return err_errno(e, r, "the machine's socket");
	}
	while (!(end = memchr(a->buf, '\n', a->len))) {
		ssize_t got = recv(fd, a->buf + a->len, sizeof(a->buf) - a->len, 0);

		if (got < 0 && errno == EINTR) {
			continue;
		}
		if (got < 0 && errno == EAGAIN) {
			return err_set(e, -ETIMEDOUT, "it does not answer");
		}
		if (got <= 0) {
			return err_set(e, -ECONNRESET, "it went away before it had answered");
		}
		a->len += (size_t)got;
	}
	a->line = (size_t)(end - a->buf) + 1;
	return control_answer_read(a->buf, a->line - 1, &a->fields, e);
}

static const char *text_of(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "-";
}

static void print_row(const json_t *o)
{
	char memory[32];

	printf("%-16s %-10s %-8s %9.1f %5lld %9s %7lld  %s\n", text_of(o, "name"),
	       text_of(o, "state"), text_of(o, "phase"),
	       json_number_value(json_object_get(o, "uptime_s")),
	       (long long)json_integer_value(json_object_get(o, "vcpus")),
	       text_bytes((uint64_t)json_integer_value(json_object_get(o, "memory_bytes")), memory,
			  sizeof(memory)),
	       (long long)json_integer_value(json_object_get(o, "pid")), text_of(o, "kernel"));
}

static void print_status(const json_t *o)
{
	const json_t *exits = json_object_get(o, "exits");
	char memory[32];

	printf("name     %s\nstate    %s\nphase    %s\n", text_of(o, "name"), text_of(o, "state"),
	       text_of(o, "phase"));
	printf("uptime   %.1f s, %.1f s of them paused\n",
	       json_number_value(json_object_get(o, "uptime_s")),
	       json_number_value(json_object_get(o, "paused_s")));
	printf("vcpus    %lld\nmemory   %s\n",
	       (long long)json_integer_value(json_object_get(o, "vcpus")),
	       text_bytes((uint64_t)json_integer_value(json_object_get(o, "memory_bytes")), memory,
			  sizeof(memory)));
	if (exits) {
		printf("exits    %lld\n", (long long)json_integer_value(exits));
	}
	printf("backend  %s\nkernel   %s\nconsole  %s\npid      %lld\n", text_of(o, "backend"),
	       text_of(o, "kernel"), text_of(o, "console"),
	       (long long)json_integer_value(json_object_get(o, "pid")));
}

static void print_json(const json_t *o)
{
	json_dumpf(o, stdout, JSON_COMPACT);
	putchar('\n');
}

struct list {
	bool json;
	unsigned int count;
};

static void list_one(void *ctx, const char *name, int fd)
{
	const struct timeval patience = {.tv_sec = CONTROL_PATIENCE_S};
	struct list *list = ctx;
	struct err e = ERR_INIT;
	struct answer a;

	(void)!setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (ask(fd, CONTROL_STATUS, &a, &e) < 0) {
		if (e.code != -ECONNRESET) { /* else it has just ended */
			log_warn("%s: %s", name, e.text);
		}
		return;
	}
	if (list->json) {
		print_json(a.fields);
	} else if (list->count == 0) {
		printf("%-16s %-10s %-8s %9s %5s %9s %7s  %s\n", "NAME", "STATE", "PHASE",
		       "UPTIME/s", "VCPUS", "MEMORY", "PID", "KERNEL");
	}
	if (!list->json) {
		print_row(a.fields);
	}
	list->count++;
	json_decref(a.fields);
}

static int list_all(bool json)
{
	struct list list = {.json = json};
	struct err e = ERR_INIT;

	if (control_each(list_one, &list, &e) < 0) {
		log_error("%s", e.text);
		return STATUS_ENVIRONMENT;
	}
	return STATUS_OK;
}

/* Who is at the other end; −1: not known. */
static int open_peer(int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0) {
		return -1;
	}
	return (int)syscall(SYS_pidfd_open, peer.pid, 0);
}

/* Its process is gone, its record written. */
static void wait_for_end(int peer)
{
	struct pollfd p = {.fd = peer, .events = POLLIN};

	while (peer >= 0 && poll(&p, 1, -1) < 0 && errno == EINTR) {
	}
}

static int command(const char *name, enum control_verb verb, bool json)
{
	_cleanup_close_ int fd = -1, peer = -1;
	struct err e = ERR_INIT;
	struct answer a = {.fields = NULL};
	int r = control_connect(name, &fd, &e);

	if (r == 0) {
		/* Before it may be gone. */
		peer = open_peer(fd);
		r = ask(fd, verb, &a, &e);
	}
	if (r < 0) {
		log_error("%s%s%s", r == -ENOENT ? "" : name, r == -ENOENT ? "" : ": ", e.text);
		return r == -EINVAL ? STATUS_USAGE : STATUS_NO;
	}
	if (verb == CONTROL_CONSOLE) {
		if (!json_is_true(json_object_get(a.fields, "writer"))) {
			log_info("%s: somebody else types already; this only shows", name);
		}
		r = ctl_console(fd, a.buf + a.line, a.len - a.line, &e);
	} else if (json) {
		print_json(a.fields);
	} else if (verb == CONTROL_STATUS) {
		print_status(a.fields);
	}
	if (verb == CONTROL_STOP) {
		wait_for_end(peer);
	}
	json_decref(a.fields);
	if (r < 0) {
		log_error("%s: %s", name, e.text);
	}
	return r < 0 ? STATUS_ENVIRONMENT : STATUS_OK;
}

/**
 * cmd_ctl() - the subcommand
 * @argc: of the words from "ctl" on
 * @argv: those words
 *
 * Return: STATUS_OK; STATUS_NO when no such machine runs or it refuses; STATUS_USAGE;
 * STATUS_ENVIRONMENT.
 * Context: the main thread.
 */
int cmd_ctl(int argc, char **argv)
{
	bool json = false;
	const struct opt_row rows[] = {
		{OPT_FLAG, "json", 0, &json, .help = "answers as JSON, a line each"},
		{OPT_END},
	};
	const struct opt_command cmd = {
		.name = "ctl",
		.usage = "[--json] [NAME pause | resume | stop | status | console]",
		.about =
			"Talks to a machine that was started by 'ringside run --name NAME'. pause "
			"takes every vCPU out of the guest and returns when that is done; resume "
			"lets them go on; stop ends the run as SIGTERM does, and waits for it; "
			"console attaches this terminal, and Ctrl-A x detaches it. Without a name, "
			"lists the machines that run. Exit status 0: done; 1: no such machine, or "
			"it refuses; 2: wrong words; 4: something is wrong here.",
		.rows = rows,
		.max_words = 2,
	};
	enum control_verb verb;
	struct err e = ERR_INIT;
	struct opt_rest rest;
	int r = opt_parse(&cmd, argc, argv, &rest, &e);

	if (r == OPT_SHOWN_HELP) {
		return STATUS_OK;
	}
	if (r == 0 && rest.word_count == 1) {
		r = err_set(&e, -EINVAL,
			    "ctl %s: expected pause, resume, stop, status or console behind the "
			    "name",
			    rest.words[0]);
	}
	if (r == 0 && rest.word_count == 2 && control_verb_find(rest.words[1], &verb) < 0) {
		r = err_set(&e, -EINVAL,
			    "ctl: '%s' is none of pause, resume, stop, status and console",
			    rest.words[1]);
	}
	if (r < 0) {
		log_error("%s", e.text);
		return STATUS_USAGE;
	}
	return rest.word_count == 0 ? list_all(json) : command(rest.words[0], verb, json);
}
