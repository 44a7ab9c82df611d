/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See run_provenance.h. Runs on the main thread, and in the child, which has only that one. */
#include "cli/run_provenance.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "base/process.h"
#include "samples/record.h"

#define CHILD_FD 3 /* behind stdin, stdout and stderr */

enum request { COLLECT = 'c', LOOK = 'l' };

/**
 * provenance_collect() - find everything out, here and now
 * @wish: what is wanted
 * @ret: always set
 *
 * Context: a thread that may open files, make VMs and sleep.
 */
void provenance_collect(const struct provenance_wish *wish, struct provenance *ret)
{
	_cleanup_free_ char *hex = NULL, *text = NULL;
	json_t *host = record_host_to_json();
	struct err e = ERR_INIT;

	memset(ret, 0, sizeof(*ret));
	if (wish->class) {
		class_detect(&ret->class);
	}
	if (wish->kernel_path) {
		ret->error = record_file_sha256(wish->kernel_path, &hex, &e);
		snprintf(ret->text, sizeof(ret->text), "%s", e.text);
		snprintf(ret->sha256, sizeof(ret->sha256), "%s", hex ? hex : "");
	}
	text = json_dumps(host, JSON_COMPACT);
	if (text && strlen(text) < sizeof(ret->host)) {
		memcpy(ret->host, text, strlen(text) + 1);
	}
	json_decref(host);
}

/* Nothing of the run may live on in here: no disk's lock, no pipe that somebody reads to its end.
 */
static void leave_behind(int fd)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	if (fd != CHILD_FD) {
		dup2(fd, CHILD_FD);
	}
	close_range(CHILD_FD + 1, ~0u, 0);
}

static void answer_all(const struct provenance_wish *wish)
{
	struct provenance p;
	char asked;
	int r = 0;

	/* Until the parent has closed its end, or is gone. */
	while (r == 0 && read(CHILD_FD, &asked, 1) == 1) {
		if (asked == COLLECT) {
			provenance_collect(wish, &p);
			r = io_write_all(CHILD_FD, &p, sizeof(p));
		} else {
			wish->look(wish->ctx);
			r = io_write_all(CHILD_FD, &asked, 1);
		}
	}
}

/**
 * provenance_start() - make the child that can find everything out later
 * @h: the caller's memory; end it with provenance_fini()
 * @wish: what will be wanted
 * @e: gets one line
 *
 * Return: 0 or −errno.
 * Context: the main thread, when there is no other and no machine yet.
 */
int provenance_start(struct provenance_helper *h, const struct provenance_wish *wish, struct err *e)
{
	const pid_t parent = getpid();
	int fds[2];

	*h = (struct provenance_helper){.fd = -1};
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0) {
		return err_errno(e, -errno, "the record's helper");
	}
	h->pid = fork();
	if (h->pid == 0) {
		process_die_with(parent);
		leave_behind(fds[1]);
		answer_all(wish);
		_exit(0);
	}
	close(fds[1]);
	if (h->pid < 0) {
		h->pid = 0;
		close(fds[0]);
		return err_errno(e, -errno, "the record's helper");
	}
	h->fd = fds[0];
	return 0;
}

static int ask(struct provenance_helper *h, enum request request, void *ret, size_t bytes)
{
	char *at = ret, what = (char)request;
	int r = io_write_all(h->fd, &what, 1);

	while (r == 0 && bytes > 0) {
		ssize_t n = read(h->fd, at, bytes);

		if (n > 0) {
			at += n;
			bytes -= (size_t)n;
		} else if (n == 0 || errno != EINTR) {
			r = n == 0 ? -EPIPE : -errno;
		}
	}
	return r;
}

/**
 * provenance_fetch() - ask the child, and wait for it
 * @h: a started helper
 * @ret: set on success
 * @e: gets one line
 *
 * Return: 0; −EPIPE when the child is gone; another −errno.
 * Context: the main thread. Waits for as long as provenance_collect() takes.
 */
int provenance_fetch(struct provenance_helper *h, struct provenance *ret, struct err *e)
{
	int r = ask(h, COLLECT, ret, sizeof(*ret));

	return r < 0 ? err_errno(e, r, "the record's helper") : 0;
}

/**
 * provenance_look() - let the child do what the wish has as "look", and wait for it
 * @h: a started helper
 *
 * Return: 0; −EPIPE when the child is gone; another −errno.
 * Context: the main thread.
 */
int provenance_look(struct provenance_helper *h)
{
	char done;

	return ask(h, LOOK, &done, 1);
}

/**
 * provenance_fini() - end the child
 * @h: a helper, started or zeroed
 *
 * Context: the main thread. Waits for the child, which ends at once when it was not asked.
 */
void provenance_fini(struct provenance_helper *h)
{
	if (h->pid > 0) {
		close(h->fd); /* what it waits for */
		while (waitpid(h->pid, NULL, 0) < 0 && errno == EINTR) {
		}
		h->pid = 0;
	}
}
