/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <string.h>

#include "engine/schedule.h"

#define BLOCKS 400u

static void every_block_is_abba_or_baab_and_both_come_about_as_often(void **state)
{
	struct schedule_boot *boots;
	unsigned int baab = 0;

	assert_int_equal(schedule_make(1, BLOCKS, &boots), 0);
	for (unsigned int k = 0; k < BLOCKS; k++) {
		const struct schedule_boot *b = boots + SCHEDULE_BLOCK_BOOTS * k;

		assert_int_equal(b[0].arm, b[3].arm);
		assert_int_equal(b[1].arm, b[2].arm);
		assert_int_not_equal(b[0].arm, b[1].arm);
		assert_int_equal(b[0].block, k);
		assert_int_equal(b[3].block, k);
		baab += b[0].arm == ARM_B;
	}
	/* Four standard deviations of a fair coin thrown 400 times. */
	assert_in_range(baab, 160, 240);
	free(boots);
}

static void the_same_seed_gives_the_same_schedule_and_another_one_does_not(void **state)
{
	struct schedule_boot *one, *two, *three;
	const size_t bytes = 4 * BLOCKS * sizeof(*one);

	assert_int_equal(schedule_make(7, BLOCKS, &one), 0);
	assert_int_equal(schedule_make(7, BLOCKS, &two), 0);
	assert_int_equal(schedule_make(8, BLOCKS, &three), 0);
	assert_memory_equal(one, two, bytes);
	assert_memory_not_equal(one, three, bytes);
	free(one);
	free(two);
	free(three);
}

static void fewer_blocks_of_a_seed_are_the_first_ones_of_more(void **state)
{
	struct schedule_boot *few, *many;

	assert_int_equal(schedule_make(7, 3, &few), 0);
	assert_int_equal(schedule_make(7, BLOCKS, &many), 0);
	assert_memory_equal(few, many, 3 * SCHEDULE_BLOCK_BOOTS * sizeof(*few));
	free(few);
	free(many);
}

static void nuisances_stay_in_range_and_are_drawn_for_each_boot_and_arm_alike(void **state)
{
	struct schedule_boot *boots;
	double stack[ARM_COUNT] = {0};
	double env[ARM_COUNT] = {0};

	assert_int_equal(schedule_make(3, BLOCKS, &boots), 0);
	for (size_t i = 0; i < (size_t)4 * BLOCKS; i++) {
		assert_true(boots[i].stack_bytes < 4096 && boots[i].stack_bytes % 16 == 0);
		assert_true(boots[i].env_bytes < 1024);
		stack[boots[i].arm] += boots[i].stack_bytes / (2.0 * BLOCKS);
		env[boots[i].arm] += boots[i].env_bytes / (2.0 * BLOCKS);
	}
	/* Means of 800 uniform draws: four standard errors around the middle. */
	for (int a = 0; a < ARM_COUNT; a++) {
		assert_true(stack[a] > 2040 - 168 && stack[a] < 2040 + 168);
		assert_true(env[a] > 511.5 - 42 && env[a] < 511.5 + 42);
	}
	free(boots);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_block_is_abba_or_baab_and_both_come_about_as_often),
		cmocka_unit_test(the_same_seed_gives_the_same_schedule_and_another_one_does_not),
		cmocka_unit_test(fewer_blocks_of_a_seed_are_the_first_ones_of_more),
		cmocka_unit_test(nuisances_stay_in_range_and_are_drawn_for_each_boot_and_arm_alike),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
