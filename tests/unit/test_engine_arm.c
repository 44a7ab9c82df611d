/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <string.h>

#include "engine/arm.h"

static struct err e;

static void a_kernel_alone_is_an_arm_with_an_empty_command_line(void **state)
{
	struct arm a;

	assert_int_equal(arm_parse("--a", "base", &a, &e), 0);
	assert_string_equal(a.kernel, "base");
	assert_string_equal(a.append, "");
	arm_fini(&a);
}

static void several_appends_are_joined_by_spaces(void **state)
{
	struct arm a;

	assert_int_equal(arm_parse("--a", "/k/vmlinux,append=nofsgsbase,append=pti=on x", &a, &e),
			 0);
	assert_string_equal(a.kernel, "/k/vmlinux");
	assert_string_equal(a.append, "nofsgsbase pti=on x");
	arm_fini(&a);
}

static void a_task_may_be_of_a_kind(void **state)
{
	struct arm a;

	assert_int_equal(arm_parse("--a", "nopti,task=nopti,append=pti=on", &a, &e), 0);
	assert_int_equal(a.task, ARM_TASK_NOPTI);
	assert_string_equal(arm_task_name(a.task), "nopti");
	assert_string_equal(a.append, "pti=on");
	arm_fini(&a);
	assert_int_equal(arm_parse("--a", "nopti,append=task=nopti", &a, &e), 0);
	assert_int_equal(a.task, ARM_TASK_PLAIN);
	assert_null(arm_task_name(a.task));
	arm_fini(&a);
}

static void a_processor_may_be_asked_for_in_pieces(void **state)
{
	struct arm a;

	assert_int_equal(arm_parse("--a", "k,cpu=-pcid,append=x,cpu=-fsgsbase", &a, &e), 0);
	assert_string_equal(a.cpu, "-pcid,-fsgsbase");
	assert_string_equal(a.append, "x");
	arm_fini(&a);
	assert_int_equal(arm_parse("--a", "k,cpu=x86-64-v2\\,-pcid", &a, &e), 0);
	assert_string_equal(a.cpu, "x86-64-v2,-pcid");
	arm_fini(&a);
	assert_int_equal(arm_parse("--a", "k", &a, &e), 0);
	assert_null(a.cpu);
	arm_fini(&a);
}

static void an_escaped_comma_stays_in_its_value_and_other_backslashes_too(void **state)
{
	struct arm a;

	assert_int_equal(arm_parse("--a", "a\\,b,append=console=ttyS0\\,9600 \\\\ \\n", &a, &e), 0);
	assert_string_equal(a.kernel, "a,b");
	assert_string_equal(a.append, "console=ttyS0,9600 \\ \\n");
	arm_fini(&a);
}

static void each_wrong_arm_is_refused_with_its_reason(void **state)
{
	static const struct {
		const char *arm, *text;
	} bad[] = {
		{"",
		 "--b '': the kernel is missing; an arm is KERNEL[,append=TEXT]...[,cpu=SPEC]...[,task=KIND]"},
		{",append=x", "--b ',append=x': the kernel is missing; an arm is "
			      "KERNEL[,append=TEXT]...[,cpu=SPEC]...[,task=KIND]"},
		{"k,",
		 "--b 'k,': expected append=TEXT, cpu=SPEC or task=KIND, got '' (a comma inside a value "
		 "is written '\\,')"},
		{"k,append=ttyS0,9600",
		 "--b 'k,append=ttyS0,9600': expected append=TEXT, cpu=SPEC or task=KIND, got '9600' (a comma "
		 "inside a value is written '\\,')"},
		{"k,apend=x",
		 "--b 'k,apend=x': 'apend' is no property of an arm; there are: append, cpu, task"},
		{"k,=x", "--b 'k,=x': '' is no property of an arm; there are: append, cpu, task"},
		{"k,append=", "--b 'k,append=': append= is empty"},
		{"k,task=", "--b 'k,task=': task= is empty"},
		{"k,task=pti", "--b 'k,task=pti': 'pti' is no kind of task; there is: nopti"},
		{"k,task=nopti,task=nopti", "--b 'k,task=nopti,task=nopti': task= is there twice"},
	};
	struct arm a;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(arm_parse("--b", bad[i].arm, &a, &e), -EINVAL);
		assert_string_equal(e.text, bad[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_kernel_alone_is_an_arm_with_an_empty_command_line),
		cmocka_unit_test(several_appends_are_joined_by_spaces),
		cmocka_unit_test(a_processor_may_be_asked_for_in_pieces),
		cmocka_unit_test(a_task_may_be_of_a_kind),
		cmocka_unit_test(an_escaped_comma_stays_in_its_value_and_other_backslashes_too),
		cmocka_unit_test(each_wrong_arm_is_refused_with_its_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
