/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A test run as JUnit XML, against tests/golden (the folder is the program's argument). */
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

static char *render(void)
{
	return test_fixture_render(test_report_junit, &f.report);
}

static void every_verdict_has_its_element(void **state)
{
	_cleanup_free_ char *text = render();

	fixture_golden(golden, "test-run.xml", text);
}

/* xmllint is not everywhere; what it would refuse is looked for here. */
static void no_byte_that_xml_lacks_is_written(void **state)
{
	_cleanup_free_ char *text = render();

	test_fixture_check_harmless(text);
	assert_null(strstr(text, "]]>"));
	assert_null(strstr(text, "\xef\xbf\xbf"));
}

static void a_case_without_a_result_is_an_error(void **state)
{
	_cleanup_free_ char *text = NULL;

	f.report.count = 0;
	text = render();
	assert_non_null(strstr(text, "tests=\"1\" failures=\"0\" errors=\"1\" time=\"0.000\">"));
	assert_non_null(strstr(text, "<error type=\"missing\""));
	assert_int_equal(test_report_exit_status(&f.report), 4);
}

static void failures_inside_a_known_one_do_not_count(void **state)
{
	_cleanup_free_ char *text = NULL;

	f.report.results = &f.list[4];
	f.report.count = 1;
	f.report.missing_count = 0;
	text = render();
	assert_null(strstr(text, "<failure"));
	assert_null(strstr(text, "<error"));
	assert_non_null(strstr(text, "failures=\"0\" errors=\"0\" skipped=\"2\""));
	assert_int_equal(test_report_exit_status(&f.report), 0);
}

static void a_long_text_is_bounded(void **state)
{
	_cleanup_free_ char *log = malloc(1 << 20);
	_cleanup_free_ char *text = NULL;

	memset(log, '<', (1 << 20) - 1);
	log[(1 << 20) - 1] = '\0';
	f.results[2].message = log;
	f.report.results = &f.list[2];
	f.report.count = 1;
	text = render();
	/* An attribute, the failure's and the output's text; "&lt;" is four bytes. */
	assert_in_range(strlen(text), 1, 4 * (2 * 65536 + 1024) + 8192);
	assert_non_null(strstr(text, "[983039 bytes more]"));
}

static void a_full_disk_is_told_of(void **state)
{
	test_fixture_check_full_disk(test_report_junit, &f.report);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(every_verdict_has_its_element, setup),
		cmocka_unit_test_setup(no_byte_that_xml_lacks_is_written, setup),
		cmocka_unit_test_setup(a_case_without_a_result_is_an_error, setup),
		cmocka_unit_test_setup(failures_inside_a_known_one_do_not_count, setup),
		cmocka_unit_test_setup(a_long_text_is_bounded, setup),
		cmocka_unit_test_setup(a_full_disk_is_told_of, setup),
	};

	assert_int_equal(argc, 2);
	golden = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
