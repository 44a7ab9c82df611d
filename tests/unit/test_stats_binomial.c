/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <math.h>

#include "stats/binomial.h"

static void a_test_at_five_per_cent_rejects_so_often(void **state)
{
	static const struct {
		size_t n, lo, hi;
	} known[] = {{0, 0, 0}, {1, 0, 1}, {20, 0, 3}, {200, 4, 16}, {400, 12, 29}, {1000, 37, 64}};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		size_t lo, hi;

		assert_int_equal(stats_binomial_range(known[i].n, .05, .95, &lo, &hi), 0);
		assert_int_equal(lo, known[i].lo);
		assert_int_equal(hi, known[i].hi);
	}
}

static void a_range_is_symmetrical_for_a_fair_coin(void **state)
{
	size_t lo, hi;

	assert_int_equal(stats_binomial_range(100, .5, .95, &lo, &hi), 0);
	assert_int_equal(lo, 40);
	assert_int_equal(hi, 60);
	assert_int_equal(stats_binomial_range(1000000, .5, .5, &lo, &hi), 0);
	assert_int_equal(lo + hi, 1000000);
}

static void bad_input_has_its_code(void **state)
{
	static const double bad[] = {0, 1, -1, 2, NAN, INFINITY};
	size_t lo, hi;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(stats_binomial_range(20, bad[i], .95, &lo, &hi), -ERANGE);
		assert_int_equal(stats_binomial_range(20, .05, bad[i], &lo, &hi), -ERANGE);
	}
	assert_int_equal(stats_binomial_range(1000001, .05, .95, &lo, &hi), -E2BIG);
	assert_int_equal(stats_binomial_range(SIZE_MAX, .05, .95, &lo, &hi), -E2BIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_test_at_five_per_cent_rejects_so_often),
		cmocka_unit_test(a_range_is_symmetrical_for_a_fair_coin),
		cmocka_unit_test(bad_input_has_its_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
