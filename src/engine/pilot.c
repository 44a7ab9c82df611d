/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See pilot.h. Main thread. */
#include "engine/pilot.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "engine/summary.h"
#include "stats/levels.h"
#include "stats/plan.h"
#include "stats/signrank.h"

struct pilot {
	struct summary *summary; /* names and labels are its */
	struct report_pilot report;
	size_t most_blocks; /* that a plan of these groups may have */
};

/* A comparison that was booted can be reported. */
_Static_assert(SCHEDULE_BLOCKS_MAX <= STATS_SIGNRANK_MAX, "blocks of a group");

static const char *const examples = "a size such as 2cycles, 5instructions, 30ns or 1%";

/**
 * pilot_goal_resolve() - read what --resolve says
 * @text: a number above 0 and a unit: "%", "ns", or the name of a class's unit
 * @ret: set on success
 * @e: set on failure
 *
 * Return: 0 or -EINVAL.
 * Context: any thread.
 */
int pilot_goal_resolve(const char *text, struct pilot_goal *ret, struct err *e)
{
	size_t digits = strspn(text, "0123456789.");
	const char *unit = text + digits + strspn(text + digits, " ");
	struct pilot_goal g = {.kind = PILOT_UNITS};
	char *end = NULL;

	g.value = digits ? strtod(text, &end) : 0;
	if (end != text + digits || !(g.value > 0) || !isfinite(g.value) ||
	    strlen(unit) >= sizeof(g.unit)) {
		return err_set(e, -EINVAL, "--resolve: expected %s, got '%s'", examples, text);
	}
	snprintf(g.unit, sizeof(g.unit), "%s", unit);
	if (strcmp(unit, "%") == 0) {
		g.kind = PILOT_PERCENT;
	} else if (strcmp(unit, "ns") == 0) {
		g.kind = PILOT_NS;
	} else if (!exec_class_has_unit(EXEC_NATIVE, unit) &&
		   !exec_class_has_unit(EXEC_TCG, unit) &&
		   !exec_class_has_unit(EXEC_ICOUNT, unit)) {
		return err_set(e, -EINVAL, "--resolve %s: %s%s%s; there are: %%, ns, %s and %s",
			       text, *unit ? "'" : "a unit is missing", unit,
			       *unit ? "' is no unit" : "", exec_class_unit(EXEC_NATIVE),
			       exec_class_unit(EXEC_ICOUNT));
	}
	snprintf(g.words, sizeof(g.words), "--resolve %g%s", g.value, unit);
	*ret = g;
	return 0;
}

/**
 * pilot_goal_budget() - what --budget says
 * @ns: the time that a comparison's boots may take, nanoseconds
 * @ret: set
 *
 * Context: any thread.
 */
void pilot_goal_budget(uint64_t ns, struct pilot_goal *ret)
{
	*ret = (struct pilot_goal){.kind = PILOT_TIME, .value = (double)ns};
	snprintf(ret->words, sizeof(ret->words), "--budget %gs", (double)ns / (double)NS_PER_SEC);
}

/**
 * pilot_goal_check() - whether a class of machine has what a goal speaks of
 * @g: the goal
 * @class: the class
 * @e: set on failure
 *
 * Return: 0; -EINVAL for another class's unit; -ENODEV for a class that judges no speed.
 * Context: any thread.
 */
int pilot_goal_check(const struct pilot_goal *g, enum exec_class class, struct err *e)
{
	if (!exec_class_judges_speed(class)) {
		return err_set(e, -ENODEV,
			       "%s: the class here is %s, which judges no speed: no number of "
			       "blocks would give a verdict",
			       g->words, exec_class_name(class));
	}
	if (g->kind == PILOT_UNITS && !exec_class_has_unit(class, g->unit)) {
		return err_set(e, -EINVAL, "%s: the class here is %s, and its unit is %s", g->words,
			       exec_class_name(class), exec_class_unit(class));
	}
	return 0;
}

/* The clean batches of a boot, in their order. */
static size_t clean_batches(const struct boot_bench *b, double *ret)
{
	size_t n = 0;

	for (size_t i = 0; b && !b->error && i < b->batch_count; i++) {
		if (!b->dirty[i]) {
			ret[n++] = b->units[i];
		}
	}
	return n;
}

