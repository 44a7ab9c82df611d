/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ctxsw: two threads on one CPU hand a turn to each other, over a futex, a pair of pipes or
 * sched_yield(). One turn of the loop is a round trip: two context switches. They are threads of
 * one process or, in the "proc" variants, of two, so that each switch is to other page tables.
 *
 * The threads always have FS bases of their own (their thread-local storage). In the "fs" variants
 * GS is 0 as in any ordinary program; in "fsgs" each has a GS base of its own as well, above 4 GiB,
 * pointing to a page that holds its address, so that what the register really holds can be seen.
 *
 * The partner of another process is a thread that it makes, for a fork alone would give it our FS
 * base. All that both use is in shared memory.
 */
#include "bench.h"

#include <asm/prctl.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "call.h"

#define STACK_BYTES 65536
#define PAGE_BYTES  4096
#define FOUR_GIB    (1ULL << 32)

enum way { WAY_FUTEX, WAY_PIPE, WAY_YIELD };

#define VARIANT(way, proc, gs) ((way) << 2 | (proc) << 1 | (gs))
#define VARIANT_WAY(v)         ((enum way)((v) >> 2))
#define VARIANT_PROC(v)        (((v) >> 1) & 1)
#define VARIANT_GS(v)          ((v)&1)

#define PARTNER_FAILED         1

/* One side: its bases as they were set. */
struct side {
	unsigned long fs, gs;
	struct err err;
};

struct pingpong {
	/* Shared by both threads while they run. */
	_Alignas(64) atomic_uint turn; /* 0: the measuring thread's, 1: the partner's */
	_Alignas(64) atomic_bool stop;
	int there[2], back[2];

	/* Set up before, looked at afterwards. */
	enum way way;
	bool gs, proc;
	const struct machine *machine;
	struct side main, partner;
	int ready[2]; /* the partner sends a byte when it has set its bases */
	pid_t tid;    /* of the partner */
	pid_t pid;    /* of its process, when it has one of its own */
	pthread_t thread;
};

/* Each process has its own: what the partner does to it shows whose memory it has. */
static volatile int private_word;

static inline void futex_wake(struct pingpong *p, int private)
{
	call4(SYS_futex, (long)&p->turn, FUTEX_WAKE | private, 1, 0);
}

static inline void futex_await(struct pingpong *p, unsigned int mine, int private)
{
	while (atomic_load_explicit(&p->turn, memory_order_acquire) != mine) {
		call4(SYS_futex, (long)&p->turn, FUTEX_WAIT | private, !mine, 0);
	}
}

/* Hand the turn over and wait until it is back. */
static inline void futex_turn(struct pingpong *p, unsigned int mine, int private)
{
	atomic_store_explicit(&p->turn, !mine, memory_order_release);
	futex_wake(p, private);
	futex_await(p, mine, private);
}

static void futex_loop(void *state, unsigned int turns)
{
	struct pingpong *p = state;

	do {
		futex_turn(p, 0, FUTEX_PRIVATE_FLAG);
	} while (--turns);
}

/* A futex between processes is found by its page, which takes the kernel longer. */
static void futex_proc_loop(void *state, unsigned int turns)
{
	struct pingpong *p = state;

	do {
		futex_turn(p, 0, 0);
	} while (--turns);
}

static void pipe_loop(void *state, unsigned int turns)
{
	struct pingpong *p = state;
	char c = 0;

	do {
		call4(SYS_write, p->there[1], (long)&c, 1, 0);
		call4(SYS_read, p->back[0], (long)&c, 1, 0);
	} while (--turns);
}

static void yield_loop(void *state, unsigned int turns)
{
	do {
		call4(SYS_sched_yield, 0, 0, 0, 0);
	} while (--turns);
}

static void empty_loop(void *state, unsigned int turns)
{
	do {
		__asm__ volatile("" : : : "memory");
	} while (--turns);
}

static inline void futex_partner(struct pingpong *p, int private)
{
	futex_await(p, 1, private);
	while (!atomic_load_explicit(&p->stop, memory_order_relaxed)) {
		futex_turn(p, 1, private);
	}
}

static void partner_loop(struct pingpong *p)
{
	char c = 0;

	switch (p->way) {
	case WAY_FUTEX:
		if (p->proc) {
			futex_partner(p, 0);
		} else {
			futex_partner(p, FUTEX_PRIVATE_FLAG);
		}
		break;
	case WAY_PIPE:
		while (call4(SYS_read, p->there[0], (long)&c, 1, 0) == 1 &&
		       !atomic_load_explicit(&p->stop, memory_order_relaxed)) {
			call4(SYS_write, p->back[1], (long)&c, 1, 0);
		}
		break;
	case WAY_YIELD:
		while (!atomic_load_explicit(&p->stop, memory_order_relaxed)) {
			call4(SYS_sched_yield, 0, 0, 0, 0);
		}
		break;
	}
}

