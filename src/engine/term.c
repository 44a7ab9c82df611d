/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See term.h. Runs on the event loop's thread, but for the handler of deadly signals. */
#include "engine/term.h"

#include <errno.h>
#include <signal.h>
#include <termios.h>
#include <unistd.h>

/*
 * The only state of its kind in the program: a signal handler can find what to restore in no other
 * way. Written by the event loop's thread with "raw" last.
 */
static struct {
	int fd;
	struct termios before;
	volatile sig_atomic_t raw;
} saved;

static const int deadly[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS};

/* Only what signal-safety(7) allows. */
static void on_deadly(int sig)
{
	term_restore();
	signal(sig, SIG_DFL);
	raise(sig);
}

static void catch_deadly(void)
{
	struct sigaction before;

	for (size_t i = 0; i < ARRAY_SIZE(deadly); i++) {
		/* A handler of somebody else, such as the sandbox's, stays. */
		if (sigaction(deadly[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL) {
			const struct sigaction sa = {.sa_handler = on_deadly,
						     .sa_flags = SA_NODEFER};

			sigaction(deadly[i], &sa, NULL);
		}
	}
}

/**
 * term_is_foreground() - whether this process may use a terminal
 * @fd: an open descriptor
 *
 * Return: true when @fd is a terminal and this process group is its foreground one.
 * Context: any thread.
 */
bool term_is_foreground(int fd)
{
	return isatty(fd) && tcgetpgrp(fd) == getpgrp();
}

/**
 * term_set_raw() - make a terminal hand over every key as it comes
 * @fd: an open descriptor
 *
 * Does nothing when it is no terminal, when this process is in the background, or when it is raw by
 * us already.
 *
 * Return: 0, or the errno of tcgetattr(3) or tcsetattr(3).
 * Context: the event loop's thread.
 */
int term_set_raw(int fd)
{
	struct termios t;

	if (saved.raw || !term_is_foreground(fd)) {
		return 0;
	}
	if (tcgetattr(fd, &saved.before) < 0) {
		return -errno;
	}
	saved.fd = fd;
	t = saved.before;
	cfmakeraw(&t);
	catch_deadly();
	saved.raw = 1;
	if (tcsetattr(fd, TCSANOW, &t) < 0) {
		saved.raw = 0;
		return -errno;
	}
	return 0;
}

/**
 * term_restore() - give the terminal back as it was
 *
 * Does nothing when it is not raw by us, nor in the background: whoever put us there has set the
 * terminal as he wants it.
 *
 * Context: any thread, and signal handlers.
 */
void term_restore(void)
{
	if (!saved.raw) {
		return;
	}
	saved.raw = 0;
	if (tcgetpgrp(saved.fd) == getpgrp()) {
		tcsetattr(saved.fd, TCSANOW, &saved.before);
	}
}