/*
 * The variance of batches in a boot, and of boots beyond it, of one arm. The levels must be
 * balanced: each boot gives as many batches as the one with the fewest.
 */
static int levels_of(const struct comparison *c, const struct report_bench *b, int side,
		     struct stats_levels *ret)
{
	_cleanup_free_ double *x = NULL;
	_cleanup_free_ double *one = malloc(BOOT_BATCHES_MAX * sizeof(*one));
	size_t boots = 0, least = SIZE_MAX, at = 0;

	if (!one) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < b->n_boots; i++) {
		if (b->boots[i].side == side && b->boots[i].counts) {
			const struct boot_record *r = c->boots[b->boots[i].slot];
			size_t n = clean_batches(boot_record_find(r, b->name), one);

			least = n < least ? n : least;
			boots++;
		}
	}
	if (boots < 2 || least < 2) {
		return -ENODATA;
	}
	x = malloc(boots * least * sizeof(*x));
	if (!x) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < b->n_boots; i++) {
		if (b->boots[i].side == side && b->boots[i].counts) {
			const struct boot_record *r = c->boots[b->boots[i].slot];

			(void)clean_batches(boot_record_find(r, b->name), one);
			memcpy(x + at, one, least * sizeof(*x));
			at += least;
		}
	}
	return stats_levels(x, (size_t[]){least, boots}, 2, ret);
}

/* Costs of a batch and of a boot, nanoseconds; NaN where the records do not say. */
struct costs {
	double boot, start, batch;
};

static size_t timed_batches(const struct comparison *c, const struct boot_record *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->bench_count; i++) {
		if (!r->benches[i].is_probe && !r->benches[i].error) {
			n += r->benches[i].batch_count + c->plan.warmup;
		}
	}
	return n;
}

/* Means over the boots of one group. */
static struct costs costs_of(const struct comparison *c, unsigned int group)
{
	struct costs sum = {0};
	double boots = 0, started = 0, batches = 0;

	for (size_t i = 0; i < c->plan.boot_count; i++) {
		const struct boot_record *r = c->boots[i];

		if (!r || c->plan.boots[i].group != group || r->exit_ns == 0) {
			continue;
		}
		boots++;
		sum.boot += (double)r->exit_ns;
		if (r->user_ns > 0 && r->user_ns < r->exit_ns) {
			started++;
			sum.start += (double)r->user_ns;
			sum.batch += (double)(r->exit_ns - r->user_ns);
			batches += (double)timed_batches(c, r);
		}
	}
	return (struct costs){
		.boot = boots > 0 ? sum.boot / boots : NAN,
		.start = started > 0 ? sum.start / started : NAN,
		.batch = batches > 0 ? sum.batch / batches : NAN,
	};
}

/* How many batches a boot is worth, from the spread of both arms; NaN where that is not known. */
static int best_batches(const struct comparison *c, const struct report_bench *b,
			const struct costs *cost, double *ret)
{
	double batch_t2 = 0, boot_t2 = 0;

	*ret = NAN;
	if (b->is_probe || isnan(cost->start) || isnan(cost->batch)) {
		return 0;
	}
	for (int side = 0; side < 2; side++) {
		struct stats_levels l;
		int r = levels_of(c, b, side, &l);

		if (r < 0) {
			return r == -ENOMEM ? r : 0;
		}
		batch_t2 += l.t2[0] / 2;
		boot_t2 += fmax(0, l.t2[1]) / 2;
	}
	return stats_best_count(cost->batch, cost->start, batch_t2, boot_t2, ret);
}

static int add_bench(struct pilot *p, const struct comparison *c, const struct report *rep,
		     const struct report_bench *b, const struct costs *cost)
{
	struct report_pilot_bench *to = &p->report.benches[p->report.n++];
	const struct stats_comparison *s = &b->result;
	double factor;

	*to = (struct report_pilot_bench){
		.name = b->name,
		.group = rep->group,
		.arm = rep->arms[STATS_B].label,
		.per = b->per,
		.blocks = s->blocks,
		.median_a = s->median[STATS_A],
		.units_hz = b->units_hz,
		.sd = NAN,
		.varies = s->blocks < 2 || !s->diffs_identical,
	};
	if (s->blocks >= 2) {
		int r = stats_mde_factor(s->blocks, &factor);

		if (r < 0) {
			return r;
		}
		to->sd = to->varies ? s->mde / factor : 0;
	}
	return best_batches(c, b, cost, &to->best_batches);
}

