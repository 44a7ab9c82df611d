/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What an experiment would find, and how large it must be. */
#include "support.h"

#include <errno.h>
#include <float.h>
#include <math.h>

#include "near.h"
#include "stats/plan.h"

static void smallest_detectable_effect_has_the_planned_size(void **state)
{
	/*
	 * (t_.975 + t_.80)/sqrt(n), in units of the standard deviation of the differences, beside
	 * the planning values that the exact power of the t test gives: they differ by < .006.
	 */
	static const struct {
		size_t n;
		double mde;
	} rows[] = {{6, 1.43}, {8, 1.15}, {10, 1.00}, {12, .89}, {20, .66}, {30, .53}};
	double factor;
	double d[30];
	double mde;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t n = rows[i].n;
		double sd = sqrt((double)n / ((double)n - 1)); /* of as many +1 as -1 */

		for (size_t j = 0; j < n; j++) {
			d[j] = j % 2 ? 1000 + 1 / sd : 1000 - 1 / sd;
		}
		assert_int_equal(stats_mde(d, n, &mde), 0);
		assert_near(mde, rows[i].mde, .006);
		assert_int_equal(stats_mde_factor(n, &factor), 0);
		assert_near(mde, factor, 1e-12);
	}
}

static void equal_differences_would_show_any_effect(void **state)
{
	const double d[] = {2, 2, 2};
	double mde;

	assert_int_equal(stats_mde(d, 3, &mde), 0);
	assert_near(mde, 0, 0);
}

static void the_fewest_blocks_that_do_are_named(void **state)
{
	size_t n;

	assert_int_equal(stats_blocks_for(2, 2, 1000, &n), 0); /* 9 would show 1.065 sd, 10 .995 */
	assert_int_equal(n, 10);
	assert_int_equal(stats_blocks_for(0, .001, 1000, &n), 0);
	assert_int_equal(n, STATS_PLAN_BLOCKS_LEAST);
	assert_int_equal(stats_blocks_for(1, 100, 1000, &n), 0);
	assert_int_equal(n, STATS_PLAN_BLOCKS_LEAST);
	assert_int_equal(stats_blocks_for(100, 1, 1000, &n), -E2BIG);
}

static void bad_input_has_its_code(void **state)
{
	const double d[] = {1, NAN};
	const double huge[] = {DBL_MAX, -DBL_MAX};
	double x;
	size_t n;

	assert_int_equal(stats_mde(d, 0, &x), -ENODATA);
	assert_int_equal(stats_mde(d, 1, &x), -ENODATA);
	assert_int_equal(stats_mde(d, 2, &x), -EDOM);
	assert_int_equal(stats_mde(huge, 2, &x), -EDOM);
	assert_int_equal(stats_mde_factor(1, &x), -ENODATA);
	assert_int_equal(stats_blocks_for(1, 0, 100, &n), -ERANGE);
	assert_int_equal(stats_blocks_for(-1, 1, 100, &n), -ERANGE);
	assert_int_equal(stats_blocks_for(NAN, 1, 100, &n), -EDOM);
	assert_int_equal(stats_blocks_for(1, INFINITY, 100, &n), -EDOM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(smallest_detectable_effect_has_the_planned_size),
		cmocka_unit_test(equal_differences_would_show_any_effect),
		cmocka_unit_test(the_fewest_blocks_that_do_are_named),
		cmocka_unit_test(bad_input_has_its_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
