/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers and verdicts in words. */
#include "support.h"

#include <math.h>
#include <string.h>

#include "report/report_priv.h"
#include "report_fixture.h"

static void zero_has_no_sign(void **state)
{
	assert_string_equal(report_number(-0.0, 2).text, "0.00");
	assert_string_equal(report_number(-0.004, 2).text, "0.00");
	assert_string_equal(report_number_signed(0.004, 2).text, "0.00");
	assert_string_equal(report_number_signed(-0.006, 2).text, "-0.01");
	assert_string_equal(report_number_signed(24.94, 1).text, "+24.9");
}

static void what_is_not_known_is_a_dash(void **state)
{
	assert_string_equal(report_number(NAN, 2).text, "-");
	assert_string_equal(report_number_signed(NAN, 2).text, "-");
	assert_string_equal(report_p(NAN).text, "-");
}

static void a_huge_number_is_cut_and_not_overrun(void **state)
{
	assert_int_equal(strlen(report_number(1e300, 3).text), REPORT_NUMBER_MAX - 1);
}

static void p_has_three_digits_and_is_never_zero(void **state)
{
	assert_string_equal(report_p(1).text, "1");
	assert_string_equal(report_p(2 / 4096.).text, "0.000488");
	assert_string_equal(report_p(.0001).text, "0.0001");
	assert_string_equal(report_p(1e-5).text, "< 0.0001");
}

static void decimals_follow_the_uncertainty(void **state)
{
	assert_int_equal(report_decimals(30, 0, 3), 0);
	assert_int_equal(report_decimals(3, 0, 3), 1);
	assert_int_equal(report_decimals(.15, 0, 3), 2);
	assert_int_equal(report_decimals(1e-9, 0, 3), 3);
	assert_int_equal(report_decimals(0, 0, 3), 3);
	assert_int_equal(report_decimals(NAN, 0, 3), 3);
	assert_int_equal(report_decimals(INFINITY, 0, 3), 0);
	assert_int_equal(report_decimals(30, 2, 3), 2);
}

/* The sentence for a result that was set by hand. */
static const char *sentence(enum stats_reason reason, enum exec_class class)
{
	static char text[REPORT_SENTENCE_MAX];
	struct report_fixture f;
	struct stats_comparison *c;

	fixture_icount(&f);
	fixture_compute(&f);
	f.report.class = class;
	c = &f.benches[1].result;
	c->reason = reason;
	c->effect = reason == REASON_SIGNIFICANT ? 24.94 : .05;
	c->interval = (struct stats_interval){24.82, 25.1, .957};
	c->interval90 = (struct stats_interval){-.04, .09, .91};
	c->median[STATS_A] = 4000;
	c->margin = 4;
	c->p = .03125;
	c->p_holm = .03125;
	c->mde = .2;
	c->boots_identical = reason == REASON_IDENTICAL;
	report_sentence(&f.report, &f.benches[1], text, sizeof(text));
	report_fini(&f.report);
	return text;
}

static void each_reason_has_a_sentence_that_stands_alone(void **state)
{
	assert_string_equal(sentence(REASON_SIGNIFICANT, EXEC_NATIVE),
			    "B (fsgsbase) costs 24.94 more cycles per switch, 95 % [24.82, 25.10], "
			    "0.624 % of A.");
	assert_string_equal(sentence(REASON_SIGNIFICANT, EXEC_ICOUNT),
			    "B (fsgsbase) costs 24.94 more instructions per switch, 95 % [24.82, "
			    "25.10], 0.624 % of A.");
	assert_string_equal(sentence(REASON_WITHIN_MARGIN, EXEC_ICOUNT),
			    "no change beyond the margin of 4.0 instructions per switch: the 90 % "
			    "interval [-0.04, +0.09] lies within it.");
	assert_string_equal(sentence(REASON_BELOW_MARGIN, EXEC_ICOUNT),
			    "there is a difference (p 0.0312), but whether it is larger than the "
			    "margin of 4.0 instructions per switch is open.");
	assert_string_equal(sentence(REASON_UNDECIDED, EXEC_ICOUNT),
			    "no change is possible, and so is one beyond the margin of 4.0 "
			    "instructions per switch. With this noise 12 blocks find effects from "
			    "0.20 up.");
	assert_string_equal(
		sentence(REASON_FALSE_ALARM, EXEC_ICOUNT),
		"A and B are one and the same, so this difference of +0.05 (p 0.0312) is "
		"a false alarm, as one comparison in twenty gives.");
	assert_string_equal(sentence(REASON_NO_SPEED, EXEC_TCG),
			    "no verdict on speed: class tcg (QEMU's software processor: functional "
			    "results only).");
	assert_string_equal(sentence(REASON_FEW_BLOCKS, EXEC_ICOUNT),
			    "12 complete blocks cannot decide: it takes 6, since with 5 no p is "
			    "below 0.0625.");
	assert_string_equal(sentence(REASON_IDENTICAL, EXEC_ICOUNT),
			    "no difference: identical in 48 of 48 boots.");
	assert_string_equal(sentence(REASON_NO_BLOCKS, EXEC_ICOUNT),
			    "no block is complete, so there is nothing to compare.");
}

