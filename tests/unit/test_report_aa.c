/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <string.h>

#include "near.h"
#include "report/html.h"
#include "report/report.h"

#define COMPARISONS 20
#define BLOCKS      6

static struct stats_block blocks[COMPARISONS][BLOCKS];
static struct report_bench benches[COMPARISONS];
static struct report reports[COMPARISONS];
static struct report *list[COMPARISONS];
static struct report_set set = {
	.aa = true, .title = "20 comparisons", .reports = list, .n_reports = COMPARISONS};
static struct err e;

/* The first comparisons have B larger by @alarm in every block, the others alternate. */
static void make(size_t alarms, double alarm)
{
	for (size_t i = 0; i < COMPARISONS; i++) {
		for (size_t k = 0; k < BLOCKS; k++) {
			double d = i < alarms ? alarm + .002 * (double)k : k % 2 ? .2 : -.2;

			blocks[i][k] = (struct stats_block){{100, 100}, {100 + d, 100 + d}};
		}
		benches[i] = (struct report_bench){.name = "syscall.null",
						   .per = "call",
						   .blocks = blocks[i],
						   .n_blocks = BLOCKS};
		reports[i] = (struct report)REPORT_INIT;
		reports[i].same_arm = true;
		reports[i].class = EXEC_NATIVE;
		reports[i].backend = "kvm";
		reports[i].arms[STATS_A].label = reports[i].arms[STATS_B].label = "base";
		reports[i].benches = &benches[i];
		reports[i].n_benches = 1;
		list[i] = &reports[i];
		if (report_compute(list[i], &e) < 0) {
			fail_msg("%s", e.text);
		}
	}
}

static int teardown(void **state)
{
	for (size_t i = 0; i < COMPARISONS; i++) {
		report_fini(&reports[i]);
	}
	return 0;
}

static void as_many_false_alarms_as_expected_are_fine(void **state)
{
	struct report_aa row;
	size_t lo, hi;

	make(3, 5);
	assert_int_equal(report_aa_rows(&set, &row, 1), 1);
	assert_string_equal(row.name, "syscall.null");
	assert_int_equal(row.trials, 20);
	assert_int_equal(row.by_p, 3);
	assert_int_equal(row.rejected, 3);
	assert_near(row.largest, 5.005, 1e-9);
	report_aa_expected(1, 20, &lo, &hi);
	assert_int_equal(lo, 0);
	assert_int_equal(hi, 3);
	assert_int_equal(report_set_exit_status(&set), 0);
}

static void one_more_says_no(void **state)
{
	char *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	make(4, 5);
	assert_int_equal(report_set_exit_status(&set), 1);
	assert_int_equal(report_set_text(&set, f, false, false), 0);
	fclose(f);
	assert_non_null(strstr(
		text,
		"  syscall.null                         20            4         4    0 to 3    "
		"5.005\n"));
	assert_non_null(strstr(text, "More false alarms than a test at 5 % may have: the verdicts "
				     "of this machine are\nnot to be trusted.\n"));
	free(text);
}

static void what_lies_within_the_margin_is_no_false_verdict(void **state)
{
	struct report_aa row;

	make(10, .05);
	assert_int_equal(report_aa_rows(&set, &row, 1), 1);
	assert_int_equal(row.by_p, 10);
	assert_int_equal(row.rejected, 0);
	assert_int_equal(report_set_exit_status(&set), 0);
}

static void the_more_rows_the_wider_their_ranges(void **state)
{
	size_t lo, one, many;

	report_aa_expected(1, 20, &lo, &one);
	report_aa_expected(13, 20, &lo, &many);
	assert_true(many > one);
}

static void without_six_blocks_nothing_was_compared(void **state)
{
	make(0, 0);
	for (size_t i = 0; i < COMPARISONS; i++) {
		report_fini(&reports[i]);
		benches[i].n_blocks = 5;
		assert_int_equal(report_compute(list[i], &e), 0);
	}
	assert_int_equal(report_set_exit_status(&set), 3);
}

static void markdown_and_page_have_the_same(void **state)
{
	char *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);
	const struct report_html h = {.file = "r.ndjson", .sha256 = "0123"};

	make(4, 5);
	assert_int_equal(report_set_markdown(&set, f), 0);
	fflush(f);
	assert_non_null(strstr(text,
			       "| `syscall.null` | 20 | 4 | 4 | 0 to 3 | 5.005 |\n\nMore false "
			       "alarms than a test at 5 % may have"));
	assert_int_equal(report_set_html(&set, &h, f), 0);
	fclose(f);
	assert_non_null(strstr(text, "<h2 id=\"aa\">False alarms</h2>\n<p>More false alarms"));
	assert_non_null(strstr(text, "<td data-l=\"expected\">0 to 3</td>"));
	free(text);
}

static void the_json_has_the_same(void **state)
{
	json_t *root, *row;

	make(1, 5);
	root = report_set_json(&set);
	assert_non_null(root);
	row = json_array_get(json_object_get(root, "aa"), 0);
	assert_int_equal(json_integer_value(json_object_get(row, "rejected")), 1);
	assert_int_equal(json_integer_value(json_array_get(json_object_get(row, "expected"), 1)),
			 3);
	assert_int_equal(json_array_size(json_object_get(root, "comparisons")), 20);
	assert_int_equal(json_integer_value(json_object_get(root, "exit_status")), 0);
	json_decref(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(as_many_false_alarms_as_expected_are_fine, teardown),
		cmocka_unit_test_teardown(one_more_says_no, teardown),
		cmocka_unit_test_teardown(what_lies_within_the_margin_is_no_false_verdict,
					  teardown),
		cmocka_unit_test(the_more_rows_the_wider_their_ranges),
		cmocka_unit_test_teardown(without_six_blocks_nothing_was_compared, teardown),
		cmocka_unit_test_teardown(markdown_and_page_have_the_same, teardown),
		cmocka_unit_test_teardown(the_json_has_the_same, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
