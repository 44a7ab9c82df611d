/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See qemu_process_priv.h. Runs on the event loop's thread. */
#include "engine/qemu_process_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/process.h"

/**
 * qemu_process_init() - no process yet
 * @p: the caller's memory; end it with qemu_process_fini()
 */
void qemu_process_init(struct qemu_process *p)
{
	*p = (struct qemu_process){.pid_fd = -1, .stderr_fd = -1};
}

/**
 * qemu_process_fini() - kill it if it still runs, and forget it
 * @p: an initialised process
 */
void qemu_process_fini(struct qemu_process *p)
{
	if (p->pid > 0 && !p->reaped) {
		kill(p->pid, SIGKILL);
		qemu_process_reap(p);
	}
	if (p->pid_fd >= 0) {
		close(p->pid_fd);
	}
	if (p->stderr_fd >= 0) {
		close(p->stderr_fd);
	}
	qemu_process_init(p);
}

/* In the child, between fork and exec: only what signal-safety(7) allows. */
static void exec_child(char **argv, const int *inherited, size_t count, int null_fd, int error_fd,
		       pid_t parent)
{
	sigset_t none;

	setpgid(0, 0);
	process_die_with(parent);
	for (int sig = 1; sig < NSIG; sig++) {
		signal(sig, SIG_DFL);
	}
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (size_t i = 0; i < count; i++) {
		if (inherited[i] >= 0) {
			fcntl(inherited[i], F_SETFD, 0);
		}
	}
	dup2(null_fd, STDIN_FILENO);
	dup2(error_fd, STDOUT_FILENO);
	dup2(error_fd, STDERR_FILENO);
	execvp(argv[0], argv);
	dprintf(STDERR_FILENO, "%s: %s", argv[0], strerror(errno));
	_exit(127);
}

/**
 * qemu_process_start() - start it
 * @p: an initialised process
 * @argv: its words, the program first, NULL-terminated; found by PATH
 * @inherited: descriptors that it gets by the same numbers; -1 is skipped
 * @count: how many
 * @e: set on failure
 *
 * A program that cannot be executed is no failure here: the process then ends with status 127 and
 * the reason on its stderr.
 *
 * Return: 0, or the errno of a system call.
 */
int qemu_process_start(struct qemu_process *p, char **argv, const int *inherited, size_t count,
		       struct err *e)
{
	_cleanup_close_ int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	_cleanup_close_ int error_fd = -1;
	pid_t parent = getpid();
	int fds[2];

	if (null_fd < 0 || pipe2(fds, O_CLOEXEC) < 0) {
		return err_errno(e, -errno, "starting QEMU");
	}
	p->stderr_fd = fds[0];
	error_fd = fds[1];
	if (fcntl(p->stderr_fd, F_SETFL, O_NONBLOCK) < 0) {
		return err_errno(e, -errno, "starting QEMU");
	}
	p->pid = fork();
	if (p->pid == 0) {
		exec_child(argv, inherited, count, null_fd, error_fd, parent);
	}
	if (p->pid < 0) {
		p->pid = 0;
		return err_errno(e, -errno, "starting QEMU");
	}
	p->pid_fd = (int)syscall(SYS_pidfd_open, p->pid, 0);
	return p->pid_fd < 0 ? err_errno(e, -errno, "pidfd_open") : 0;
}

/**
 * qemu_process_read_stderr() - take what it said; the last QEMU_STDERR_MAX bytes are kept
 * @p: a started process
 *
 * Return: false at the end of its output.
 */
bool qemu_process_read_stderr(struct qemu_process *p)
{
	char buf[512];
	ssize_t n;

	while ((n = read(p->stderr_fd, buf, sizeof(buf))) > 0) {
		size_t room = sizeof(p->stderr_text) - p->stderr_len;

		if ((size_t)n > room) {
			size_t cut = (size_t)n - room;

			memmove(p->stderr_text, p->stderr_text + cut, p->stderr_len - cut);
			p->stderr_len -= cut;
		}
		memcpy(p->stderr_text + p->stderr_len, buf, (size_t)n);
		p->stderr_len += (size_t)n;
	}
	return n < 0;
}

/**
 * qemu_process_reap() - take its exit status
 * @p: a started process; its end is waited for
 */
void qemu_process_reap(struct qemu_process *p)
{
	if (!p->reaped && waitpid(p->pid, &p->wait_status, 0) == p->pid) {
		p->reaped = true;
	}
}

/**
 * qemu_process_signal() - send a signal to its process group
 * @p: an initialised process; nothing happens unless it runs
 * @sig: the signal
 */
void qemu_process_signal(struct qemu_process *p, int sig)
{
	if (p->pid > 0 && !p->reaped) {
		kill(-p->pid, sig);
	}
}

/**
 * qemu_process_describe_end() - how it ended, and its last words, in one line
 * @p: a reaped process
 * @buf: set
 * @len: size of @buf
 */
void qemu_process_describe_end(struct qemu_process *p, char *buf, size_t len)
{
	const char *sep = p->stderr_len ? ": " : "";

	while (p->stderr_len && p->stderr_text[p->stderr_len - 1] == '\n') {
		p->stderr_len--;
	}
	if (WIFSIGNALED(p->wait_status)) {
		int sig = WTERMSIG(p->wait_status);

		snprintf(buf, len, "QEMU was killed by signal %d (%s)%s%.*s", sig, strsignal(sig),
			 sep, (int)p->stderr_len, p->stderr_text);
	} else {
		snprintf(buf, len, "QEMU ended with status %d%s%.*s", WEXITSTATUS(p->wait_status),
			 sep, (int)p->stderr_len, p->stderr_text);
	}
	for (char *c = buf; *c; c++) {
		if (*c == '\n') {
			*c = ' ';
		}
	}
}
