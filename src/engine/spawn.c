/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See spawn.h. Main thread only: signals are taken through a descriptor while the process runs, and
 * the death signal that ties the process to us is of the thread that forked.
 */
#include "engine/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/evloop.h"
#include "base/io.h"

/* Those that ask us to end. */
static const int asks_to_end[] = {SIGINT, SIGTERM, SIGHUP};

/* How long a process may take to end in good order before it is killed. */
#define GRACE_NS (3 * NS_PER_SEC)

struct running {
	struct evloop *loop;
	const struct spawn_request *req;
	struct spawn_result *result;
	pid_t pid;
	int record_fd, said_fd;
	uint64_t start_ns;
	size_t record_room;
	size_t said_len;
	bool ending; /* asked to end; the next step is SIGKILL */
	int error;   /* negative errno of ours */
	struct evloop_source *deadline, *record_source, *said_source;
};

static void end_group(struct running *c, int sig)
{
	if (kill(-c->pid, sig) < 0 && errno == ESRCH) {
		/* It has not made its session yet. */
		kill(c->pid, sig);
	}
}

/* Begins to end the process: in good order first, so that it can stop what it started. */
static void end_process(struct running *c, enum spawn_end why)
{
	if (c->ending) {
		return;
	}
	c->ending = true;
	c->result->end = why;
	end_group(c, SIGTERM);
	if (evloop_arm_timer(c->deadline, clock_now_ns(&clock_monotonic) + GRACE_NS, 0) < 0) {
		end_group(c, SIGKILL);
	}
}

static void on_deadline(void *ctx)
{
	struct running *c = ctx;

	if (c->ending) {
		end_group(c, SIGKILL);
	} else {
		end_process(c, SPAWN_TIMED_OUT);
	}
}

static void on_tick(void *ctx)
{
	struct running *c = ctx;

	c->req->tick(c->req->ctx);
}

/* Takes what the pipe holds now. True while more may come. */
static bool read_record(struct running *c)
{
	struct spawn_result *res = c->result;

	for (;;) {
		ssize_t n;

		if (c->record_room - res->record_len < 2) {
			size_t room = c->record_room ? 2 * c->record_room : 1 << 16;
			char *more = realloc(res->record, room);

			if (!more) {
				c->error = -ENOMEM;
				return false;
			}
			res->record = more;
			c->record_room = room;
		}
		n = read(c->record_fd, res->record + res->record_len,
			 c->record_room - res->record_len - 1);
		if (n <= 0) {
			res->record[res->record_len] = '\0';
			return n < 0 && (errno == EAGAIN || errno == EINTR);
		}
		res->record_len += (size_t)n;
		if (res->record_len > SPAWN_RECORD_MAX) {
			res->record[res->record_len] = '\0';
			end_process(c, SPAWN_TOO_LONG);
			return false;
		}
	}
}

/* Keeps the end of what it says. */
static bool read_said(struct running *c)
{
	char *said = c->result->said;
	char buf[1024];
	ssize_t n;

	while ((n = read(c->said_fd, buf, sizeof(buf))) > 0) {
		size_t keep = c->said_len;

		if (keep + (size_t)n > SPAWN_SAID_MAX) {
			keep = SPAWN_SAID_MAX - (size_t)n;
			memmove(said, said + c->said_len - keep, keep);
		}
		memcpy(said + keep, buf, (size_t)n);
		c->said_len = keep + (size_t)n;
		said[c->said_len] = '\0';
	}
	return n < 0 && (errno == EAGAIN || errno == EINTR);
}

/* A pipe whose other end is closed is ready for ever: it is watched no more. */
static void on_record(void *ctx, int fd, uint32_t events)
{
	struct running *c = ctx;

	if (!read_record(c)) {
		evloop_remove(TAKE_PTR(c->record_source));
	}
}

static void on_said(void *ctx, int fd, uint32_t events)
{
	struct running *c = ctx;

	if (!read_said(c)) {
		evloop_remove(TAKE_PTR(c->said_source));
	}
}

static void on_exit_of_process(void *ctx, int fd, uint32_t events)
{
	struct running *c = ctx;

	evloop_stop(c->loop);
}

static void on_signal(void *ctx, int fd, uint32_t events)
{
	struct running *c = ctx;
	struct signalfd_siginfo info;

	if (read(fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		c->result->signal = (int)info.ssi_signo;
		end_process(c, SPAWN_INTERRUPTED);
	}
}

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

	setsid();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent) {
		_exit(127);
	}
	if (null_fd >= 0) {
		null_fd = fcntl(null_fd, F_DUPFD_CLOEXEC, FIRST_FREE_FD);
	}
	if (null_fd >= 0 && dup2(null_fd, 0) == 0 && dup2(null_fd, 1) == 1 &&
	    dup2(said_fd, 2) == 2 && dup2(record_fd, SPAWN_RECORD_FD) >= 0 &&
	    dup2(input_fd, SPAWN_INPUT_FD) >= 0) {
		sigprocmask(SIG_SETMASK, mask, NULL);
		execv(req->program, req->argv);
	}
	dprintf(2, "%s: %s\n", req->program, strerror(errno));
	_exit(127);
}

