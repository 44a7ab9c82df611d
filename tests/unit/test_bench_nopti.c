/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "abi/nopti.h"
#include "bench.h"

static void isolation_is_a_flag_of_the_first_cpu(void **state)
{
	assert_true(nopti_parse_cpuinfo("flags\t\t: fpu pti vme\nbugs\t: x\n"));
	assert_true(nopti_parse_cpuinfo("processor\t: 0\nflags\t\t: fpu pti\n"));
	assert_true(nopti_parse_cpuinfo("processor\t: 0\nflags\t\t: fpu ptix pti"));
	assert_false(
		nopti_parse_cpuinfo("model name\t: a pti b\nflags\t\t: fpu ptix\nbugs\t: pti\n"));
	assert_false(nopti_parse_cpuinfo("flags\t\t: fpu xpti"));
	assert_false(nopti_parse_cpuinfo(""));
}

static void a_plain_task_is_fine_on_any_kernel(void **state)
{
	struct machine m = {.nopti = false};
	struct err e = ERR_INIT;

	assert_int_equal(nopti_take(&m, &e), 0);
	assert_int_equal(nopti_check(&m, &e), 0);
}

static void a_flag_that_this_kernel_cannot_give_is_an_error_that_says_why(void **state)
{
	struct machine m = {.nopti = true};
	struct err e = ERR_INIT;
	unsigned long got;

	if (syscall(SYS_arch_prctl, NOPTI_ARCH_GET, &got) == 0) {
		print_message("skipped: this kernel knows the flag\n");
		skip();
	}
	assert_int_equal(nopti_take(&m, &e), -ENOTRECOVERABLE);
	assert_non_null(strstr(e.text, "boot with append=pti=on"));
	m.pti = true;
	assert_true(nopti_take(&m, &e) < 0);
	assert_non_null(strstr(e.text, "the kernel needs CONFIG_RINGSIDE_NOPTI"));
	assert_true(nopti_check(&m, &e) < 0);
	assert_non_null(strstr(e.text, "arch_prctl(ARCH_GET_NOPTI): "));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(isolation_is_a_flag_of_the_first_cpu),
		cmocka_unit_test(a_plain_task_is_fine_on_any_kernel),
		cmocka_unit_test(a_flag_that_this_kernel_cannot_give_is_an_error_that_says_why),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
