/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What --stats asks for beyond the counters of exits.h: how long each exit to user space kept its
 * vCPU, as a histogram by phase and place, and what the host did to the vCPU's thread in each
 * phase.
 *
 * A vCPU has its own, made and touched before it runs, so the path of an exit finds it in memory:
 * nothing is allocated there, and no lock is taken. The vCPU's thread writes; others read when that
 * has ended. A machine that is not asked for it has none, and vcpu.c then runs a loop without it.
 *
 * The histogram is that of abi/calltime.h: a bucket is at most 1/32 of its lowest value wide.
 */
#ifndef VMM_EXIT_STATS_H
#define VMM_EXIT_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/calltime.h"
#include "base/cleanup.h"
#include "vmm/exits.h"
#include "vmm/thread_counters.h"
#include "vmm/vmm.h"

/* A row of exits.h each, then what has no row by its reason. */
#define EXIT_STATS_CELLS (EXITS_ROWS + EXITS_REASONS)

struct exit_cell {
	uint64_t count;
	uint64_t sum, min, max; /* ticks of the host's TSC; min and max mean nothing at count 0 */
	uint32_t hist[CALLTIME_HIST_BUCKETS];
};

struct exit_phase {
	struct exit_cell cells[EXIT_STATS_CELLS];
	struct thread_counters thread; /* that much in this phase, or COUNTER_NONE */
};

struct exit_stats {
	struct exit_phase phases[MACHINE_PHASES];
	enum machine_phase phase;    /* that the thread's counters were last read for */
	struct thread_counters then; /* as they were read */
	bool begun;                  /* they were */
};

int exit_stats_create(struct exit_stats **ret) __must_check;
void exit_stats_destroy(struct exit_stats *s);
void exit_cell_add(struct exit_cell *c, uint64_t ticks);
uint64_t exit_cell_quantile(const struct exit_cell *c, unsigned int permille);
void exit_stats_thread(struct exit_stats *s, enum machine_phase next,
		       const struct thread_counters *now);

/* The cell of an exit; @row is what vcpu_dispatch() returned. */
static inline struct exit_cell *exit_stats_cell(struct exit_stats *s, enum machine_phase phase,
						const struct exits *x, uint32_t reason,
						const struct exit_counter *row)
{
	size_t at;

	if (row) {
		at = ((size_t)((const char *)row - (const char *)x->rows)) / sizeof(x->rows[0]);
	} else {
		at = EXITS_ROWS + (reason < EXITS_REASONS ? reason : EXITS_REASONS - 1);
	}
	return &s->phases[phase].cells[at];
}

#endif
