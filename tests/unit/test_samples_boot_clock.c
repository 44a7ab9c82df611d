/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <string.h>

#include "samples/boot_clock.h"

#define BATCHES 6

static uint8_t dirty[BATCHES];
static struct boot_bench b = {.batch_count = BATCHES, .dirty = dirty};

static void mark(const double *empty)
{
	json_t *list = json_array();

	for (int i = 0; i < BATCHES; i++) {
		json_array_append_new(list, json_real(empty[i]));
	}
	assert_int_equal(boot_clock_mark(&b, list), 0);
	json_decref(list);
}

static int setup(void **state)
{
	memset(dirty, 0, sizeof(dirty));
	return 0;
}

static void a_loop_that_always_takes_the_same_marks_nothing(void **state)
{
	const double empty[BATCHES] = {1000, 1010, 990, 1040, 960, 1000};

	mark(empty);
	for (int i = 0; i < BATCHES; i++) {
		assert_int_equal(dirty[i], 0);
	}
	assert_true(b.empty_ticks == 1000);
}

static void a_batch_at_another_rate_is_marked(void **state)
{
	const double empty[BATCHES] = {1000, 1000, 1120, 1000, 900, 1000};

	mark(empty);
	for (int i = 0; i < BATCHES; i++) {
		assert_int_equal(dirty[i], i == 2 || i == 4 ? 1 << DISTURBED_CLOCK : 0);
	}
}

static void what_was_disturbed_otherwise_is_no_witness(void **state)
{
	const double empty[BATCHES] = {1000, 5000, 5000, 5000, 5000, 1000};

	for (int i = 1; i < 5; i++) {
		dirty[i] = 1 << DISTURBED_IRQ;
	}
	mark(empty);
	assert_true(b.empty_ticks == 1000);
	for (int i = 0; i < BATCHES; i++) {
		assert_int_equal(dirty[i], i > 0 && i < 5 ? 1 << DISTURBED_IRQ : 0);
	}
}

static void a_short_loop_tells_nothing(void **state)
{
	const double empty[BATCHES] = {100, 200, 100, 100, 300, 100};

	mark(empty);
	assert_true(b.empty_ticks == 0);
	for (int i = 0; i < BATCHES; i++) {
		assert_int_equal(dirty[i], 0);
	}
}

static void nothing_undisturbed_tells_nothing(void **state)
{
	const double empty[BATCHES] = {1000, 2000, 1000, 1000, 1000, 1000};

	memset(dirty, 1 << DISTURBED_STEAL, sizeof(dirty));
	mark(empty);
	assert_true(b.empty_ticks == 0);
}

static void one_number_for_all_batches_tells_nothing(void **state)
{
	json_t *one = json_integer(1000);

	assert_int_equal(boot_clock_mark(&b, one), 0);
	assert_true(b.empty_ticks == 0);
	assert_int_equal(boot_clock_mark(&b, NULL), 0);
	assert_true(b.empty_ticks == 0);
	json_decref(one);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_loop_that_always_takes_the_same_marks_nothing, setup),
		cmocka_unit_test_setup(a_batch_at_another_rate_is_marked, setup),
		cmocka_unit_test_setup(what_was_disturbed_otherwise_is_no_witness, setup),
		cmocka_unit_test_setup(a_short_loop_tells_nothing, setup),
		cmocka_unit_test_setup(nothing_undisturbed_tells_nothing, setup),
		cmocka_unit_test_setup(one_number_for_all_batches_tells_nothing, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
