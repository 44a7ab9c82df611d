/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See spawn.h. Main thread only: signals are taken through a descriptor while a process runs. */
#include "engine/spawn_priv.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/evloop.h"

/* How long a process may take to end in good order before it is killed. */
#define GRACE_NS (3 * NS_PER_SEC)

struct running {
	struct running *next;
	struct spawn_pool *pool;
	void *tag;
	struct spawn_result result;
	pid_t pid;
	int record_fd, said_fd, pid_fd;
	uint64_t start_ns, grace_ns;
	size_t record_room;
	size_t said_len;
	bool ending; /* asked to end; the next step is SIGKILL */
	bool ended;
	int error; /* negative errno of ours */
	struct evloop_source *deadline, *record_source, *said_source, *pid_source;
};

struct spawn_pool {
	struct evloop *loop;
	struct evloop_source *ticks; /* where there is a tick */
	int signal_fd;
	sigset_t before; /* the signal mask to go back to */
	void (*tick)(void *ctx);
	void *ctx;
	struct running *processes;
	int signal; /* that we were asked to end by; 0: none yet */
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
	c->result.end = why;
	end_group(c, SIGTERM);
	if (evloop_arm_timer(c->deadline, clock_now_ns(&clock_monotonic) + c->grace_ns, 0) < 0) {
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
	struct spawn_pool *pool = ctx;

	pool->tick(pool->ctx);
}

/* Takes what the pipe holds now. True while more may come. */
static bool read_record(struct running *c)
{
	struct spawn_result *res = &c->result;

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
	char *said = c->result.said;
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

	c->ended = true;
	evloop_stop(c->pool->loop);
}

static void on_signal(void *ctx, int fd, uint32_t events)
{
	struct spawn_pool *pool = ctx;
	struct signalfd_siginfo info;

	if (read(fd, &info, sizeof(info)) != (ssize_t)sizeof(info)) {
		return;
	}
	pool->signal = (int)info.ssi_signo;
	for (struct running *c = pool->processes; c; c = c->next) {
		c->result.signal = pool->signal;
		end_process(c, SPAWN_INTERRUPTED);
	}
}

static void take_status(struct running *c)
{
	struct spawn_result *res = &c->result;
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

static int watch(struct running *c, uint64_t timeout_ns)
{
	struct evloop *loop = c->pool->loop;
	int r = evloop_add_timer(loop, on_deadline, c, &c->deadline);

	if (r == 0 && timeout_ns) {
		r = evloop_arm_timer(c->deadline, c->start_ns + timeout_ns, 0);
	}
	if (r == 0) {
		r = evloop_add_fd(loop, c->record_fd, EPOLLIN, on_record, c, &c->record_source);
	}
	if (r == 0) {
		r = evloop_add_fd(loop, c->said_fd, EPOLLIN, on_said, c, &c->said_source);
	}
	if (r == 0) {
		r = evloop_add_fd(loop, c->pid_fd, EPOLLIN, on_exit_of_process, c, &c->pid_source);
	}
	return r;
}

static void forget(struct evloop_source **s)
{
	if (*s) {
		evloop_remove(TAKE_PTR(*s));
	}
}

/* Waits for a process that has ended, or ends it, and takes it out of the pool. */
static void reap(struct running *c)
{
	forget(&c->deadline);
	forget(&c->record_source);
	forget(&c->said_source);
	forget(&c->pid_source);
	if (!c->ended) {
		end_group(c, SIGKILL);
	}
	take_status(c);
	(void)read_record(c);
	(void)read_said(c);
	close(c->record_fd);
	close(c->said_fd);
	if (c->pid_fd >= 0) {
		close(c->pid_fd);
	}
	for (struct running **at = &c->pool->processes; *at; at = &(*at)->next) {
		if (*at == c) {
			*at = c->next;
			break;
		}
	}
}

/* Starts the process. What fails leaves nothing behind. */
static int start(const struct spawn_request *req, struct running *c)
{
	int r;

	c->start_ns = clock_now_ns(&clock_monotonic);
	r = spawn_process(req, &c->pid, &c->record_fd, &c->said_fd);
	if (r < 0) {
		return r;
	}
	c->pid_fd = (int)syscall(SYS_pidfd_open, c->pid, 0);
	c->next = c->pool->processes;
	c->pool->processes = c;
	r = c->pid_fd < 0 ? -errno : watch(c, req->timeout_ns);
	if (r < 0) {
		reap(c);
	}
	return r;
}

static int open_pool(struct spawn_pool *pool, const sigset_t *held)
{
	struct evloop_source *unused;
	int r;

	pool->signal_fd = signalfd(-1, held, SFD_CLOEXEC | SFD_NONBLOCK);
	if (pool->signal_fd < 0) {
		return -errno;
	}
	r = evloop_create(&pool->loop);
	if (r == 0) {
		r = evloop_add_fd(pool->loop, pool->signal_fd, EPOLLIN, on_signal, pool, &unused);
	}
	if (r == 0 && pool->tick) {
		r = evloop_add_timer(pool->loop, on_tick, pool, &pool->ticks);
		if (r == 0) {
			r = spawn_pool_tick_every(pool, NS_PER_SEC);
		}
	}
	return r;
}

/**
 * spawn_pool_tick_every() - change how often a pool's tick is called
 * @pool: the pool, made with a tick
 * @ns: from one call to the next, more than 0
 *
 * Return: 0, or the errno of timerfd_settime(2).
 * Context: main thread.
 */
int spawn_pool_tick_every(struct spawn_pool *pool, uint64_t ns)
{
	assert(pool->ticks && ns > 0);
	return evloop_arm_timer(pool->ticks, clock_now_ns(&clock_monotonic) + ns, ns);
}

/**
 * spawn_pool_create() - make a place where several programs run at once
 * @tick: called while spawn_pool_wait() waits, once a second (see spawn_pool_tick_every()), or NULL
 * @ctx: handed to @tick
 * @ret: set on success; end it with spawn_pool_destroy()
 * @e: set on failure
 *
 * SIGINT, SIGTERM and SIGHUP are held back as long as there is a pool: each ends the programs that
 * run, in good order. That is a result, not a failure. A signal that is pending already counts too.
 *
 * Return: 0, -ENOMEM, or the errno of signalfd(2) and its like.
 * Context: main thread.
 */
int spawn_pool_create(void (*tick)(void *ctx), void *ctx, struct spawn_pool **ret, struct err *e)
{
	struct spawn_pool *pool = calloc(1, sizeof(*pool));
	sigset_t held;
	int r;

	if (!pool) {
		return err_errno(e, -ENOMEM, "starting programs");
	}
	pool->tick = tick;
	pool->ctx = ctx;
	spawn_hold_signals(&held, &pool->before);
	r = open_pool(pool, &held);
	if (r < 0) {
		spawn_pool_destroy(pool);
		return err_errno(e, r, "starting programs");
	}
	*ret = pool;
	return 0;
}

/**
 * spawn_pool_start() - start a program
 * @pool: the pool
 * @req: what to run; need not outlive the call
 * @tag: handed back by spawn_pool_wait()
 * @e: set on failure
 *
 * Return: 0, -ENOMEM, or the errno of pipe2(2), fork(2) and their like.
 * Context: main thread.
 */
int spawn_pool_start(struct spawn_pool *pool, const struct spawn_request *req, void *tag,
		     struct err *e)
{
	struct running *c = calloc(1, sizeof(*c));
	int r;

	if (!c) {
		return err_errno(e, -ENOMEM, "starting %s", req->program);
	}
	c->pool = pool;
	c->tag = tag;
	c->grace_ns = req->grace_ns ? req->grace_ns : GRACE_NS;
	r = start(req, c);
	if (r < 0) {
		spawn_result_fini(&c->result);
		free(c);
		return err_errno(e, r, "starting %s", req->program);
	}
	return 0;
}

static struct running *find_ended(const struct spawn_pool *pool)
{
	for (struct running *c = pool->processes; c; c = c->next) {
		if (c->ended) {
			return c;
		}
	}
	return NULL;
}

/**
 * spawn_pool_wait() - wait until one of the programs has ended
 * @pool: the pool, with a program that runs
 * @ret: set on success; end it with spawn_result_fini()
 * @ret_tag: set on success: whose result it is; NULL is fine
 * @e: set on failure
 *
 * Return: 0, -ENOMEM, or the errno of epoll_wait(2).
 * Context: main thread.
 */
int spawn_pool_wait(struct spawn_pool *pool, struct spawn_result *ret, void **ret_tag,
		    struct err *e)
{
	struct running *c = find_ended(pool);
	int r = 0;

	assert(pool->processes);
	while (!c && r == 0) {
		r = evloop_run(pool->loop);
		c = find_ended(pool);
	}
	if (!c) {
		return err_errno(e, r, "waiting for a program");
	}
	reap(c);
	if (c->error < 0) {
		r = err_errno(e, c->error, "reading what a program wrote");
		spawn_result_fini(&c->result);
		free(c);
		return r;
	}
	if (c->result.record_len == 0) {
		free(TAKE_PTR(c->result.record));
	}
	*ret = c->result;
	if (ret_tag) {
		*ret_tag = c->tag;
	}
	free(c);
	return 0;
}

/**
 * spawn_pool_end() - ask a program to end, as if its time had run out
 * @pool: the pool
 * @tag: what it was started with; one that has none of this tag is left as it is
 *
 * It is waited for as ever.
 *
 * Context: main thread, the pool's tick among it.
 */
void spawn_pool_end(struct spawn_pool *pool, const void *tag)
{
	for (struct running *c = pool->processes; c; c = c->next) {
		if (c->tag == tag) {
			end_process(c, SPAWN_TIMED_OUT);
		}
	}
}

/**
 * spawn_pool_destroy() - end all programs at once, and the pool
 * @pool: the pool, or NULL, or one that is half built
 *
 * Context: main thread.
 */
void spawn_pool_destroy(struct spawn_pool *pool)
{
	if (!pool) {
		return;
	}
	while (pool->processes) {
		struct running *c = pool->processes;

		reap(c);
		spawn_result_fini(&c->result);
		free(c);
	}
	evloop_destroy(pool->loop);
	if (pool->signal_fd >= 0) {
		close(pool->signal_fd);
	}
	sigprocmask(SIG_SETMASK, &pool->before, NULL);
	free(pool);
}

/**
 * spawn_run() - run a program to its end and collect its record
 * @req: what to run
 * @ret: set on success; end it with spawn_result_fini()
 * @e: set on failure
 *
 * Signals: as spawn_pool_create() has it.
 *
 * Return: as spawn_pool_create(), spawn_pool_start() and spawn_pool_wait().
 * Context: main thread.
 */
int spawn_run(const struct spawn_request *req, struct spawn_result *ret, struct err *e)
{
	_cleanup_(spawn_pool_destroy_p) struct spawn_pool *pool = NULL;
	int r = spawn_pool_create(req->tick, req->ctx, &pool, e);

	if (r == 0) {
		r = spawn_pool_start(pool, req, NULL, e);
	}
	return r < 0 ? r : spawn_pool_wait(pool, ret, NULL, e);
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
