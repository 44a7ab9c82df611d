/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From the boots of a pair to one benchmark's values. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/summary_priv.h"
#include "stats/order.h"
#include "stats/shape.h"

/* A step inside a boot is believed when chance would make it once in a thousand boots. */
#define STEP_ALPHA 0.001

static void count_batches(const struct boot_bench *b, struct report_batches *counts)
{
	for (size_t i = 0; i < b->batch_count; i++) {
		counts->total++;
		counts->dirty += b->dirty[i] != 0;
		for (unsigned int cause = 0; cause < DISTURBANCE_COUNT; cause++) {
			counts->by_cause[cause] += b->dirty[i] >> cause & 1;
		}
	}
}

/* Where @more values behind those that are there can be put; NULL without memory. */
static double *room_for(struct summary_values *v, size_t more)
{
	if (v->n + more > v->room) {
		size_t room = v->n + more > 2 * v->room ? v->n + more : 2 * v->room;
		double *x = realloc(v->x, room * sizeof(*x));

		if (!x) {
			return NULL;
		}
		v->x = x;
		v->room = room;
	}
	return v->x + v->n;
}

static void no_value(struct summary_pair *p, size_t row, size_t slot, int side, const char *why)
{
	char *error = p->rows[row].error;

	p->report.benches[row].boots_lost[side]++;
	if (!*error) {
		snprintf(error, sizeof(p->rows[row].error), "boot %zu (arm %c): %s", slot + 1,
			 arm_letter(p->c->plan.boots[slot].arm), why);
		p->report.benches[row].error = error;
	}
}

/* How far a boot's level moved while it was measured, where that is no accident; else 0. */
static int step_in(const double *x, size_t n, double *ret)
{
	struct stats_change change;
	int r = stats_change(x, n, &change);

	if (r == -ENODATA || r == -ENOTUNIQ) {
		*ret = 0;
		return 0;
	}
	if (r == 0) {
		*ret = change.p < STEP_ALPHA ? change.step : 0;
	}
	return r;
}

/* A boot's value: the median of its clean batches, which are kept for their arm. */
static int boot_value(struct summary_pair *p, size_t row, size_t slot, int side,
		      struct report_boot *ret, bool *ret_has)
{
	struct report_bench *bench = &p->report.benches[row];
	const char *name = p->against && side == STATS_A ? p->against : bench->name;
	const struct boot_bench *b = boot_record_find(p->c->boots[slot], name);
	char why[64];
	double *clean;
	size_t n = 0;
	int r;

	*ret_has = false;
	if (!b || b->error) {
		no_value(p, row, slot, side, b ? b->error : "the probe counted nothing");
		return 0;
	}
	if (b->is_probe) {
		bench->samples[side] += b->samples;
		ret->value = b->units[0];
		*ret_has = true;
		return histogram_add(&p->rows[row].histogram[side], &b->histogram);
	}
	count_batches(b, &bench->batches[side]);
	if (b->calls != bench->calls) {
		bench->calls = 0;
	}
	clean = room_for(&p->rows[row].clean[side], b->batch_count);
	if (!clean) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < b->batch_count; i++) {
		if (!b->dirty[i]) {
			clean[n++] = b->units[i];
		}
	}
	if (n == 0) {
		snprintf(why, sizeof(why), "all %zu batches were disturbed", b->batch_count);
		no_value(p, row, slot, side, why);
		return 0;
	}
	p->rows[row].clean[side].n += n;
	*ret_has = true;
	ret->empty = b->empty_ticks;
	r = step_in(clean, n, &ret->step);
	return r < 0 ? r : stats_median(clean, n, &ret->value);
}

/* Takes the values of one boot: one side's, or both where the sides are of the same boots. */
static int take_boot(struct summary_pair *p, size_t row, size_t slot, struct stats_block *block,
		     size_t *n)
{
	int first = p->against || p->c->plan.boots[slot].arm == p->base ? STATS_A : STATS_B;
	int last = p->against ? STATS_B : first;

	for (int side = first; side <= last; side++) {
		struct report_boot boot = {.slot = slot, .side = side};
		struct summary_row *to = &p->rows[row];
		bool has;
		int r = boot_value(p, row, slot, side, &boot, &has);

		if (r < 0) {
			return r;
		}
		if (has) {
			to->boots[to->n_boots++] = boot;
			(side == STATS_A ? block->a : block->b)[n[side]++] = boot.value;
		}
	}
	return 0;
}

static void count_lost(struct summary_pair *p, size_t row, size_t slot)
{
	size_t *lost = p->report.benches[row].boots_lost;

	if (!summary_is_ours(p, slot) || !p->c->boots[slot]) {
		return;
	}
	if (p->against) {
		lost[STATS_A]++;
		lost[STATS_B]++;
	} else {
		lost[p->c->plan.boots[slot].arm == p->base ? STATS_A : STATS_B]++;
	}
}

/**
 * summary_row_fill() - a benchmark's boots, and the blocks that they make
 * @p: the pair
 * @row: which of its report's benchmarks; its boots, blocks and batches are set
 *
 * A block counts when each side has both boots.
 *
 * Return: 0 or -ENOMEM.
 * Context: main thread.
 */
int summary_row_fill(struct summary_pair *p, size_t row)
{
	struct report_bench *bench = &p->report.benches[row];
	struct summary_row *from = &p->rows[row];

	for (unsigned int k = 0; k < summary_group_of(p)->blocks; k++) {
		struct stats_block block = {0};
		size_t n[2] = {0};
		size_t first = from->n_boots;

		for (size_t slot = summary_first_slot(p, k); slot < summary_first_slot(p, k + 1);
		     slot++) {
			int r = 0;

			if (summary_whole_boot(p, slot)) {
				r = take_boot(p, row, slot, &block, n);
			} else {
				count_lost(p, row, slot);
			}
			if (r < 0) {
				return r;
			}
		}
		if (n[STATS_A] == 2 && n[STATS_B] == 2) {
			from->blocks[bench->n_blocks++] = block;
			for (size_t i = first; i < from->n_boots; i++) {
				from->boots[i].counts = true;
			}
		}
	}
	bench->boots = from->boots;
	bench->n_boots = from->n_boots;
	for (int side = 0; side < 2; side++) {
		bench->clean[side] = from->clean[side].x;
		bench->n_clean[side] = from->clean[side].n;
		histogram_settle(&from->histogram[side]);
		bench->histogram[side] = from->histogram[side];
	}
	return 0;
}

/**
 * summary_row_fini() - free what a row holds
 * @row: the row; all zero is fine
 *
 * Context: main thread.
 */
void summary_row_fini(struct summary_row *row)
{
	free(row->blocks);
	free(row->boots);
	for (int side = 0; side < 2; side++) {
		free(row->clean[side].x);
		histogram_fini(&row->histogram[side]);
	}
}
