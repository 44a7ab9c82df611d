/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Several comparisons at once. */
#include "support.h"

#include <errno.h>

#include "near.h"
#include "stats/multiple.h"

/* Benjamini and Hochberg (1995), 3.2 */
static const double bh1995[] = {.0001, .0004, .0019, .0095, .0201, .0278, .0298, .0344,
				.0459, .3240, .4262, .5719, .6528, .7590, 1};

static size_t rejected(const double *p, size_t n)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++) {
		count += p[i] <= .05;
	}
	return count;
}

static void published_example_rejects_three_by_holm_and_four_by_bh(void **state)
{
	double adjusted[15];

	assert_int_equal(stats_holm(bh1995, 15, adjusted), 0);
	assert_int_equal(rejected(adjusted, 15), 3);
	assert_int_equal(stats_bh(bh1995, 15, adjusted), 0);
	assert_int_equal(rejected(adjusted, 15), 4);
}

static void holm_keeps_the_order_of_its_input(void **state)
{
	const double p[] = {.5, .01, .001, .03};
	double adjusted[4];

	assert_int_equal(stats_holm(p, 4, adjusted), 0);
	assert_near(adjusted[0], .5, 1e-15);
	assert_near(adjusted[1], .03, 1e-15);
	assert_near(adjusted[2], .004, 1e-15);
	assert_near(adjusted[3], .06, 1e-15);
}

static void adjusted_values_never_fall_and_never_pass_one(void **state)
{
	const double p[] = {.4, .4, .02, .9};
	double adjusted[4];

	assert_int_equal(stats_holm(p, 4, adjusted), 0);
	assert_near(adjusted[2], .08, 1e-15);
	assert_near(adjusted[0], 1, 0);
	assert_near(adjusted[1], 1, 0);
	assert_near(adjusted[3], 1, 0);
	/* from the greatest down: .9, then .4 * 4/3 for both, then .08 */
	assert_int_equal(stats_bh(p, 4, adjusted), 0);
	assert_near(adjusted[0], .4 * 4 / 3, 1e-15);
	assert_near(adjusted[1], .4 * 4 / 3, 1e-15);
	assert_near(adjusted[2], .08, 1e-15);
	assert_near(adjusted[3], .9, 1e-15);
}

static void one_comparison_is_not_adjusted(void **state)
{
	double p = .03125;

	assert_int_equal(stats_holm(&p, 1, &p), 0);
	assert_near(p, .03125, 0);
	assert_int_equal(stats_bh(&p, 1, &p), 0);
	assert_near(p, .03125, 0);
}

static void what_is_no_probability_is_refused(void **state)
{
	const double p[] = {.1, NAN, 1.1, -.1};
	double adjusted[1];

	assert_int_equal(stats_holm(p, 0, adjusted), -ENODATA);
	assert_int_equal(stats_bh(p, 0, adjusted), -ENODATA);
	for (size_t i = 1; i < 4; i++) {
		assert_int_equal(stats_holm(p + i, 1, adjusted), -ERANGE);
		assert_int_equal(stats_bh(p + i, 1, adjusted), -ERANGE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(published_example_rejects_three_by_holm_and_four_by_bh),
		cmocka_unit_test(holm_keeps_the_order_of_its_input),
		cmocka_unit_test(adjusted_values_never_fall_and_never_pass_one),
		cmocka_unit_test(one_comparison_is_not_adjusted),
		cmocka_unit_test(what_is_no_probability_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
