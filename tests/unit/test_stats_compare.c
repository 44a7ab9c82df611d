/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The whole of one benchmark, and its calibration on simulated experiments. */
#include "support.h"

#include <errno.h>
#include <string.h>

#include "base/rng.h"
#include "near.h"
#include "stats/compare.h"
#include "stats/signrank.h"

static struct stats_options options(void)
{
	struct stats_options opt = STATS_OPTIONS_INIT;

	opt.judges_speed = true;
	opt.seed = 1;
	return opt;
}

static void linear_drift_cancels_within_a_block(void **state)
{
	struct stats_block blocks[6];
	struct stats_options opt = options();
	struct stats_comparison c;

	/* ABBA and BAAB by turns, each boot 10 units slower than the one before */
	for (int k = 0; k < 6; k++) {
		double t = 1000 + 40 * k;
		double ends[] = {t, t + 30};
		double middle[] = {t + 10, t + 20};

		memcpy(blocks[k].a, k % 2 ? middle : ends, sizeof(ends));
		memcpy(blocks[k].b, k % 2 ? ends : middle, sizeof(ends));
		blocks[k].b[0] -= 7;
		blocks[k].b[1] -= 7;
	}
	assert_int_equal(stats_compare(blocks, 6, &opt, &c), 0);
	for (int k = 0; k < 6; k++) {
		assert_near(c.diffs[k], -7, 1e-12);
	}
	assert_near(c.effect, -7, 1e-12);
	assert_true(c.diffs_identical);
	assert_false(c.boots_identical);
	assert_near(c.mde, 0, 1e-9);
	assert_near(c.p, .03125, 0);
	assert_true(c.p_exact);
	assert_near(c.margin, 1.12, 1e-9); /* .1 % of A's median, 1120 */
	assert_int_equal(c.verdict, VERDICT_BETTER);
	assert_int_equal(c.reason, REASON_SIGNIFICANT);
	assert_true(c.p_unpaired > .5); /* the drift hides it where blocks are ignored */
	stats_comparison_fini(&c);
}

static void identical_counts_are_equivalent_in_spite_of_rounding(void **state)
{
	struct stats_block blocks[8];
	struct stats_options opt = options();
	struct stats_comparison c;

	opt.deterministic = true;
	for (int k = 0; k < 8; k++) {
		for (int i = 0; i < 2; i++) {
			blocks[k].a[i] = 222.003;
			blocks[k].b[i] = 222.003 * (1 + 4e-16 * (k % 3));
		}
	}
	assert_int_equal(stats_compare(blocks, 8, &opt, &c), 0);
	assert_true(c.boots_identical);
	assert_int_equal(c.verdict, VERDICT_EQUIVALENT);
	assert_int_equal(c.reason, REASON_IDENTICAL);
	stats_comparison_fini(&c);
	/* exactly equal: nothing to rank, and no p made up for it */
	for (int k = 0; k < 8; k++) {
		memcpy(blocks[k].b, blocks[k].a, sizeof(blocks[k].a));
	}
	assert_int_equal(stats_compare(blocks, 8, &opt, &c), 0);
	assert_true(isnan(c.p_unpaired));
	assert_true(c.exact && isnan(c.p) && isnan(c.interval.lo) && isnan(c.mde));
	assert_near(c.effect, 0, 0);
	assert_int_equal(c.reason, REASON_IDENTICAL);
	stats_comparison_fini(&c);
}

static void what_no_report_shows_is_no_variation_of_a_count(void **state)
{
	struct stats_block blocks[6];
	struct stats_options opt = options();
	struct stats_comparison c;

	for (int exact = 0; exact < 2; exact++) {
		for (int k = 0; k < 6; k++) {
			double more = k == 3 ? 6e-8 : 0; /* a probe's mean, with one switch more */

			blocks[k] = (struct stats_block){{60, 60}, {31 + more, 31}};
		}
		opt.deterministic = exact;
		assert_int_equal(stats_compare(blocks, 6, &opt, &c), 0);
		assert_int_equal(c.exact, exact);
		assert_int_equal(c.reason, exact ? REASON_SAME_DIFFERENCE : REASON_SIGNIFICANT);
		stats_comparison_fini(&c);
	}
	blocks[2].b[0] += .002;
	assert_int_equal(stats_compare(blocks, 6, &opt, &c), 0);
	assert_false(c.exact);
	stats_comparison_fini(&c);
}

