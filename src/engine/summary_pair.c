/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From the boots of two arms, or from two benchmarks of one arm, to the rows of a report. */
#include "engine/summary_priv.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "stats/order.h"

static const struct plan_group *group_of(const struct summary_pair *p)
{
	return &p->c->plan.groups[p->group];
}

/* The boots of the group: from the first slot on, block by block. */
static size_t block_boots(const struct summary_pair *p)
{
	return 2 * group_of(p)->arm_count;
}

static size_t first_slot(const struct summary_pair *p, unsigned int block)
{
	return plan_first_boot(&p->c->plan, p->group) + block * block_boots(p);
}

static size_t end_slot(const struct summary_pair *p)
{
	return first_slot(p, group_of(p)->blocks);
}

/* Whether a boot is of this comparison: of the baseline or of the arm. */
static bool is_ours(const struct summary_pair *p, size_t slot)
{
	unsigned int arm = p->c->plan.boots[slot].arm;

	return arm == p->arm || (arm == ARM_A && !p->against);
}

/* A boot that counts: recorded, and its guest gave all that the plan asks for. */
static const struct boot_record *whole_boot(const struct summary_pair *p, size_t slot)
{
	char why[COMPARISON_WHY_MAX];
	const struct boot_record *r = is_ours(p, slot) ? p->c->boots[slot] : NULL;

	return r && comparison_judge(p->c, r, why, sizeof(why)) == BOOT_WHOLE ? r : NULL;
}

static int add_row(struct summary_pair *p, const struct boot_bench *b)
{
	struct report *rep = &p->report;
	struct report_bench *bench = &rep->benches[rep->n_benches];
	struct summary_row *row = &p->rows[rep->n_benches];

	assert(rep->n_benches < p->room);
	row->blocks = calloc(group_of(p)->blocks, sizeof(*row->blocks));
	if (!row->blocks) {
		return -ENOMEM;
	}
	*bench = (struct report_bench){
		.name = b->name,
		.per = b->per_call,
		.calls = b->calls,
		.units_hz = b->units_hz,
		.is_probe = b->is_probe,
		.blocks = row->blocks,
	};
	rep->n_benches++;
	return 0;
}

static bool has_row(const struct report *rep, const char *name)
{
	for (size_t i = 0; i < rep->n_benches; i++) {
		if (strcmp(rep->benches[i].name, name) == 0) {
			return true;
		}
	}
	return false;
}

/* Whether a record's numbers make a row under benchmark i of the list. */
static bool wants_row(const struct summary_pair *p, size_t i, const struct boot_bench *b)
{
	const char *at = b->is_probe ? strchr(b->name, '@') : NULL;

	if (p->against) {
		return strcmp(b->name, p->bench) == 0;
	}
	return benchmark_in(group_of(p)->benches, i) &&
	       strcmp(at ? at + 1 : b->name, benchmark_name(i)) == 0;
}

/* The rows: each benchmark of the group, and behind it the probes that counted while it ran. */
static int make_rows(struct summary_pair *p)
{
	struct report *rep = &p->report;

	for (size_t slot = first_slot(p, 0); slot < end_slot(p); slot++) {
		const struct boot_record *r = p->c->boots[slot];

		p->room += r ? r->bench_count : 0;
	}
	rep->benches = calloc(p->room + 1, sizeof(*rep->benches));
	p->rows = calloc(p->room + 1, sizeof(*p->rows));
	if (!rep->benches || !p->rows) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < benchmark_count(); i++) {
		for (size_t slot = first_slot(p, 0); slot < end_slot(p); slot++) {
			const struct boot_record *r = whole_boot(p, slot);

			for (size_t k = 0; r && k < r->bench_count; k++) {
				const struct boot_bench *b = &r->benches[k];

				if (wants_row(p, i, b) && !has_row(rep, b->name) &&
				    add_row(p, b) < 0) {
					return -ENOMEM;
				}
			}
		}
	}
	return 0;
}

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

/*
 * A boot's value: the median of its clean batches. Where fewer than half are clean it still counts,
 * but is told of: what disturbs so often may well have disturbed the rest unseen.
 */
