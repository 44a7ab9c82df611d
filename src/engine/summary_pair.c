/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From the boots of two arms, or from two benchmarks of one arm, to the rows of a report. */
#include "engine/compare.h"
#include "engine/summary_priv.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/**
 * summary_group_of() - the group that a pair compares in
 * @p: the pair
 *
 * Return: the plan's group.
 * Context: any thread.
 */
const struct plan_group *summary_group_of(const struct summary_pair *p)
{
	return &p->c->plan.groups[p->group];
}

/* The boots of the group: from the first slot on, block by block. */
static size_t block_boots(const struct summary_pair *p)
{
	return 2 * summary_group_of(p)->arm_count;
}

/**
 * summary_first_slot() - where a block begins
 * @p: the pair
 * @block: of its group, from 0; one behind the last gives where the group ends
 *
 * Return: the number of its first boot in the schedule, from 0.
 * Context: any thread.
 */
size_t summary_first_slot(const struct summary_pair *p, unsigned int block)
{
	return plan_first_boot(&p->c->plan, p->group) + block * block_boots(p);
}

static size_t end_slot(const struct summary_pair *p)
{
	return summary_first_slot(p, summary_group_of(p)->blocks);
}

/**
 * summary_is_ours() - is a boot of this pair: of the baseline or of the arm?
 * @p: the pair
 * @slot: number of the boot in the schedule
 *
 * Return: whether it is.
 * Context: any thread.
 */
bool summary_is_ours(const struct summary_pair *p, size_t slot)
{
	unsigned int arm = p->c->plan.boots[slot].arm;

	return arm == p->arm || (arm == p->base && !p->against);
}

/**
 * summary_whole_boot() - a boot that counts: recorded, and its guest gave all that was asked for
 * @p: the pair
 * @slot: number of the boot in the schedule
 *
 * Return: its record, or NULL.
 * Context: any thread.
 */
const struct boot_record *summary_whole_boot(const struct summary_pair *p, size_t slot)
{
	char why[COMPARISON_WHY_MAX];
	const struct boot_record *r = summary_is_ours(p, slot) ? p->c->boots[slot] : NULL;

	return r && comparison_judge(p->c, r, why, sizeof(why)) == BOOT_WHOLE ? r : NULL;
}

/* A row has a margin of its own where its benchmark, number @i, has. */
static void set_margin(const struct summary_pair *p, size_t i, struct report_bench *bench)
{
	const struct plan_group *g = summary_group_of(p);
	struct margin m = margin_of(g->margins, g->margin_count, i);

	if (g->margin_count > 0 && m.benches != MARGIN_BENCHES_ALL) {
		bench->margin_abs = m.units;
		bench->margin_rel = m.percent / 100;
	}
}

static int add_row(struct summary_pair *p, size_t i, const struct boot_bench *b)
{
	struct report *rep = &p->report;
	struct report_bench *bench = &rep->benches[rep->n_benches];
	struct summary_row *row = &p->rows[rep->n_benches];
	size_t blocks = summary_group_of(p)->blocks;
	const struct noise_floor *noise = p->against ? NULL : noise_find(&p->c->noise, b->name);

	assert(rep->n_benches < p->room);
	row->blocks = calloc(blocks, sizeof(*row->blocks));
	row->boots = calloc(4 * blocks, sizeof(*row->boots));
	if (!row->blocks || !row->boots) {
		summary_row_fini(row);
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
	set_margin(p, i, bench);
	if (noise) {
		bench->noise = noise->value;
		bench->noise_of = noise->comparisons;
		memcpy(bench->noise_blocks, noise->blocks, sizeof(noise->blocks));
	}
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
	return benchmark_in(summary_group_of(p)->benches, i) &&
	       strcmp(at ? at + 1 : b->name, benchmark_name(i)) == 0;
}

/* The rows: each benchmark of the group, and behind it the probes that counted while it ran. */
static int make_rows(struct summary_pair *p)
{
	struct report *rep = &p->report;

	for (size_t slot = summary_first_slot(p, 0); slot < end_slot(p); slot++) {
		const struct boot_record *r = p->c->boots[slot];

		p->room += r ? r->bench_count : 0;
	}
	rep->benches = calloc(p->room + 1, sizeof(*rep->benches));
	p->rows = calloc(p->room + 1, sizeof(*p->rows));
	if (!rep->benches || !p->rows) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < benchmark_count(); i++) {
		for (size_t slot = summary_first_slot(p, 0); slot < end_slot(p); slot++) {
			const struct boot_record *r = summary_whole_boot(p, slot);

			for (size_t k = 0; r && k < r->bench_count; k++) {
				const struct boot_bench *b = &r->benches[k];

				if (wants_row(p, i, b) && !has_row(rep, b->name) &&
				    add_row(p, i, b) < 0) {
					return -ENOMEM;
				}
			}
		}
	}
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
	const struct plan_group *g = summary_group_of(p);
	const struct plan_arm *sides[2] = {&g->arms[p->against ? p->arm : p->base],
					   &g->arms[p->arm]};
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
			.letter = arm_letter(side == STATS_A && !p->against ? p->base : p->arm),
			.label = p->labels[side],
			.kernel = sides[side]->arm.kernel,
			.kernel_sha256 = sides[side]->sha256,
			.append = sides[side]->arm.append,
			.task = arm_task_name(sides[side]->arm.task),
		};
	}
}

