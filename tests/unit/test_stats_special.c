/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The normal distribution and the incomplete beta function. */
#include "support.h"

#include <errno.h>
#include <math.h>

#include "near.h"
#include "stats/special.h"

static void normal_quantiles_are_those_of_the_tables(void **state)
{
	static const struct {
		double p, z;
	} rows[] = {{.5, 0},
		    {.975, 1.959963984540054},
		    {.025, -1.959963984540054},
		    {.8, .8416212335729143},
		    {1e-10, -6.361340902404056}};
	double z;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(stats_normal_quantile(rows[i].p, &z), 0);
		assert_near(z, rows[i].z, 1e-12);
	}
}

static void quantile_undoes_the_normal_distribution(void **state)
{
	for (double z = -8; z <= 5; z += .25) {
		double back;

		assert_int_equal(stats_normal_quantile(stats_normal_cdf(z), &back), 0);
		assert_near(back, z, 1e-10);
	}
	assert_near(stats_normal_cdf(-INFINITY), 0, 0);
	assert_near(stats_normal_cdf(INFINITY), 1, 0);
}

static void beta_of_whole_numbers_is_a_binomial_tail(void **state)
{
	/* I_.3(3, 5) = P(Bin(7, .3) >= 3) */
	double want = 0;
	static const double choose[] = {35, 35, 21, 7, 1};

	for (int k = 3; k <= 7; k++) {
		want += choose[k - 3] * pow(.3, k) * pow(.7, 7 - k);
	}
	assert_near(stats_beta_inc(.3, .7, 3, 5), want, 1e-14);
	assert_near(stats_beta_inc(0, 1, 3, 5), 0, 0);
	assert_near(stats_beta_inc(1, 0, 3, 5), 1, 0);
}

static void what_is_no_probability_is_refused(void **state)
{
	double z;

	assert_int_equal(stats_normal_quantile(0, &z), -ERANGE);
	assert_int_equal(stats_normal_quantile(1, &z), -ERANGE);
	assert_int_equal(stats_normal_quantile(NAN, &z), -ERANGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(normal_quantiles_are_those_of_the_tables),
		cmocka_unit_test(quantile_undoes_the_normal_distribution),
		cmocka_unit_test(beta_of_whole_numbers_is_a_binomial_tail),
		cmocka_unit_test(what_is_no_probability_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
