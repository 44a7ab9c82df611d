/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See exit_stats.h. */
#include "vmm/exit_stats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CACHE_LINE 64

static size_t bytes_of_stats(void)
{
	return (sizeof(struct exit_stats) + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

/**
 * exit_stats_create() - empty statistics of a vCPU, all of them in memory
 * @ret: set on success; the caller's to destroy
 *
 * Return: 0 or −ENOMEM.
 * Context: before the vCPU runs.
 */
int exit_stats_create(struct exit_stats **ret)
{
	struct exit_stats *s = aligned_alloc(CACHE_LINE, bytes_of_stats());

	if (!s) {
		return -ENOMEM;
	}
	/* Written and not only zero: the first exit of a kind is not to wait for its page. */
	memset(s, 0, bytes_of_stats());
	*ret = s;
	return 0;
}

/**
 * exit_stats_destroy() - free them
 * @s: statistics, or NULL
 *
 * Context: after the vCPU's thread has ended.
 */
void exit_stats_destroy(struct exit_stats *s)
{
	free(s);
}

/**
 * exit_cell_add() - count an exit
 * @c: its cell
 * @ticks: how long it kept us; what is over 2^32 falls into the last bucket
 *
 * Context: the vCPU's thread.
 */
void exit_cell_add(struct exit_cell *c, uint64_t ticks)
{
	if (c->count == 0 || ticks < c->min) {
		c->min = ticks;
	}
	if (ticks > c->max) {
		c->max = ticks;
	}
	c->count++;
	c->sum += ticks;
	c->hist[calltime_bucket(ticks < UINT32_MAX ? (uint32_t)ticks : UINT32_MAX)]++;
}

/**
 * exit_cell_quantile() - a quantile of the histogram
 * @c: a cell
 * @permille: which, 1 to 1000: 500 is the median
 *
 * Return: the lowest value of the bucket that the quantile lies in, ticks, but not less than the
 * smallest of all: it is too low by at most 1/32. 0 when nothing was counted.
 * Context: when nobody writes the cell.
 */
uint64_t exit_cell_quantile(const struct exit_cell *c, unsigned int permille)
{
	uint64_t rank = (c->count * permille + 999) / 1000, seen = 0;
	uint64_t low;

	for (uint32_t b = 0; b < CALLTIME_HIST_BUCKETS; b++) {
		seen += c->hist[b];
		if (c->hist[b] > 0 && seen >= rank) {
			low = calltime_bucket_low(b);
			return low < c->min ? c->min : low;
		}
	}
	return 0;
}

static void add_advance(uint64_t *sum, uint64_t from, uint64_t to)
{
	uint64_t d = counter_advance(from, to, 0);

	*sum = d == COUNTER_NONE || *sum == COUNTER_NONE ? COUNTER_NONE : *sum + d;
}

/**
 * exit_stats_thread() - the vCPU's thread has come to another phase, or to its start or end
 * @s: its statistics
 * @next: the phase that begins
 * @now: its counters; at the start the first ones, which count for nothing yet
 *
 * Context: the vCPU's thread.
 */
void exit_stats_thread(struct exit_stats *s, enum machine_phase next,
		       const struct thread_counters *now)
{
	struct thread_counters *sum = &s->phases[s->phase].thread;

	if (s->begun) {
		add_advance(&sum->steal_ns, s->then.steal_ns, now->steal_ns);
		add_advance(&sum->nivcsw, s->then.nivcsw, now->nivcsw);
	}
	s->begun = true;
	s->then = *now;
	s->phase = next;
}
