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
		{"", "--b '': the kernel is missing; an arm is KERNEL[,append=TEXT]..."},
		{",append=x",
		 "--b ',append=x': the kernel is missing; an arm is KERNEL[,append=TEXT]..."},
		{"k,", "--b 'k,': expected append=TEXT, got '' (a comma inside a value is written "
		       "'\\,')"},
		{"k,append=ttyS0,9600", "--b 'k,append=ttyS0,9600': expected append=TEXT, got "
					"'9600' (a comma inside a value is written '\\,')"},
		{"k,apend=x",
		 "--b 'k,apend=x': 'apend' is no property of an arm; there is: append"},
		{"k,append=", "--b 'k,append=': append= is empty"},
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
		cmocka_unit_test(an_escaped_comma_stays_in_its_value_and_other_backslashes_too),
		cmocka_unit_test(each_wrong_arm_is_refused_with_its_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
