/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Preloaded into "ringside run", it makes a thread do what a thread that was taken over would: a
 * system call that has no business there. STRAY_CALL is "loop:NUMBER" or "vcpu:NUMBER"; it is made
 * in the third wait of the loop, or before the third KVM_RUN.
 */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define KVM_RUN 0xae80
#define AFTER   3 /* STRAY_AFTER: another number */

static int after(void)
{
	const char *n = getenv("STRAY_AFTER");

	return n ? atoi(n) : AFTER;
}

static void stray(const char *thread, int *seen)
{
	const char *what = getenv("STRAY_CALL");
	size_t n = strlen(thread);

	if (what && strncmp(what, thread, n) == 0 && what[n] == ':' && ++*seen == after()) {
		syscall(strtol(what + n + 1, NULL, 10), 1, 2, 3, 4, 5, 6);
	}
}

int epoll_wait(int fd, struct epoll_event *events, int max, int timeout)
{
	static int seen;

	stray("loop", &seen);
	return (int)syscall(SYS_epoll_wait, fd, events, max, timeout);
}

int ioctl(int fd, unsigned long request, ...)
{
	static int seen;
	va_list ap;
	void *arg;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (request == KVM_RUN) {
		stray("vcpu", &seen);
	}
	return (int)syscall(SYS_ioctl, fd, request, arg);
}
