/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sign-flip test. */
#include "support.h"

#include <errno.h>
#include <float.h>

#include "near.h"
#include "stats/signflip.h"

static double p_of(const double *d, size_t n)
{
	double p;

	assert_int_equal(stats_sign_flip(d, n, 1, &p), 0);
	return p;
}

static void depression_data_give_14_of_512(void **state)
{
	const double d[] = {1.83 - .878, .50 - .647,  1.62 - .598, 2.48 - 2.05, 1.68 - 1.06,
			    1.88 - 1.29, 1.55 - 1.06, 3.06 - 3.14, 1.30 - 1.29};

	assert_near(p_of(d, 9), 14 / 512., 0);
}

static void smallest_p_is_two_patterns_of_all(void **state)
{
	const double d[] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4};

	assert_near(p_of(d, 5), .0625, 0);
	assert_near(p_of(d, 6), .03125, 0);
	assert_near(p_of(d, 8), .0078125, 0);
	assert_near(p_of(d, 12), 2 / 4096., 0);
	assert_near(p_of(d, 20), ldexp(1, -19), 0);
}

static void sign_of_the_differences_does_not_matter(void **state)
{
	const double d[] = {1.5, -.3, 2.25, .1, 4, -1};
	const double minus[] = {-1.5, .3, -2.25, -.1, -4, 1};

	assert_near(p_of(d, 6), p_of(minus, 6), 0);
}

static void equal_sums_count_in_spite_of_rounding(void **state)
{
	/* |sum| = .2 or more: all patterns but those that cancel, which no pattern of 3 does */
	const double d[] = {.1, .2, -.1};
	/* the same as small rests of large readings */
	const double rest[] = {7800.1 - 7800, 7800.2 - 7800, 7799.9 - 7800};

	/* sums: .2 .4 0 .2 -.2 0 -.4 -.2 */
	assert_near(p_of(d, 3), 6 / 8., 0);
	assert_near(p_of(rest, 3), 6 / 8., 0);
}

static void zero_differences_are_no_evidence(void **state)
{
	const double d[25] = {0};

	assert_near(p_of(d, 1), 1, 0);
	assert_near(p_of(d, 12), 1, 0);
	assert_near(p_of(d, 25), 1, 0);
}

static void one_difference_is_no_evidence(void **state)
{
	const double d[] = {1e6};

	assert_near(p_of(d, 1), 1, 0);
}

static void above_twenty_the_seed_decides_and_p_is_never_zero(void **state)
{
	double d[24];
	double p;
	double q;

	for (size_t i = 0; i < 24; i++) {
		d[i] = 1;
	}
	assert_near(p_of(d, 24), 1 / 100001., 2e-5);
	assert_true(p_of(d, 24) > 0);
	for (size_t i = 0; i < 24; i++) {
		d[i] = i % 3 == 0 ? -1 : 1; /* sum 8: P(|S| >= 8) = 2 P(Bin(24, 1/2) >= 16) */
	}
	assert_int_equal(stats_sign_flip(d, 24, 7, &p), 0);
	assert_int_equal(stats_sign_flip(d, 24, 7, &q), 0);
	assert_near(p, q, 0);
	assert_near(p, .151586, .004);
	assert_int_equal(stats_sign_flip(d, 24, 8, &q), 0);
	assert_true(p != q);
}

static void draws_agree_with_the_binomial_beyond_64_differences(void **state)
{
	double d[100];

	for (size_t i = 0; i < 100; i++) {
		d[i] = i < 40 ? -1 : 1; /* sum 20: 2 P(Bin(100, 1/2) >= 60) = .0569 */
	}
	assert_near(p_of(d, 100), .0568879, .003);
}

static void bad_input_has_its_code(void **state)
{
	const double d[] = {1, NAN, 3};
	const double huge[] = {DBL_MAX, DBL_MAX};
	double p;

	assert_int_equal(stats_sign_flip(d, 0, 1, &p), -ENODATA);
	assert_int_equal(stats_sign_flip(d, 3, 1, &p), -EDOM);
	assert_int_equal(stats_sign_flip(huge, 2, 1, &p), -EDOM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(depression_data_give_14_of_512),
		cmocka_unit_test(smallest_p_is_two_patterns_of_all),
		cmocka_unit_test(sign_of_the_differences_does_not_matter),
		cmocka_unit_test(equal_sums_count_in_spite_of_rounding),
		cmocka_unit_test(zero_differences_are_no_evidence),
		cmocka_unit_test(one_difference_is_no_evidence),
		cmocka_unit_test(above_twenty_the_seed_decides_and_p_is_never_zero),
		cmocka_unit_test(draws_agree_with_the_binomial_beyond_64_differences),
		cmocka_unit_test(bad_input_has_its_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
