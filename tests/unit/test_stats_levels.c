/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The variance of each level of a nested measurement. */
#include "support.h"

#include <errno.h>
#include <float.h>
#include <math.h>

#include "bell.h"
#include "near.h"
#include "stats/levels.h"

static void the_published_example_comes_out(void **state)
{
	/* Kalibera and Jones: three of the highest level, two of the others. */
	const double x[] = {9, 5, 8, 3, 10, 6, 7, 11, 1, 12, 2, 4};
	const size_t counts[] = {2, 2, 3};
	struct stats_levels l;

	assert_int_equal(stats_levels(x, counts, 3, &l), 0);
	assert_near(l.mean, 6.5, 1e-12);
	assert_near(l.s2[0], 16.5, 1e-12);
	assert_near(l.s2[1], 2.58333, 5e-6);
	assert_near(l.s2[2], 3.5625, 1e-12);
	assert_near(l.t2[0], 16.5, 1e-12);
	assert_near(l.t2[1], -5.66667, 5e-6);
	assert_near(l.t2[2], 2.27083, 5e-6);
}

static void one_level_is_the_plain_variance(void **state)
{
	const double x[] = {1, 2, 4};
	struct stats_levels l;

	assert_int_equal(stats_levels(x, (size_t[]){3}, 1, &l), 0);
	assert_near(l.s2[0], 7 / 3., 1e-12);
}

static void simulated_variances_are_found_again(void **state)
{
	static double x[400 * 20];
	struct stats_levels l;
	struct rng rng;

	rng_init(&rng, 3);
	for (size_t boot = 0; boot < 400; boot++) {
		double shift = 3 * bell(&rng);

		for (size_t batch = 0; batch < 20; batch++) {
			x[boot * 20 + batch] = 100 + shift + bell(&rng);
		}
	}
	assert_int_equal(stats_levels(x, (size_t[]){20, 400}, 2, &l), 0);
	assert_near(l.t2[0], 1, .05);
	assert_near(l.t2[1], 9, 1.8); /* standard deviation .64 */
}

static void the_best_count_follows_cost_and_spread(void **state)
{
	double n;

	assert_int_equal(stats_best_count(.01, 1, 4, 1, &n), 0);
	assert_near(n, 20, 1e-12);
	assert_int_equal(stats_best_count(1, 1, 0, 1, &n), 0);
	assert_near(n, 1, 0);
	assert_int_equal(stats_best_count(1, 1, 1, -.5, &n), 0);
	assert_true(isinf(n));
	assert_int_equal(stats_best_count(1, 1, 0, 0, &n), 0);
	assert_near(n, 1, 0);
	assert_int_equal(stats_best_count(0, 1, 1, 1, &n), -ERANGE);
	assert_int_equal(stats_best_count(1, -1, 1, 1, &n), -ERANGE);
	assert_int_equal(stats_best_count(1, 1, -1, 1, &n), -ERANGE);
	assert_int_equal(stats_best_count(1, 1, NAN, 1, &n), -EDOM);
}

static void bad_input_has_its_code(void **state)
{
	const double x[] = {1, 2, 3, NAN};
	const double huge[] = {DBL_MAX, -DBL_MAX};
	const size_t wide[] = {2, SIZE_MAX};
	struct stats_levels l;

	assert_int_equal(stats_levels(x, (size_t[]){1}, 1, &l), -ENODATA);
	assert_int_equal(stats_levels(x, (size_t[]){2, 1}, 2, &l), -ENODATA);
	assert_int_equal(stats_levels(x, (size_t[]){2, 2}, 2, &l), -EDOM);
	assert_int_equal(stats_levels(huge, (size_t[]){2}, 1, &l), -EDOM);
	assert_int_equal(stats_levels(x, (size_t[]){2}, 0, &l), -ERANGE);
	assert_int_equal(stats_levels(x, (size_t[]){2}, STATS_LEVELS_MAX + 1, &l), -ERANGE);
	assert_int_equal(stats_levels(x, wide, 2, &l), -E2BIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_published_example_comes_out),
		cmocka_unit_test(one_level_is_the_plain_variance),
		cmocka_unit_test(simulated_variances_are_found_again),
		cmocka_unit_test(the_best_count_follows_cost_and_spread),
		cmocka_unit_test(bad_input_has_its_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