static int boot_value(struct summary_pair *p, size_t row, size_t slot, int side, double *ret,
		      bool *ret_has)
{
	struct report_bench *bench = &p->report.benches[row];
	const char *name = p->against && side == STATS_A ? p->against : bench->name;
	const struct boot_bench *b = boot_record_find(p->c->boots[slot], name);
	char why[64];
	size_t n = 0;

	*ret_has = false;
	if (!b || b->error) {
		no_value(p, row, slot, side, b ? b->error : "the probe counted nothing");
		return 0;
	}
	if (b->is_probe) {
		bench->samples[side] += b->samples;
		*ret = b->units[0];
		*ret_has = true;
		return 0;
	}
	count_batches(b, &bench->batches[side]);
	if (b->calls != bench->calls) {
		bench->calls = 0;
	}
	if (b->batch_count > p->scratch_room) {
		double *more = realloc(p->scratch, b->batch_count * sizeof(*more));

		if (!more) {
			return -ENOMEM;
		}
		p->scratch = more;
		p->scratch_room = b->batch_count;
	}
	for (size_t i = 0; i < b->batch_count; i++) {
		if (!b->dirty[i]) {
			p->scratch[n++] = b->units[i];
		}
	}
	if (n == 0) {
		snprintf(why, sizeof(why), "all %zu batches were disturbed", b->batch_count);
		no_value(p, row, slot, side, why);
		return 0;
	}
	p->rows[row].mostly_dirty[side] += 2 * n < b->batch_count;
	*ret_has = true;
	return stats_median(p->scratch, n, ret);
}

/* Takes the values of one boot: one side's, or both where the sides are of the same boots. */
static int take_boot(struct summary_pair *p, size_t row, size_t slot, struct stats_block *block,
		     size_t *n)
{
	int first = p->against || p->c->plan.boots[slot].arm == ARM_A ? STATS_A : STATS_B;
	int last = p->against ? STATS_B : first;

	for (int side = first; side <= last; side++) {
		double value;
		bool has;
		int r = boot_value(p, row, slot, side, &value, &has);

		if (r < 0) {
			return r;
		}
		if (has) {
			(side == STATS_A ? block->a : block->b)[n[side]++] = value;
		}
	}
	return 0;
}

static void count_lost(struct summary_pair *p, size_t row, size_t slot)
{
	size_t *lost = p->report.benches[row].boots_lost;

	if (!is_ours(p, slot) || !p->c->boots[slot]) {
		return;
	}
	if (p->against) {
		lost[STATS_A]++;
		lost[STATS_B]++;
	} else {
		lost[p->c->plan.boots[slot].arm == ARM_A ? STATS_A : STATS_B]++;
	}
}

static void warn_of_dirt(const struct summary_pair *p, size_t row)
{
	for (int side = 0; side < 2; side++) {
		size_t n = p->rows[row].mostly_dirty[side];
		unsigned int arm = side == STATS_A && !p->against ? ARM_A : p->arm;

		if (n) {
			log_warn("%s, arm %c: in %zu boots more than half of the batches were "
				 "disturbed; their values are of the rest",
				 p->report.benches[row].name, arm_letter(arm), n);
		}
	}
}

/* Puts a benchmark's boots together into blocks; a block counts when each side has both boots. */
static int fill_row(struct summary_pair *p, size_t row)
{
	struct report_bench *bench = &p->report.benches[row];

	for (unsigned int k = 0; k < group_of(p)->blocks; k++) {
		struct stats_block block = {0};
		size_t n[2] = {0};

		for (size_t slot = first_slot(p, k); slot < first_slot(p, k + 1); slot++) {
			int r = 0;

			if (whole_boot(p, slot)) {
				r = take_boot(p, row, slot, &block, n);
			} else {
				count_lost(p, row, slot);
			}
			if (r < 0) {
				return r;
			}
		}
		if (n[STATS_A] == 2 && n[STATS_B] == 2) {
			p->rows[row].blocks[bench->n_blocks++] = block;
		}
	}
	warn_of_dirt(p, row);
	return 0;
}

/*
 * The name that a scenario gives; else arms of one kernel are told apart by their parameters, and
 * others by the kernel first.
 */
static void make_label(const struct plan_group *g, const struct plan_arm *arm, bool same, char *buf,
		       size_t len)
{
	const struct arm *a = &arm->arm;
	const char *task = arm_task_name(a->task);

	if (arm->name) {
		snprintf(buf, len, "%s", arm->name);
	} else {
		snprintf(buf, len, "%s%s%s%s%s%s%s", same && *a->append ? "" : a->kernel,
			 !same && *a->append ? " " : "", a->append, a->cpu ? ", cpu " : "",
			 a->cpu ? a->cpu : "", task ? ", task " : "", task ? task : "");
	}
}

