/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Order statistics: the median and its interval. */
#include "support.h"

#include <errno.h>
#include <float.h>

#include "near.h"
#include "stats/order.h"

static void median_of_an_odd_number_is_the_middle_value(void **state)
{
	const double x[] = {9, -1, 4};
	double m;

	assert_int_equal(stats_median(x, 3, &m), 0);
	assert_near(m, 4, 0);
	assert_near(x[0], 9, 0); /* the input is left alone */
}

static void median_of_an_even_number_is_the_mean_of_the_middle_two(void **state)
{
	const double old[] = {1726, 1723, 1707, 1707, 1713, 1729, 1736, 1707, 1705, 1774};
	const double new[] = {1423, 1416, 1411, 1413, 1412, 1426, 1422, 1424, 1447, 1425};
	double m;

	assert_int_equal(stats_median(old, 10, &m), 0);
	assert_near(m, 1718, 0);
	assert_int_equal(stats_median(new, 10, &m), 0);
	assert_near(m, 1422.5, 0);
}

static void median_of_huge_values_does_not_overflow(void **state)
{
	const double x[] = {DBL_MAX, DBL_MAX};
	double m;

	assert_int_equal(stats_median(x, 2, &m), 0);
	assert_near(m, DBL_MAX, 0);
}

static void no_values_and_bad_values_are_errors(void **state)
{
	const double nan[] = {1, NAN};
	const double inf[] = {-INFINITY, 2};
	struct stats_interval iv;
	double m = 42;

	assert_int_equal(stats_median(nan, 0, &m), -ENODATA);
	assert_int_equal(stats_median(nan, 2, &m), -EDOM);
	assert_int_equal(stats_median(inf, 2, &m), -EDOM);
	assert_near(m, 42, 0); /* written on success only */
	assert_int_equal(stats_median_interval(nan, 0, .95, &iv), -ENODATA);
	assert_int_equal(stats_median_interval(nan, 2, .95, &iv), -EDOM);
	assert_int_equal(stats_median_interval(nan, 1, 0, &iv), -ERANGE);
	assert_int_equal(stats_median_interval(nan, 1, 1, &iv), -ERANGE);
	assert_int_equal(stats_median_interval(nan, 1, NAN, &iv), -ERANGE);
}

static void median_interval_of_six_values_spans_all_of_them(void **state)
{
	const double x[] = {-10, 2, 3, 4, 5, 6};
	struct stats_interval iv;
	double m;

	assert_int_equal(stats_median(x, 6, &m), 0);
	assert_near(m, 3.5, 0);
	assert_int_equal(stats_median_interval(x, 6, .95, &iv), 0);
	assert_near(iv.lo, -10, 0);
	assert_near(iv.hi, 6, 0);
	assert_near(iv.level, .96875, 1e-14);
}

static void median_interval_of_five_values_is_infinite(void **state)
{
	const double x[] = {1, 2, 3, 4, 5};
	struct stats_interval iv;

	for (size_t n = 1; n <= 5; n++) {
		assert_int_equal(stats_median_interval(x, n, .95, &iv), 0);
		assert_true(isinf(iv.lo) && iv.lo < 0);
		assert_true(isinf(iv.hi) && iv.hi > 0);
		assert_near(iv.level, 1, 0);
	}
	/* What five values can give, they do give. */
	assert_int_equal(stats_median_interval(x, 5, .9375, &iv), 0);
	assert_near(iv.lo, 1, 0);
	assert_near(iv.hi, 5, 0);
	assert_near(iv.level, .9375, 1e-14);
}

static void median_interval_of_ten_values_leaves_out_the_extremes(void **state)
{
	const double x[] = {10, 9, 8, 7, 6, 5, 4, 3, 2, 1};
	struct stats_interval iv;

	/* P(N <= 1) = 11/1024, P(N <= 2) = 56/1024: k is 2 */
	assert_int_equal(stats_median_interval(x, 10, .95, &iv), 0);
	assert_near(iv.lo, 2, 0);
	assert_near(iv.hi, 9, 0);
	assert_near(iv.level, 1 - 22 / 1024., 1e-13);
}

static void median_interval_of_thousands_of_values_does_not_underflow(void **state)
{
	double x[5000];
	struct stats_interval iv;

	for (size_t i = 0; i < 5000; i++) {
		x[i] = (double)i;
	}
	assert_int_equal(stats_median_interval(x, 5000, .95, &iv), 0);
	assert_near(iv.lo, 2430, 1); /* 2500 - 1.96 sqrt(5000)/2 */
	assert_near(iv.lo + iv.hi, 4999, 0);
	assert_near(iv.level, .95, .002);
}

static void each_code_has_its_text(void **state)
{
	assert_string_equal(stats_error_text(-ENOTUNIQ), "all values are equal");
	assert_string_equal(stats_error_text(-ENODATA), "too few values");
	assert_string_equal(stats_error_text(-EDOM), "a value is not a finite number");
	assert_string_equal(stats_error_text(-ERANGE), "a parameter is out of range");
	assert_string_equal(stats_error_text(-E2BIG), "too many values for the exact method");
	assert_string_equal(stats_error_text(-ENOMEM), "out of memory");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(median_of_an_odd_number_is_the_middle_value),
		cmocka_unit_test(median_of_an_even_number_is_the_mean_of_the_middle_two),
		cmocka_unit_test(median_of_huge_values_does_not_overflow),
		cmocka_unit_test(no_values_and_bad_values_are_errors),
		cmocka_unit_test(median_interval_of_six_values_spans_all_of_them),
		cmocka_unit_test(median_interval_of_five_values_is_infinite),
		cmocka_unit_test(median_interval_of_ten_values_leaves_out_the_extremes),
		cmocka_unit_test(median_interval_of_thousands_of_values_does_not_underflow),
		cmocka_unit_test(each_code_has_its_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