static int set_bases(const struct pingpong *p, struct side *s)
{
	unsigned long *page;

	if (p->gs) {
		page = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);
		if (page == MAP_FAILED) {
			return err_errno(&s->err, -errno, "mmap");
		}
		*page = (unsigned long)page;
		if (syscall(SYS_arch_prctl, ARCH_SET_GS, page) < 0) {
			return err_errno(&s->err, -errno, "arch_prctl(ARCH_SET_GS)");
		}
	}
	if (syscall(SYS_arch_prctl, ARCH_GET_FS, &s->fs) < 0 ||
	    syscall(SYS_arch_prctl, ARCH_GET_GS, &s->gs) < 0) {
		return err_errno(&s->err, -errno, "arch_prctl");
	}
	return 0;
}

/* In the thread whose side it is: the bases are what they were, by the kernel and by the CPU. */
static int check_bases(const struct pingpong *p, struct side *s)
{
	unsigned long fs = 0, gs = 0, by_fs, by_gs = 0;

	syscall(SYS_arch_prctl, ARCH_GET_FS, &fs);
	syscall(SYS_arch_prctl, ARCH_GET_GS, &gs);
	/* The first word of thread-local storage is its own address (x86-64 psABI TLS variant II).
	 */
	__asm__ volatile("mov %%fs:0, %0" : "=r"(by_fs));
	if (p->gs) {
		__asm__ volatile("mov %%gs:0, %0" : "=r"(by_gs));
	}
	if (fs != s->fs || gs != s->gs || by_fs != s->fs || by_gs != s->gs) {
		return err_set(
			&s->err, -ENOTRECOVERABLE,
			"bases lost in a switch: FS %#lx (%#lx) was %#lx, GS %#lx (%#lx) was "
			"%#lx",
			fs, by_fs, s->fs, gs, by_gs, s->gs);
	}
	return 0;
}

static void *partner(void *arg)
{
	struct pingpong *p = arg;
	int r = set_bases(p, &p->partner);

	p->tid = gettid();
	private_word = 1;
	if (call3(SYS_write, p->ready[1], (long)"", 1) != 1) {
		return p; /* nobody waits any more */
	}
	if (r == 0) {
		partner_loop(p);
		r = check_bases(p, &p->partner);
	}
	if (r == 0) {
		r = machine_check_cpu(p->machine, &p->partner.err);
	}
	if (r == 0) {
		r = nopti_check(p->machine, &p->partner.err);
	}
	return r < 0 ? p : NULL;
}

static int check_distinct(const struct pingpong *p, struct err *e)
{
	const struct side *a = &p->main, *b = &p->partner;

	if (a->fs == b->fs || a->fs == 0 || b->fs == 0) {
		return err_set(e, -ENOTRECOVERABLE, "FS bases %#lx and %#lx: expected two", a->fs,
			       b->fs);
	}
	if (p->gs && (a->gs == b->gs || a->gs < FOUR_GIB || b->gs < FOUR_GIB)) {
		return err_set(e, -ENOTRECOVERABLE,
			       "GS bases %#lx and %#lx: expected two above 4 GiB", a->gs, b->gs);
	}
	if (!p->gs && (a->gs != 0 || b->gs != 0)) {
		return err_set(e, -ENOTRECOVERABLE, "GS bases %#lx and %#lx: expected none", a->gs,
			       b->gs);
	}
	return 0;
}

/* One memory or two, as the benchmark's name says. */
static int check_memory(const struct pingpong *p, struct err *e)
{
	bool shared = private_word == 1;

	return shared != p->proc ? 0
				 : err_set(e, -ENOTRECOVERABLE,
					   "the partner %s our memory, expected the opposite",
					   shared ? "shares" : "does not share");
}

static int start_thread(struct pingpong *p, struct err *e)
{
	pthread_attr_t attr;
	int r;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	r = pthread_create(&p->thread, &attr, partner, p);
	pthread_attr_destroy(&attr);
	return r != 0 ? err_errno(e, -r, "pthread_create") : 0;
}

/* In the process of the partner. A fork takes along neither locks on memory nor the NOPTI flag. */
static void __attribute__((noreturn)) run_process(struct pingpong *p)
{
	void *failed = p;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	machine_lock();
	if (nopti_take(p->machine, &p->partner.err) == 0 && start_thread(p, &p->partner.err) == 0) {
		pthread_join(p->thread, &failed);
	}
	_exit(failed ? PARTNER_FAILED : 0);
}

static int start_process(struct pingpong *p, struct err *e)
{
	pid_t pid = fork(); /* not straight into what both share */

	if (pid == 0) {
		run_process(p);
	}
	if (pid < 0) {
		return err_errno(e, -errno, "fork");
	}
	p->pid = pid;
	/* Pages that both still have in common would be copied when first written to. */
	machine_lock();
	return 0;
}