static void a_residue_of_a_thousandth_is_equivalent(void **state)
{
	struct stats_block blocks[12];
	struct stats_options opt = options();
	struct stats_comparison c;

	opt.deterministic = true;
	for (int k = 0; k < 12; k++) {
		blocks[k] = (struct stats_block){{222, 222}, {222.003, 222.003}};
	}
	assert_int_equal(stats_compare(blocks, 12, &opt, &c), 0);
	assert_true(c.significant);
	assert_near(c.margin, .222, 1e-12);
	assert_int_equal(c.verdict, VERDICT_EQUIVALENT);
	assert_int_equal(c.reason, REASON_WITHIN_MARGIN);
	stats_comparison_fini(&c);
}

static void no_blocks_are_inconclusive_and_one_block_has_no_spread(void **state)
{
	const struct stats_block one = {{10, 12}, {20, 22}};
	struct stats_options opt = options();
	struct stats_comparison c;

	assert_int_equal(stats_compare(NULL, 0, &opt, &c), 0);
	assert_int_equal(c.verdict, VERDICT_INCONCLUSIVE);
	assert_int_equal(c.reason, REASON_NO_BLOCKS);
	assert_true(isnan(c.effect) && isnan(c.p) && isnan(c.mde) && isnan(c.median[STATS_A]));
	stats_comparison_fini(&c);
	assert_int_equal(stats_compare(&one, 1, &opt, &c), 0);
	assert_near(c.effect, 10, 0);
	assert_near(c.interval.level, 0, 0);
	assert_near(c.p, 1, 0);
	assert_true(isnan(c.mde));
	assert_true(isinf(c.median_interval[STATS_A].hi));
	assert_int_equal(c.reason, REASON_FEW_BLOCKS);
	stats_comparison_fini(&c);
}

static void bad_values_and_options_are_errors(void **state)
{
	const struct stats_block bad = {{10, NAN}, {20, 22}};
	const struct stats_block good = {{10, 12}, {20, 22}};
	const struct stats_block inf = {{10, 12}, {INFINITY, 22}};
	struct stats_options opt = options();
	struct stats_comparison c;

	assert_int_equal(stats_compare(&bad, 1, &opt, &c), -EDOM);
	assert_int_equal(stats_compare(&inf, 1, &opt, &c), -EDOM);
	opt.margin_abs = 0;
	assert_int_equal(stats_compare(&good, 1, &opt, &c), -ERANGE);
	opt = options();
	opt.level = 1;
	assert_int_equal(stats_compare(&good, 1, &opt, &c), -ERANGE);
	opt = options();
	opt.alpha = 0;
	assert_int_equal(stats_compare(&good, 1, &opt, &c), -ERANGE);
}

static void what_has_no_p_does_not_make_a_family_smaller(void **state)
{
	struct stats_comparison c[3] = {{.p = .01}, {.p = NAN, .p_holm = NAN}, {.p = .04}};

	assert_int_equal(stats_compare_family(c, 3), 0);
	assert_near(c[0].p_holm, .03, 1e-15);
	assert_true(isnan(c[1].p_holm));
	assert_near(c[2].p_holm, .08, 1e-15);
	assert_near(c[0].p_bh, .03, 1e-15);
	assert_int_equal(stats_compare_family(c, 0), 0);
	assert_int_equal(stats_compare_family(c + 1, 1), 0);
}

static void an_exact_difference_ranks_before_all_that_has_a_p(void **state)
{
	struct stats_comparison c[3] = {
		{.p = .01},
		{.p = NAN, .p_holm = NAN, .exact = true},
		{.p = NAN, .p_holm = NAN, .exact = true, .boots_identical = true},
	};

	assert_int_equal(stats_compare_family(c, 3), 0);
	assert_near(c[0].p_holm, .02, 1e-15);
	assert_true(isnan(c[1].p_holm));
	assert_true(isnan(c[2].p_holm));
}

