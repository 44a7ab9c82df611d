/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a verdict does not look at: each warning, when it is given and when it decides. */
#include "support.h"

#include <math.h>
#include <string.h>

#include "report/report_priv.h"

#define BLOCKS 12

struct fixture {
	struct stats_block blocks[BLOCKS];
	struct report_boot boots[4 * BLOCKS];
	double clean[2][400];
	struct report_bench bench;
	struct report report;
};

/* Two arms whose boots differ by @diff, with a little of noise that is always the same. */
static void fill(struct fixture *f, enum exec_class class, double diff)
{
	*f = (struct fixture){.report = REPORT_INIT};
	for (size_t k = 0; k < BLOCKS; k++) {
		for (size_t i = 0; i < 2; i++) {
			size_t at = 4 * k + i;

			f->blocks[k].a[i] = 100 + (double)(at * 37 % 41) / 800;
			f->blocks[k].b[i] = 100 + diff + (double)(at * 29 % 43) / 800;
			f->boots[at] =
				(struct report_boot){.slot = at, .side = STATS_A, .counts = true};
			f->boots[at + 2] = (struct report_boot){
				.slot = at + 2, .side = STATS_B, .counts = true};
		}
	}
	for (size_t i = 0; i < 400; i++) {
		f->clean[STATS_A][i] = 100 + (double)(i * 37 % 401) / 8000;
		f->clean[STATS_B][i] = f->clean[STATS_A][i] + diff;
	}
	f->bench = (struct report_bench){
		.name = "syscall.null",
		.per = "call",
		.blocks = f->blocks,
		.n_blocks = BLOCKS,
		.boots = f->boots,
		.n_boots = 4L * BLOCKS,
		.clean = {f->clean[STATS_A], f->clean[STATS_B]},
		.n_clean = {400, 400},
		.batches = {{.total = 400}, {.total = 400}},
	};
	f->report.class = class;
	f->report.benches = &f->bench;
	f->report.n_benches = 1;
}

static void compute(struct fixture *f)
{
	struct err e;

	assert_int_equal(report_compute(&f->report, &e), 0);
}

static void assert_only(const struct fixture *f, int kind)
{
	for (int w = 0; w < REPORT_WARNINGS; w++) {
		if ((w == kind) != (*f->bench.warnings[w] != 0)) {
			fail_msg("%s: '%s'", report_warning_name((enum report_warning)w),
				 f->bench.warnings[w]);
		}
	}
}

static void assert_end(struct fixture *f, enum stats_verdict verdict, int decided_by)
{
	assert_int_equal(f->bench.result.verdict, verdict);
	assert_int_equal(f->bench.decided_by, decided_by);
	report_fini(&f->report);
}

static void of_sound_data_nothing_is_said(void **state)
{
	struct fixture f;

	fill(&f, EXEC_NATIVE, 0);
	compute(&f);
	assert_only(&f, -1);
	assert_end(&f, VERDICT_EQUIVALENT, -1);
	fill(&f, EXEC_NATIVE, -3);
	compute(&f);
	assert_only(&f, -1);
	assert_end(&f, VERDICT_BETTER, -1);
}

static void a_difference_that_grows_is_no_difference_to_state(void **state)
{
	struct fixture f;
	char text[REPORT_SENTENCE_MAX];

	fill(&f, EXEC_NATIVE, -3);
	for (size_t k = 0; k < BLOCKS; k++) {
		f.blocks[k].b[0] -= .3 * (double)k;
		f.blocks[k].b[1] -= .3 * (double)k;
	}
	compute(&f);
	assert_only(&f, REPORT_WARN_DRIFT);
	report_sentence(&f.report, &f.bench, text, sizeof(text));
	assert_non_null(
		strstr(text, "it would be \"better\", but (drift) the difference moved by"));
	assert_end(&f, VERDICT_INCONCLUSIVE, REPORT_WARN_DRIFT);
}

static void a_drift_that_both_arms_have_is_no_warning(void **state)
{
	struct fixture f;

	fill(&f, EXEC_NATIVE, -3);
	for (size_t k = 0; k < BLOCKS; k++) {
		for (size_t i = 0; i < 2; i++) {
			f.blocks[k].a[i] += (double)k;
			f.blocks[k].b[i] += (double)k;
		}
	}
	compute(&f);
	assert_only(&f, -1);
	assert_end(&f, VERDICT_BETTER, -1);
}

