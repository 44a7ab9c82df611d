/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See signals.h. Runs on the event loop's thread, before any other is started. */
#include "engine/signals.h"

#include <errno.h>
#include <sys/signalfd.h>
#include <unistd.h>

static const int watched[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT};

static void on_signal(void *ctx, int fd, uint32_t events)
{
	struct signals *s = ctx;
	struct signalfd_siginfo info;

	if (read(fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		s->fn(s->ctx, (int)info.ssi_signo);
	}
}

/**
 * signals_init() - turn signals into calls
 * @s: the caller's memory; end it with signals_fini()
 * @loop: where they are waited for
 * @fn: called with SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP or SIGCONT. One that was ignored when
 *	the program was started (nohup, a script's background job) stays ignored
 * @ctx: handed to @fn
 *
 * The mask is inherited by threads that are started later, so no other thread is interrupted.
 *
 * Return: 0, -ENOMEM, or the errno of a system call.
 */
int signals_init(struct signals *s, struct evloop *loop, void (*fn)(void *ctx, int sig), void *ctx)
{
	const struct sigaction ignore = {.sa_handler = SIG_IGN};
	struct sigaction before;
	int r;

	*s = (struct signals){.fn = fn, .ctx = ctx};
	sigemptyset(&s->caught);
	for (size_t i = 0; i < ARRAY_SIZE(watched); i++) {
		if (sigaction(watched[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN) {
			sigaddset(&s->caught, watched[i]);
		}
	}
	s->fd = signalfd(-1, &s->caught, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s->fd < 0) {
		return -errno;
	}
	r = evloop_add_fd(loop, s->fd, EPOLLIN, on_signal, s, &s->source);
	if (r < 0) {
		close(s->fd);
		return r;
	}
	sigprocmask(SIG_BLOCK, &s->caught, &s->old_mask);
	sigaction(SIGTTIN, &ignore, &s->old_ttin);
	sigaction(SIGTTOU, &ignore, &s->old_ttou);
	sigaction(SIGPIPE, &ignore, &s->old_pipe);
	return 0;
}

/**
 * signals_fini() - put everything back as it was
 * @s: initialised signals
 *
 * What is still pending then takes its effect.
 */
void signals_fini(struct signals *s)
{
	evloop_remove(s->source);
	close(s->fd);
	sigaction(SIGTTIN, &s->old_ttin, NULL);
	sigaction(SIGTTOU, &s->old_ttou, NULL);
	sigaction(SIGPIPE, &s->old_pipe, NULL);
	sigprocmask(SIG_SETMASK, &s->old_mask, NULL);
}
