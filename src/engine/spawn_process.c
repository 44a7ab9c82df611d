/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a request to a process with its descriptors in place. Main thread only: the death signal
 * that ties the process to us is of the thread that forked.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/io.h"
#include "base/process.h"
#include "engine/spawn_priv.h"

/* Those that ask us to end. */
static const int asks_to_end[] = {SIGINT, SIGTERM, SIGHUP};

/* What we may ignore, and a program that is not told of it does not expect to be ignored. */
static const int not_inherited[] = {SIGPIPE, SIGTTIN, SIGTTOU};

/* Descriptors below this are given away by number in the new process. */
#define FIRST_FREE_FD 10

static int move_up(int fd)
{
	int high = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FREE_FD);

	close(fd);
	return high;
}

/* A pipe whose reading end, ours, does not block. */
static int make_pipe(int *ret_read, int *ret_write)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0) {
		return -errno;
	}
	*ret_read = move_up(fds[0]);
	*ret_write = move_up(fds[1]);
	if (*ret_read < 0 || *ret_write < 0 || fcntl(*ret_read, F_SETFL, O_NONBLOCK) < 0) {
		return -errno;
	}
	return 0;
}

static int make_input(const struct spawn_request *req, int *ret_fd)
{
	int fd = memfd_create("ringside-input", MFD_CLOEXEC);
	int r;

	if (fd < 0) {
		return -errno;
	}
	fd = move_up(fd);
	if (fd < 0) {
		return -errno;
	}
	*ret_fd = fd;
	r = io_write_all(fd, req->input, req->input_len);
	return r == 0 && lseek(fd, 0, SEEK_SET) < 0 ? -errno : r;
}

/* The new process, up to its program. Only calls that are safe after fork(2). */
static _Noreturn void become(const struct spawn_request *req, pid_t parent, int record_fd,
			     int said_fd, int input_fd, const sigset_t *mask)
{
	int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (size_t i = 0; i < ARRAY_SIZE(not_inherited); i++) {
		signal(not_inherited[i], SIG_DFL);
	}
	setsid();
	process_die_with(parent);
	if (req->cpus && sched_setaffinity(0, sizeof(*req->cpus), req->cpus) < 0) {
		dprintf(said_fd, "its processors: %s\n", strerror(errno));
		_exit(127);
	}
	if (null_fd >= 0) {
		null_fd = fcntl(null_fd, F_DUPFD_CLOEXEC, FIRST_FREE_FD);
	}
	if (null_fd >= 0 && dup2(null_fd, 0) == 0 &&
	    dup2(req->out_fd ? req->out_fd : null_fd, 1) == 1 &&
	    dup2(req->err_fd ? req->err_fd : said_fd, 2) == 2 &&
	    dup2(record_fd, req->record_is_stdout ? 1 : SPAWN_RECORD_FD) >= 0 &&
	    dup2(input_fd, SPAWN_INPUT_FD) >= 0) {
		sigprocmask(SIG_SETMASK, mask, NULL);
		execve(req->program, req->argv, req->env ? req->env : environ);
	}
	dprintf(2, "%s: %s\n", req->program, strerror(errno));
	_exit(127);
}

/**
 * spawn_process() - start a process
 * @req: what to run
 * @ret_pid: set on success
 * @ret_record_fd: set on success: its record is read from here; does not block; the caller's
 * @ret_said_fd: set on success: the same of what it says
 *
 * Return: 0, -ENOMEM, or the errno of pipe2(2), fork(2) and their like.
 * Context: main thread.
 */
int spawn_process(const struct spawn_request *req, pid_t *ret_pid, int *ret_record_fd,
		  int *ret_said_fd)
{
	_cleanup_close_ int record_in = -1;
	_cleanup_close_ int said_in = -1;
	_cleanup_close_ int input_fd = -1;
	_cleanup_close_ int record_out = -1;
	_cleanup_close_ int said_out = -1;
	sigset_t child_mask;
	pid_t parent = getpid();
	pid_t pid;
	int r = make_pipe(&record_out, &record_in);

	if (r == 0) {
		r = make_pipe(&said_out, &said_in);
	}
	if (r == 0) {
		r = make_input(req, &input_fd);
	}
	if (r < 0) {
		return r;
	}
	/* The process takes these signals itself, whatever we block. */
	sigprocmask(SIG_BLOCK, NULL, &child_mask);
	for (size_t i = 0; i < ARRAY_SIZE(asks_to_end); i++) {
		sigdelset(&child_mask, asks_to_end[i]);
	}
	pid = fork();
	if (pid < 0) {
		return -errno;
	}
	if (pid == 0) {
		become(req, parent, record_in, said_in, input_fd, &child_mask);
	}
	*ret_pid = pid;
	*ret_record_fd = TAKE_FD(record_out);
	*ret_said_fd = TAKE_FD(said_out);
	return 0;
}

/**
 * spawn_hold_signals() - hold back the signals that ask us to end
 * @ret_held: set to those signals; NULL is fine
 * @ret_before: set to the mask as it was, for sigprocmask(SIG_SETMASK)
 *
 * What is held back while nothing runs ends the next spawn_run() at once.
 *
 * Context: main thread.
 */
void spawn_hold_signals(sigset_t *ret_held, sigset_t *ret_before)
{
	sigset_t held;

	sigemptyset(&held);
	for (size_t i = 0; i < ARRAY_SIZE(asks_to_end); i++) {
		sigaddset(&held, asks_to_end[i]);
	}
	sigprocmask(SIG_BLOCK, &held, ret_before);
	if (ret_held) {
		*ret_held = held;
	}
}