/* The names of the hosts, where there are several. */
static const char *list_hosts(struct summary_pair *p)
{
	size_t n = 0, len = 0;

	for (size_t i = 0; i < p->c->plan.boot_count; i++) {
		const struct boot_record *r = p->c->boots[i];
		bool seen = !r || !*r->host_name;

		/* Boots of one host stand together mostly: the search ends soon. */
		for (size_t k = i; !seen && k > 0; k--) {
			const struct boot_record *o = p->c->boots[k - 1];

			seen = o && strcmp(o->host_name, r->host_name) == 0;
		}
		if (!seen && len < sizeof(p->hosts)) {
			len += (size_t)snprintf(p->hosts + len, sizeof(p->hosts) - len, "%s%s",
						n++ ? ", " : "", r->host_name);
		}
	}
	return n > 1 ? p->hosts : NULL;
}

/* Of the whole group: it was planned together, and ends together. */
static void count_boots(struct summary_pair *p)
{
	struct report *rep = &p->report;

	rep->boots_planned = end_slot(p) - summary_first_slot(p, 0);
	for (size_t slot = summary_first_slot(p, 0); slot < end_slot(p); slot++) {
		rep->boots_recorded += p->c->boots[slot] != NULL;
	}
	/* Shards may each have gone on. */
	rep->boots_failed =
		p->c->failed[p->group] >= COMPARE_FAILED_MAX ? p->c->failed[p->group] : 0;
}

static void fill_head(struct summary_pair *p)
{
	const struct boot_record *first = p->c->first;
	const struct plan *plan = &p->c->plan;
	const struct plan_group *g = summary_group_of(p);
	/* Of the group: it is the first where it has one. */
	struct margin margin = margin_of(g->margins, g->margin_count > 0, BENCHMARKS_MAX - 1);
	struct report *rep = &p->report;

	rep->ringside_version = plan->ringside_version;
	rep->seed = plan->seed;
	rep->backend = plan->backend;
	rep->group = summary_group_of(p)->name;
	rep->blocks_by = plan->size.by;
	rep->pilot = plan->size.pilot;
	rep->pilot_blocks = plan->size.pilot_blocks;
	rep->blocks_planned = summary_group_of(p)->blocks;
	rep->hosts = list_hosts(p);
	rep->margin_abs = margin.units;
	rep->margin_rel = margin.percent / 100;
	fill_arms(p);
	count_boots(p);
	if (first) {
		rep->class = first->exec_class;
		rep->ticks_per_unit = (unsigned int)first->ticks_per_unit;
		rep->host_cpu = or_null(first->host_cpu);
		rep->host_kernel = or_null(first->host_kernel);
		rep->host_clock = or_null(first->host_clock);
		rep->qemu_version = or_null(first->qemu_version);
	}
	for (unsigned int k = 0; k < summary_group_of(p)->blocks; k++) {
		size_t whole = 0;

		for (size_t slot = summary_first_slot(p, k); slot < summary_first_slot(p, k + 1);
		     slot++) {
			const struct boot_record *r = summary_whole_boot(p, slot);
			struct report_arm *arm =
				&rep->arms[plan->boots[slot].arm == p->base && !p->against
						   ? STATS_A
						   : STATS_B];

			whole += r != NULL;
			if (r && !arm->kernel_version) {
				arm->kernel_version = or_null(r->kernel_version);
			}
		}
		rep->blocks_complete += whole == (p->against ? 2 : 4);
	}
}

/* What another program has booted may count otherwise than was thought. */
static int check_margins(const struct summary_pair *p, struct err *e)
{
	const struct plan_group *g = summary_group_of(p);
	int r = 0;

	for (size_t i = 0; r == 0 && p->c->first && i < g->margin_count; i++) {
		r = margin_check_class(&g->margins[i], p->c->first->exec_class, e);
	}
	return r;
}

/**
 * summary_pair_init() - fill the report of one comparison, but for what is computed
 * @p: all zero but for its first members; end it with summary_pair_fini(), also on failure
 * @e: set on failure
 *
 * Return: 0, -EINVAL for a margin in units of another class, or -ENOMEM.
 * Context: main thread.
 */
int summary_pair_init(struct summary_pair *p, struct err *e)
{
	int r = check_margins(p, e);

	if (r < 0) {
		return r;
	}
	p->report = (struct report)REPORT_INIT;
	r = make_rows(p);
	for (size_t i = 0; r == 0 && i < p->report.n_benches; i++) {
		r = summary_row_fill(p, i);
	}
	if (r < 0) {
		return err_set(e, r, "making the report: %s", strerror(-r));
	}
	fill_head(p);
	summary_compare_prints(p);
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
		summary_row_fini(&p->rows[i]);
	}
	free(p->rows);
	free(p->report.benches);
	*p = (struct summary_pair){0};
}
