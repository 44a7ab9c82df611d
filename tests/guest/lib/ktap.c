/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See ktap.h. Every line goes out by one write(2): a forked child has no buffer to write twice. */
#include "ktap.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LINE_BYTES 400
#define SLOW_MS    500 /* what takes so long says how long */

/* Why the running case is skipped: written by the case, read by its parent. */
static char *skip_reason;

static void put(const char *line, size_t len)
{
	while (len > 0) {
		ssize_t n = write(STDOUT_FILENO, line, len);

		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n <= 0) {
			_exit(KTAP_FAIL);
		}
		line += n;
		len -= (size_t)n;
	}
}

static void __attribute__((format(printf, 2, 0)))
put_line(const char *before, const char *fmt, va_list ap)
{
	char line[LINE_BYTES];
	size_t len = strlen(before);
	int n;

	memcpy(line, before, len);
	n = vsnprintf(line + len, sizeof(line) - len - 1, fmt, ap);
	len += n < 0 ? 0 : (size_t)n;
	if (len > sizeof(line) - 2) {
		len = sizeof(line) - 2;
	}
	for (size_t i = 0; i < len; i++) {
		if (line[i] == '\n') {
			line[i] = ' ';
		}
	}
	line[len] = '\n';
	put(line, len + 1);
}

static void __attribute__((format(printf, 1, 2))) say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	put_line("", fmt, ap);
	va_end(ap);
}

/**
 * ktap_diag() - say something beside the results
 * @fmt: one line
 */
void ktap_diag(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	put_line("# ", fmt, ap);
	va_end(ap);
}

/**
 * ktap_fail() - end this process, and with it the case, as failed; see ktap_check()
 * @file: the source
 * @line: its line
 * @fmt: what is wrong
 */
void ktap_fail(const char *file, int line, const char *fmt, ...)
{
	const char *name = strrchr(file, '/');
	char where[64];
	va_list ap;

	snprintf(where, sizeof(where), "# %s:%d: ", name ? name + 1 : file, line);
	va_start(ap, fmt);
	put_line(where, fmt, ap);
	va_end(ap);
	_exit(KTAP_FAIL);
}

/**
 * ktap_skip() - end this process, and with it the case, as skipped
 * @fmt: the reason
 */
void ktap_skip(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(skip_reason, LINE_BYTES, fmt, ap);
	va_end(ap);
	_exit(KTAP_SKIP);
}

/**
 * ktap_reap() - wait for a child of this case, and share its fate
 * @pid: the child, has to end by itself
 * @what: names it
 */
void ktap_reap(int pid, const char *what)
{
	int status;

	while (waitpid(pid, &status, 0) < 0) {
		ktap_check(errno == EINTR, "waitpid %s: %s", what, strerror(errno));
	}
	if (WIFEXITED(status) && WEXITSTATUS(status) == KTAP_SKIP) {
		_exit(KTAP_SKIP);
	}
	ktap_check(!WIFSIGNALED(status), "%s was killed by signal %d", what, WTERMSIG(status));
	ktap_check(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s ended with status 0x%x", what,
		   status);
}

static long long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

/* Wait for a case; at its limit end its whole session. Return its wait status, or -1 for a hang. */
static int wait_case(pid_t pid, unsigned int limit_s)
{
	const struct timespec limit = {.tv_sec = limit_s};
	sigset_t child;
	int status;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	for (;;) {
		if (waitpid(pid, &status, WNOHANG) == pid) {
			kill(-pid, SIGKILL);
			return status;
		}
		if (sigtimedwait(&child, NULL, &limit) < 0 && errno == EAGAIN) {
			kill(-pid, SIGKILL);
			waitpid(pid, &status, 0);
			return -1;
		}
	}
}

/* A kernel that checks itself is many times slower: KTAP_PATIENCE in the environment says how many.
 */
static unsigned int patience(void)
{
	const char *times = getenv("KTAP_PATIENCE");
	unsigned long n = times ? strtoul(times, NULL, 10) : 1;

	return n >= 1 && n <= 100 ? (unsigned int)n : 1;
}

static enum ktap_status run_case(const struct ktap_case *c, size_t number)
{
	unsigned int limit_s = (c->limit_s ? c->limit_s : KTAP_LIMIT_S) * patience();
	long long begun = now_ms();
	int status;
	pid_t pid;

	skip_reason[0] = '\0';
	pid = fork();
	if (pid == 0) {
		sigset_t none;

		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		setsid();
		c->run();
		_exit(KTAP_PASS);
	}
	if (pid < 0) {
		say("# fork: %s", strerror(errno));
		say("not ok %zu %s", number, c->name);
		return KTAP_FAIL;
	}
	status = wait_case(pid, limit_s);
	if (now_ms() - begun >= SLOW_MS) {
		say("# %s: %lld ms", c->name, now_ms() - begun);
	}
	if (status < 0) {
		say("# %s: no end within %u s", c->name, limit_s);
		say("not ok %zu %s # TIMEOUT", number, c->name);
		return KTAP_FAIL;
	}
	if (WIFEXITED(status) && WEXITSTATUS(status) == KTAP_SKIP) {
		say("ok %zu %s # SKIP %s", number, c->name, skip_reason);
		return KTAP_SKIP;
	}
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
		say("ok %zu %s", number, c->name);
		return KTAP_PASS;
	}
	if (WIFSIGNALED(status)) {
		say("# %s: killed by signal %d", c->name, WTERMSIG(status));
	}
	say("not ok %zu %s", number, c->name);
	return KTAP_FAIL;
}

/**
 * ktap_run() - run all cases and report them
 * @cases: the tests
 * @count: how many
 *
 * Return: KTAP_PASS, or KTAP_FAIL when one failed: the program's status.
 */
int ktap_run(const struct ktap_case *cases, size_t count)
{
	int status = KTAP_PASS;
	sigset_t child;

	skip_reason =
		mmap(NULL, LINE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (skip_reason == MAP_FAILED) {
		return KTAP_FAIL;
	}
	/* What a case leaves behind is reaped with it, and does not disturb the next one. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);

	say("KTAP version 1");
	say("1..%zu", count);
	for (size_t i = 0; i < count; i++) {
		if (run_case(&cases[i], i + 1) == KTAP_FAIL) {
			status = KTAP_FAIL;
		}
		while (waitpid(-1, NULL, WNOHANG) > 0) {
			/* an orphan */
		}
	}
	return status;
}
