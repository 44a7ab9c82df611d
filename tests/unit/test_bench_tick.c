/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include "tick.h"

static void work_that_ends_before_the_next_tick_need_not_wait(void **state)
{
	const struct tick t = {.last = 1000, .length = 100};

	assert_false(tick_is_in_the_way(&t, 1000, 99));
	assert_true(tick_is_in_the_way(&t, 1001, 99));
	assert_false(tick_is_in_the_way(&t, 1050, 49));
	assert_true(tick_is_in_the_way(&t, 1050, 50));
}

static void ticks_that_passed_unseen_are_counted_on(void **state)
{
	const struct tick t = {.last = 1000, .length = 100};

	assert_false(tick_is_in_the_way(&t, 1000 + 700 + 10, 80));
	assert_true(tick_is_in_the_way(&t, 1000 + 700 + 30, 80));
}

static void the_first_tick_is_always_waited_for(void **state)
{
	const struct tick t = {.last = 0, .length = 100};

	assert_true(tick_is_in_the_way(&t, 12345, 0));
}

static void work_longer_than_a_tick_or_an_unknown_tick_is_never_waited_for(void **state)
{
	const struct tick t = {.last = 1000, .length = 100};
	const struct tick unknown = {.last = 0, .length = 0};

	assert_false(tick_is_in_the_way(&t, 1099, 100));
	assert_false(tick_is_in_the_way(&unknown, 1099, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(work_that_ends_before_the_next_tick_need_not_wait),
		cmocka_unit_test(ticks_that_passed_unseen_are_counted_on),
		cmocka_unit_test(the_first_tick_is_always_waited_for),
		cmocka_unit_test(work_longer_than_a_tick_or_an_unknown_tick_is_never_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
