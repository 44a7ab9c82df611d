/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "compare_fixture.h"
#include "engine/summary.h"
#include "report/matrix.h"

static struct err e;
static struct comparison c;
static struct summary *s;

static int setup(void **state)
{
	fixture_comparison(&c, 6);
	s = NULL;
	return 0;
}

static int teardown(void **state)
{
	summary_destroy(s);
	comparison_fini(&c);
	return 0;
}

/* Boots of arm A take 100 units and as many more as their number, those of B five less. */
static double units(size_t slot)
{
	return 100 + (double)slot - (c.plan.boots[slot].arm == ARM_B ? 5 : 0);
}

static void add_all_but(size_t left_out)
{
	for (size_t i = 0; i < c.plan.boot_count; i++) {
		if (i != left_out) {
			fixture_add(&c, i, &(struct fixture_boot){.units = units(i)});
		}
	}
}

static double scenario_units(size_t slot)
{
	/* A drift of one unit a boot, which every block must cancel. */
	static const double arms[] = {100, 95, 60};

	return (double)slot + arms[c.plan.boots[slot].arm];
}

static const struct report *make(void)
{
	if (summary_create(&c, &s, &e) < 0) {
		fail_msg("%s", e.text);
	}
	return summary_set(s)->reports[0];
}

static void boots_are_put_into_blocks_and_a_linear_drift_cancels(void **state)
{
	const struct report *r;

	add_all_but(SIZE_MAX);
	r = make();
	assert_int_equal(r->n_benches, 1);
	assert_int_equal(r->benches[0].n_blocks, 6);
	assert_int_equal(r->blocks_complete, 6);
	for (size_t k = 0; k < 6; k++) {
		const struct stats_block *b = &r->benches[0].blocks[k];

		assert_true(fabs((b->b[0] + b->b[1] - b->a[0] - b->a[1]) / 2 + 5) < 1e-9);
	}
	assert_int_equal(r->benches[0].result.verdict, VERDICT_BETTER);
	assert_true(fabs(r->benches[0].result.effect + 5) < 1e-9);
}

static void the_head_says_what_was_compared_where(void **state)
{
	const struct report *r;

	add_all_but(SIZE_MAX);
	r = make();
	assert_true(r->same_image);
	assert_false(r->same_arm);
	assert_string_equal(r->arms[0].label, "nofsgsbase");
	assert_string_equal(r->arms[1].label, "base");
	assert_string_equal(r->arms[1].kernel_version, "6.12");
	assert_string_equal(r->host_cpu, "Fake CPU");
	assert_null(r->host_kernel);
	assert_int_equal(r->class, EXEC_ICOUNT);
	assert_int_equal(r->ticks_per_unit, 8);
	assert_int_equal(r->benches[0].calls, 100);
}

/* Sets what a boot says of its host's kernel. */
static void set_host_kernel(size_t slot, const char *text)
{
	free(c.boots[slot]->host_kernel);
	c.boots[slot]->host_kernel = strdup(text);
}

static void boots_that_are_not_alike_are_told_of(void **state)
{
	const struct report *r;

	add_all_but(SIZE_MAX);
	for (size_t slot = 0; slot < 24; slot++) {
		/* not known in one, and another one from the third block on */
		set_host_kernel(slot, slot == 3 ? "" : slot < 8 ? "6.1" : "6.2");
	}
	r = make();
	assert_string_equal(r->unequal, "the host's kernel is '6.1' in boot 1 and '6.2' in boot 9");
	assert_int_equal(r->blocks_mixed, 0);
	assert_int_equal(r->benches[0].result.verdict, VERDICT_BETTER);
	assert_string_equal(r->benches[0].warnings[REPORT_WARN_FINGERPRINT],
			    "the boots are not all alike: the host's kernel is '6.1' in boot 1 and "
			    "'6.2' in boot 9; 0 of 6 blocks are mixed");
}

static void what_differs_inside_a_block_takes_the_verdict_back(void **state)
{
	const struct report *r;

	add_all_but(SIZE_MAX);
	for (size_t slot = 0; slot < 24; slot++) {
		set_host_kernel(slot, slot < 9 ? "6.1" : "6.2");
	}
	r = make();
	assert_int_equal(r->blocks_mixed, 1);
	assert_int_equal(r->benches[0].result.verdict, VERDICT_INCONCLUSIVE);
	assert_int_equal(r->benches[0].decided_by, REPORT_WARN_FINGERPRINT);
	assert_int_equal(r->benches[0].taken_back, VERDICT_BETTER);
}

