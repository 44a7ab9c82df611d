/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A test run as Markdown, against tests/golden (the folder is the program's argument). */
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

static void what_did_not_pass_is_a_table(void **state)
{
	_cleanup_free_ char *text = test_fixture_render(test_report_markdown, &f.report);

	fixture_golden(golden, "test-run.md", text);
}

static void what_a_guest_wrote_is_text_in_one_cell(void **state)
{
	_cleanup_free_ char *text = NULL;

	f.results[2].message = "| @team [x](http://y) <img src=z>\n`code`";
	f.report.results = &f.list[2];
	f.report.count = 1;
	f.report.missing_count = 0;
	text = test_fixture_render(test_report_markdown, &f.report);
	test_fixture_check_harmless(text);
	assert_non_null(strstr(text, "| &#124; &#64;team &#91;x&#93;&#40;http&#58;//y&#41; "
				     "&#60;img src=z&#62;<br>&#96;code&#96; |\n"));
}

static void a_run_that_passed_is_one_line(void **state)
{
	_cleanup_free_ char *text = NULL;

	f.report.title = "smoke";
	f.report.count = 1;
	f.report.missing_count = 0;
	f.report.shards = 1;
	text = test_fixture_render(test_report_markdown, &f.report);
	assert_string_equal(text, "### smoke: 1 case: 1 ok\n");
}

static void a_full_disk_is_told_of(void **state)
{
	test_fixture_check_full_disk(test_report_markdown, &f.report);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(what_did_not_pass_is_a_table, setup),
		cmocka_unit_test_setup(what_a_guest_wrote_is_text_in_one_cell, setup),
		cmocka_unit_test_setup(a_run_that_passed_is_one_line, setup),
		cmocka_unit_test_setup(a_full_disk_is_told_of, setup),
	};

	assert_int_equal(argc, 2);
	golden = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
