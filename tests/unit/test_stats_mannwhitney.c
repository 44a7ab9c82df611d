/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Mann-Whitney and the Hodges-Lehmann shift. */
#include "support.h"

#include <errno.h>

#include "near.h"
#include "stats/mannwhitney.h"

static const double old[] = {1726, 1723, 1707, 1707, 1713, 1729, 1736, 1707, 1705, 1774};
static const double new[] = {1423, 1416, 1411, 1413, 1412, 1426, 1422, 1424, 1447, 1425};

static const double placenta_x[] = {.80, .83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, .73, 1.46};
static const double placenta_y[] = {1.15, .88, .90, .74, 1.21};

static void separated_groups_give_the_smallest_p(void **state)
{
	const double x[] = {2, 1, 3, 5};
	const double y[] = {12, 11, 13, 15};
	struct stats_mann_whitney w;

	assert_int_equal(stats_mann_whitney(x, 4, y, 4, &w), 0);
	assert_near(w.u, 0, 0);
	assert_near(w.p, .0285714, 5e-8);
	assert_true(w.exact);
}

static void overlapping_groups_have_three_p_values(void **state)
{
	const double x[] = {2, 1, 3, 5};
	const double y[] = {0, 4, 6, 7};
	struct stats_mann_whitney w;

	assert_int_equal(stats_mann_whitney(x, 4, y, 4, &w), 0);
	assert_near(w.u, 5, 0);
	assert_near(w.p_less, .2428571, 5e-8);
	assert_near(w.p, .4857143, 5e-8);
	assert_near(w.p_greater, .8285714, 5e-8);
}

static void ties_are_counted_exactly(void **state)
{
	const double x[] = {2, 1, 3, 5};
	const double y[] = {2, 2, 2, 2};
	const double v[] = {1, -1, -1, -1};
	const double z[] = {-1, 1, 1, 1};
	struct stats_mann_whitney w;

	assert_int_equal(stats_mann_whitney(x, 4, y, 4, &w), 0);
	assert_near(w.u, 10, 0);
	assert_near(w.p, .7142857, 5e-8);
	assert_int_equal(stats_mann_whitney(v, 4, z, 4, &w), 0);
	assert_near(w.p, .4857143, 5e-8);
}

static void equal_values_are_an_error_and_no_p(void **state)
{
	const double x[] = {5, 5, 5};
	struct stats_mann_whitney w;

	assert_int_equal(stats_mann_whitney(x, 3, x, 2, &w), -ENOTUNIQ);
	assert_int_equal(stats_mann_whitney(x, 1, x, 1, &w), -ENOTUNIQ);
}

static void benchstat_data_give_its_documented_result(void **state)
{
	struct stats_mann_whitney w;
	struct stats_interval iv;
	double shift;

	assert_int_equal(stats_mann_whitney(old, 10, new, 10, &w), 0);
	assert_near(w.p, 1.0825e-5, 5e-10);
	assert_near(w.u, 100, 0);
	assert_int_equal(stats_shift(old, 10, new, 10, .95, &shift, &iv), 0);
	assert_near(shift, -296.5, 1e-9);
	assert_near(iv.lo, -312, 1e-9);
	assert_near(iv.hi, -284, 1e-9);
}

static void placenta_data_give_the_published_interval(void **state)
{
	struct stats_mann_whitney w;
	struct stats_interval iv;
	double shift;

	assert_int_equal(stats_mann_whitney(placenta_x, 10, placenta_y, 5, &w), 0);
	assert_near(w.p_greater, .1272061, 5e-8);
	/* x - y, so y is the first group */
	assert_int_equal(stats_shift(placenta_y, 5, placenta_x, 10, .95, &shift, &iv), 0);
	assert_near(shift, .305, 1e-12);
	assert_near(iv.lo, -.15, 1e-12);
	assert_near(iv.hi, .76, 1e-12);
	assert_near(iv.level, .96004, 5e-6);
}

static void swapping_the_groups_mirrors_everything(void **state)
{
	const double x[] = {1, 2, 2, 3, 9, 9, 11};
	const double y[] = {2, 9, 10};
	struct stats_mann_whitney w;
	struct stats_mann_whitney v;

	assert_int_equal(stats_mann_whitney(x, 7, y, 3, &w), 0);
	assert_int_equal(stats_mann_whitney(y, 3, x, 7, &v), 0);
	assert_near(w.u + v.u, 21, 0);
	assert_near(w.p, v.p, 1e-14);
	assert_near(w.p_less, v.p_greater, 1e-14);
	assert_near(w.p_greater, v.p_less, 1e-14);
}

