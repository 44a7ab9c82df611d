/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The benchmark program of a guest: what its files share.
 *
 * Each benchmark runs in a process of its own, forked from the same parent, so that none meets what
 * an earlier one left behind. Within it one thread measures, pinned to one CPU with all memory
 * locked, in batches: see batch.c. On a machine that is not a guest (RINGSIDE_GUEST is not set) it
 * is an ordinary user-space program that touches no port.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/err.h"

/* What a benchmark's process tells its parent, whichever way it ends. */
struct shared {
	uint32_t windows; /* opened so far in this boot */
	char error[ERR_TEXT_MAX];
};

/* Facts that stay the same for all benchmarks of the process tree, and what the batches need. */
struct machine {
	int cpu;             /* where everything is pinned to */
	int port_fd;         /* /dev/port, or -1: no marks */
	int interrupts_fd;   /* /proc/interrupts, or -1 */
	bool fifo;           /* SCHED_FIFO was granted */
	bool fsgsbase;       /* AT_HWCAP2: user space may use the instructions */
	bool nopti;          /* each benchmark's process asks for it: abi/nopti.h */
	bool pti;            /* the kernel isolates page tables */
	uint64_t tick_ticks; /* TSC ticks from one timer tick to the next; 0: not found out */
	struct shared *shared;
	unsigned int stack_pad; /* bytes */
};

int machine_init(struct machine *m, bool marks, struct err *e) __must_check;
int machine_settle(struct machine *m, struct err *e) __must_check;
void machine_lock(void);
int machine_check_cpu(const struct machine *m, struct err *e) __must_check;
uint64_t machine_interrupts(const struct machine *m);
uint64_t machine_switches(int peer_fd);
void machine_mark(const struct machine *m, uint8_t code);

/* Sums the column of one CPU in the text of /proc/interrupts. */
uint64_t interrupts_parse(const char *text, int cpu);

/* Context switches of either kind in the text of /proc/<tid>/status. */
uint64_t switches_parse(const char *text);

struct bench;

/* One run of one benchmark. */
struct run {
	struct machine *machine;
	const struct bench *bench;
	unsigned int batches, warmup;
	unsigned int calls;                      /* units in a batch */
	uint32_t window0;                        /* number of the first window in the boot */
	uint64_t *ticks, *empty, *irqs, *nivcsw; /* one number a batch */
	int bank;                                /* of the calltime pass; -1: there was none */
	uint64_t ticks_hz; /* set by setup() where a rate is asked for; 0: it is not */
	int peer_fd; /* status of a partner in another process, whose switches count too; or -1 */
	void *state; /* the benchmark's own */
};

struct bench {
	const char *name;
	const char *unit;           /* of a call: "call", "switch" */
	unsigned int calls;         /* units in a batch, by default */
	unsigned int calls_of_loop; /* units that one turn of the loop is */
	bool switches;              /* a unit is a context switch, counted and asserted */
	const char *probe;          /* of the calltime pass; NULL: there is none */
	unsigned int pass_calls;    /* units in that pass; 0: CALLTIME_PASS_CALLS */
	bool long_batches;          /* longer than a timer tick, whose interrupts belong to them */
	bool waits;                 /* for others: its context switches disturb nothing */
	bool elsewhere;             /* the arm's task is not our process: setup() sees to it */
	int variant;                /* for setup() */
	int (*setup)(struct run *r, struct err *e);
	void (*prepare)(void *state); /* before each batch, not timed; or NULL */
	void (*loop)(void *state, unsigned int turns);
	void (*empty)(void *state, unsigned int turns); /* the same loop around nothing */
	/* Instead of loop and empty: a batch that the kernel times, both ways. */
	int (*batch)(struct run *r, unsigned int turns, uint64_t *ret_ticks, uint64_t *ret_empty,
		     struct err *e);
	int (*finish)(struct run *r, struct err *e); /* asserts, and frees the state */
};

/* syscall.c, ctxsw.c, uaccess.c, kvmwalk.c and conn.c */
extern const struct bench bench_syscall[];
extern const size_t bench_syscall_count;
extern const struct bench bench_ctxsw[];
extern const size_t bench_ctxsw_count;
extern const struct bench bench_uaccess[];
extern const size_t bench_uaccess_count;
extern const struct bench bench_kvmwalk[];
extern const size_t bench_kvmwalk_count;
extern const struct bench bench_conn[];
extern const size_t bench_conn_count;

/* nopti.c */
bool nopti_pti_in_force(void);
bool nopti_parse_cpuinfo(const char *text);
int nopti_require(const struct machine *m, struct err *e) __must_check;
int nopti_take(const struct machine *m, struct err *e) __must_check;
int nopti_check(const struct machine *m, struct err *e) __must_check;

/* batch.c */
#define BATCH_SETTLE_TURNS 2 /* of the loop, before each batch: the first may change things */
int batches_run(struct run *r, struct err *e) __must_check;

/* calltime.c */
#define CALLTIME_PASS_CALLS 4000 /* a sample each, and done within a second anywhere */
bool calltime_present(void);
int calltime_pass(struct run *r, int bank, struct err *e) __must_check;

/* result.c: one NDJSON line, which the caller frees */
int result_line(const struct run *r, char **ret, size_t *ret_len) __must_check;
int result_error_line(const char *name, const char *text, char **ret, size_t *ret_len) __must_check;

#endif
