/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What has changed since a baseline, against tests/golden (the folder is the program's argument).
 */
#include "support.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "report/test_baseline.h"
#include "report_fixture.h"
#include "test_fixture.h"

static const char *golden;
static struct test_fixture then, now;
static struct test_result slow[6];
static const struct test_result *then_list[32], *now_list[32];
static struct test_baseline *b;
static struct test_extract *x;

/* "slow" three times in each run, the later ones twice as long. */
static void add_slow(void)
{
	static char *ids[] = {"slow", "slow#2", "slow#3"};

	for (size_t i = 0; i < 3; i++) {
		slow[i] = then.results[0];
		slow[i].id = ids[i];
		slow[i + 3] = slow[i];
		slow[i + 3].duration_ns *= 2 + i;
		then_list[then.report.count++] = &slow[i];
		now_list[now.report.count++] = &slow[i + 3];
	}
}

static int setup(void **state)
{
	struct err e = ERR_INIT;

	test_fixture_init(&then);
	test_fixture_init(&now);
	then.report.missing_count = 0;
	then.report.shards = now.report.shards = 1;
	then.results[1].verdict = TEST_OK;       /* newly broken */
	then.results[3].verdict = TEST_OK;       /* newly flaky */
	then.results[5].verdict = TEST_OK;       /* newly skipped */
	then.results[6].verdict = TEST_NOT_OK;   /* newly fixed */
	then.results[2].verdict = TEST_NOT_OK;   /* as before */
	then.results[7].id = "expected[cpus=2]"; /* vanished; the last one was not there */
	memcpy(then_list, then.list, sizeof(then.list));
	memcpy(now_list, now.list, sizeof(now.list));
	then.report.count--;
	add_slow();
	then.report.results = then_list;
	now.report.results = now_list;
	assert_int_equal(test_baseline_create(&then.report, &now.report, &b, &e), 0);
	return test_extract_create(b, &now.report, &x, &e);
}

static int teardown(void **state)
{
	test_extract_destroy(x);
	test_baseline_destroy(b);
	return 0;
}

static int text(const struct test_report *t, FILE *out)
{
	return test_baseline_text(b, t, out, false);
}

static int json(const struct test_report *t, FILE *out)
{
	return test_baseline_json(b, t, out);
}

static void only_what_changed_is_shown(void **state)
{
	_cleanup_free_ char *found = test_fixture_render(text, &now.report);

	fixture_golden(golden, "test-changes.txt", found);
	test_fixture_check_harmless(found);
}

static void it_is_json_too(void **state)
{
	_cleanup_free_ char *found = test_fixture_render(json, &now.report);
	json_t *root = json_loads(found, JSON_REJECT_DUPLICATES, NULL);

	assert_non_null(root);
	assert_int_equal(json_array_size(json_object_get(root, "changes")),
			 b->count - b->by_kind[TEST_CHANGE_NONE]);
	assert_int_equal(json_integer_value(json_object_get(root, "exit_status")), 1);
	assert_int_equal(json_integer_value(json_object_get(root, "still_not_ok")), 1);
	json_decref(root);
}

static void every_form_shows_what_changed(void **state)
{
	static const struct {
		const char *golden;
		test_fixture_fn fn;
	} forms[] = {
		{"test-changes.xml", test_report_junit},
		{"test-changes.tap", test_report_tap},
		{"test-changes.github", test_report_github},
		{"test-changes.md", test_report_markdown},
	};

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		_cleanup_free_ char *found = test_fixture_render(forms[i].fn, &x->report);

		fixture_golden(golden, forms[i].golden, found);
		test_fixture_check_harmless(found);
		test_fixture_check_full_disk(forms[i].fn, &x->report);
	}
}

static void what_did_not_change_is_no_failure_in_any_form(void **state)
{
	struct err e = ERR_INIT;

	test_extract_destroy(x);
	test_baseline_destroy(b);
	assert_int_equal(test_baseline_create(&now.report, &now.report, &b, &e), 0);
	assert_int_equal(test_extract_create(b, &now.report, &x, &e), 0);
	for (size_t i = 0; i < x->report.count; i++) {
		assert_int_equal(x->report.results[i]->verdict, TEST_KNOWN);
	}
	assert_int_equal(x->report.count + x->report.missing_count, b->by_kind[TEST_CHANGE_NONE]);
	assert_int_equal(x->report.missing_count, now.report.missing_count);
}

static void a_full_disk_is_told_of(void **state)
{
	test_fixture_check_full_disk(text, &now.report);
	test_fixture_check_full_disk(json, &now.report);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(only_what_changed_is_shown),
		TEST(it_is_json_too),
		TEST(every_form_shows_what_changed),
		TEST(what_did_not_change_is_no_failure_in_any_form),
		TEST(a_full_disk_is_told_of),
	};

	assert_int_equal(argc, 2);
	golden = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
