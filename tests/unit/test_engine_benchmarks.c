/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <string.h>

#include "engine/benchmarks.h"

static struct err e;

static const char *selected(const char *list)
{
	static char text[512];
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_selects_itself_and_a_group_all_below_it),
		cmocka_unit_test(a_list_keeps_the_order_of_reports_and_counts_a_name_once),
		cmocka_unit_test(an_unknown_name_is_refused_with_the_ones_that_there_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
