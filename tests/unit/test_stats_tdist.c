/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Student's t and the smallest detectable effect. */
#include "support.h"

#include <errno.h>
#include <float.h>

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
		assert_near(mde,
			    (quantile(.975, (double)n - 1) + quantile(.8, (double)n - 1)) /
				    sqrt((double)n),
			    1e-12);
	}
}

static void equal_differences_would_show_any_effect(void **state)
{
	const double d[] = {2, 2, 2};
	double mde;

	assert_int_equal(stats_mde(d, 3, &mde), 0);
	assert_near(mde, 0, 0);
}

static void bad_input_has_its_code(void **state)
{
	const double d[] = {1, NAN};
	const double huge[] = {DBL_MAX, -DBL_MAX};
	double x;

	assert_int_equal(stats_mde(d, 0, &x), -ENODATA);
	assert_int_equal(stats_mde(d, 1, &x), -ENODATA);
	assert_int_equal(stats_mde(d, 2, &x), -EDOM);
	assert_int_equal(stats_mde(huge, 2, &x), -EDOM);
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
		cmocka_unit_test(smallest_detectable_effect_has_the_planned_size),
		cmocka_unit_test(equal_differences_would_show_any_effect),
		cmocka_unit_test(bad_input_has_its_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
