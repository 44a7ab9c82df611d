/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The report for programs, against tests/golden (the folder is the program's argument). */
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "near.h"
#include "report_fixture.h"

static const char *golden;

static json_t *render(struct report_fixture *f)
{
	json_t *j;

	fixture_compute(f);
	j = report_json(&f->report);
	report_fini(&f->report);
	assert_non_null(j);
	return j;
}

static void an_instruction_count_is_as_in_the_golden_file(void **state)
{
	_cleanup_free_ char *text = NULL;
	struct report_fixture f;
	json_t *j;

	fixture_icount(&f);
	for (size_t i = 0; i < FIXTURE_BENCHES; i++) {
		f.benches[i].n_blocks = 6; /* a shorter file */
	}
	j = render(&f);
	/* 12 digits: the last ones are the compiler's business */
	text = json_dumps(j, JSON_INDENT(1) | JSON_REAL_PRECISION(12));
	json_decref(j);
	fixture_golden(golden, "report-icount.json", text);
}

static void numbers_that_cannot_be_had_are_null(void **state)
{
	struct report_fixture f;
	json_t *b;
	json_t *j;

	fixture_nested(&f);
	j = render(&f);
	b = json_array_get(json_object_get(j, "benchmarks"), 2);
	assert_string_equal(json_string_value(json_object_get(b, "reason")), "no-blocks");
	assert_true(json_is_null(json_object_get(json_object_get(b, "p"), "value")));
	assert_true(json_is_null(json_object_get(json_object_get(b, "effect"), "value")));
	assert_true(json_is_null(json_object_get(b, "smallest_detectable_effect")));
	assert_true(json_is_string(json_object_get(b, "error")));
	assert_true(json_is_null(json_object_get(json_object_get(j, "host"), "cpu")));
	assert_int_equal(json_integer_value(json_object_get(j, "exit_status")), 1);
	json_decref(j);
}

static void a_rate_is_there_only_where_the_clock_is_known(void **state)
{
	struct report_fixture f;
	json_t *benches, *rate;
	json_t *j;

	fixture_icount(&f);
	f.benches[0].units_hz = 125e6;
	j = render(&f);
	benches = json_object_get(j, "benchmarks");
	rate = json_object_get(json_array_get(benches, 0), "rate");
	assert_near(json_real_value(json_object_get(rate, "a")), 125e6 / 222.003, 1e-6);
	assert_null(json_object_get(json_array_get(benches, 1), "rate"));
	json_decref(j);
}

static void numbers_are_in_full_precision(void **state)
{
	struct report_fixture f;
	json_t *effect;
	json_t *j;

	fixture_icount(&f);
	j = render(&f);
	effect = json_object_get(json_array_get(json_object_get(j, "benchmarks"), 2), "effect");
	assert_near(json_real_value(json_object_get(effect, "value")), -25, 0);
	assert_int_equal(json_array_size(json_object_get(effect, "block_differences")), 12);
	json_decref(j);
}

static void a_text_that_is_not_utf8_gives_no_report(void **state)
{
	struct report_fixture f;

	fixture_icount(&f);
	f.report.arms[STATS_A].append = "\xff";
	fixture_compute(&f);
	assert_null(report_json(&f.report));
	report_fini(&f.report);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_instruction_count_is_as_in_the_golden_file),
		cmocka_unit_test(numbers_that_cannot_be_had_are_null),
		cmocka_unit_test(a_rate_is_there_only_where_the_clock_is_known),
		cmocka_unit_test(numbers_are_in_full_precision),
		cmocka_unit_test(a_text_that_is_not_utf8_gives_no_report),
	};

	if (argc != 2) {
		fprintf(stderr, "usage: %s GOLDEN-FOLDER\n", argv[0]);
		return 2;
	}
	golden = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