static void two_groups_take_equivalence_back_and_nothing_else(void **state)
{
	struct fixture f;

	for (int better = 0; better < 2; better++) {
		fill(&f, EXEC_NATIVE, better ? -20 : 0);
		for (size_t k = 0; k < BLOCKS; k++) {
			f.blocks[k].a[0] += 5; /* the same in both arms: the medians agree */
			f.blocks[k].b[0] += 5;
		}
		compute(&f);
		assert_only(&f, REPORT_WARN_BIMODAL);
		assert_end(&f, better ? VERDICT_BETTER : VERDICT_INCONCLUSIVE,
			   better ? -1 : REPORT_WARN_BIMODAL);
	}
}

static void groups_within_the_margin_are_one(void **state)
{
	struct fixture f;

	fill(&f, EXEC_ICOUNT, 0);
	for (size_t k = 0; k < BLOCKS; k++) {
		f.blocks[k] = (struct stats_block){.a = {203, 203.05}, .b = {203, 203.05}};
	}
	compute(&f);
	assert_only(&f, -1);
	assert_end(&f, VERDICT_EQUIVALENT, -1);
}

static void steps_are_told_from_a_fifth_and_decide_from_a_half(void **state)
{
	static const struct {
		size_t boots;
		bool told, decides;
	} rows[] = {{4, false, false}, {5, true, false}, {12, true, false}, {13, true, true}};

	for (size_t row = 0; row < sizeof(rows) / sizeof(rows[0]); row++) {
		struct fixture f;
		size_t left = rows[row].boots;

		fill(&f, EXEC_NATIVE, 0);
		for (size_t i = 0; i < 4L * BLOCKS && left; i++) {
			if (f.boots[i].side == STATS_B) {
				f.boots[i].step = -2;
				left--;
			}
		}
		compute(&f);
		assert_only(&f, rows[row].told ? REPORT_WARN_STEP : -1);
		assert_end(&f, rows[row].decides ? VERDICT_INCONCLUSIVE : VERDICT_EQUIVALENT,
			   rows[row].decides ? REPORT_WARN_STEP : -1);
	}
}

static void dirt_is_told_above_a_twentieth_and_decides_above_a_half(void **state)
{
	static const struct {
		enum exec_class class;
		uint64_t dirty;
		bool told, decides;
	} rows[] = {{EXEC_NATIVE, 20, false, false},
		    {EXEC_NATIVE, 21, true, false},
		    {EXEC_NATIVE, 200, true, false},
		    {EXEC_NATIVE, 201, true, true},
		    {EXEC_ICOUNT, 399, false, false}};

	for (size_t row = 0; row < sizeof(rows) / sizeof(rows[0]); row++) {
		struct fixture f;

		fill(&f, rows[row].class, 0);
		f.bench.batches[STATS_B].dirty = rows[row].dirty;
		compute(&f);
		assert_only(&f, rows[row].told ? REPORT_WARN_DIRTY : -1);
		assert_end(&f, rows[row].decides ? VERDICT_INCONCLUSIVE : VERDICT_EQUIVALENT,
			   rows[row].decides ? REPORT_WARN_DIRTY : -1);
	}
}

static void a_tail_that_moved_is_told_beside_an_equal_middle(void **state)
{
	struct fixture f;

	fill(&f, EXEC_NATIVE, 0);
	for (size_t i = 0; i < 20; i++) {
		f.clean[STATS_B][i * 20] += 50;
	}
	compute(&f);
	assert_only(&f, REPORT_WARN_TAIL);
	assert_true(f.bench.shift_known);
	assert_end(&f, VERDICT_EQUIVALENT, -1);
}

static void a_class_without_a_verdict_on_speed_is_told_of_dirt_only(void **state)
{
	struct fixture f;

	fill(&f, EXEC_TCG, 0);
	for (size_t k = 0; k < BLOCKS; k++) {
		f.blocks[k].b[0] += 5 + (double)k;
	}
	f.bench.batches[STATS_A].dirty = 300;
	compute(&f);
	assert_only(&f, REPORT_WARN_DIRTY);
	assert_end(&f, VERDICT_INCONCLUSIVE, -1);
}

/* So many of the 400 batches of an arm by a cause. */
static void disturb(struct fixture *f, int side, enum disturbance cause, uint64_t n)
{
	f->bench.batches[side].by_cause[cause] = n;
}

static void another_program_is_named_by_what_it_did_to_which_arm(void **state)
{
	struct fixture f;

	fill(&f, EXEC_NATIVE, -5);
	disturb(&f, STATS_B, DISTURBED_STEAL, 48);
	disturb(&f, STATS_A, DISTURBED_STEAL, 4);
	disturb(&f, STATS_A, DISTURBED_CLOCK, 8);
	compute(&f);
	assert_only(&f, REPORT_WARN_HOST);
	assert_string_equal(f.bench.warnings[REPORT_WARN_HOST],
			    "another program ran on this host: 12 % of the batches of B waited for "
			    "a CPU (steal), 2 % of the batches of A ran at another clock rate "
			    "(clock)");
	assert_int_equal(f.bench.result.verdict, VERDICT_BETTER);
	report_fini(&f.report);
}