static void set_append(size_t slot, const char *text)
{
	free(c.boots[slot]->append);
	c.boots[slot]->append = strdup(text);
}

static void arms_may_have_command_lines_of_their_own(void **state)
{
	const struct report *r;

	add_all_but(SIZE_MAX);
	for (size_t slot = 0; slot < 24; slot++) {
		set_append(slot, c.boots[slot]->arm == 'a' ? "x nofsgsbase" : "x");
	}
	r = make();
	assert_null(r->unequal);
	assert_int_equal(r->blocks_mixed, 0);
}

/* The command line of @slot, with a word that we measure for each boot. */
static void set_measured(size_t slot, const char *word)
{
	char text[128];

	snprintf(text, sizeof(text), "a rather long way down the line tsc_early_khz=%zu %s", slot,
		 word);
	set_append(slot, text);
}

static void what_is_measured_for_each_boot_is_no_difference(void **state)
{
	add_all_but(SIZE_MAX);
	for (size_t slot = 0; slot < 24; slot++) {
		set_measured(slot, "y");
	}
	assert_null(make()->unequal);
}

static void a_difference_is_shown_from_its_word_on(void **state)
{
	const char *text;

	add_all_but(SIZE_MAX);
	for (size_t slot = 0; slot < 24; slot++) {
		set_measured(slot, slot < 23 ? "y" : "z");
	}
	text = make()->unequal;
	assert_non_null(strstr(text, "the command line is 'y' in boot "));
	assert_non_null(strstr(text, " and 'z' in boot 24"));
}

static void arms_that_differ_by_the_task_alone_are_told_apart_by_it(void **state)
{
	const struct report *r;
	struct plan_arm *arms;

	add_all_but(SIZE_MAX);
	arms = c.plan.groups[0].arms;
	free(arms[0].arm.append);
	free(arms[1].arm.append);
	arms[0].arm.append = strdup("pti=on");
	arms[1].arm.append = strdup("pti=on");
	arms[1].arm.task = ARM_TASK_NOPTI;
	r = make();
	assert_false(r->same_arm);
	assert_string_equal(r->arms[0].label, "pti=on");
	assert_null(r->arms[0].task);
	assert_string_equal(r->arms[1].label, "pti=on, task nopti");
	assert_string_equal(r->arms[1].task, "nopti");
}

static void a_block_that_lacks_a_boot_is_left_out_whole(void **state)
{
	const struct report *r;

	add_all_but(5);
	fixture_add(&c, 5, &(struct fixture_boot){.status = 240, .kind = "panic"});
	r = make();
	assert_int_equal(r->blocks_complete, 5);
	assert_int_equal(r->benches[0].n_blocks, 5);
	assert_int_equal(r->benches[0].boots_lost[c.plan.boots[5].arm], 1);
	assert_int_equal(r->benches[0].result.verdict, VERDICT_INCONCLUSIVE);
}

static void a_boot_that_is_not_done_yet_is_not_lost(void **state)
{
	const struct report *r;

	add_all_but(5);
	r = make();
	assert_int_equal(r->blocks_complete, 5);
	assert_int_equal(r->benches[0].boots_lost[0] + r->benches[0].boots_lost[1], 0);
}

static void dirty_batches_are_counted_and_left_out_of_the_value(void **state)
{
	const struct report *r;
	unsigned int arm = c.plan.boots[0].arm;

	add_all_but(0);
	fixture_add(&c, 0, &(struct fixture_boot){.units = units(0), .batches = 5, .dirty = 2});
	r = make();
	assert_int_equal(r->benches[0].batches[arm].total, 12 * 4 + 1);
	assert_int_equal(r->benches[0].batches[arm].dirty, 2);
	assert_int_equal(r->benches[0].batches[arm].by_cause[DISTURBED_IRQ], 2);
	/* Its dirty batches are larger by 1000: the block would show it. */
	assert_true(fabs(r->benches[0].result.effect + 5) < 1e-9);
	assert_int_equal(r->benches[0].n_blocks, 6);
}