static void as_many_blocks_as_are_planned_can_be_compared(void **state)
{
	static struct stats_block blocks[STATS_SIGNRANK_MAX + 1];
	struct stats_options opt = options();
	struct stats_comparison c;

	for (size_t k = 0; k < ARRAY_SIZE(blocks); k++) {
		double a = 100 + (double)(k * 37 % 101) / 50;

		blocks[k] = (struct stats_block){{a, a + 1}, {a - 5, a - 3 + (double)(k % 7)}};
	}
	assert_int_equal(stats_compare(blocks, STATS_SIGNRANK_MAX, &opt, &c), 0);
	assert_true(c.interval.lo <= c.effect && c.effect <= c.interval.hi && c.effect < 0);
	stats_comparison_fini(&c);
	assert_int_equal(stats_compare(blocks, STATS_SIGNRANK_MAX + 1, &opt, &c), -E2BIG);
}

/* A normal deviate by the polar method. */
static double normal(struct rng *rng)
{
	for (;;) {
		double u = 2 * rng_unit(rng) - 1;
		double v = 2 * rng_unit(rng) - 1;
		double s = u * u + v * v;

		if (s > 0 && s < 1) {
			return u * sqrt(-2 * log(s) / s);
		}
	}
}

/* The median of a boot's 9 batches: boot effects of sd 1, batch effects of sd 2, skewed now and
 * then. */
static double boot(struct rng *rng, double mean)
{
	double batches[9];
	double at = mean + normal(rng);
	double median;

	for (int i = 0; i < 9; i++) {
		batches[i] = at + 2 * normal(rng) + (rng_below(rng, 10) == 0 ? 5 : 0);
	}
	assert_int_equal(stats_median(batches, 9, &median), 0);
	return median;
}

/* One experiment of 12 blocks in which B lies @shift above A, under drift. */
static void experiment(struct rng *rng, double shift, struct stats_block *blocks)
{
	for (int k = 0; k < 12; k++) {
		bool baab = rng_next(rng) & 1;
		double at = 1000 + 3 * normal(rng);
		int n[2] = {0, 0};

		for (int i = 0; i < 4; i++) {
			bool is_b = (i == 1 || i == 2) != baab;
			double x = boot(rng, at + 2 * i + (is_b ? shift : 0));

			if (is_b) {
				blocks[k].b[n[1]++] = x;
			} else {
				blocks[k].a[n[0]++] = x;
			}
		}
	}
}

static void simulated_experiments_cover_and_reject_as_often_as_promised(void **state)
{
	struct stats_options opt = options();
	struct stats_block blocks[12];
	struct rng rng;
	int covered = 0;
	int rejected = 0;

	rng_init(&rng, 20260101);
	for (int i = 0; i < 2000; i++) {
		struct stats_comparison c;
		double shift = i % 2 ? 1.5 : 0;

		experiment(&rng, shift, blocks);
		assert_int_equal(stats_compare(blocks, 12, &opt, &c), 0);
		covered += c.interval.lo <= shift && shift <= c.interval.hi;
		rejected += shift == 0 && c.p <= .05;
		stats_comparison_fini(&c);
	}
	print_message("2,000 experiments: %d covered; 1,000 A/A: %d rejected\n", covered, rejected);
	assert_in_range(covered, 1860, 1940);
	assert_in_range(rejected, 37, 64);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(linear_drift_cancels_within_a_block),
		cmocka_unit_test(identical_counts_are_equivalent_in_spite_of_rounding),
		cmocka_unit_test(what_no_report_shows_is_no_variation_of_a_count),
		cmocka_unit_test(a_residue_of_a_thousandth_is_equivalent),
		cmocka_unit_test(no_blocks_are_inconclusive_and_one_block_has_no_spread),
		cmocka_unit_test(bad_values_and_options_are_errors),
		cmocka_unit_test(what_has_no_p_does_not_make_a_family_smaller),
		cmocka_unit_test(an_exact_difference_ranks_before_all_that_has_a_p),
		cmocka_unit_test(as_many_blocks_as_are_planned_can_be_compared),
		cmocka_unit_test(simulated_experiments_cover_and_reject_as_often_as_promised),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
