/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <string.h>

#include "compare_fixture.h"

static struct err e;
static struct comparison c;

static int setup(void **state)
{
	fixture_comparison(&c, 6);
	return 0;
}

static int teardown(void **state)
{
	comparison_fini(&c);
	return 0;
}

static int add(size_t slot, const struct fixture_boot *b)
{
	char *line = fixture_line(&c, slot, b);
	int r = comparison_add_line(&c, line, strlen(line), &e);

	free(line);
	return r;
}

static void a_whole_boot_counts_once(void **state)
{
	assert_int_equal(add(3, &(struct fixture_boot){.units = 100}), 0);
	assert_int_equal(c.last_use, BOOT_WHOLE);
	assert_int_equal(c.done, 1);
	assert_int_equal(c.failed[0], 0);
	assert_non_null(c.boots[3]);
	assert_int_equal(add(3, &(struct fixture_boot){.units = 100}), -EBADMSG);
	assert_string_equal(e.text, "boot 3 stands twice in it");
}

static void a_guest_that_failed_is_data(void **state)
{
	static const char *const kinds[] = {"panic",   "oops",     "boot",    "hang",
					    "timeout", "nostatus", "kvmerror"};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		assert_int_equal(add(i, &(struct fixture_boot){.status = 240, .kind = kinds[i]}),
				 0);
		assert_int_equal(c.last_use, BOOT_FAILED);
	}
	assert_int_equal(c.failed[0], ARRAY_SIZE(kinds));
	assert_int_equal(c.done, ARRAY_SIZE(kinds));
}

static void a_boot_that_the_machine_failed_is_to_be_done_again(void **state)
{
	static const char *const kinds[] = {"nokvm", "internal", "usage", "output", "signal"};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		assert_int_equal(add(0, &(struct fixture_boot){.status = 248, .kind = kinds[i]}),
				 0);
		assert_int_equal(c.last_use, BOOT_NOT_THERE);
		assert_null(c.boots[0]);
	}
	assert_int_equal(add(0, &(struct fixture_boot){.units = 1}), 0);
	assert_int_equal(c.done, 1);
}

static void a_benchmark_that_sent_nothing_makes_the_boot_a_failed_one(void **state)
{
	assert_int_equal(add(0, &(struct fixture_boot){.no_bench = true}), 0);
	assert_int_equal(c.last_use, BOOT_FAILED);
	assert_string_equal(c.last_why, "syscall.null: the guest sent no result");
}

static void a_boot_of_another_place_kernel_or_machine_is_refused(void **state)
{
	assert_int_equal(add(0, &(struct fixture_boot){.units = 1}), 0);
	assert_int_equal(add(24, &(struct fixture_boot){.units = 1}), -EBADMSG);
	assert_string_equal(e.text, "boot 24 is not in the plan");
	assert_int_equal(add(1, &(struct fixture_boot){.units = 1, .wrong_arm = true}), -EBADMSG);
	assert_string_equal(e.text, "boot 1 is not of the group, block and arm that the plan says");
	assert_int_equal(add(1, &(struct fixture_boot){.units = 1, .sha256 = "ffff"}), -EXDEV);
	assert_int_equal(add(1, &(struct fixture_boot){.units = 1, .class = "tcg"}), -EXDEV);
	assert_string_equal(e.text,
			    "this boot's execution class is 'tcg', that of the boots before "
			    "it 'icount': one comparison is of one machine");
	assert_int_equal(add(1, &(struct fixture_boot){.units = 1, .cpu = "Other"}), -EXDEV);
	assert_string_equal(e.text, "this boot's host CPU is 'Other', that of the boots before it "
				    "'Fake CPU': one comparison is of one machine");
	assert_int_equal(add(1, &(struct fixture_boot){.units = 1, .ticks_per_unit = 4}), -EXDEV);
	assert_int_equal(c.done, 1);
}

static void processors_differ_only_where_an_arm_asks_for_it(void **state)
{
	const struct fixture_boot one = {.units = 1, .print = "0123456789abcdef"};
	const struct fixture_boot other = {.units = 1, .print = "fedcba9876543210"};
	const struct fixture_boot unknown = {.units = 1};
	size_t a = 0, b = 0, b2;

	while (c.plan.boots[a].arm != ARM_A) {
		a++;
	}
	while (c.plan.boots[b].arm != ARM_B) {
		b++;
	}
	for (b2 = b + 1; c.plan.boots[b2].arm != ARM_B; b2++) {
	}
	assert_int_equal(add(a, &one), 0);
	assert_int_equal(add(b, &other), -EXDEV);
	assert_non_null(strstr(e.text, "and neither arm asks for a difference with cpu="));
	assert_non_null(strstr(e.text, "(fedcba9876543210) is not that of boot"));
	assert_null(c.boots[b]);
	c.plan.groups[0].arms[ARM_B].arm.cpu = strdup("-pcid");
	assert_int_equal(add(b, &other), 0);
	/* What was asked for once gives the same each time. */
	assert_int_equal(add(b2, &one), -EXDEV);
	assert_int_equal(add(b2, &unknown), 0);
}

static void floors_of_the_host_stand_between_the_boots_and_the_last_ones_count(void **state)
{
	static const char none[] =
		"{\"schema_version\":1,\"type\":\"no-calibration\",\"reason\":\"no KVM\"}";
	static const char some[] =
		"{\"schema_version\":1,\"type\":\"calibration\",\"class\":\"native\","
		"\"primitives\":[],\"floors\":[{\"id\":\"f\",\"unit\":\"cycles\",\"value\":2,"
		"\"low\":1,\"high\":3,\"formula\":\"a - b\",\"reason\":null}]}";
	static const char bad[] = "{\"schema_version\":1,\"type\":\"no-calibration\"}";

	assert_int_equal(comparison_add_line(&c, none, strlen(none), &e), 0);
	assert_string_equal(c.no_calibration, "no KVM");
	assert_null(c.calibration);
	if (comparison_add_line(&c, some, strlen(some), &e) < 0) {
		fail_msg("%s", e.text);
	}
	assert_non_null(c.calibration);
	assert_true(calibration_floor(c.calibration, "f")->value == 2);
	assert_int_equal(c.done, 0);
	assert_int_equal(comparison_add_line(&c, bad, strlen(bad), &e), -EBADMSG);
	assert_int_equal(comparison_add_line(&c, none, strlen(none), &e), 0);
	assert_null(c.calibration);
}

static void the_first_line_must_be_a_plan(void **state)
{
	struct comparison empty = {0};

	assert_int_equal(comparison_add_line(&empty, "{}", 2, &e), -EBADMSG);
	assert_string_equal(e.text, "not the plan of a comparison");
	comparison_fini(&empty);
}

static void a_second_plan_is_refused(void **state)
{
	assert_int_equal(comparison_add_line(&c, c.plan_text, strlen(c.plan_text), &e), -EXDEV);
	assert_string_equal(e.text, "a second plan: a file has the results of one comparison");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_whole_boot_counts_once),
		TEST(a_guest_that_failed_is_data),
		TEST(a_boot_that_the_machine_failed_is_to_be_done_again),
		TEST(a_benchmark_that_sent_nothing_makes_the_boot_a_failed_one),
		TEST(a_boot_of_another_place_kernel_or_machine_is_refused),
		TEST(processors_differ_only_where_an_arm_asks_for_it),
		TEST(floors_of_the_host_stand_between_the_boots_and_the_last_ones_count),
		TEST(the_first_line_must_be_a_plan),
		TEST(a_second_plan_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
