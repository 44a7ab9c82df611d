/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A test run as JSON, against tests/golden (the folder is the program's argument). */
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "report_fixture.h"
#include "test_fixture.h"

static const char *golden;
static struct test_fixture f;

static int setup(void **state)
{
	test_fixture_init(&f);
	return 0;
}

static void all_of_a_run_is_in_it(void **state)
{
	_cleanup_free_ char *text = test_fixture_render(test_report_json, &f.report);

	fixture_golden(golden, "test-run.json", text);
}

static void each_result_reads_back(void **state)
{
	_cleanup_free_ char *text = test_fixture_render(test_report_json, &f.report);
	json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	json_t *one;
	size_t i;

	assert_non_null(root);
	json_array_foreach (json_object_get(root, "results"), i, one) {
		struct err e = ERR_INIT;
		struct test_result *r;

		assert_int_equal(test_result_from_json(one, &r, &e), 0);
		assert_int_equal(r->verdict, f.results[i].verdict);
		test_result_destroy(r);
	}
	assert_int_equal(i, TEST_FIXTURE_CASES);
	json_decref(root);
}

static void a_full_disk_is_told_of(void **state)
{
	test_fixture_check_full_disk(test_report_json, &f.report);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(all_of_a_run_is_in_it, setup),
		cmocka_unit_test_setup(each_result_reads_back, setup),
		cmocka_unit_test_setup(a_full_disk_is_told_of, setup),
	};

	assert_int_equal(argc, 2);
	golden = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
