/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The Hodges-Lehmann estimate and its signed-rank interval. */
#include "support.h"

#include <errno.h>
#include <float.h>

#include "near.h"
#include "stats/signrank.h"

/* Hollander and Wolfe, depression scale before and after: y - x would be the improvement. */
static const double depression[] = {1.83 - .878, .50 - .647,  1.62 - .598, 2.48 - 2.05, 1.68 - 1.06,
				    1.88 - 1.29, 1.55 - 1.06, 3.06 - 3.14, 1.30 - 1.29};

static void depression_data_give_the_published_interval(void **state)
{
	struct stats_interval iv;
	double effect;

	assert_int_equal(stats_hodges_lehmann(depression, 9, .95, &effect, &iv), 0);
	assert_near(effect, .46, 1e-12);
	assert_near(iv.lo, .010, 1e-12);
	assert_near(iv.hi, .786, 1e-12);
	assert_near(iv.level, 1 - 2 * 10 / 512., 1e-12);
}

static void quantiles_are_those_of_the_tables(void **state)
{
	/* R's qsignrank(.025, n) and psignrank(q - 1, n) * 2^n */
	static const struct {
		size_t n, q, below;
	} rows[] = {{1, 0, 0}, {5, 0, 0},  {6, 1, 1},   {7, 3, 3},
		    {8, 4, 5}, {9, 6, 10}, {10, 9, 25}, {12, 14, 87}};
	size_t q;
	double below;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(stats_signrank_quantile(.025, rows[i].n, &q, &below), 0);
		assert_int_equal(q, rows[i].q);
		assert_near(below, ldexp((double)rows[i].below, -(int)rows[i].n), 1e-14);
	}
}

static void a_probability_that_is_met_exactly_is_met(void **state)
{
	size_t q;
	double below;

	assert_int_equal(stats_signrank_quantile(1 / 32., 5, &q, &below), 0);
	assert_int_equal(q, 0);
	assert_int_equal(stats_signrank_quantile(2 / 32., 5, &q, &below), 0);
	assert_int_equal(q, 1);
	assert_int_equal(stats_signrank_quantile(.5, 3, &q, &below), 0);
	assert_int_equal(q, 3); /* 0, 1, 2 and the first of the two 3s make 4 of 8 */
}

static void few_differences_say_what_level_they_reach(void **state)
{
	const double d[] = {3, 1, 2, 5, 4};
	struct stats_interval iv;
	double effect;

	assert_int_equal(stats_hodges_lehmann(d, 1, .95, &effect, &iv), 0);
	assert_near(effect, 3, 0);
	assert_near(iv.lo, 3, 0);
	assert_near(iv.hi, 3, 0);
	assert_near(iv.level, 0, 0);
	assert_int_equal(stats_hodges_lehmann(d, 2, .95, &effect, &iv), 0);
	assert_near(effect, 2, 0);
	assert_near(iv.lo, 1, 0);
	assert_near(iv.hi, 3, 0);
	assert_near(iv.level, .5, 0);
	assert_int_equal(stats_hodges_lehmann(d, 5, .95, &effect, &iv), 0);
	assert_near(effect, 3, 0);
	assert_near(iv.level, .9375, 0);
}

static void equal_differences_give_a_point(void **state)
{
	double d[12];
	struct stats_interval iv;
	double effect;

	for (size_t i = 0; i < 12; i++) {
		d[i] = -24.9;
	}
	assert_int_equal(stats_hodges_lehmann(d, 12, .95, &effect, &iv), 0);
	assert_near(effect, -24.9, 0);
	assert_near(iv.lo, -24.9, 0);
	assert_near(iv.hi, -24.9, 0);
	assert_near(iv.level, 1 - 2 * 87 / 4096., 1e-14);
}

static void bad_input_has_its_code(void **state)
{
	const double bad[] = {1, 2, NAN};
	const double inf[] = {INFINITY};
	static double many[STATS_SIGNRANK_MAX + 1];
	struct stats_interval iv;
	double effect;
	size_t q;
	double below;

	assert_int_equal(stats_hodges_lehmann(bad, 0, .95, &effect, &iv), -ENODATA);
	assert_int_equal(stats_hodges_lehmann(bad, 3, .95, &effect, &iv), -EDOM);
	assert_int_equal(stats_hodges_lehmann(inf, 1, .95, &effect, &iv), -EDOM);
	assert_int_equal(stats_hodges_lehmann(bad, 2, 1, &effect, &iv), -ERANGE);
	assert_int_equal(stats_hodges_lehmann(bad, 2, 0, &effect, &iv), -ERANGE);
	assert_int_equal(stats_hodges_lehmann(many, STATS_SIGNRANK_MAX + 1, .95, &effect, &iv),
			 -E2BIG);
	assert_int_equal(stats_hodges_lehmann(many, STATS_SIGNRANK_MAX, .95, &effect, &iv), 0);
	assert_near(iv.level, .95, .001);
	assert_int_equal(stats_signrank_quantile(.025, 0, &q, &below), -ENODATA);
	assert_int_equal(stats_signrank_quantile(0, 5, &q, &below), -ERANGE);
	assert_int_equal(stats_signrank_quantile(.6, 5, &q, &below), -ERANGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(depression_data_give_the_published_interval),
		cmocka_unit_test(quantiles_are_those_of_the_tables),
		cmocka_unit_test(a_probability_that_is_met_exactly_is_met),
		cmocka_unit_test(few_differences_say_what_level_they_reach),
		cmocka_unit_test(equal_differences_give_a_point),
		cmocka_unit_test(bad_input_has_its_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
