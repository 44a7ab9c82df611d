/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One answer for a run: what fails a gate, what leaves it open, and what it says. */
#include "support.h"

#include <string.h>

#include "report/report_priv.h"
#include "report_fixture.h"

/* The icount fixture with @diff between the arms of its pipe, in every block or with some noise. */
static struct report_gate judge(struct report_fixture *f, double diff, bool exact,
				enum report_gate_on on)
{
	struct report *reports[] = {&f->report};
	struct report_set s = {.reports = reports, .n_reports = 1};
	struct report_gate g;

	fixture_icount(f);
	for (size_t i = 0; i < 3; i++) {
		for (size_t k = 0; k < 12; k++) {
			struct stats_block *b = &f->blocks[i][k];

			for (size_t j = 0; j < 2; j++) {
				b->b[j] = b->a[j];
				if (i == 1) {
					b->b[j] += diff + (exact ? 0 : .01 * (double)(7 * k % 5));
				}
			}
		}
	}
	fixture_compute(f);
	report_gate_judge(&s, on, &g);
	report_fini(&f->report);
	return g;
}

static void assert_gate(const struct report_gate *g, int status, const char *text)
{
	assert_string_equal(g->text, text);
	assert_int_equal(report_gate_status(g), status);
}

static void a_run_without_a_difference_passes(void **state)
{
	struct report_fixture f;
	struct report_gate g;

	for (int on = 0; on < REPORT_GATE_ON_COUNT; on++) {
		g = judge(&f, 0, true, (enum report_gate_on)on);
		assert_int_equal(g.rows[REPORT_GATE_PASSED], 3);
		assert_gate(&g, 0,
			    on == REPORT_GATE_CHANGED
				    ? "gate passed: none of 3 rows has changed beyond its margin."
				    : "gate passed: none of 3 rows is worse beyond its margin.");
	}
}

static void an_exact_regression_fails_by_itself(void **state)
{
	struct report_fixture f;
	struct report_gate g = judge(&f, 5, true, REPORT_GATE_WORSE);

	assert_gate(
		&g, 1,
		"gate failed: ctxsw.pipe.fsgs worse: B (fsgsbase) costs exactly 5.000 more "
		"instructions per switch: the same difference in 12 of 12 blocks, 0.128 % of A.");
	assert_int_equal(f.benches[1].gate, REPORT_GATE_FAILED);
	assert_int_equal(f.benches[0].gate, REPORT_GATE_PASSED);
}

static void a_regression_with_a_p_must_hold_among_all_rows(void **state)
{
	struct report_fixture f;
	struct report *reports[] = {&f.report};
	struct report_set s = {.reports = reports, .n_reports = 1};
	struct report_gate g = judge(&f, 5, false, REPORT_GATE_WORSE);

	assert_int_equal(g.result, REPORT_GATE_FAILED);
	assert_non_null(strstr(g.text, "p 0.00146 among all 3 rows (Holm)."));
	/* six blocks: 2 of 64 sign patterns, which three rows make 6 of 64 */
	f.benches[1].n_blocks = 6;
	fixture_compute(&f);
	assert_int_equal(f.benches[1].result.verdict, VERDICT_WORSE);
	report_gate_judge(&s, REPORT_GATE_WORSE, &g);
	assert_int_equal(report_gate_status(&g), 3);
	assert_non_null(strstr(g.text, "gate inconclusive: ctxsw.pipe.fsgs worse: "));
	assert_non_null(strstr(g.text, "among all 3 its p is 0.0938 (Holm)."));
	assert_non_null(strstr(g.text, "With 6 blocks it cannot be below 0.05: it takes 7"));
	report_gate_judge(&s, REPORT_GATE_INCONCLUSIVE, &g);
	assert_int_equal(report_gate_status(&g), 1);
	report_fini(&f.report);
}

static void an_improvement_fails_only_a_gate_against_change(void **state)
{
	struct report_fixture f;
	struct report_gate g = judge(&f, -5, true, REPORT_GATE_WORSE);

	assert_int_equal(report_gate_status(&g), 0);
	g = judge(&f, -5, true, REPORT_GATE_INCONCLUSIVE);
	assert_int_equal(report_gate_status(&g), 0);
	g = judge(&f, -5, true, REPORT_GATE_CHANGED);
	assert_gate(
		&g, 1,
		"gate failed: ctxsw.pipe.fsgs better: B (fsgsbase) saves exactly 5.000 "
		"instructions per switch: the same difference in 12 of 12 blocks, 0.128 % of A.");
}

static void the_worst_of_several_is_named_and_the_others_are_counted(void **state)
{
	struct report_fixture f;
	struct report *reports[] = {&f.report};
	struct report_set s = {.reports = reports, .n_reports = 1};
	struct report_gate g;

	fixture_icount(&f);
	for (size_t i = 0; i < 3; i++) {
		for (size_t k = 0; k < 12; k++) {
			for (size_t j = 0; j < 2; j++) {
				f.blocks[i][k].b[j] = f.blocks[i][k].a[j] + (i == 2 ? 3 : 5);
			}
		}
	}
	fixture_compute(&f);
	report_gate_judge(&s, REPORT_GATE_WORSE, &g);
	assert_int_equal(g.rows[REPORT_GATE_FAILED], 3);
	/* 3 of a margin of 0.1: more than 5 of 0.2 or of 3.9 */
	assert_non_null(strstr(g.text, "gate failed: switch_to.fsgs@ctxsw.pipe.fsgs worse: "));
	assert_non_null(strstr(g.text, " And 2 more."));
	report_fini(&f.report);
}

