/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From boot values to a verdict: every estimator of a report, computed in one place. */
#include "stats/compare.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats/mannwhitney.h"
#include "stats/multiple.h"
#include "stats/plan.h"
#include "stats/signflip.h"
#include "stats/signrank.h"

/*
 * What is one number on paper may differ in its last bits after subtracting and averaging: equal
 * here means equal to this share of the largest boot value.
 */
#define SAME 1e-9

/*
 * And what is counted is equal up to this part of one unit, which no report shows: a probe's mean
 * over thousands of switches moves by less when one of them is more.
 */
#define SAME_COUNT 1e-4

/* The boot values of both arms side by side, and the block differences. */
struct arrays {
	double *boots[2]; /* 2n each */
	double *diffs;    /* n */
	double largest;   /* of all |boot values| */
};

static void arrays_fini(struct arrays *a)
{
	free(a->boots[STATS_A]);
	free(a->boots[STATS_B]);
	free(a->diffs);
}

static int arrays_init(struct arrays *a, const struct stats_block *blocks, size_t n)
{
	*a = (struct arrays){0};
	a->boots[STATS_A] = malloc(2 * n * sizeof(double));
	a->boots[STATS_B] = malloc(2 * n * sizeof(double));
	a->diffs = malloc(n * sizeof(double));
	if (!a->boots[STATS_A] || !a->boots[STATS_B] || !a->diffs) {
		arrays_fini(a);
		return -ENOMEM;
	}
	for (size_t k = 0; k < n; k++) {
		for (size_t i = 0; i < 2; i++) {
			a->boots[STATS_A][2 * k + i] = blocks[k].a[i];
			a->boots[STATS_B][2 * k + i] = blocks[k].b[i];
			a->largest = fmax(a->largest, fabs(blocks[k].a[i]));
			a->largest = fmax(a->largest, fabs(blocks[k].b[i]));
		}
		a->diffs[k] = (blocks[k].b[0] / 2 + blocks[k].b[1] / 2) -
			      (blocks[k].a[0] / 2 + blocks[k].a[1] / 2);
	}
	return 0;
}

static bool all_same(const double *x, size_t n, double slack)
{
	for (size_t i = 1; i < n; i++) {
		if (fabs(x[i] - x[0]) > slack) {
			return false;
		}
	}
	return true;
}

static int arms(const struct arrays *a, size_t n, double level, struct stats_comparison *c)
{
	struct stats_mann_whitney w;
	int r;

	for (int arm = 0; arm < 2; arm++) {
		r = stats_median(a->boots[arm], 2 * n, &c->median[arm]);
		if (r < 0) {
			return r;
		}
		r = stats_median_interval(a->boots[arm], 2 * n, level, &c->median_interval[arm]);
		if (r < 0) {
			return r;
		}
	}
	r = stats_mann_whitney(a->boots[STATS_A], 2 * n, a->boots[STATS_B], 2 * n, &w);
	if (r < 0 && r != -ENOTUNIQ) {
		return r;
	}
	c->p_unpaired = r < 0 ? NAN : w.p;
	return stats_shift(a->boots[STATS_A], 2 * n, a->boots[STATS_B], 2 * n, level, &c->shift,
			   &c->shift_interval);
}

static int paired(const struct arrays *a, size_t n, const struct stats_options *opt,
		  struct stats_comparison *c)
{
	double effect;
	int r;

	r = stats_hodges_lehmann(a->diffs, n, opt->level, &c->effect, &c->interval);
	if (r < 0) {
		return r;
	}
	r = stats_hodges_lehmann(a->diffs, n, 0.90, &effect, &c->interval90);
	if (r < 0) {
		return r;
	}
	r = stats_sign_flip(a->diffs, n, opt->seed, &c->p);
	if (r < 0) {
		return r;
	}
	c->p_exact = n <= STATS_SIGNFLIP_EXACT_MAX;
	c->p_holm = c->p;
	c->p_bh = c->p;
	r = stats_mde(a->diffs, n, &c->mde);
	if (r == -ENODATA) {
		c->mde = NAN; /* one block has no spread */
		r = 0;
	}
	return r;
}

/* What varies by chance has estimates of how far; where nothing does they would be pretended. */
static void forget_chance(const struct arrays *a, double slack, struct stats_comparison *c)
{
	const struct stats_interval none = {NAN, NAN, NAN};

	for (int arm = 0; arm < 2; arm++) {
		if (all_same(a->boots[arm], 2 * c->blocks, slack)) {
			c->median_interval[arm] = none;
		}
	}
	if (c->exact) {
		c->interval = none;
		c->interval90 = none;
		c->shift_interval = none;
		c->shift = NAN;
		c->p_unpaired = NAN;
		c->mde = NAN;
		c->p = NAN;
		c->p_holm = NAN;
		c->p_bh = NAN;
	}
}