static unsigned int group_of(const struct comparison *c, const struct report *rep)
{
	unsigned int i = 0;

	while (i + 1 < c->plan.group_count && rep->group &&
	       strcmp(c->plan.groups[i].name, rep->group) != 0) {
		i++;
	}
	return i;
}

/* What one block of each group takes, and what the boots of all do in the mean. */
static void add_times(struct pilot *p, const struct comparison *c, unsigned int jobs)
{
	double boot = 0, start = 0;

	p->report.block_ns = 0;
	for (unsigned int i = 0; i < c->plan.group_count; i++) {
		struct costs cost = costs_of(c, i);
		size_t boots = 2 * c->plan.groups[i].arm_count;

		p->report.block_boots += boots;
		p->report.block_ns += (double)boots * cost.boot / jobs;
		boot += (double)boots * cost.boot;
		start += (double)boots * cost.start;
	}
	p->report.boot_ns = boot / (double)p->report.block_boots;
	p->report.start_ns = start / (double)p->report.block_boots;
}

static int fill(struct pilot *p, const struct comparison *c, struct err *e)
{
	const struct report_set *set = summary_set(p->summary);
	size_t room = 0;

	for (size_t i = 0; i < set->n_reports; i++) {
		room += set->reports[i]->n_benches;
	}
	p->report.benches = calloc(room + 1, sizeof(*p->report.benches));
	if (!p->report.benches) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	for (size_t i = 0; i < set->n_reports; i++) {
		const struct report *rep = set->reports[i];
		struct costs cost = costs_of(c, group_of(c, rep));

		for (size_t k = 0; k < rep->n_benches; k++) {
			int r = add_bench(p, c, rep, &rep->benches[k], &cost);

			if (r < 0) {
				return err_set(e, r, "%s: %s", rep->benches[k].name,
					       stats_error_text(r));
			}
		}
	}
	return 0;
}

/**
 * pilot_create() - what the boots of a pilot say
 * @c: the comparison, complete or not; must outlive the pilot
 * @jobs: boots that will run at a time, 1 or more
 * @ret: set on success; end it with pilot_destroy()
 * @e: set on failure
 *
 * Return: 0, -ENODATA when no boot has given numbers, -ENOMEM, or as summary_create().
 * Context: main thread.
 */
int pilot_create(const struct comparison *c, unsigned int jobs, struct pilot **ret, struct err *e)
{
	_cleanup_(pilot_destroy_p) struct pilot *p = calloc(1, sizeof(*p));
	int r = p ? summary_create(c, &p->summary, e) : err_set(e, -ENOMEM, "out of memory");

	if (r < 0) {
		return r;
	}
	p->report.class = summary_set(p->summary)->reports[0]->class;
	p->report.boots = c->done;
	p->report.groups = c->plan.group_count;
	p->report.blocks = c->plan.groups[0].blocks;
	p->report.batches = c->plan.batches;
	p->report.jobs = jobs;
	add_times(p, c, jobs);
	p->most_blocks = SCHEDULE_BOOTS_MAX / p->report.block_boots;
	if (p->most_blocks > SCHEDULE_BLOCKS_MAX) {
		p->most_blocks = SCHEDULE_BLOCKS_MAX;
	}
	r = fill(p, c, e);
	if (r < 0) {
		return r;
	}
	*ret = TAKE_PTR(p);
	return 0;
}

/**
 * pilot_report() - the same for a renderer
 * @p: the pilot
 *
 * Return: it, valid until pilot_destroy().
 * Context: any thread.
 */
const struct report_pilot *pilot_report(const struct pilot *p)
{
	return &p->report;
}

/* The goal in units of a benchmark. */
static int effect_of(const struct report_pilot *p, const struct report_pilot_bench *b,
		     const struct pilot_goal *g, double *ret, struct err *e)
{
	if (g->kind == PILOT_PERCENT) {
		*ret = g->value / 100 * fabs(b->median_a);
		return *ret > 0 ? 0
				: err_set(e, -ERANGE,
					  "%s: A takes nothing in %s, so that there is no "
					  "percentage of it: give a number of %s",
					  g->words, b->name, exec_class_unit(p->class));
	}
	if (g->kind == PILOT_NS) {
		*ret = g->value / 1e9 * b->units_hz;
		return *ret > 0
			       ? 0
			       : err_set(e, -ERANGE,
					 "%s: in %s the guest has not measured how long one of its "
					 "%s is: give a number of those, or a percentage",
					 g->words, b->name, exec_class_unit(p->class));
	}
	*ret = g->value;
	return 0;
}

