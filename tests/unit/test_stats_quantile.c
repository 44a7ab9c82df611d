/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Harrell and Davis' quantiles, and the shift between two samples. */
#include "support.h"

#include <errno.h>
#include <math.h>

#include "near.h"
#include "stats/quantile.h"

static void the_published_values_come_out(void **state)
{
	const double five[] = {100, 1, 3, 2, 4};
	const double ten[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
	double v;

	assert_int_equal(stats_harrell_davis(five, 5, .5, &v), 0);
	assert_near(v, 8.5024, 1e-9); /* weights .05792 .25952 .36512 .25952 .05792 */
	assert_int_equal(stats_harrell_davis(ten, 10, .9, &v), 0);
	assert_near(v, 9.435115, 1e-6);
}

static void one_value_is_each_of_its_quantiles(void **state)
{
	const double one[] = {7};
	double v;

	for (double q = .01; q < 1; q += .07) {
		assert_int_equal(stats_harrell_davis(one, 1, q, &v), 0);
		assert_near(v, 7, 1e-12);
	}
}

/* Of 1/n, 2/n, ... 1 it is the mean of a beta variable rounded up: q and half a step. */
static void what_is_left_out_of_many_values_weighs_nothing(void **state)
{
	static double x[20000];
	double v;

	for (size_t i = 0; i < ARRAY_SIZE(x); i++) {
		x[i] = (double)(i + 1) / ARRAY_SIZE(x);
	}
	for (double q = .1; q < .95; q += .1) {
		assert_int_equal(stats_harrell_davis(x, ARRAY_SIZE(x), q, &v), 0);
		assert_near(v, q + .5 / ARRAY_SIZE(x), 1e-11);
	}
}

static void a_sample_that_was_moved_differs_by_as_much_everywhere(void **state)
{
	struct stats_shift_point at[STATS_SHIFT_QUANTILES];
	double a[40];
	double b[40];

	for (size_t i = 0; i < 40; i++) {
		a[i] = (double)(i * i % 37);
		b[i] = a[i] - 2.5;
	}
	assert_int_equal(stats_quantile_shift(a, 40, b, 40, at), 0);
	for (size_t i = 0; i < STATS_SHIFT_QUANTILES; i++) {
		assert_near(at[i].q, i < 9 ? .1 * (double)(i + 1) : .99, 1e-15);
		assert_near(at[i].diff, -2.5, 1e-10);
		assert_near(at[i].b - at[i].a, at[i].diff, 0);
	}
}

static void a_tail_shows_where_it_is(void **state)
{
	struct stats_shift_point at[STATS_SHIFT_QUANTILES];
	double a[100];
	double b[100];

	for (size_t i = 0; i < 100; i++) {
		a[i] = (double)i;
		b[i] = i < 95 ? (double)i : (double)i + 1000;
	}
	assert_int_equal(stats_quantile_shift(a, 100, b, 100, at), 0);
	assert_near(at[4].diff, 0, 1e-9);
	assert_true(at[9].diff > 900);
}

static void a_percentile_is_one_of_the_values(void **state)
{
	double x[100], p;

	for (int i = 0; i < 100; i++) {
		x[i] = 100 - i; /* 1 to 100, backwards */
	}
	assert_int_equal(stats_percentile(x, 100, .95, &p), 0);
	assert_near(p, 95, 0);
	assert_int_equal(stats_percentile(x, 20, .95, &p), 0);
	assert_near(p, 99, 0); /* the 19th of 81 to 100 */
	assert_int_equal(stats_percentile(x, 100, 1, &p), 0);
	assert_near(p, 100, 0);
	assert_int_equal(stats_percentile(x, 1, .01, &p), 0);
	assert_near(p, 100, 0);
	assert_int_equal(stats_percentile(x, 0, .95, &p), -ENODATA);
	assert_int_equal(stats_percentile(x, 1, 0, &p), -ERANGE);
	assert_int_equal(stats_percentile(x, 1, 1.1, &p), -ERANGE);
	assert_int_equal(stats_percentile(x, 1, NAN, &p), -ERANGE);
	x[1] = NAN;
	assert_int_equal(stats_percentile(x, 2, .5, &p), -EDOM);
}

static void bad_input_has_its_code(void **state)
{
	const double d[] = {1, NAN};
	struct stats_shift_point at[STATS_SHIFT_QUANTILES];
	double v;

	assert_int_equal(stats_harrell_davis(d, 0, .5, &v), -ENODATA);
	assert_int_equal(stats_harrell_davis(d, 2, .5, &v), -EDOM);
	assert_int_equal(stats_harrell_davis(d, 1, 0, &v), -ERANGE);
	assert_int_equal(stats_harrell_davis(d, 1, 1, &v), -ERANGE);
	assert_int_equal(stats_harrell_davis(d, 1, NAN, &v), -ERANGE);
	assert_int_equal(stats_quantile_shift(d, 1, d, 0, at), -ENODATA);
	assert_int_equal(stats_quantile_shift(d, 1, d, 2, at), -EDOM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_published_values_come_out),
		cmocka_unit_test(one_value_is_each_of_its_quantiles),
		cmocka_unit_test(what_is_left_out_of_many_values_weighs_nothing),
		cmocka_unit_test(a_sample_that_was_moved_differs_by_as_much_everywhere),
		cmocka_unit_test(a_tail_shows_where_it_is),
		cmocka_unit_test(a_percentile_is_one_of_the_values),
		cmocka_unit_test(bad_input_has_its_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
