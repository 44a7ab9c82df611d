/* SPDX-License-Identifier: GPL-2.0-or-later */
/* BCa intervals. */
#include "support.h"

#include <errno.h>
#include <math.h>

#include "base/rng.h"
#include "near.h"
#include "stats/bootstrap.h"

static void all_256_resamples_of_four_values_give_the_known_interval(void **state)
{
	const double x[] = {1, 2, 4, 8};
	struct stats_bca b;

	assert_int_equal(stats_bca_enumerated(x, 4, stats_statistic_mean, .95, &b), 0);
	assert_near(b.estimate, 3.75, 0);
	assert_near(b.z0, .0784124, 5e-8);
	assert_near(b.accel, .0547340, 5e-8);
	assert_near(b.interval.lo, 1.75, 0);
	assert_near(b.interval.hi, 7.0, 0);
	assert_near(b.interval.level, .95, 0);
}

static void the_order_of_the_values_does_not_matter_where_all_are_taken(void **state)
{
	const double x[] = {.1, .2, .3, .7, 1.1};
	const double y[] = {1.1, .3, .1, .7, .2};
	struct stats_bca b[2];

	assert_int_equal(stats_bca_enumerated(x, 5, stats_statistic_mean, .9, &b[0]), 0);
	assert_int_equal(stats_bca_enumerated(y, 5, stats_statistic_mean, .9, &b[1]), 0);
	assert_near(b[0].z0, b[1].z0, 1e-12);
	assert_near(b[0].interval.lo, b[1].interval.lo, 1e-12);
	assert_near(b[0].interval.hi, b[1].interval.hi, 1e-12);
}

static void the_same_seed_gives_the_same_interval(void **state)
{
	double x[12];
	struct stats_bca b[3];

	for (size_t i = 0; i < 12; i++) {
		x[i] = (double)(i * 7 % 12);
	}
	assert_int_equal(stats_bca(x, 12, stats_statistic_median, .95, 1, &b[0]), 0);
	assert_int_equal(stats_bca(x, 12, stats_statistic_median, .95, 1, &b[1]), 0);
	assert_int_equal(stats_bca(x, 12, stats_statistic_mean, .95, 2, &b[2]), 0);
	assert_memory_equal(&b[0], &b[1], sizeof(b[0]));
	assert_true(b[2].interval.lo < b[2].estimate && b[2].estimate < b[2].interval.hi);
}

static void intervals_of_the_mean_cover_it(void **state)
{
	struct rng rng;
	unsigned int covered = 0;

	rng_init(&rng, 7);
	for (size_t run = 0; run < 200; run++) {
		struct stats_bca b;
		double x[20];

		for (size_t i = 0; i < 20; i++) {
			x[i] = -log(1 - rng_unit(&rng)); /* skewed: mean 1 */
		}
		assert_int_equal(stats_bca(x, 20, stats_statistic_mean, .95, run, &b), 0);
		covered += b.interval.lo <= 1 && 1 <= b.interval.hi;
	}
	/* Of an exponential sample of 20 it covers some 92 %; 3 standard deviations are 6 %. */
	assert_in_range(covered, 172, 198);
}

static void bad_input_has_its_code(void **state)
{
	const double x[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, NAN};
	const double equal[10] = {3, 3, 3, 3, 3, 3, 3, 3, 3, 3};
	struct stats_bca b;

	assert_int_equal(stats_bca(x, 0, stats_statistic_mean, .95, 1, &b), -ENODATA);
	assert_int_equal(stats_bca(x, 9, stats_statistic_mean, .95, 1, &b), -ENODATA);
	assert_int_equal(stats_bca(x, 12, stats_statistic_mean, .95, 1, &b), -EDOM);
	assert_int_equal(stats_bca(x, 11, stats_statistic_mean, 1, 1, &b), -ERANGE);
	assert_int_equal(stats_bca(x, 11, stats_statistic_mean, NAN, 1, &b), -ERANGE);
	assert_int_equal(stats_bca(equal, 10, stats_statistic_mean, .95, 1, &b), -ENOTUNIQ);
	assert_int_equal(stats_bca_enumerated(x, 1, stats_statistic_mean, .95, &b), -ENODATA);
	assert_int_equal(stats_bca_enumerated(x, 7, stats_statistic_mean, .95, &b), -E2BIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_256_resamples_of_four_values_give_the_known_interval),
		cmocka_unit_test(the_order_of_the_values_does_not_matter_where_all_are_taken),
		cmocka_unit_test(the_same_seed_gives_the_same_interval),
		cmocka_unit_test(intervals_of_the_mean_cover_it),
		cmocka_unit_test(bad_input_has_its_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
