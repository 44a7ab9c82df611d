/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <string.h>

#include "engine/schedule.h"

#define BLOCKS 400u
#define BOOTS  4u /* of a block of two arms */

static int make(uint64_t seed, unsigned int blocks, struct schedule_boot **ret)
{
	const struct schedule_group two = {2, blocks};

	return schedule_make(seed, &two, 1, ret);
}

static void every_block_is_abba_or_baab_and_both_come_about_as_often(void **state)
{
	struct schedule_boot *boots;
	unsigned int baab = 0;

	assert_int_equal(make(1, BLOCKS, &boots), 0);
	for (unsigned int k = 0; k < BLOCKS; k++) {
		const struct schedule_boot *b = boots + BOOTS * k;

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

	assert_int_equal(make(7, BLOCKS, &one), 0);
	assert_int_equal(make(7, BLOCKS, &two), 0);
	assert_int_equal(make(8, BLOCKS, &three), 0);
	assert_memory_equal(one, two, bytes);
	assert_memory_not_equal(one, three, bytes);
	free(one);
	free(two);
	free(three);
}

static void fewer_blocks_of_a_seed_are_the_first_ones_of_more(void **state)
{
	struct schedule_boot *few, *many;

	assert_int_equal(make(7, 3, &few), 0);
	assert_int_equal(make(7, BLOCKS, &many), 0);
	assert_memory_equal(few, many, 3 * BOOTS * sizeof(*few));
	free(few);
	free(many);
}

static void nuisances_stay_in_range_and_are_drawn_for_each_boot_and_arm_alike(void **state)
{
	struct schedule_boot *boots;
	double stack[2] = {0};
	double env[2] = {0};

	assert_int_equal(make(3, BLOCKS, &boots), 0);
	for (size_t i = 0; i < (size_t)4 * BLOCKS; i++) {
		assert_true(boots[i].stack_bytes < 4096 && boots[i].stack_bytes % 16 == 0);
		assert_true(boots[i].env_bytes < 1024);
		stack[boots[i].arm] += boots[i].stack_bytes / (2.0 * BLOCKS);
		env[boots[i].arm] += boots[i].env_bytes / (2.0 * BLOCKS);
	}
	/* Means of 800 uniform draws: four standard errors around the middle. */
	for (int a = 0; a < 2; a++) {
		assert_true(stack[a] > 2040 - 168 && stack[a] < 2040 + 168);
		assert_true(env[a] > 511.5 - 42 && env[a] < 511.5 + 42);
	}
	free(boots);
}

/* Drawn once by the version before there were groups: two arms keep their order for ever. */
static void two_arms_keep_the_order_that_their_seed_always_gave(void **state)
{
	static const char order[] = "abbabaababbabaababbaabbabaababba";
	struct schedule_boot *boots;

	assert_int_equal(make(20, 8, &boots), 0);
	for (size_t i = 0; i < 32; i++) {
		assert_int_equal(*arm_name(boots[i].arm), order[i]);
	}
	assert_int_equal(boots[0].seed, 2702201870u);
	assert_int_equal(boots[31].env_bytes, 297u);
	free(boots);
}

static void a_block_of_many_arms_boots_each_twice_the_second_half_mirrored(void **state)
{
	const struct schedule_group eight = {8, BLOCKS};
	struct schedule_boot *boots;
	unsigned int first[8] = {0};

	assert_int_equal(schedule_make(4, &eight, 1, &boots), 0);
	for (size_t k = 0; k < BLOCKS; k++) {
		const struct schedule_boot *b = boots + 16 * k;
		unsigned int seen = 0;

		for (size_t i = 0; i < 8; i++) {
			assert_int_equal(b[i].arm, b[15 - i].arm);
			assert_int_equal(b[i].block, k);
			seen |= 1u << b[i].arm;
		}
		assert_int_equal(seen, 0xff);
		first[b[0].arm]++;
	}
	/* Each is first in 50 of 400 blocks; four standard deviations are 26. */
	for (size_t i = 0; i < 8; i++) {
		assert_in_range(first[i], 24, 76);
	}
	free(boots);
}

static void a_group_draws_the_same_whatever_stands_before_it(void **state)
{
	const struct schedule_group few[] = {{2, 1}, {3, 5}};
	const struct schedule_group many[] = {{4, 7}, {3, 5}};
	struct schedule_boot *one, *two;

	assert_int_equal(schedule_boots(few, 2), 4 + 30);
	assert_int_equal(schedule_boots(many, 2), 56 + 30);
	assert_int_equal(schedule_make(9, few, 2, &one), 0);
	assert_int_equal(schedule_make(9, many, 2, &two), 0);
	assert_int_equal(one[4].group, 1);
	assert_memory_equal(one + 4, two + 56, 30 * sizeof(*one));
	free(one);
	free(two);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_block_is_abba_or_baab_and_both_come_about_as_often),
		cmocka_unit_test(the_same_seed_gives_the_same_schedule_and_another_one_does_not),
		cmocka_unit_test(fewer_blocks_of_a_seed_are_the_first_ones_of_more),
		cmocka_unit_test(two_arms_keep_the_order_that_their_seed_always_gave),
		cmocka_unit_test(a_block_of_many_arms_boots_each_twice_the_second_half_mirrored),
		cmocka_unit_test(a_group_draws_the_same_whatever_stands_before_it),
		cmocka_unit_test(nuisances_stay_in_range_and_are_drawn_for_each_boot_and_arm_alike),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
