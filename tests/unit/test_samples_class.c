/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <string.h>

#include "samples/class.h"

static void each_name_parses_back_to_its_class(void **state)
{
	for (unsigned int i = 0; i < EXEC_CLASS_COUNT; i++) {
		enum exec_class c = EXEC_CLASS_COUNT;

		assert_int_equal(exec_class_parse(exec_class_name((enum exec_class)i), &c), 0);
		assert_int_equal(c, i);
	}
}

static void an_unknown_name_is_refused_and_sets_nothing(void **state)
{
	static const char *const bad[] = {"", "Native", "nativ", "native ", "kvm"};
	enum exec_class c = EXEC_TCG;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(exec_class_parse(bad[i], &c), -EINVAL);
		assert_int_equal(c, EXEC_TCG);
	}
}

static void only_hardware_virtualisation_counts_in_cycles(void **state)
{
	assert_string_equal(exec_class_unit(EXEC_NATIVE), "cycles");
	assert_string_equal(exec_class_unit(EXEC_NESTED), "cycles (nested)");
	assert_string_equal(exec_class_unit(EXEC_EMULATED), "ticks");
	assert_string_equal(exec_class_unit(EXEC_TCG), "ticks");
	assert_string_equal(exec_class_unit(EXEC_ICOUNT), "instructions");
	for (unsigned int i = 0; i < EXEC_CLASS_COUNT; i++) {
		bool cycles = strstr(exec_class_unit_one((enum exec_class)i), "cycle") != NULL;

		assert_int_equal(cycles, i == EXEC_NATIVE || i == EXEC_NESTED);
		assert_true(strlen(exec_class_about((enum exec_class)i)) > 0);
	}
}

static void an_instruction_is_two_to_the_shift_ticks(void **state)
{
	assert_int_equal(exec_class_ticks_per_unit(EXEC_ICOUNT, 0), 1);
	assert_int_equal(exec_class_ticks_per_unit(EXEC_ICOUNT, 3), 8);
	assert_int_equal(exec_class_ticks_per_unit(EXEC_ICOUNT, EXEC_ICOUNT_SHIFT_MAX), 1024);
	for (unsigned int i = 0; i < EXEC_ICOUNT; i++) {
		assert_int_equal(exec_class_ticks_per_unit((enum exec_class)i, 7), 1);
	}
}

static void software_time_without_icount_judges_no_speed(void **state)
{
	assert_false(exec_class_judges_speed(EXEC_TCG));
	assert_false(exec_class_judges_speed(EXEC_EMULATED));
	assert_true(exec_class_judges_speed(EXEC_ICOUNT));
	assert_true(exec_class_judges_speed(EXEC_NATIVE));
	assert_false(exec_class_runs_kernels(EXEC_EMULATED));
	assert_true(exec_class_runs_kernels(EXEC_TCG));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_name_parses_back_to_its_class),
		cmocka_unit_test(an_unknown_name_is_refused_and_sets_nothing),
		cmocka_unit_test(only_hardware_virtualisation_counts_in_cycles),
		cmocka_unit_test(an_instruction_is_two_to_the_shift_ticks),
		cmocka_unit_test(software_time_without_icount_judges_no_speed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
