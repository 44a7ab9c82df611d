/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What brought a vCPU back to us, counted: by reason, and by port or address in a small table.
 * The vCPU's thread writes, others may read at any time: counters are relaxed atomics, a row's key
 * is set once and before its first count. What finds no row any more is still counted by reason.
 */
#ifndef VMM_EXITS_H
#define VMM_EXITS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define EXITS_REASONS 64 /* a higher number counts as the last */
#define EXITS_ROWS    128
#define EXITS_PROBES  8 /* rows looked at for one key */

enum exit_access { EXIT_IN = 1, EXIT_OUT, EXIT_READ, EXIT_WRITE };

struct exit_counter {
	_Atomic uint64_t count;
	_Atomic uint64_t ticks; /* of the host's TSC */
};

struct exit_row {
	_Atomic uint64_t address;
	_Atomic uint32_t access; /* enum exit_access; 0: free */
	struct exit_counter counter;
};

struct exits {
	struct exit_counter total;
	struct exit_counter reasons[EXITS_REASONS];
	struct exit_row rows[EXITS_ROWS];
};

struct exit_counter *exits_row(struct exits *x, enum exit_access access, uint64_t address);
const char *exits_access_name(uint32_t access);

static inline void exit_counter_add(struct exit_counter *c, uint64_t count, uint64_t ticks)
{
	/* One writer: a load and a store are enough, and need no locked instruction. */
	atomic_store_explicit(&c->count,
			      atomic_load_explicit(&c->count, memory_order_relaxed) + count,
			      memory_order_relaxed);
	atomic_store_explicit(&c->ticks,
			      atomic_load_explicit(&c->ticks, memory_order_relaxed) + ticks,
			      memory_order_relaxed);
}

static inline uint64_t exit_counter_count(const struct exit_counter *c)
{
	return atomic_load_explicit(&c->count, memory_order_relaxed);
}

static inline uint64_t exit_counter_ticks(const struct exit_counter *c)
{
	return atomic_load_explicit(&c->ticks, memory_order_relaxed);
}

#endif