static int blocks_of(const struct pilot *p, const struct report_pilot_bench *b,
		     const struct pilot_goal *g, size_t *ret, struct err *e)
{
	double effect, factor = NAN;
	int r = effect_of(&p->report, b, g, &effect, e);

	if (r < 0) {
		return r;
	}
	if (isnan(b->sd)) {
		return err_set(e, -ENODATA,
			       "%s: the pilot has %zu complete blocks of %s: too few to choose by",
			       g->words, b->blocks, b->name);
	}
	r = stats_blocks_for(b->sd, effect, p->most_blocks, ret);
	if (r == -E2BIG) {
		(void)!stats_mde_factor(p->most_blocks, &factor);
		return err_set(
			e, -ERANGE,
			"%s: %s varies too much: with %zu blocks, the most there can be, %.3g "
			"%s would be found",
			g->words, b->name, p->most_blocks, factor * b->sd,
			exec_class_unit(p->report.class));
	}
	return r < 0 ? err_set(e, r, "%s: %s", b->name, stats_error_text(r)) : 0;
}

static int blocks_in(const struct pilot *p, const struct pilot_goal *g, size_t *ret, struct err *e)
{
	const struct report_pilot *rep = &p->report;
	double n;

	if (isnan(rep->block_ns)) {
		return err_set(e, -ENODATA, "%s: the records do not say how long a boot takes",
			       g->words);
	}
	n = floor(g->value / rep->block_ns);
	if (n < STATS_PLAN_BLOCKS_LEAST) {
		return err_set(e, -ERANGE,
			       "%s: a block of %zu boots takes %.3g s here, so that %d blocks, the "
			       "fewest that give a verdict, need %.3g s",
			       g->words, rep->block_boots, rep->block_ns / 1e9,
			       STATS_PLAN_BLOCKS_LEAST,
			       STATS_PLAN_BLOCKS_LEAST * rep->block_ns / 1e9);
	}
	*ret = n < (double)p->most_blocks ? (size_t)n : p->most_blocks;
	if (!report_pilot_varies(rep)) {
		*ret = STATS_PLAN_BLOCKS_LEAST;
	}
	return 0;
}

/**
 * pilot_choose() - the number of blocks for a goal
 * @p: the pilot
 * @g: the goal
 * @ret_blocks: set on success: the fewest blocks that find what is to be found in every benchmark,
 *              or as many as the time allows
 * @ret_which: set on success: the benchmark that needs them, or NULL
 * @e: set on failure
 *
 * Return: 0; -ERANGE for a goal that by what was booted no number of blocks has; -EINVAL for the
 * unit of another class; -ENODEV for a class that judges no speed; -ENODATA for a pilot that says
 * too little. Context: any thread.
 */
int pilot_choose(const struct pilot *p, const struct pilot_goal *g, unsigned int *ret_blocks,
		 const char **ret_which, struct err *e)
{
	const char *which = NULL;
	size_t blocks = STATS_PLAN_BLOCKS_LEAST;
	int r = pilot_goal_check(g, p->report.class, e);

	if (r == 0 && g->kind == PILOT_TIME) {
		r = blocks_in(p, g, &blocks, e);
	}
	for (size_t i = 0; r == 0 && g->kind != PILOT_TIME && i < p->report.n; i++) {
		size_t n;

		r = blocks_of(p, &p->report.benches[i], g, &n, e);
		if (r == 0 && n > blocks) {
			blocks = n;
			which = p->report.benches[i].name;
		}
	}
	if (r < 0) {
		return r;
	}
	*ret_blocks = (unsigned int)blocks;
	*ret_which = which;
	return 0;
}

/**
 * pilot_destroy() - free a pilot
 * @p: the pilot, or NULL, or one that is half built
 *
 * Context: main thread.
 */
void pilot_destroy(struct pilot *p)
{
	if (!p) {
		return;
	}
	free(p->report.benches);
	summary_destroy(p->summary);
	free(p);
}