static void a_boot_without_a_clean_batch_has_no_value_and_that_is_said(void **state)
{
	const struct report *r;
	char want[80];

	add_all_but(7);
	fixture_add(&c, 7, &(struct fixture_boot){.units = units(7), .dirty = 4});
	r = make();
	snprintf(want, sizeof(want), "boot 8 (arm %c): all 4 batches were disturbed",
		 c.plan.boots[7].arm == ARM_A ? 'A' : 'B');
	assert_string_equal(r->benches[0].error, want);
	assert_int_equal(r->benches[0].n_blocks, 5);
	assert_int_equal(r->benches[0].boots_lost[c.plan.boots[7].arm], 1);
}

static void nothing_recorded_is_nothing_to_report(void **state)
{
	assert_int_equal(summary_create(&c, &s, &e), -ENODATA);
	assert_string_equal(e.text, "no boot has given numbers: there is nothing to report");
}

static void every_arm_is_compared_with_the_first_of_its_group(void **state)
{
	const struct report_set *set;

	comparison_fini(&c);
	fixture_scenario(&c, 6);
	for (size_t i = 0; i < c.plan.boot_count; i++) {
		fixture_add(&c, i, &(struct fixture_boot){.units = scenario_units(i)});
	}
	make();
	set = summary_set(s);
	assert_int_equal(set->n_reports, 3);
	assert_string_equal(set->reports[1]->group, "three");
	assert_int_equal(set->reports[1]->arms[STATS_B].letter, 'C');
	assert_string_equal(set->reports[1]->arms[STATS_B].label, "third");
	assert_string_equal(set->reports[1]->arms[STATS_A].label, "nofsgsbase");
	for (size_t i = 0; i < 3; i++) {
		static const double effects[] = {-5, -40, -5};
		const struct report_bench *b = &set->reports[i]->benches[0];

		assert_int_equal(b->n_blocks, i == 2 ? 7 : 6);
		assert_int_equal(set->reports[i]->blocks_complete, i == 2 ? 7 : 6);
		assert_true(fabs(b->result.effect - effects[i]) < 1e-9);
		/* The mirror cancels the drift in each block by itself. */
		assert_true(b->result.diffs_identical);
	}
	/* p-values are adjusted over the whole run, not over one group. */
	assert_int_equal(set->reports[0]->family, 3);
	assert_int_equal(set->reports[2]->family, 3);
}

static double effect_in(const json_t *table, size_t row, size_t column)
{
	const json_t *cell =
		json_array_get(json_array_get(json_object_get(table, "rows"), row), column);

	return json_is_null(cell) ? NAN : json_real_value(json_object_get(cell, "effect"));
}

static void a_matrix_has_each_pair_from_both_sides(void **state)
{
	static const double arms[] = {100, 95, 60};
	const struct report_set *set;
	json_t *tables;

	comparison_fini(&c);
	fixture_scenario(&c, 6);
	for (size_t i = 0; i < c.plan.boot_count; i++) {
		fixture_add(&c, i, &(struct fixture_boot){.units = scenario_units(i)});
	}
	c.plan.matrix = true;
	(void)make();
	set = summary_set(s);
	assert_int_equal(set->n_reports, 3);
	assert_int_equal(set->n_matrix, 1);
	assert_int_equal(set->matrix[0]->arms[STATS_A].letter, 'B');
	assert_int_equal(set->matrix[0]->arms[STATS_B].letter, 'C');
	assert_int_equal(set->reports[0]->family, 4);
	tables = report_matrix_json(set);
	assert_int_equal(json_array_size(tables), 1); /* the other group has two arms */
	for (size_t i = 0; i < 3; i++) {
		for (size_t j = 0; j < 3; j++) {
			double x = effect_in(json_array_get(tables, 0), i, j);

			assert_true(i == j ? isnan(x) : fabs(x - (arms[i] - arms[j])) < 1e-9);
		}
	}
	json_decref(tables);
}

static void a_claim_is_held_against_the_row_that_it_names(void **state)
{
	const struct report_set *set;

	comparison_fini(&c);
	fixture_scenario(&c, 6);
	for (size_t i = 0; i < c.plan.boot_count; i++) {
		fixture_add(&c, i, &(struct fixture_boot){.units = scenario_units(i)});
	}
	make();
	set = summary_set(s);
	assert_int_equal(set->n_claims, 3);
	assert_ptr_equal(set->claims[0].bench, &set->reports[1]->benches[0]);
	assert_null(set->claims[1].bench);
	assert_string_equal(set->claims[1].why, "no boot has given a value for probe@syscall.null");
	assert_int_equal(set->claims[2].bench->n_blocks, 7);
	assert_true(set->claims[2].bench->result.effect == 0);
	assert_string_equal(set->claims[2].report->arms[STATS_A].label, "base");
}

