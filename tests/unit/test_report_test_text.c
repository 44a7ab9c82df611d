/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A test run for people, against tests/golden (the folder is the program's argument). */
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "report_fixture.h"
#include "test_fixture.h"

static const char *golden;
static struct test_fixture f;

static int setup(void **state)
{
	test_fixture_init(&f);
	return 0;
}

static int plain(const struct test_report *t, FILE *out)
{
	return test_report_text(t, out, false);
}

static int coloured(const struct test_report *t, FILE *out)
{
	return test_report_text(t, out, true);
}

static char *render(bool colour)
{
	return test_fixture_render(colour ? coloured : plain, &f.report);
}

static void what_failed_stands_first(void **state)
{
	_cleanup_free_ char *text = render(false);

	fixture_golden(golden, "test-run.txt", text);
}

static void nothing_of_the_guest_moves_the_cursor(void **state)
{
	_cleanup_free_ char *text = render(false);

	test_fixture_check_harmless(text);
}

/* GitHub takes "::" at the start of a line, and "##[" anywhere, for a command to its runner. */
static void nothing_of_the_guest_is_a_workflow_command(void **state)
{
	_cleanup_free_ char *text = NULL;

	f.results[2].message =
		"::set-env name=A::b\n  ::error::x\na word that is wrapped to the next "
		"line and there begins it, 77 ::stop-commands::x ##[add-path]x a::b";
	f.report.results = &f.list[2];
	f.report.count = 1;
	text = render(false);
	assert_null(strstr(text, " ::"));
	assert_null(strstr(text, "##["));
	assert_non_null(strstr(text, "\n         \\x3a:set-env name=A::b\n"));
	assert_non_null(strstr(text, " \\x3a:stop-commands::x \\x23#[add-path]x a::b\n"));
}

static void colour_is_around_verdicts_only(void **state)
{
	_cleanup_free_ char *text = render(true);

	assert_non_null(strstr(text, "\033[31mnot ok\033[0m   kunit[cpus=2]: fail, 2.50 s\n"));
	assert_null(strstr(text, "\033[31mred"));
}

static void words_are_wrapped_and_names_are_not(void **state)
{
	_cleanup_free_ char *text = NULL;
	char id[200];

	memset(id, 'x', sizeof(id) - 1);
	id[sizeof(id) - 1] = '\0';
	f.results[2].id = id;
	f.report.results = &f.list[2];
	f.report.count = 1;
	text = render(false);
	assert_non_null(strstr(text, id));
	assert_non_null(strstr(text, "Unable to mount root fs on\n         unknown-block(0,0)\n"));
}

static void a_run_that_passed_is_one_line(void **state)
{
	_cleanup_free_ char *text = NULL;

	f.report.count = 1;
	f.report.missing_count = 0;
	f.report.shards = 1;
	text = render(false);
	assert_string_equal(text, "tests/smoke.yaml: 1 case: 1 ok\n");
	assert_int_equal(test_report_exit_status(&f.report), 0);
}

static void one_that_is_not_ok_makes_the_exit_status(void **state)
{
	assert_int_equal(test_report_exit_status(&f.report), 1);
}

static void what_no_guest_did_is_4_and_said(void **state)
{
	static const enum test_outcome outcomes[] = {TEST_NO_KVM, TEST_VMM_FAULT, TEST_USAGE};

	f.report.results = &f.report.results[1];
	f.report.count = 1;
	f.report.missing_count = 0;
	f.results[1].verdict = TEST_NOT_OK;
	for (size_t i = 0; i < ARRAY_SIZE(outcomes); i++) {
		_cleanup_free_ char *text = NULL;

		f.results[1].outcome = outcomes[i];
		text = render(false);
		assert_non_null(strstr(text, ": 1 case: 1 not ok by the environment\n"));
		assert_non_null(strstr(text, ", by the environment, "));
		assert_int_equal(test_report_exit_status(&f.report), 4);
	}
	f.results[1].outcome = TEST_KVM_ERROR;
	assert_int_equal(test_report_exit_status(&f.report), 1);
}

static void many_failures_of_one_case_are_bounded(void **state)
{
	_cleanup_free_ char *text = NULL;
	struct test_sub many[300];

	for (size_t i = 0; i < ARRAY_SIZE(many); i++) {
		many[i] = (struct test_sub){.name = "one", .verdict = TEST_NOT_OK};
	}
	f.results[1].subs = many;
	f.results[1].sub_count = ARRAY_SIZE(many);
	text = render(false);
	assert_non_null(strstr(text, "         and 280 more of 300\n"));
	assert_int_equal(test_report_exit_status(&f.report), 1);
}

static void a_full_disk_is_told_of(void **state)
{
	test_fixture_check_full_disk(plain, &f.report);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(what_failed_stands_first, setup),
		cmocka_unit_test_setup(nothing_of_the_guest_moves_the_cursor, setup),
		cmocka_unit_test_setup(nothing_of_the_guest_is_a_workflow_command, setup),
		cmocka_unit_test_setup(colour_is_around_verdicts_only, setup),
		cmocka_unit_test_setup(words_are_wrapped_and_names_are_not, setup),
		cmocka_unit_test_setup(a_run_that_passed_is_one_line, setup),
		cmocka_unit_test_setup(one_that_is_not_ok_makes_the_exit_status, setup),
		cmocka_unit_test_setup(what_no_guest_did_is_4_and_said, setup),
		cmocka_unit_test_setup(many_failures_of_one_case_are_bounded, setup),
		cmocka_unit_test_setup(a_full_disk_is_told_of, setup),
	};

	assert_int_equal(argc, 2);
	golden = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
