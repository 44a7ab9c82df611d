/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A test run as KTAP, against tests/golden (the folder is the program's argument). */
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "engine/ktap.h"
#include "report_fixture.h"
#include "test_fixture.h"

static const char *golden;
static struct test_fixture f;

static int setup(void **state)
{
	test_fixture_init(&f);
	return 0;
}

static void every_verdict_has_its_line(void **state)
{
	_cleanup_free_ char *text = test_fixture_render(test_report_tap, &f.report);

	fixture_golden(golden, "test-run.tap", text);
	test_fixture_check_harmless(text);
}

/* Our own reader is the strictest that there is. */
static const struct ktap *read_back(struct ktap_parser *p)
{
	_cleanup_free_ char *text = test_fixture_render(test_report_tap, &f.report);

	ktap_parser_feed(p, text, strlen(text));
	return ktap_parser_finish(p);
}

static const struct ktap_result *find(const struct ktap *k, const char *name)
{
	for (size_t i = 0; i < k->count; i++) {
		if (strcmp(k->results[i].name, name) == 0) {
			return &k->results[i];
		}
	}
	fail_msg("there is no result '%s'", name);
	return NULL;
}

static void our_reader_finds_no_problem_in_it(void **state)
{
	_cleanup_(ktap_parser_destroy_p) struct ktap_parser *p = NULL;
	const struct ktap *k;

	assert_int_equal(ktap_parser_create(&p), 0);
	k = read_back(p);
	if (k->problem_count > 0) {
		fail_msg("%s", k->problems[0]);
	}
	assert_true(find(k, "hello[cpus=2]")->ok);
	assert_true(ktap_result_failed(find(k, "kunit[cpus=2]/list/list_del")));
	assert_int_equal(find(k, "kunit[cpus=2]/list/list_swap")->directive, KTAP_SKIP);
	assert_string_equal(find(k, "kunit[cpus=2]/list/list_swap")->reason, "no device");
	assert_int_equal(find(k, "kunit[cpus=2]/list/list_cut")->directive, KTAP_TODO);
	assert_int_equal(find(k, "boot[kernel=bad,cpus=2]")->directive, KTAP_ERROR);
	assert_int_equal(find(k, "native[cpus=2]")->directive, KTAP_SKIP);
	assert_true(ktap_result_failed(find(k, "late[cpus=2]")));
	assert_int_equal(find(k, "clock[cpus=2]/tsc_sync")->directive, KTAP_TODO);
	assert_false(ktap_result_failed(find(k, "clock[cpus=2]/tsc_sync")));
}

static void a_name_is_no_directive(void **state)
{
	_cleanup_free_ char *text = NULL;

	f.results[2].id = "boot # SKIP me\n1..0";
	f.report.results = &f.list[2];
	f.report.count = 1;
	f.report.missing_count = 0;
	text = test_fixture_render(test_report_tap, &f.report);
	assert_non_null(strstr(text, "\nnot ok 1 boot \\# SKIP me\\x0a1..0 # ERROR panic\n"));
}

static void a_full_disk_is_told_of(void **state)
{
	test_fixture_check_full_disk(test_report_tap, &f.report);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(every_verdict_has_its_line, setup),
		cmocka_unit_test_setup(our_reader_finds_no_problem_in_it, setup),
		cmocka_unit_test_setup(a_name_is_no_directive, setup),
		cmocka_unit_test_setup(a_full_disk_is_told_of, setup),
	};

	assert_int_equal(argc, 2);
	golden = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
