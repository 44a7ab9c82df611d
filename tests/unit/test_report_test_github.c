/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A test run as annotations of GitHub Actions, against tests/golden (the folder is the program's
 * argument). */
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

static void each_annotation_points_to_its_test(void **state)
{
	_cleanup_free_ char *text = test_fixture_render(test_report_github, &f.report);

	fixture_golden(golden, "test-run.github", text);
	assert_non_null(strstr(text, "::error file=tests/smoke.yaml,line=14,col=3,"
				     "title=kunit[cpus=2]::fail: "));
}

/* Whatever a guest wrote: a line begins as one of ours, and a property ends where ours does. */
static void a_guest_begins_no_command(void **state)
{
	_cleanup_free_ char *text = test_fixture_render(test_report_github, &f.report);
	size_t lines = 0;

	test_fixture_check_harmless(text);
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		assert_true(strncmp(line, "::error ", 8) == 0 ||
			    strncmp(line, "::warning ", 10) == 0 ||
			    strncmp(line, "::notice ", 9) == 0);
		lines++;
	}
	assert_int_equal(lines, 7);
}

static void percents_commas_and_colons_are_escaped(void **state)
{
	_cleanup_free_ char *text = NULL;

	f.results[2].id = "a,b:c%0A\n::x";
	f.results[2].file = "odd,line=9:.yaml";
	f.results[2].message = "100%0A, done: yes\r\n::error::no";
	f.results[2].dir = "";
	f.results[2].backtrace = NULL;
	f.report.results = &f.list[2];
	f.report.count = 1;
	f.report.missing_count = 0;
	text = test_fixture_render(test_report_github, &f.report);
	assert_string_equal(text, "::error file=odd%2Cline=9%3A.yaml,line=18,col=3,"
				  "title=a%2Cb%3Ac%250A%0A%3A%3Ax::panic: "
				  "100%250A, done: yes\\x0d%0A::error::no\n");
}

static void of_a_backtrace_there_are_the_first_lines(void **state)
{
	_cleanup_free_ char *text = NULL;
	char trace[21 * 8] = "";

	for (int i = 1; i <= 21; i++) {
		sprintf(trace + strlen(trace), "line %d\n", i);
	}
	f.results[2].backtrace = trace;
	f.report.results = &f.list[2];
	f.report.count = 1;
	text = test_fixture_render(test_report_github, &f.report);
	assert_non_null(strstr(text, "%0Aline 1%0Aline 2%0A"));
	assert_non_null(strstr(text, "%0Aline 20%0A[more in its files]%0Afiles: "));
	assert_null(strstr(text, "line 21"));
}

static void of_a_command_line_there_is_no_file_to_point_to(void **state)
{
	_cleanup_free_ char *text = NULL;

	f.results[2].file = "";
	f.report.results = &f.list[2];
	f.report.count = 1;
	text = test_fixture_render(test_report_github, &f.report);
	assert_int_equal(strncmp(text, "::error title=boot[kernel=bad%2Ccpus=2]::panic: ", 48), 0);
}

static void a_run_that_passed_has_none(void **state)
{
	_cleanup_free_ char *text = NULL;

	f.report.count = 1;
	f.report.missing_count = 0;
	text = test_fixture_render(test_report_github, &f.report);
	assert_string_equal(text, "");
}

static void a_full_disk_is_told_of(void **state)
{
	test_fixture_check_full_disk(test_report_github, &f.report);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(each_annotation_points_to_its_test, setup),
		cmocka_unit_test_setup(a_guest_begins_no_command, setup),
		cmocka_unit_test_setup(percents_commas_and_colons_are_escaped, setup),
		cmocka_unit_test_setup(of_a_backtrace_there_are_the_first_lines, setup),
		cmocka_unit_test_setup(of_a_command_line_there_is_no_file_to_point_to, setup),
		cmocka_unit_test_setup(a_run_that_passed_has_none, setup),
		cmocka_unit_test_setup(a_full_disk_is_told_of, setup),
	};

	assert_int_equal(argc, 2);
	golden = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
