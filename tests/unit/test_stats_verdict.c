/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The decision rule. */
#include "support.h"

#include "near.h"
#include "stats/verdict.h"

/* A clear win of 25 units on 12 blocks, to be bent by each test. */
static struct stats_evidence clear_win(void)
{
	return (struct stats_evidence){
		.blocks = 12,
		.effect = -25,
		.interval = {-26, -24, .95},
		.interval90 = {-25.8, -24.2, .9},
		.p = 2 / 4096.,
		.alpha = .05,
		.margin = 3.9,
		.judges_speed = true,
	};
}

static void assert_verdict(const struct stats_evidence *e, enum stats_verdict v,
			   enum stats_reason reason)
{
	enum stats_reason found;

	assert_string_equal(stats_verdict_name(stats_verdict(e, &found)), stats_verdict_name(v));
	assert_string_equal(stats_reason_name(found), stats_reason_name(reason));
}

static void lower_is_better_and_higher_is_worse(void **state)
{
	struct stats_evidence e = clear_win();

	assert_verdict(&e, VERDICT_BETTER, REASON_SIGNIFICANT);
	e.effect = 25;
	e.interval = (struct stats_interval){24, 26, .95};
	e.interval90 = (struct stats_interval){24.2, 25.8, .9};
	assert_verdict(&e, VERDICT_WORSE, REASON_SIGNIFICANT);
}

static void five_blocks_decide_nothing(void **state)
{
	struct stats_evidence e = clear_win();

	e.blocks = 6;
	assert_verdict(&e, VERDICT_BETTER, REASON_SIGNIFICANT);
	e.blocks = 5;
	assert_verdict(&e, VERDICT_INCONCLUSIVE, REASON_FEW_BLOCKS);
	e.deterministic = true;
	e.boots_identical = true;
	assert_verdict(&e, VERDICT_INCONCLUSIVE, REASON_FEW_BLOCKS);
	e.blocks = 0;
	assert_verdict(&e, VERDICT_INCONCLUSIVE, REASON_NO_BLOCKS);
}

static void a_class_without_speed_gives_no_verdict(void **state)
{
	struct stats_evidence e = clear_win();

	e.judges_speed = false;
	assert_verdict(&e, VERDICT_INCONCLUSIVE, REASON_NO_SPEED);
}

static void identical_boots_are_equivalent_under_a_counter_only(void **state)
{
	struct stats_evidence e = clear_win();

	e.effect = 0;
	e.interval = (struct stats_interval){0, 0, .95};
	e.interval90 = e.interval;
	e.p = 1;
	e.boots_identical = true;
	e.diffs_identical = true;
	assert_verdict(&e, VERDICT_EQUIVALENT, REASON_WITHIN_MARGIN);
	e.deterministic = true;
	assert_verdict(&e, VERDICT_EQUIVALENT, REASON_IDENTICAL);
}

static void one_difference_in_all_blocks_is_named_under_a_counter_only(void **state)
{
	struct stats_evidence e = clear_win();

	e.interval = (struct stats_interval){-25, -25, .95};
	e.interval90 = e.interval;
	e.diffs_identical = true;
	assert_verdict(&e, VERDICT_BETTER, REASON_SIGNIFICANT);
	e.deterministic = true;
	assert_verdict(&e, VERDICT_BETTER, REASON_SAME_DIFFERENCE);
}

static void a_tiny_consistent_difference_is_equivalent(void **state)
{
	struct stats_evidence e = clear_win();

	e.effect = .003;
	e.interval = (struct stats_interval){.002, .004, .95};
	e.interval90 = (struct stats_interval){.0025, .0035, .9};
	e.margin = .222;
	e.deterministic = true;
	assert_true(stats_significant(&e));
	assert_verdict(&e, VERDICT_EQUIVALENT, REASON_WITHIN_MARGIN);
	/* also when all blocks agree on it */
	e.interval = (struct stats_interval){.003, .003, .95};
	e.interval90 = e.interval;
	e.diffs_identical = true;
	assert_verdict(&e, VERDICT_EQUIVALENT, REASON_WITHIN_MARGIN);
}