static void each_of_its_causes_is_told_from_5_per_cent_on(void **state)
{
	static const struct {
		enum disturbance cause;
		bool told;
	} causes[] = {
		{DISTURBED_STEAL, true}, {DISTURBED_PREEMPT, true}, {DISTURBED_CLOCK, true},
		{DISTURBED_IRQ, false},  {DISTURBED_SWITCH, false}, {DISTURBED_KVM, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(causes); i++) {
		for (int more = 0; more < 2; more++) {
			struct fixture f;

			fill(&f, EXEC_NATIVE, -5);
			disturb(&f, STATS_A, causes[i].cause, 20 + (uint64_t)more);
			compute(&f);
			assert_only(&f, causes[i].told && more ? REPORT_WARN_HOST : -1);
			report_fini(&f.report);
		}
	}
}

static void where_instructions_are_counted_no_program_can_disturb(void **state)
{
	struct fixture f;

	fill(&f, EXEC_ICOUNT, -5);
	disturb(&f, STATS_A, DISTURBED_STEAL, 200);
	compute(&f);
	assert_only(&f, -1);
	report_fini(&f.report);
}

/* The empty loop of the first boots of an arm takes @ticks, of all others 1000. */
static void slow_down(struct fixture *f, int side, size_t boots, double ticks)
{
	for (size_t i = 0; i < 4L * BLOCKS; i++) {
		struct report_boot *b = &f->boots[i];

		b->empty = b->side == side && boots > 0 ? ticks : 1000;
		boots -= b->side == side && boots > 0;
	}
}

static void a_clock_that_was_another_in_some_boots_is_told(void **state)
{
	struct fixture f;

	fill(&f, EXEC_NATIVE, -5);
	slow_down(&f, STATS_B, 4, 1100); /* of 24 */
	compute(&f);
	assert_only(&f, -1);
	report_fini(&f.report);
	fill(&f, EXEC_NATIVE, -5);
	slow_down(&f, STATS_B, 5, 1100);
	compute(&f);
	assert_only(&f, REPORT_WARN_CLOCK);
	assert_int_equal(f.bench.result.verdict, VERDICT_BETTER);
	report_fini(&f.report);
	fill(&f, EXEC_NATIVE, -5);
	slow_down(&f, STATS_B, 24, 1015); /* within what time stamps vary by */
	compute(&f);
	assert_only(&f, -1);
	report_fini(&f.report);
}

static void arms_at_different_clocks_are_not_compared(void **state)
{
	struct fixture f;

	fill(&f, EXEC_NATIVE, -5);
	slow_down(&f, STATS_B, 24, 1100);
	compute(&f);
	assert_only(&f, REPORT_WARN_CLOCK);
	assert_int_equal(f.bench.result.verdict, VERDICT_INCONCLUSIVE);
	assert_int_equal(f.bench.decided_by, REPORT_WARN_CLOCK);
	assert_int_equal(f.bench.taken_back, VERDICT_BETTER);
	assert_non_null(strstr(f.bench.warnings[REPORT_WARN_CLOCK],
			       "took 1000 ticks in the median boot of A, 1100 of B)"));
	report_fini(&f.report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_sound_data_nothing_is_said),
		cmocka_unit_test(a_difference_that_grows_is_no_difference_to_state),
		cmocka_unit_test(a_drift_that_both_arms_have_is_no_warning),
		cmocka_unit_test(two_groups_take_equivalence_back_and_nothing_else),
		cmocka_unit_test(groups_within_the_margin_are_one),
		cmocka_unit_test(steps_are_told_from_a_fifth_and_decide_from_a_half),
		cmocka_unit_test(dirt_is_told_above_a_twentieth_and_decides_above_a_half),
		cmocka_unit_test(a_tail_that_moved_is_told_beside_an_equal_middle),
		cmocka_unit_test(a_class_without_a_verdict_on_speed_is_told_of_dirt_only),
		cmocka_unit_test(another_program_is_named_by_what_it_did_to_which_arm),
		cmocka_unit_test(each_of_its_causes_is_told_from_5_per_cent_on),
		cmocka_unit_test(where_instructions_are_counted_no_program_can_disturb),
		cmocka_unit_test(a_clock_that_was_another_in_some_boots_is_told),
		cmocka_unit_test(arms_at_different_clocks_are_not_compared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