static void take_status(struct running *c)
{
	struct spawn_result *res = c->result;
	int status = 0;

	/* What it started dies with it; as it is not yet waited for, its group is still its own. */
	kill(-c->pid, SIGKILL);
	while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR) {
	}
	res->wall_ns = clock_now_ns(&clock_monotonic) - c->start_ns;
	if (!c->ending) {
		res->end = WIFSIGNALED(status) ? SPAWN_KILLED : SPAWN_EXITED;
	}
	res->status = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

static int watch(struct running *c, int signal_fd, int pid_fd)
{
	const struct spawn_request *req = c->req;
	struct evloop_source *unused;
	int r = evloop_create(&c->loop);

	if (r == 0) {
		r = evloop_add_timer(c->loop, on_deadline, c, &c->deadline);
	}
	if (r == 0 && req->timeout_ns) {
		r = evloop_arm_timer(c->deadline, c->start_ns + req->timeout_ns, 0);
	}
	if (r == 0) {
		r = evloop_add_fd(c->loop, c->record_fd, EPOLLIN, on_record, c, &c->record_source);
	}
	if (r == 0) {
		r = evloop_add_fd(c->loop, c->said_fd, EPOLLIN, on_said, c, &c->said_source);
	}
	if (r == 0) {
		r = evloop_add_fd(c->loop, signal_fd, EPOLLIN, on_signal, c, &unused);
	}
	if (r == 0) {
		r = evloop_add_fd(c->loop, pid_fd, EPOLLIN, on_exit_of_process, c, &unused);
	}
	if (r == 0 && req->tick) {
		r = evloop_add_timer(c->loop, on_tick, c, &unused);
		if (r == 0) {
			r = evloop_arm_timer(unused, c->start_ns + NS_PER_SEC, NS_PER_SEC);
		}
	}
	return r < 0 ? r : evloop_run(c->loop);
}

static int run_with_signals(const struct spawn_request *req, struct spawn_result *res,
			    const sigset_t *ours)
{
	_cleanup_close_ int signal_fd = signalfd(-1, ours, SFD_CLOEXEC | SFD_NONBLOCK);
	_cleanup_close_ int record_in = -1;
	_cleanup_close_ int said_in = -1;
	_cleanup_close_ int input_fd = -1;
	_cleanup_close_ int record_out = -1;
	_cleanup_close_ int said_out = -1;
	_cleanup_close_ int pid_fd = -1;
	struct running c = {.req = req, .result = res};
	sigset_t child_mask;
	pid_t parent = getpid();
	int r = signal_fd < 0 ? -errno : make_pipe(&record_out, &record_in);

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
	c.record_fd = record_out;
	c.said_fd = said_out;
	c.start_ns = clock_now_ns(&clock_monotonic);
	c.pid = fork();
	if (c.pid < 0) {
		return -errno;
	}
	if (c.pid == 0) {
		become(req, parent, record_in, said_in, input_fd, &child_mask);
	}
	close(TAKE_FD(record_in));
	close(TAKE_FD(said_in));
	pid_fd = (int)syscall(SYS_pidfd_open, c.pid, 0);
	r = pid_fd < 0 ? -errno : watch(&c, signal_fd, pid_fd);
	if (r < 0) {
		end_group(&c, SIGKILL);
	}
	take_status(&c);
	(void)read_record(&c);
	(void)read_said(&c);
	evloop_destroy(c.loop);
	return r < 0 ? r : c.error;
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

/**
 * spawn_run() - run a program to its end and collect its record
 * @req: what to run
 * @ret: set on success; end it with spawn_result_fini()
 * @e: set on failure
 *
 * SIGINT, SIGTERM and SIGHUP end the program in good order; that is a result, not a failure. A
 * signal that is pending because the caller blocks it counts too.
 *
 * Return: 0, -ENOMEM, or the errno of pipe2(2), fork(2) and their like.
 * Context: main thread.
 */
int spawn_run(const struct spawn_request *req, struct spawn_result *ret, struct err *e)
{
	struct spawn_result res = {0};
	sigset_t ours, before;
	int r;

	spawn_hold_signals(&ours, &before);
	r = run_with_signals(req, &res, &ours);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (r < 0) {
		spawn_result_fini(&res);
		return err_errno(e, r, "starting %s", req->program);
	}
	if (res.record_len == 0) {
		free(TAKE_PTR(res.record));
	}
	*ret = res;
	return 0;
}

/**
 * spawn_result_fini() - free what a result holds
 * @r: the result; all zero is fine
 *
 * Context: any thread.
 */
void spawn_result_fini(struct spawn_result *r)
{
	free(r->record);
	r->record = NULL;
}
