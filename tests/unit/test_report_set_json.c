/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "near.h"
#include "report_fixture.h"

static struct set_fixture f;

static int setup(void **state)
{
	f = (struct set_fixture){0};
	fixture_set(&f);
	return 0;
}

static int teardown(void **state)
{
	fixture_set_fini(&f);
	return 0;
}

static const char *text_of(const json_t *o, const char *key)
{
	return json_string_value(json_object_get(o, key));
}

static void a_claim_stands_beside_what_was_measured_and_its_floor(void **state)
{
	json_t *j = report_set_json(&f.set);
	const json_t *row, *measured, *at_best;

	assert_non_null(j);
	assert_string_equal(text_of(j, "type"), "scenario");
	assert_non_null(strstr(text_of(j, "reading"), "a write to CR3 count as one each"));
	assert_int_equal(json_integer_value(json_object_get(j, "boots_recorded")), 96);
	assert_int_equal(json_array_size(json_object_get(j, "comparisons")), 2);
	row = json_array_get(json_object_get(j, "claims"), 0);
	assert_string_equal(text_of(row, "group"), "first");
	assert_string_equal(text_of(json_object_get(row, "claim"), "hardware"), "a laptop");
	measured = json_object_get(row, "measured");
	assert_string_equal(text_of(measured, "class"), "icount");
	assert_string_equal(text_of(measured, "percent_of"), "nofsgsbase");
	assert_true(json_real_value(json_object_get(measured, "effect")) ==
		    f.one.benches[1].result.effect);
	assert_int_equal(json_integer_value(json_object_get(measured, "boots_of_each_side")), 24);
	at_best = json_object_get(row, "floor");
	assert_true(json_real_value(json_object_get(at_best, "value")) == -51.25);
	assert_string_equal(text_of(at_best, "formula"), "WRMSR - 4 SWAPGS");
	json_decref(j);
}

static void what_was_not_measured_and_has_no_floor_is_null_with_a_reason(void **state)
{
	json_t *j = report_set_json(&f.set);
	const json_t *claims = json_object_get(j, "claims");
	const json_t *row = json_array_get(claims, 4);
	const json_t *at_best = json_object_get(json_array_get(claims, 1), "floor");

	assert_true(json_is_null(json_object_get(row, "measured")));
	assert_string_equal(text_of(row, "why_not"),
			    "no boot has given a value for x@syscall.null");
	assert_true(json_is_null(json_object_get(at_best, "value")));
	assert_string_equal(text_of(at_best, "reason"), "ring 0 is not native on this host");
	/* A difference between two benchmarks is a percentage of the first one. */
	assert_string_equal(text_of(json_object_get(json_array_get(claims, 3), "measured"),
				    "percent_of"),
			    "ctxsw.pipe.fs");
	json_decref(j);
}

static void one_plain_comparison_is_written_as_it_is_alone(void **state)
{
	json_t *j, *alone;

	f.set.title = NULL;
	f.set.n_reports = 1;
	f.set.n_claims = 0;
	j = report_set_json(&f.set);
	alone = report_json(&f.one.report);
	assert_true(json_equal(j, alone));
	json_decref(j);
	json_decref(alone);
	f.set.n_claims = ARRAY_SIZE(f.said);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_claim_stands_beside_what_was_measured_and_its_floor),
		TEST(what_was_not_measured_and_has_no_floor_is_null_with_a_reason),
		TEST(one_plain_comparison_is_written_as_it_is_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