/**
 * stats_compare() - compare two arms on one benchmark
 * @blocks: the complete blocks; one with a failed boot is the caller's to leave out and report
 * @n: how many, 0 to STATS_SIGNRANK_MAX
 * @opt: levels, margin, and what the caller knows about class and arms
 * @ret: the result; free it with stats_comparison_fini(). No blocks are a defined answer:
 *       inconclusive, all numbers NaN. p_holm and p_bh are p until stats_compare_family().
 *
 * Return: 0, -EDOM (a boot value is not finite), -ERANGE, -E2BIG, -ENOMEM.
 */
int stats_compare(const struct stats_block *blocks, size_t n, const struct stats_options *opt,
		  struct stats_comparison *ret)
{
	const struct stats_interval none = {NAN, NAN, NAN};
	struct stats_comparison c = {
		.blocks = n,
		.median = {NAN, NAN},
		.median_interval = {none, none},
		.effect = NAN,
		.interval = none,
		.interval90 = none,
		.margin = NAN,
		.mde = NAN,
		.p = NAN,
		.p_holm = NAN,
		.p_bh = NAN,
		.p_unpaired = NAN,
		.shift = NAN,
		.shift_interval = none,
	};
	struct stats_evidence e = {.blocks = n};
	struct arrays a = {0};
	double slack;
	int r;

	if (!(opt->margin_abs > 0 && opt->margin_rel >= 0 && opt->alpha > 0 && opt->alpha < 1)) {
		return -ERANGE;
	}
	if (n == 0) {
		c.verdict = stats_verdict(&e, &c.reason);
		*ret = c;
		return 0;
	}
	if (n > STATS_SIGNRANK_MAX) {
		return -E2BIG;
	}
	r = arrays_init(&a, blocks, n);
	if (r < 0) {
		return r;
	}
	r = arms(&a, n, opt->level, &c);
	if (r < 0) {
		goto out;
	}
	r = paired(&a, n, opt, &c);
	if (r < 0) {
		goto out;
	}
	c.margin = fmax(opt->margin_abs, opt->margin_rel * fabs(c.median[STATS_A]));
	slack = fmax(SAME * a.largest, opt->deterministic ? SAME_COUNT : 0);
	c.diffs_identical = all_same(a.diffs, n, slack);
	c.boots_identical = all_same(a.boots[STATS_A], 2 * n, slack) &&
			    all_same(a.boots[STATS_B], 2 * n, slack) &&
			    fabs(c.median[STATS_A] - c.median[STATS_B]) <= slack;
	e = (struct stats_evidence){
		.blocks = n,
		.effect = c.effect,
		.interval = c.interval,
		.interval90 = c.interval90,
		.p = c.p,
		.alpha = opt->alpha,
		.margin = c.margin,
		.judges_speed = opt->judges_speed,
		.deterministic = opt->deterministic,
		.same_arm = opt->same_arm,
		.boots_identical = c.boots_identical,
		.diffs_identical = c.diffs_identical,
	};
	c.significant = stats_significant(&e);
	c.verdict = stats_verdict(&e, &c.reason);
	c.exact = opt->deterministic && c.diffs_identical;
	if (opt->deterministic) {
		forget_chance(&a, slack, &c);
	}
	c.diffs = TAKE_PTR(a.diffs);
	*ret = c;
out:
	arrays_fini(&a);
	return r;
}

/*
 * What an adjustment reckons a comparison with. One that has no p was asked for all the same, and
 * the family does not shrink by it: without blocks it counts as the least sure of all, and an exact
 * difference, which no chance has made, as the surest.
 */
static double p_in_family(const struct stats_comparison *c)
{
	return !isnan(c->p) ? c->p : c->exact && !c->boots_identical ? 0 : 1;
}

/**
 * stats_compare_family() - adjust the p-values of all benchmarks of one run for their number
 * @c: the comparisons; those without a p are counted, and get none
 * @n: how many
 *
 * Return: 0, -ENOMEM; the comparisons are unchanged on failure.
 */
int stats_compare_family(struct stats_comparison *c, size_t n)
{
	_cleanup_free_ double *p = calloc(n + 1, sizeof(*p));
	_cleanup_free_ double *holm = calloc(n + 1, sizeof(*holm));
	_cleanup_free_ double *bh = calloc(n + 1, sizeof(*bh));
	int r;

	if (!p || !holm || !bh) {
		return -ENOMEM;
	}
	if (n == 0) {
		return 0;
	}
	for (size_t i = 0; i < n; i++) {
		p[i] = p_in_family(&c[i]);
	}
	r = stats_holm(p, n, holm);
	if (r == 0) {
		r = stats_bh(p, n, bh);
	}
	for (size_t i = 0; r == 0 && i < n; i++) {
		if (!isnan(c[i].p)) {
			c[i].p_holm = holm[i];
			c[i].p_bh = bh[i];
		}
	}
	return r;
}

/**
 * stats_comparison_fini() - free what a comparison owns
 * @c: a result, or all zeroes
 */
void stats_comparison_fini(struct stats_comparison *c)
{
	free(c->diffs);
	c->diffs = NULL;
}
