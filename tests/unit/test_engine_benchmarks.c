/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <string.h>

#include "engine/benchmarks.h"

static struct err e;

static const char *selected(const char *list)
{
	static char text[1024];
	benchmark_set set;

	text[0] = '\0';
	assert_int_equal(benchmarks_parse(list, &set, &e), 0);
	for (size_t i = 0; i < benchmark_count(); i++) {
		if (set & benchmark_bit(i)) {
			sprintf(text + strlen(text), "%s ", benchmark_name(i));
		}
	}
	return text;
}

static void a_name_selects_itself_and_a_group_all_below_it(void **state)
{
	assert_string_equal(selected("syscall.null"), "syscall.null ");
	assert_string_equal(selected("syscall"), "syscall.null syscall.pipe1 syscall.fault ");
	assert_string_equal(selected("ctxsw.pipe.fs"), "ctxsw.pipe.fs ");
	assert_string_equal(selected("ctxsw.futex"),
			    "ctxsw.futex.fs ctxsw.futex.fsgs ctxsw.futex.proc.fs "
			    "ctxsw.futex.proc.fsgs ");
	assert_string_equal(selected("ctxsw.pipe.proc"),
			    "ctxsw.pipe.proc.fs ctxsw.pipe.proc.fsgs ");
	assert_string_equal(selected("ctxsw"),
			    "ctxsw.futex.fs ctxsw.futex.fsgs ctxsw.futex.proc.fs "
			    "ctxsw.futex.proc.fsgs ctxsw.pipe.fs ctxsw.pipe.fsgs "
			    "ctxsw.pipe.proc.fs ctxsw.pipe.proc.fsgs ctxsw.yield.fs "
			    "ctxsw.yield.fsgs ctxsw.yield.proc.fs ctxsw.yield.proc.fsgs ");
}

static void a_group_may_be_cut_at_any_dot(void **state)
{
	assert_string_equal(selected("uaccess.get4"),
			    "uaccess.get4.unchecked uaccess.get4.checked uaccess.get4.open "
			    "uaccess.get4.open_nofence ");
	assert_string_equal(selected("uaccess.put8.open"), "uaccess.put8.open ");
}

static void a_list_keeps_the_order_of_reports_and_counts_a_name_once(void **state)
{
	assert_string_equal(selected("ctxsw.yield.fs,syscall.null,ctxsw.yield"),
			    "syscall.null ctxsw.yield.fs ctxsw.yield.fsgs ctxsw.yield.proc.fs "
			    "ctxsw.yield.proc.fsgs ");
}

static void an_unknown_name_is_refused_with_the_ones_that_there_are(void **state)
{
	static const char *const bad[] = {"", "syscal", "syscall,", ",syscall", "ctxsw.", "x"};
	benchmark_set set;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(benchmarks_parse(bad[i], &set, &e), -EINVAL);
	}
	assert_non_null(strstr(e.text, "'x' is no benchmark and no group; there are: "
				       "syscall.null, syscall.pipe1, "));
	for (size_t i = 0; i < benchmark_count(); i++) {
		assert_non_null(strstr(e.text, benchmark_name(i)));
	}
}

static void a_guest_that_is_a_kvm_host_is_for_qemu_alone(void **state)
{
	benchmark_set set;

	assert_int_equal(benchmarks_parse("kvmwalk,syscall", &set, &e), 0);
	assert_int_equal(benchmarks_check_backend(set, "qemu", &e), 0);
	assert_int_equal(benchmarks_check_backend(set, "kvm", &e), -ENOTSUP);
	assert_string_equal(e.text,
			    "--bench: kvmwalk needs --backend qemu: its guest is a KVM host "
			    "itself, and the guest of another KVM would have to be nested");
	assert_int_equal(benchmarks_parse("syscall,ctxsw,uaccess", &set, &e), 0);
	assert_int_equal(benchmarks_check_backend(set, "kvm", &e), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_selects_itself_and_a_group_all_below_it),
		cmocka_unit_test(a_group_may_be_cut_at_any_dot),
		cmocka_unit_test(a_list_keeps_the_order_of_reports_and_counts_a_name_once),
		cmocka_unit_test(a_guest_that_is_a_kvm_host_is_for_qemu_alone),
		cmocka_unit_test(an_unknown_name_is_refused_with_the_ones_that_there_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