static void exact_reaches_up_to_2500_pairs_and_agrees_with_the_normal_there(void **state)
{
	static double x[2500];
	static double y[2500];
	struct stats_mann_whitney exact;
	struct stats_mann_whitney normal;

	for (size_t i = 0; i < 51; i++) {
		x[i] = (double)(i * 37 % 61);
		y[i] = (double)(i * 17 % 59) + 3;
	}
	assert_int_equal(stats_mann_whitney(x, 50, y, 50, &exact), 0);
	assert_true(exact.exact);
	assert_int_equal(stats_mann_whitney(x, 50, y, 51, &normal), 0);
	assert_false(normal.exact);
	assert_near(exact.p, normal.p, .1);
	/* one against 2,500: the table stays narrow */
	for (size_t i = 0; i < 2500; i++) {
		y[i] = (double)i;
	}
	x[0] = -1;
	assert_int_equal(stats_mann_whitney(x, 1, y, 2500, &exact), 0);
	assert_true(exact.exact);
	assert_near(exact.p, 2 / 2501., 1e-12);
	assert_int_equal(stats_mann_whitney(y, 2500, x, 1, &exact), 0);
	assert_near(exact.p, 2 / 2501., 1e-12);
}

static void shift_interval_above_2500_pairs_is_close_to_the_exact_one_below(void **state)
{
	static double x[60];
	static double y[60];
	struct stats_interval exact;
	struct stats_interval normal;
	double shift;

	for (size_t i = 0; i < 60; i++) {
		x[i] = (double)(i * 37 % 61);
		y[i] = (double)(i * 17 % 59) + 10;
	}
	assert_int_equal(stats_shift(x, 50, y, 50, .95, &shift, &exact), 0);
	assert_int_equal(stats_shift(x, 51, y, 50, .95, &shift, &normal), 0);
	assert_near(exact.lo, normal.lo, 1.5);
	assert_near(exact.hi, normal.hi, 1.5);
	assert_near(exact.level, .95, .001);
	assert_near(normal.level, .95, .001);
}

static void smallest_groups_have_the_widest_interval(void **state)
{
	const double x[] = {1};
	const double y[] = {4, 8};
	struct stats_interval iv;
	double shift;

	assert_int_equal(stats_shift(x, 1, y, 2, .95, &shift, &iv), 0);
	assert_near(shift, 5, 0);
	assert_near(iv.lo, 3, 0);
	assert_near(iv.hi, 7, 0);
	assert_near(iv.level, 1 - 2 / 3., 1e-14);
}

static void bad_input_has_its_code(void **state)
{
	static double many[STATS_MANNWHITNEY_MAX];
	const double bad[] = {1, NAN};
	struct stats_mann_whitney w;
	struct stats_interval iv;
	double shift;

	assert_int_equal(stats_mann_whitney(bad, 1, bad, 0, &w), -ENODATA);
	assert_int_equal(stats_mann_whitney(bad, 0, bad, 1, &w), -ENODATA);
	assert_int_equal(stats_mann_whitney(bad, 2, bad, 1, &w), -EDOM);
	assert_int_equal(stats_mann_whitney(bad, 1, bad, 2, &w), -EDOM);
	assert_int_equal(stats_mann_whitney(many, STATS_MANNWHITNEY_MAX, bad, 1, &w), -E2BIG);
	assert_int_equal(stats_shift(bad, 1, bad, 0, .95, &shift, &iv), -ENODATA);
	assert_int_equal(stats_shift(bad, 2, bad, 1, .95, &shift, &iv), -EDOM);
	assert_int_equal(stats_shift(bad, 1, bad, 1, 1.5, &shift, &iv), -ERANGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(separated_groups_give_the_smallest_p),
		cmocka_unit_test(overlapping_groups_have_three_p_values),
		cmocka_unit_test(ties_are_counted_exactly),
		cmocka_unit_test(equal_values_are_an_error_and_no_p),
		cmocka_unit_test(benchstat_data_give_its_documented_result),
		cmocka_unit_test(placenta_data_give_the_published_interval),
		cmocka_unit_test(swapping_the_groups_mirrors_everything),
		cmocka_unit_test(exact_reaches_up_to_2500_pairs_and_agrees_with_the_normal_there),
		cmocka_unit_test(shift_interval_above_2500_pairs_is_close_to_the_exact_one_below),
		cmocka_unit_test(smallest_groups_have_the_widest_interval),
		cmocka_unit_test(bad_input_has_its_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
