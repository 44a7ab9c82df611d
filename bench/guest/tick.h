/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps batches out of the way of the timer tick: a batch that would not end before the next one is
 * begun right after it instead. What is measured stays the same, but far fewer batches are dirty.
 */
#ifndef BENCH_TICK_H
#define BENCH_TICK_H

#include <stdbool.h>
#include <stdint.h>

struct tick {
	uint64_t last; /* TSC when a tick was seen */
	uint64_t
		length; /* TSC ticks from one to the next; 0: unknown, nothing is ever waited for */
};

uint64_t tick_measure(void);
uint64_t tick_measure_tsc_hz(void);
bool tick_is_in_the_way(const struct tick *t, uint64_t now, uint64_t need);
void tick_avoid(struct tick *t, uint64_t need);

#endif