static int start_partner(struct pingpong *p, struct err *e)
{
	int r = p->proc ? start_process(p, e) : start_thread(p, e);
	char c;

	if (r < 0) {
		return r;
	}
	if (p->proc) {
		close(p->ready[1]); /* its end is then the end of the other process */
	}
	while (read(p->ready[0], &c, 1) < 0 && errno == EINTR) {
	}
	if (p->tid == 0 || p->partner.err.code < 0) {
		return err_set(e, -ENOTRECOVERABLE, "partner: %s",
			       *p->partner.err.text ? p->partner.err.text : "it did not start");
	}
	return 0;
}

/* The partner's status, for its context switches. */
static int open_peer(const struct pingpong *p, int *ret_fd, struct err *e)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", p->pid, p->tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		return err_errno(e, -errno, "%s", path);
	}
	*ret_fd = fd;
	return 0;
}

static bool join_partner(struct pingpong *p)
{
	void *failed = p;
	int status = 0;

	if (!p->proc) {
		pthread_join(p->thread, &failed);
		return !failed;
	}
	while (waitpid(p->pid, &status, 0) < 0 && errno == EINTR) {
	}
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static int ctxsw_finish(struct run *r, struct err *e)
{
	struct pingpong *p = r->state;
	int ret = check_bases(p, &p->main);

	if (ret < 0) {
		return err_set(e, ret, "%s", p->main.err.text);
	}
	atomic_store(&p->stop, true);
	atomic_store(&p->turn, 1);
	futex_wake(p, p->proc ? 0 : FUTEX_PRIVATE_FLAG);
	if (p->way == WAY_PIPE) {
		call4(SYS_write, p->there[1], (long)"", 1, 0);
	}
	return join_partner(p) ? 0
			       : err_set(e, -ENOTRECOVERABLE, "partner: %s",
					 *p->partner.err.text ? p->partner.err.text : "it died");
}

static int ctxsw_setup(struct run *r, struct err *e)
{
	struct pingpong *p =
		mmap(NULL, sizeof(*p), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED) {
		return err_errno(e, -errno, "mmap");
	}
	p->way = VARIANT_WAY(r->bench->variant);
	p->gs = VARIANT_GS(r->bench->variant);
	p->proc = VARIANT_PROC(r->bench->variant);
	p->machine = r->machine;
	r->state = p;
	if (pipe(p->there) < 0 || pipe(p->back) < 0 || pipe(p->ready) < 0) {
		return err_errno(e, -errno, "pipe");
	}
	if (set_bases(p, &p->main) < 0) {
		return err_set(e, p->main.err.code, "%s", p->main.err.text);
	}
	if (start_partner(p, e) < 0 || check_memory(p, e) < 0 ||
	    (p->proc && open_peer(p, &r->peer_fd, e) < 0)) {
		return e->code;
	}
	r->bench->loop(p, 1); /* now the partner waits where it always will */
	return check_distinct(p, e);
}

#define ROW(way_name, way_loop, way, proc, gs, n)                                               \
	{                                                                                       \
		.name = "ctxsw." way_name, .unit = "switch", .calls = (n), .calls_of_loop = 2,  \
		.switches = true, .probe = "switch_to.fsgs", .variant = VARIANT(way, proc, gs), \
		.setup = ctxsw_setup, .loop = (way_loop), .empty = empty_loop,                  \
		.finish = ctxsw_finish                                                          \
	}

/* A batch is 200,000 to 300,000 instructions: a quarter of a timer tick, where slow. */
const struct bench bench_ctxsw[] = {
	ROW("futex.fs", futex_loop, WAY_FUTEX, 0, 0, 100),
	ROW("futex.fsgs", futex_loop, WAY_FUTEX, 0, 1, 100),
	ROW("futex.proc.fs", futex_proc_loop, WAY_FUTEX, 1, 0, 80),
	ROW("futex.proc.fsgs", futex_proc_loop, WAY_FUTEX, 1, 1, 80),
	ROW("pipe.fs", pipe_loop, WAY_PIPE, 0, 0, 80),
	ROW("pipe.fsgs", pipe_loop, WAY_PIPE, 0, 1, 80),
	ROW("pipe.proc.fs", pipe_loop, WAY_PIPE, 1, 0, 80),
	ROW("pipe.proc.fsgs", pipe_loop, WAY_PIPE, 1, 1, 80),
	ROW("yield.fs", yield_loop, WAY_YIELD, 0, 0, 200),
	ROW("yield.fsgs", yield_loop, WAY_YIELD, 0, 1, 200),
	ROW("yield.proc.fs", yield_loop, WAY_YIELD, 1, 0, 200),
	ROW("yield.proc.fsgs", yield_loop, WAY_YIELD, 1, 1, 200),
};
const size_t bench_ctxsw_count = ARRAY_SIZE(bench_ctxsw);
