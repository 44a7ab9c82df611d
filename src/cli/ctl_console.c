/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See ctl_console.h. Runs on the main thread, with a loop of its own. */
#include "cli/ctl_console.h"

#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/evloop.h"
#include "base/io.h"
#include "engine/input.h"
#include "engine/signals.h"
#include "engine/term.h"

struct attached {
	struct evloop *loop;
	int fd;
	struct evloop_source *source;
	struct input input;
	struct signals signals;
	bool blocked; /* the machine took fewer keys than there were */
	int error;    /* of our stdout */
	int signal;
};

static void on_machine(void *ctx, int fd, uint32_t events)
{
	struct attached *a = ctx;
	char buf[16384];
	ssize_t n;

	if ((events & EPOLLOUT) && a->blocked) {
		a->blocked = false;
		(void)!evloop_set_events(a->source, EPOLLIN);
		input_room(&a->input);
	}
	if (!(events & (EPOLLIN | EPOLLHUP | EPOLLERR))) {
		return;
	}
	n = recv(fd, buf, sizeof(buf), MSG_DONTWAIT);
	if (n > 0) {
		a->error = io_write_all(STDOUT_FILENO, buf, (size_t)n);
	}
	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR) || a->error < 0) {
		evloop_stop(a->loop);
	}
}

static size_t on_keys(void *ctx, const void *data, size_t len)
{
	struct attached *a = ctx;
	ssize_t n = send(a->fd, data, len, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (n < 0 && errno != EAGAIN && errno != EINTR) {
		return len; /* the machine is gone: its end of the connection says so */
	}
	if (n < (ssize_t)len) {
		a->blocked = true;
		(void)!evloop_set_events(a->source, EPOLLIN | EPOLLOUT);
	}
	return n < 0 ? 0 : (size_t)n;
}

static void on_detach(void *ctx)
{
	struct attached *a = ctx;

	evloop_stop(a->loop);
}

static void on_signal(void *ctx, int sig)
{
	struct attached *a = ctx;

	if (sig == SIGTSTP) {
		term_restore();
		raise(SIGSTOP);
	} else if (sig == SIGCONT) {
		input_continued(&a->input);
	} else {
		a->signal = sig;
		evloop_stop(a->loop);
	}
}

/**
 * ctl_console() - show a console and type into it until one side ends that
 * @fd: connection to the machine, which has answered "console"
 * @first: what of the console came with the answer
 * @len: how many bytes
 * @e: set on failure
 *
 * Return: 0 when the machine ended or the user detached; else a negative errno.
 * Context: the main thread. Ends the process by the signal that ended it, if one did.
 */
int ctl_console(int fd, const void *first, size_t len, struct err *e)
{
	_cleanup_(evloop_destroy_p) struct evloop *loop = NULL;
	struct attached a = {.fd = fd, .error = io_write_all(STDOUT_FILENO, first, len)};
	int r = a.error < 0 ? a.error : evloop_create(&loop);

	a.loop = loop;
	if (r == 0) {
		r = signals_init(&a.signals, loop, on_signal, &a);
	}
	if (r < 0) {
		return err_errno(e, r, "the console");
	}
	r = evloop_add_fd(loop, fd, EPOLLIN, on_machine, &a, &a.source);
	if (r == 0) {
		r = input_init(&a.input, loop, STDIN_FILENO, on_keys, on_detach, &a);
	}
	if (r == 0) {
		r = evloop_run(loop);
	}
	input_fini(&a.input);
	signals_fini(&a.signals);
	if (r == 0) {
		r = a.error;
	}
	if (a.signal) {
		signal(a.signal, SIG_DFL);
		raise(a.signal);
	}
	return r < 0 ? err_errno(e, r, "the console") : 0;
}