static void what_is_exact_has_neither_a_p_nor_an_interval(void **state)
{
	char text[REPORT_SENTENCE_MAX];
	char interval[REPORT_INTERVAL_MAX];
	struct report_fixture f;
	struct stats_comparison *c = &f.benches[1].result;

	fixture_icount(&f);
	for (size_t k = 0; k < 12; k++) {
		for (size_t i = 0; i < 2; i++) {
			f.blocks[1][k].b[i] = f.blocks[1][k].a[i] + 2;
		}
	}
	fixture_compute(&f);
	report_sentence(&f.report, &f.benches[1], text, sizeof(text));
	assert_string_equal(text,
			    "no change beyond the margin of 3.9 instructions per switch: exactly "
			    "+2.000, the same in 12 of 12 blocks.");
	assert_string_equal(report_interval(c, 3, interval, sizeof(interval)), "exact");
	assert_true(isnan(c->p) && isnan(c->p_holm) && isnan(c->interval.lo) && isnan(c->mde));
	/* what its boots wander by is of the arms, and stays */
	assert_true(isfinite(c->median_interval[STATS_A].lo));
	c->reason = REASON_FALSE_ALARM;
	report_sentence(&f.report, &f.benches[1], text, sizeof(text));
	assert_string_equal(text,
			    "A and B are one and the same, and yet they differ by +2.000, the "
			    "same in 12 of 12 blocks: that is not of the kernel.");
	report_fini(&f.report);
}

static void the_longest_label_fits(void **state)
{
	char text[REPORT_SENTENCE_MAX];
	char label[4000];
	struct report_fixture f;

	memset(label, 'x', sizeof(label) - 1);
	label[sizeof(label) - 1] = '\0';
	fixture_icount(&f);
	f.report.arms[STATS_B].label = label;
	f.benches[1].per = label; /* a guest said so */
	fixture_compute(&f);
	f.benches[1].result.p_holm = .5;
	report_sentence(&f.report, &f.benches[1], text, sizeof(text));
	report_fini(&f.report);
	assert_non_null(strstr(text, "among all 3 its p is 0.5 (Holm)."));
}

static void a_row_without_a_value_says_why(void **state)
{
	struct report_fixture f;
	struct stats_comparison none = {
		.effect = NAN, .interval = {.lo = NAN, .hi = NAN}, .reason = REASON_NO_BLOCKS};
	char text[REPORT_SENTENCE_MAX];

	fixture_icount(&f);
	f.benches[0].result = none;
	f.benches[0].batches[STATS_B].dirty = f.benches[0].batches[STATS_B].total = 30;
	report_sentence(&f.report, &f.benches[0], text, sizeof(text));
	assert_string_equal(text, "every batch of an arm was disturbed, so there is nothing to "
				  "compare.");
	assert_string_equal(report_interval(&none, 2, text, sizeof(text)), "-");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(zero_has_no_sign),
		cmocka_unit_test(what_is_not_known_is_a_dash),
		cmocka_unit_test(a_huge_number_is_cut_and_not_overrun),
		cmocka_unit_test(p_has_three_digits_and_is_never_zero),
		cmocka_unit_test(decimals_follow_the_uncertainty),
		cmocka_unit_test(each_reason_has_a_sentence_that_stands_alone),
		cmocka_unit_test(what_is_exact_has_neither_a_p_nor_an_interval),
		cmocka_unit_test(the_longest_label_fits),
		cmocka_unit_test(a_row_without_a_value_says_why),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