static void a_claim_has_its_floor_or_the_reason_why_not(void **state)
{
	static const char line[] =
		"{\"schema_version\":1,\"type\":\"calibration\",\"class\":\"native\","
		"\"primitives\":[],\"floors\":[{\"id\":\"f\",\"unit\":\"cycles\",\"value\":2,"
		"\"low\":1,\"high\":3,\"n\":12,\"formula\":\"a - b\",\"reason\":null},"
		"{\"id\":\"g\",\"unit\":\"cycles\",\"value\":null,\"low\":null,\"high\":null,"
		"\"formula\":\"c\",\"reason\":\"c needs ring 0\"}]}";
	const struct report_claim *claims;

	comparison_fini(&c);
	fixture_scenario(&c, 6);
	for (size_t i = 0; i < c.plan.boot_count; i++) {
		fixture_add(&c, i, &(struct fixture_boot){.units = scenario_units(i)});
	}
	make();
	claims = summary_set(s)->claims;
	assert_string_equal(claims[0].floor.reason, "this host was not calibrated");
	assert_string_equal(claims[2].floor.reason, "it is itself");
	summary_destroy(s);
	s = NULL;
	assert_int_equal(comparison_add_line(&c, line, strlen(line), &e), 0);
	make();
	claims = summary_set(s)->claims;
	assert_string_equal(claims[0].floor.unit, "cycles");
	assert_true(claims[0].floor.value == 2 && claims[0].floor.high == 3);
	assert_string_equal(claims[1].floor.reason, "c needs ring 0");
	assert_null(claims[1].floor.unit);
	assert_string_equal(claims[2].floor.reason, "it is itself");
}

static void a_boot_that_is_lost_takes_its_block_from_its_own_comparisons_only(void **state)
{
	size_t lost = 0;
	const struct report_set *set;

	comparison_fini(&c);
	fixture_scenario(&c, 6);
	while (c.plan.boots[lost].arm != 2) {
		lost++;
	}
	for (size_t i = 0; i < c.plan.boot_count; i++) {
		fixture_add(&c, i,
			    i == lost ? &(struct fixture_boot){.status = 240, .kind = "panic"}
				      : &(struct fixture_boot){.units = scenario_units(i)});
	}
	make();
	set = summary_set(s);
	assert_int_equal(set->reports[0]->benches[0].n_blocks, 6);
	assert_int_equal(set->reports[1]->benches[0].n_blocks, 5);
	assert_int_equal(set->reports[1]->benches[0].boots_lost[STATS_B], 1);
	assert_int_equal(set->reports[2]->benches[0].n_blocks, 7);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(boots_are_put_into_blocks_and_a_linear_drift_cancels),
		TEST(the_head_says_what_was_compared_where),
		TEST(boots_that_are_not_alike_are_told_of),
		TEST(what_differs_inside_a_block_takes_the_verdict_back),
		TEST(arms_may_have_command_lines_of_their_own),
		TEST(what_is_measured_for_each_boot_is_no_difference),
		TEST(a_difference_is_shown_from_its_word_on),
		TEST(arms_that_differ_by_the_task_alone_are_told_apart_by_it),
		TEST(a_block_that_lacks_a_boot_is_left_out_whole),
		TEST(a_boot_that_is_not_done_yet_is_not_lost),
		TEST(dirty_batches_are_counted_and_left_out_of_the_value),
		TEST(a_boot_without_a_clean_batch_has_no_value_and_that_is_said),
		TEST(nothing_recorded_is_nothing_to_report),
		TEST(every_arm_is_compared_with_the_first_of_its_group),
		TEST(a_matrix_has_each_pair_from_both_sides),
		TEST(a_claim_is_held_against_the_row_that_it_names),
		TEST(a_claim_has_its_floor_or_the_reason_why_not),
		TEST(a_boot_that_is_lost_takes_its_block_from_its_own_comparisons_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