static void an_exact_difference_of_just_the_margin_is_within_it(void **state)
{
	struct stats_evidence e = clear_win();

	e.effect = 1.1 - .1; /* not 1 in its last bits */
	e.margin = 1;
	e.deterministic = true;
	e.diffs_identical = true;
	assert_verdict(&e, VERDICT_EQUIVALENT, REASON_WITHIN_MARGIN);
	e.effect = 1.001;
	assert_verdict(&e, VERDICT_WORSE, REASON_SAME_DIFFERENCE);
	e.same_arm = true;
	assert_verdict(&e, VERDICT_INCONCLUSIVE, REASON_FALSE_ALARM);
}

static void an_effect_must_pass_the_margin_and_not_just_reach_it(void **state)
{
	struct stats_evidence e = clear_win();

	e.margin = 25;
	assert_verdict(&e, VERDICT_INCONCLUSIVE, REASON_BELOW_MARGIN);
	e.margin = 24.99;
	assert_verdict(&e, VERDICT_BETTER, REASON_SIGNIFICANT);
	/* the ends of the 90 % interval must lie inside, not on, the margin */
	e.margin = 25.8;
	assert_verdict(&e, VERDICT_INCONCLUSIVE, REASON_BELOW_MARGIN);
	e.margin = 25.81;
	assert_verdict(&e, VERDICT_EQUIVALENT, REASON_WITHIN_MARGIN);
}

static void p_and_interval_must_both_agree(void **state)
{
	struct stats_evidence e = clear_win();

	e.p = .05;
	assert_verdict(&e, VERDICT_BETTER, REASON_SIGNIFICANT);
	e.p = .0501;
	assert_verdict(&e, VERDICT_INCONCLUSIVE, REASON_UNDECIDED);
	e.p = .01;
	e.interval.hi = 0;
	assert_verdict(&e, VERDICT_INCONCLUSIVE, REASON_UNDECIDED);
	assert_false(stats_significant(&e));
}

static void an_arm_against_itself_is_never_better_or_worse(void **state)
{
	struct stats_evidence e = clear_win();

	e.same_arm = true;
	assert_verdict(&e, VERDICT_INCONCLUSIVE, REASON_FALSE_ALARM);
	e.effect = 25;
	e.interval = (struct stats_interval){24, 26, .95};
	assert_verdict(&e, VERDICT_INCONCLUSIVE, REASON_FALSE_ALARM);
	e.deterministic = true;
	e.diffs_identical = true;
	assert_verdict(&e, VERDICT_INCONCLUSIVE, REASON_FALSE_ALARM);
	/* it may well be equivalent */
	e.effect = .01;
	e.interval = (struct stats_interval){-.1, .1, .95};
	e.interval90 = e.interval;
	assert_verdict(&e, VERDICT_EQUIVALENT, REASON_WITHIN_MARGIN);
}

static void each_reason_has_its_own_id(void **state)
{
	for (int i = 0; i < STATS_REASON_COUNT; i++) {
		for (int j = 0; j < i; j++) {
			assert_string_not_equal(stats_reason_name((enum stats_reason)i),
						stats_reason_name((enum stats_reason)j));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lower_is_better_and_higher_is_worse),
		cmocka_unit_test(five_blocks_decide_nothing),
		cmocka_unit_test(a_class_without_speed_gives_no_verdict),
		cmocka_unit_test(identical_boots_are_equivalent_under_a_counter_only),
		cmocka_unit_test(one_difference_in_all_blocks_is_named_under_a_counter_only),
		cmocka_unit_test(a_tiny_consistent_difference_is_equivalent),
		cmocka_unit_test(an_exact_difference_of_just_the_margin_is_within_it),
		cmocka_unit_test(an_effect_must_pass_the_margin_and_not_just_reach_it),
		cmocka_unit_test(p_and_interval_must_both_agree),
		cmocka_unit_test(an_arm_against_itself_is_never_better_or_worse),
		cmocka_unit_test(each_reason_has_its_own_id),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