static const char *or_null(const char *text)
{
	return text && *text ? text : NULL;
}

static bool same_cpu(const struct arm *a, const struct arm *b)
{
	return a->cpu && b->cpu ? strcmp(a->cpu, b->cpu) == 0 : a->cpu == b->cpu;
}

static void fill_arms(struct summary_pair *p)
{
	const struct plan_group *g = group_of(p);
	const struct plan_arm *sides[2] = {&g->arms[p->against ? p->arm : ARM_A], &g->arms[p->arm]};
	bool same_name = strcmp(sides[0]->arm.kernel, sides[1]->arm.kernel) == 0;
	struct report *rep = &p->report;

	rep->same_image = strcmp(sides[0]->sha256, sides[1]->sha256) == 0;
	rep->same_arm = !p->against && rep->same_image &&
			strcmp(sides[0]->arm.append, sides[1]->arm.append) == 0 &&
			same_cpu(&sides[0]->arm, &sides[1]->arm) &&
			sides[0]->arm.task == sides[1]->arm.task;
	for (int side = 0; side < 2; side++) {
		make_label(g, sides[side], same_name, p->labels[side], sizeof(p->labels[side]));
		rep->arms[side] = (struct report_arm){
			.letter = arm_letter(side == STATS_A && !p->against ? ARM_A : p->arm),
			.label = p->labels[side],
			.kernel = sides[side]->arm.kernel,
			.kernel_sha256 = sides[side]->sha256,
			.append = sides[side]->arm.append,
			.task = arm_task_name(sides[side]->arm.task),
		};
	}
}

static void fill_head(struct summary_pair *p)
{
	const struct boot_record *first = p->c->first;
	const struct plan *plan = &p->c->plan;
	struct report *rep = &p->report;

	rep->ringside_version = plan->ringside_version;
	rep->seed = plan->seed;
	rep->backend = plan->backend;
	rep->group = group_of(p)->name;
	rep->blocks_planned = group_of(p)->blocks;
	fill_arms(p);
	if (first) {
		rep->class = first->exec_class;
		rep->ticks_per_unit = (unsigned int)first->ticks_per_unit;
		rep->host_cpu = or_null(first->host_cpu);
		rep->host_kernel = or_null(first->host_kernel);
		rep->host_clock = or_null(first->host_clock);
		rep->qemu_version = or_null(first->qemu_version);
	}
	for (unsigned int k = 0; k < group_of(p)->blocks; k++) {
		size_t whole = 0;

		for (size_t slot = first_slot(p, k); slot < first_slot(p, k + 1); slot++) {
			const struct boot_record *r = whole_boot(p, slot);
			struct report_arm *arm =
				&rep->arms[plan->boots[slot].arm == ARM_A && !p->against ? STATS_A
											 : STATS_B];

			whole += r != NULL;
			if (r && !arm->kernel_version) {
				arm->kernel_version = or_null(r->kernel_version);
			}
		}
		rep->blocks_complete += whole == (p->against ? 2 : 4);
	}
}

/**
 * summary_pair_init() - fill the report of one comparison, but for what is computed
 * @p: all zero but for its first members; end it with summary_pair_fini(), also on failure
 * @e: set on failure
 *
 * Return: 0 or -ENOMEM.
 * Context: main thread.
 */
int summary_pair_init(struct summary_pair *p, struct err *e)
{
	int r;

	p->report = (struct report)REPORT_INIT;
	r = make_rows(p);
	for (size_t i = 0; r == 0 && i < p->report.n_benches; i++) {
		r = fill_row(p, i);
	}
	if (r < 0) {
		return err_set(e, r, "making the report: %s", strerror(-r));
	}
	fill_head(p);
	return 0;
}

/**
 * summary_pair_fini() - free what a pair holds, but for what was computed
 * @p: the pair; all zero or half built is fine
 *
 * Context: main thread.
 */
void summary_pair_fini(struct summary_pair *p)
{
	for (size_t i = 0; p->rows && i < p->report.n_benches; i++) {
		free(p->rows[i].blocks);
	}
	free(p->rows);
	free(p->report.benches);
	free(p->scratch);
	*p = (struct summary_pair){0};
}