static void what_is_missing_leaves_the_gate_open(void **state)
{
	struct report_fixture f;
	struct report *reports[] = {&f.report};
	struct report_set s = {.reports = reports, .n_reports = 1};
	struct report_gate g = judge(&f, 5, true, REPORT_GATE_WORSE);

	/* a guest failed, but what is worse is worse */
	fixture_compute(&f);
	f.report.blocks_complete = 10;
	report_gate_judge(&s, REPORT_GATE_WORSE, &g);
	assert_int_equal(report_gate_status(&g), 1);
	/* a run that was stopped says nothing */
	s.boots_planned = 48;
	s.boots_recorded = 47;
	report_gate_judge(&s, REPORT_GATE_WORSE, &g);
	assert_gate(&g, 3,
		    "gate inconclusive: 47 of 48 boots are recorded: what they say so far is no "
		    "verdict.");
	report_fini(&f.report);
	(void)judge(&f, 0, true, REPORT_GATE_WORSE);
	fixture_compute(&f);
	s.boots_recorded = 48;
	f.report.blocks_complete = 11;
	report_gate_judge(&s, REPORT_GATE_WORSE, &g);
	assert_gate(&g, 3, "gate inconclusive: 1 block is not complete: a guest failed there.");
	report_gate_judge(&s, REPORT_GATE_INCONCLUSIVE, &g);
	assert_gate(&g, 1, "gate failed: 1 block is not complete: a guest failed there.");
	report_fini(&f.report);
}

static void a_row_without_values_leaves_the_gate_open(void **state)
{
	struct report_fixture f;
	struct report *reports[] = {&f.report};
	struct report_set s = {.reports = reports, .n_reports = 1};
	struct report_gate g;

	fixture_nested(&f);
	f.report.blocks_complete = f.report.blocks_planned;
	fixture_compute(&f);
	report_gate_judge(&s, REPORT_GATE_WORSE, &g);
	assert_int_equal(g.rows[REPORT_GATE_FAILED], 1);
	assert_int_equal(g.rows[REPORT_GATE_OPEN], 2);
	assert_int_equal(f.benches[2].gate, REPORT_GATE_OPEN);
	assert_int_equal(f.report.family, 3);
	report_fini(&f.report);
}

/* Everything that a form says of a failed gate, in one golden file a form. */
static void each_form_says_what_the_gate_does(void **state)
{
	static int (*const forms[])(const struct report_set *, FILE *) = {
		report_set_markdown, report_set_junit, report_set_github};
	static const char *const names[] = {"report-gate.md", "report-gate.xml",
					    "report-gate.github"};
	struct report_gate g;
	struct set_fixture f;

	fixture_set(&f);
	f.set.boots_recorded = f.set.boots_planned;
	report_gate_judge(&f.set, REPORT_GATE_CHANGED, &g);
	f.set.gate = &g;
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		char *text = NULL;
		size_t len = 0;
		FILE *out = open_memstream(&text, &len);

		assert_non_null(out);
		assert_int_equal(forms[i](&f.set, out), 0);
		assert_int_equal(fclose(out), 0);
		fixture_golden(*state, names[i], text);
		free(text);
	}
	fixture_set_fini(&f);
}

static void json_has_the_gate_and_its_status(void **state)
{
	struct report_fixture f;
	struct report *reports[] = {&f.report};
	struct report_set s = {.reports = reports, .n_reports = 1};
	struct report_gate g = judge(&f, 5, true, REPORT_GATE_WORSE);
	json_t *root, *gate;

	fixture_compute(&f);
	report_gate_judge(&s, REPORT_GATE_WORSE, &g);
	s.gate = &g;
	root = report_set_json(&s);
	gate = json_object_get(root, "gate");
	assert_string_equal(json_string_value(json_object_get(gate, "result")), "failed");
	assert_string_equal(json_string_value(json_object_get(gate, "fails_on")), "worse");
	assert_string_equal(json_string_value(json_object_get(gate, "text")), g.text);
	assert_int_equal(json_integer_value(json_object_get(root, "exit_status")), 1);
	json_decref(root);
	report_fini(&f.report);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_run_without_a_difference_passes),
		cmocka_unit_test(an_exact_regression_fails_by_itself),
		cmocka_unit_test(a_regression_with_a_p_must_hold_among_all_rows),
		cmocka_unit_test(an_improvement_fails_only_a_gate_against_change),
		cmocka_unit_test(the_worst_of_several_is_named_and_the_others_are_counted),
		cmocka_unit_test(what_is_missing_leaves_the_gate_open),
		cmocka_unit_test(a_row_without_values_leaves_the_gate_open),
		cmocka_unit_test_prestate(each_form_says_what_the_gate_does,
					  argc > 1 ? argv[1] : "tests/golden"),
		cmocka_unit_test(json_has_the_gate_and_its_status),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
