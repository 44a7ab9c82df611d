/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "abi/nopti.h"
#include "bench.h"

static void only_the_words_for_page_table_isolation_count(void **state)
{
	assert_true(nopti_parse_meltdown("Mitigation: PTI\n"));
	assert_true(nopti_parse_meltdown("Mitigation: PTI; something"));
	assert_false(nopti_parse_meltdown("Not affected\n"));
	assert_false(nopti_parse_meltdown("Vulnerable\n"));
	assert_false(
		nopti_parse_meltdown("Unknown (XEN PV detected, hypervisor mitigation required)"));
	assert_false(nopti_parse_meltdown(""));
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
	assert_true(nopti_take(&m, &e) < 0);
	assert_non_null(strstr(e.text, nopti_pti_in_force()
					       ? "the kernel needs CONFIG_RINGSIDE_NOPTI"
					       : "boot with append=pti=on"));
	assert_int_equal(nopti_check(&m, &e), -EINVAL);
	assert_string_equal(e.text, "arch_prctl(ARCH_GET_NOPTI): Invalid argument");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_the_words_for_page_table_isolation_count),
		cmocka_unit_test(a_plain_task_is_fine_on_any_kernel),
		cmocka_unit_test(a_flag_that_this_kernel_cannot_give_is_an_error_that_says_why),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
