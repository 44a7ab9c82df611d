/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Student's t. */
#include "support.h"

#include <errno.h>

#include "near.h"
#include "stats/tdist.h"

static double quantile(double p, double df)
{
	double t;

	assert_int_equal(stats_t_quantile(p, df, &t), 0);
	return t;
}

static void quantiles_are_those_of_the_tables(void **state)
{
	assert_near(quantile(.975, 1), 12.7062047361747, 1e-10);
	assert_near(quantile(.975, 2), 4.30265272974946, 1e-12);
	assert_near(quantile(.975, 5), 2.57058183563632, 1e-12);
	assert_near(quantile(.975, 11), 2.20098516009164, 1e-12);
	assert_near(quantile(.80, 11), 0.87552997807388, 1e-12);
	assert_near(quantile(.9995, 30), 3.6459586349971, 1e-10);
	assert_near(quantile(.975, 1e6), 1.95996636, 1e-7);
}

static void one_degree_of_freedom_is_the_cauchy_distribution(void **state)
{
	for (double p = .01; p < 1; p += .01) {
		assert_near(quantile(p, 1), tan(M_PI * (p - .5)),
			    1e-11 * (1 + fabs(quantile(p, 1))));
	}
}

static void two_degrees_of_freedom_have_a_closed_form(void **state)
{
	for (double p = .001; p < .5; p += .01) {
		double t = (2 * p - 1) / sqrt(2 * p * (1 - p));

		assert_near(quantile(p, 2), t, 1e-12 * (1 + fabs(t)));
	}
}

static void quantile_undoes_the_distribution(void **state)
{
	for (double df = .5; df < 400; df *= 1.7) {
		for (double t = -20; t <= 20; t += 1.25) {
			double p;

			assert_int_equal(stats_t_cdf(t, df, &p), 0);
			if (p > 1e-12 && p < 1 - 1e-3) {
				assert_near(quantile(p, df), t, 1e-9 * (1 + fabs(t)));
			}
		}
	}
}

static void distribution_is_symmetric_and_ends_at_0_and_1(void **state)
{
	double p;
	double q;

	assert_int_equal(stats_t_cdf(0, 7, &p), 0);
	assert_near(p, .5, 0);
	assert_near(quantile(.5, 7), 0, 0);
	assert_int_equal(stats_t_cdf(1.3, 7, &p), 0);
	assert_int_equal(stats_t_cdf(-1.3, 7, &q), 0);
	assert_near(p + q, 1, 1e-15);
	assert_int_equal(stats_t_cdf(INFINITY, 7, &p), 0);
	assert_near(p, 1, 0);
	assert_int_equal(stats_t_cdf(-INFINITY, 7, &p), 0);
	assert_near(p, 0, 0);
}

static void bad_input_has_its_code(void **state)
{
	double x;

	assert_int_equal(stats_t_quantile(0, 5, &x), -ERANGE);
	assert_int_equal(stats_t_quantile(1, 5, &x), -ERANGE);
	assert_int_equal(stats_t_quantile(NAN, 5, &x), -ERANGE);
	assert_int_equal(stats_t_quantile(.5, 0, &x), -ERANGE);
	assert_int_equal(stats_t_quantile(.5, INFINITY, &x), -ERANGE);
	assert_int_equal(stats_t_cdf(NAN, 5, &x), -EDOM);
	assert_int_equal(stats_t_cdf(1, -1, &x), -ERANGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quantiles_are_those_of_the_tables),
		cmocka_unit_test(one_degree_of_freedom_is_the_cauchy_distribution),
		cmocka_unit_test(two_degrees_of_freedom_have_a_closed_form),
		cmocka_unit_test(quantile_undoes_the_distribution),
		cmocka_unit_test(distribution_is_symmetric_and_ends_at_0_and_1),
		cmocka_unit_test(bad_input_has_its_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
