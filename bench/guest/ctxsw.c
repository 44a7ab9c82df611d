/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ctxsw: two threads of one process on one CPU hand a turn to each other, over a futex, a pair of
 * pipes or sched_yield(). One turn of the loop is a round trip: two context switches.
 *
 * The threads always have FS bases of their own (their thread-local storage). In the "fs" variants
 * GS is 0 as in any ordinary program; in "fsgs" each has a GS base of its own as well, above 4 GiB,
 * pointing to a page that holds its address, so that what the register really holds can be seen.
 */
#include "bench.h"

#include <asm/prctl.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STACK_BYTES 65536
#define PAGE_BYTES  4096
#define FOUR_GIB    (1ULL << 32)

enum way { WAY_FUTEX, WAY_PIPE, WAY_YIELD };

#define VARIANT(way, gs) ((way) << 1 | (gs))
#define VARIANT_WAY(v)   ((enum way)((v) >> 1))
#define VARIANT_GS(v)    ((v)&1)

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
	bool gs;
	const struct machine *machine;
	struct side main, partner;
	sem_t ready;
	pthread_t thread;
};

static inline long call4(long nr, long a, long b, long c, long d)
{
	register long r10 __asm__("r10") = d;
	long r = nr;

	__asm__ volatile("syscall"
			 : "+a"(r)
			 : "D"(a), "S"(b), "d"(c), "r"(r10)
			 : "rcx", "r11", "memory");
	return r;
}

/* Hand the turn over and wait until it is back. */
static inline void futex_turn(struct pingpong *p, unsigned int mine)
{
	atomic_store_explicit(&p->turn, !mine, memory_order_release);
	call4(SYS_futex, (long)&p->turn, FUTEX_WAKE_PRIVATE, 1, 0);
	while (atomic_load_explicit(&p->turn, memory_order_acquire) != mine) {
		call4(SYS_futex, (long)&p->turn, FUTEX_WAIT_PRIVATE, !mine, 0);
	}
}

static void futex_loop(void *state, unsigned int turns)
{
	struct pingpong *p = state;

	do {
		futex_turn(p, 0);
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

static void partner_loop(struct pingpong *p)
{
	char c = 0;

	switch (p->way) {
	case WAY_FUTEX:
		while (atomic_load(&p->turn) != 1) {
			call4(SYS_futex, (long)&p->turn, FUTEX_WAIT_PRIVATE, 0, 0);
		}
		while (!atomic_load_explicit(&p->stop, memory_order_relaxed)) {
			futex_turn(p, 1);
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

	sem_post(&p->ready);
	if (r == 0) {
		partner_loop(p);
		r = check_bases(p, &p->partner);
	}
	if (r == 0) {
		r = machine_check_cpu(p->machine, &p->partner.err);
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

static int start_partner(struct pingpong *p, struct err *e)
{
	pthread_attr_t attr;
	int r;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	r = pthread_create(&p->thread, &attr, partner, p);
	pthread_attr_destroy(&attr);
	if (r != 0) {
		return err_errno(e, -r, "pthread_create");
	}
	while (sem_wait(&p->ready) < 0) {
	}
	return 0;
}

static int ctxsw_finish(struct run *r, struct err *e)
{
	struct pingpong *p = r->state;
	void *failed;
	int ret = check_bases(p, &p->main);

	if (ret < 0) {
		return err_set(e, ret, "%s", p->main.err.text);
	}
	atomic_store(&p->stop, true);
	atomic_store(&p->turn, 1);
	call4(SYS_futex, (long)&p->turn, FUTEX_WAKE_PRIVATE, 1, 0);
	if (p->way == WAY_PIPE) {
		call4(SYS_write, p->there[1], (long)"", 1, 0);
	}
	pthread_join(p->thread, &failed);
	return failed ? err_set(e, -ENOTRECOVERABLE, "partner: %s", p->partner.err.text) : 0;
}

static int ctxsw_setup(struct run *r, struct err *e)
{
	/* One benchmark a process, so this is as good as its own memory. */
	static struct pingpong pingpong;
	struct pingpong *p = &pingpong;

	p->way = VARIANT_WAY(r->bench->variant);
	p->gs = VARIANT_GS(r->bench->variant);
	p->machine = r->machine;
	r->state = p;
	if (pipe(p->there) < 0 || pipe(p->back) < 0 || sem_init(&p->ready, 0, 0) < 0) {
		return err_errno(e, -errno, "pipe");
	}
	if (set_bases(p, &p->main) < 0) {
		return err_set(e, p->main.err.code, "%s", p->main.err.text);
	}
	if (start_partner(p, e) < 0) {
		return e->code;
	}
	if (p->partner.err.code < 0) {
		return err_set(e, p->partner.err.code, "partner: %s", p->partner.err.text);
	}
	r->bench->loop(p, 1); /* now the partner waits where it always will */
	return check_distinct(p, e);
}

#define ROW(way_name, way_loop, way, gs_name, with_gs, n)                                   \
	{                                                                                   \
		.name = "ctxsw." way_name "." gs_name, .unit = "switch", .calls = (n),      \
		.calls_of_loop = 2, .switches = true, .probe = true,                        \
		.variant = VARIANT(way, with_gs), .setup = ctxsw_setup, .loop = (way_loop), \
		.empty = empty_loop, .finish = ctxsw_finish                                 \
	}

/* A batch is 200,000 to 300,000 instructions: a quarter of a timer tick, where slow. */
const struct bench bench_ctxsw[] = {
	ROW("futex", futex_loop, WAY_FUTEX, "fs", 0, 100),
	ROW("futex", futex_loop, WAY_FUTEX, "fsgs", 1, 100),
	ROW("pipe", pipe_loop, WAY_PIPE, "fs", 0, 80),
	ROW("pipe", pipe_loop, WAY_PIPE, "fsgs", 1, 80),
	ROW("yield", yield_loop, WAY_YIELD, "fs", 0, 200),
	ROW("yield", yield_loop, WAY_YIELD, "fsgs", 1, 200),
};
const size_t bench_ctxsw_count = ARRAY_SIZE(bench_ctxsw);
