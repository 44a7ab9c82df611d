/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a median hides: shape, two groups, trend, step. */
#include "support.h"

#include <errno.h>
#include <math.h>

#include "bell.h"
#include "near.h"
#include "stats/shape.h"

static void equal_samples_are_nowhere_apart(void **state)
{
	const double x[] = {3, 1, 2, 2};
	double d;
	double p;

	assert_int_equal(stats_ks(x, 4, x, 4, &d, &p), 0);
	assert_near(d, 0, 0);
	assert_near(p, 1, 0);
}

static void the_distance_is_that_of_the_distribution_functions(void **state)
{
	const double x[] = {1, 2, 2, 3, 3};
	const double y[] = {1, 2, 3, 3, 4, 5};
	double d;
	double p;

	assert_int_equal(stats_ks(x, 5, y, 6, &d, &p), 0);
	assert_near(d, 1 / 3., 1e-12);
	assert_int_equal(stats_ks(y, 6, x, 5, &d, &p), 0);
	assert_near(d, 1 / 3., 1e-12);
}

static void groups_with_one_median_are_told_from_one_group(void **state)
{
	/* Half of the boots fast, half slow. */
	const double two[] = {10.1, 12.0, 10.0, 12.1, 10.2, 12.2, 9.9, 11.9};
	const double lone[] = {10.1, 10.0, 10.2, 9.9, 10.1, 10.0, 10.2, 19.9};
	const double equal[] = {1, 1, 1, 1, 1, 1, 1, 1};
	struct stats_split s;

	assert_int_equal(stats_split(two, 8, &s), 0);
	assert_true(s.two);
	assert_int_equal(s.low, 4);
	assert_near(s.at[0], 10.05, 1e-12);
	assert_near(s.at[1], 12.05, 1e-12);
	assert_int_equal(stats_split(lone, 8, &s), 0);
	assert_false(s.two);
	assert_int_equal(stats_split(equal, 8, &s), 0);
	assert_false(s.two);
	assert_near(s.share, 0, 0);
}

static void one_normal_group_is_seldom_called_two(void **state)
{
	struct rng rng;
	unsigned int called = 0;

	rng_init(&rng, 11);
	for (int run = 0; run < 2000; run++) {
		struct stats_split s;
		double x[12];

		for (size_t i = 0; i < 12; i++) {
			x[i] = 1e6 + bell(&rng);
		}
		assert_int_equal(stats_split(x, 12, &s), 0);
		called += s.two;
	}
	assert_in_range(called, 0, 10);
}

static void a_trend_is_found_and_noise_is_not(void **state)
{
	const double up[] = {1, 2, 3, 5, 4, 6, 7, 8};
	const double none[] = {4, 1, 5, 2, 6, 3, 5, 2};
	double tau;
	double p;

	assert_int_equal(stats_trend(up, 8, &tau, &p), 0);
	assert_near(tau, 26 / 28., 1e-12);
	assert_near(p, erfc(25 / sqrt(8 * 7 * 21 / 18.) / sqrt(2)), 1e-12);
	assert_int_equal(stats_trend(none, 8, &tau, &p), 0);
	assert_true(p > .5);
}

static void a_step_is_found_where_it_is(void **state)
{
	struct stats_change c;
	struct rng rng;
	double x[60];

	rng_init(&rng, 5);
	for (size_t i = 0; i < 60; i++) {
		x[i] = bell(&rng) + (i >= 25 ? 6 : 0);
	}
	assert_int_equal(stats_change(x, 60, &c), 0);
	assert_int_equal(c.at, 25);
	assert_true(c.p < 1e-6);
	assert_near(c.step, 6, 1);
}

static void the_chance_of_a_step_in_noise_is_not_above_its_p(void **state)
{
	struct rng rng;
	unsigned int called = 0;

	rng_init(&rng, 13);
	for (int run = 0; run < 2000; run++) {
		struct stats_change c;
		double x[40];

		for (size_t i = 0; i < 40; i++) {
			x[i] = floor(3 * bell(&rng)); /* with ties */
		}
		assert_int_equal(stats_change(x, 40, &c), 0);
		called += c.p < .05;
	}
	assert_in_range(called, 20, 120);
}

static void bad_input_has_its_code(void **state)
{
	const double x[] = {1, NAN, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
	const double e[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
	struct stats_change c;
	struct stats_split s;
	double d;
	double p;

	assert_int_equal(stats_ks(e, 3, e, 0, &d, &p), -ENODATA);
	assert_int_equal(stats_ks(x, 2, e, 3, &d, &p), -EDOM);
	assert_int_equal(stats_split(e, 7, &s), -ENODATA);
	assert_int_equal(stats_split(x, 12, &s), -EDOM);
	assert_int_equal(stats_trend(e, 4, &d, &p), -ENODATA);
	assert_int_equal(stats_trend(e, 5, &d, &p), -ENOTUNIQ);
	assert_int_equal(stats_trend(x, 5, &d, &p), -EDOM);
	assert_int_equal(stats_change(e, 9, &c), -ENODATA);
	assert_int_equal(stats_change(e, 10, &c), -ENOTUNIQ);
	assert_int_equal(stats_change(x, 12, &c), -EDOM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_samples_are_nowhere_apart),
		cmocka_unit_test(the_distance_is_that_of_the_distribution_functions),
		cmocka_unit_test(groups_with_one_median_are_told_from_one_group),
		cmocka_unit_test(one_normal_group_is_seldom_called_two),
		cmocka_unit_test(a_trend_is_found_and_noise_is_not),
		cmocka_unit_test(a_step_is_found_where_it_is),
		cmocka_unit_test(the_chance_of_a_step_in_noise_is_not_above_its_p),
		cmocka_unit_test(bad_input_has_its_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
