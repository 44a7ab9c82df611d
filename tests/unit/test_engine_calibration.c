/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "calibration_fixture.h"
#include "engine/calibration.h"
#include "near.h"

#define OPS 100

/* A batch in which one operation takes @ticks, and a core cycle two. */
static struct calibration_batch batch(double ticks, uint8_t dirty)
{
	return (struct calibration_batch){
		.ticks = {40, 40 + 2 * CALIBRATE_CHAIN_ADDS, 1000, 1000 + (uint64_t)(ticks * OPS)},
		.dirty = dirty,
	};
}

static void a_point_is_the_median_of_its_clean_batches(void **state)
{
	struct calibration_batch b[8];
	struct calibration_point p;

	for (int i = 0; i < 7; i++) {
		b[i] = batch(10 + i, 0);
	}
	b[7] = batch(500, 1 << DISTURBED_IRQ | 1 << DISTURBED_KVM);
	calibration_point_make(b, 8, OPS, &p);
	assert_true(p.measured);
	assert_near(p.ticks, 13, 1e-9);
	assert_near(p.ticks_per_cycle, 2, 1e-9);
	assert_near(p.core_cycles, 6.5, 1e-9);
	assert_int_equal(p.batches, 8);
	assert_int_equal(p.dirty, 1);
	assert_int_equal(p.by_cause[DISTURBED_IRQ], 1);
	assert_int_equal(p.by_cause[DISTURBED_EXIT], 0);
}

static void a_large_value_of_a_clean_batch_is_kept(void **state)
{
	struct calibration_batch b[5] = {batch(10, 0), batch(10, 0), batch(99, 0), batch(99, 0),
					 batch(99, 0)};
	struct calibration_point p;

	calibration_point_make(b, 5, OPS, &p);
	assert_near(p.ticks, 99, 1e-9);
}

static void too_few_clean_batches_are_no_point_and_it_says_so(void **state)
{
	struct calibration_batch b[6];
	struct calibration_point p;

	for (int i = 0; i < 6; i++) {
		b[i] = batch(10, i < 2 ? 1 << DISTURBED_STEAL : 0);
	}
	calibration_point_make(b, 6, OPS, &p);
	assert_false(p.measured);
	assert_string_equal(p.reason, "4 of 6 batches were undisturbed, at least 5 are needed");
	calibration_point_make(b, 0, OPS, &p);
	assert_false(p.measured);
}

static void a_batch_without_a_ratio_costs_the_others_nothing(void **state)
{
	struct calibration_batch b[6];
	struct calibration_point p;

	for (int i = 0; i < 6; i++) {
		b[i] = batch(10, 0);
	}
	b[2].ticks[0] = b[2].ticks[1] + 5;
	calibration_point_make(b, 6, OPS, &p);
	assert_near(p.core_cycles, 5, 1e-9);
	assert_near(p.ticks_per_cycle, 2, 1e-9);
	assert_int_equal(p.dirty, 0);
}

static void a_batch_is_dirty_by_what_moved_beyond_the_calmest(void **state)
{
	static const struct calibration_window w[] = {
		{.kvm_exits = 9}, /* its own: the exits that are timed, and the mark */
		{.kvm_exits = 10},
		{.kvm_exits = 9, .irqs = 1},
		{.kvm_exits = 9, .steal_ns = 5},
		{.kvm_exits = 9, .nivcsw = 1},
		{.kvm_exits = 12, .irqs = 3, .steal_ns = 1, .nivcsw = 2},
	};
	static const uint8_t want[] = {
		0,
		1 << DISTURBED_KVM,
		1 << DISTURBED_IRQ,
		1 << DISTURBED_STEAL,
		1 << DISTURBED_PREEMPT,
		1 << DISTURBED_KVM | 1 << DISTURBED_IRQ | 1 << DISTURBED_STEAL |
			1 << DISTURBED_PREEMPT,
	};
	struct calibration_batch b[ARRAY_SIZE(w)] = {{.dirty = 0xff}};

	calibration_judge(b, w, ARRAY_SIZE(w));
	for (size_t i = 0; i < ARRAY_SIZE(w); i++) {
		assert_int_equal(b[i].dirty, want[i]);
	}
}

static void counters_that_a_host_lacks_make_nothing_dirty(void **state)
{
	const struct calibration_window w[2] = {
		{CALIBRATION_NO_VALUE, CALIBRATION_NO_VALUE, CALIBRATION_NO_VALUE,
		 CALIBRATION_NO_VALUE},
		{CALIBRATION_NO_VALUE, CALIBRATION_NO_VALUE, 0, 1},
	};
	struct calibration_batch b[2];

	calibration_judge(b, w, 2);
	assert_int_equal(b[0].dirty, 0);
	assert_int_equal(b[1].dirty, 1 << DISTURBED_PREEMPT);
}

static void an_empty_loop_that_took_longer_makes_a_small_negative_number(void **state)
{
	struct calibration_batch b[5];
	struct calibration_point p;

	for (int i = 0; i < 5; i++) {
		b[i] = batch(0, 0);
		b[i].ticks[3] = b[i].ticks[2] - OPS;
	}
	calibration_point_make(b, 5, OPS, &p);
	assert_near(p.ticks, -1, 1e-9);
}

static void a_chain_that_took_no_time_gives_no_core_cycles(void **state)
{
	struct calibration_batch b[5];
	struct calibration_point p;

	for (int i = 0; i < 5; i++) {
		b[i] = batch(10, 0);
		b[i].ticks[1] = b[i].ticks[0];
	}
	calibration_point_make(b, 5, OPS, &p);
	assert_true(p.measured);
	assert_true(isnan(p.core_cycles));
}

static void the_number_is_the_median_over_replicates_with_its_interval(void **state)
{
	struct calibration_replicate r[11];
	struct calibration *c;
	const struct calibration_primitive *p;

	calibration_fixture_fill(r, 11);
	c = calibration_fixture_make(r, 11, EXEC_NATIVE, 0);
	p = calibration_primitive(c, "lfence");
	assert_non_null(p);
	assert_near(p->number.median, CALIBRATE_LFENCE + 1.5, 1e-9);
	/* 11 values: the second to the tenth, 98.8 %. */
	assert_near(p->number.low, CALIBRATE_LFENCE + 1.1, 1e-9);
	assert_near(p->number.high, CALIBRATE_LFENCE + 1.9, 1e-9);
	assert_near(p->number.level, 0.98828125, 1e-9);
	assert_near(p->core_cycles.median, (CALIBRATE_LFENCE + 1.5) / 2, 1e-9);
	assert_near(c->ticks_per_cycle.median, 2, 1e-9);
	assert_int_equal(p->n, 11);
	assert_int_equal(p->batches, 550);
	assert_int_equal(p->dirty, 33);
	assert_string_equal(p->unit, "cycles");
	assert_true(p->native);
	free(c);
}

static void five_replicates_have_no_finite_interval(void **state)
{
	struct calibration_replicate r[5];
	struct calibration *c;

	calibration_fixture_fill(r, 5);
	c = calibration_fixture_make(r, 5, EXEC_NATIVE, 0);
	assert_true(isinf(c->primitives[0].number.low));
	assert_true(isinf(c->primitives[0].number.high));
	free(c);
}

static void every_floor_is_its_formula_in_each_replicate(void **state)
{
	static const struct {
		const char *id;
		double at_zero; /* in the replicate whose primitives take their number plus one */
		int terms;      /* sum of the factors: what a tenth more of each adds */
		const char *formula;
	} expected[] = {
		{"fsgsbase.fs",
		 (CALIBRATE_WRMSR_FS_BASE + 1) - (CALIBRATE_RDFSBASE + 1) -
			 (CALIBRATE_WRFSBASE + 1) - (CALIBRATE_RDGSBASE + 1) -
			 (CALIBRATE_WRGSBASE + 1) - 4 * (CALIBRATE_SWAPGS + 1),
		 -7, "wrmsr.fs_base - rdfsbase - wrfsbase - rdgsbase - wrgsbase - 4 × swapgs"},
		{"fsgsbase.fsgs",
		 (CALIBRATE_WRMSR_FS_BASE + 1) + (CALIBRATE_WRMSR_KERNEL_GS_BASE + 1) -
			 (CALIBRATE_RDFSBASE + 1) - (CALIBRATE_WRFSBASE + 1) -
			 (CALIBRATE_RDGSBASE + 1) - (CALIBRATE_WRGSBASE + 1) -
			 4 * (CALIBRATE_SWAPGS + 1),
		 -6,
		 "wrmsr.fs_base + wrmsr.kernel_gs_base - rdfsbase - wrfsbase - rdgsbase - "
		 "wrgsbase - 4 × swapgs"},
		{"uaccess.get", (CALIBRATE_LOAD_FENCED + 1) - (CALIBRATE_LOAD_MASKED + 1), 0,
		 "load.fenced - load.masked"},
		{"uaccess.put", (CALIBRATE_STORE_PLAIN + 1) - (CALIBRATE_STORE_CHECKED + 1), 0,
		 "store.plain - store.checked"},
		{"nopti.syscall",
		 2 * (CALIBRATE_CR3_WRITE_NOFLUSH + 1) - (CALIBRATE_TEST_CR3 + 1) -
			 (CALIBRATE_TEST_FLAG + 1),
		 0, "2 × cr3.write.noflush - test.cr3 - test.flag"},
	};
	struct calibration_replicate r[7];
	struct calibration *c;

	calibration_fixture_fill(r, 7);
	c = calibration_fixture_make(r, 7, EXEC_NATIVE, 0);
	assert_int_equal(c->floor_count, ARRAY_SIZE(expected));
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		const struct calibration_floor *f = calibration_floor(c, expected[i].id);

		assert_non_null(f);
		assert_near(f->value, expected[i].at_zero + 0.3 * expected[i].terms, 1e-9);
		assert_string_equal(f->formula, expected[i].formula);
		assert_string_equal(f->reason, "");
		assert_int_equal(f->n, 7);
		assert_true(f->low <= f->value && f->value <= f->high);
	}
	assert_null(calibration_floor(c, "uaccess"));
	free(c);
}

static void without_pcid_the_floor_of_nopti_takes_the_write_that_flushes(void **state)
{
	struct calibration_replicate r[6];
	struct calibration *c;

	calibration_fixture_fill(r, 6);
	calibration_fixture_lose(r, 6, CALIBRATE_CR3_WRITE_NOFLUSH, "no PCID");
	c = calibration_fixture_make(r, 6, EXEC_TCG, 0);
	assert_string_equal(calibration_floor(c, "nopti.syscall")->formula,
			    "2 × cr3.write - test.cr3 - test.flag");
	assert_int_equal(calibration_floor(c, "nopti.syscall")->n, 6);
	free(c);
}

static void where_ring_0_is_interpreted_ring_3_has_cycles_and_the_rest_reasons(void **state)
{
	struct calibration_replicate r[6];
	struct calibration *c;
	const struct calibration_floor *f;

	calibration_fixture_fill(r, 6);
	calibration_fixture_lose_ring0(r, 6);
	c = calibration_fixture_make(r, 6, EXEC_EMULATED, 0);
	assert_string_equal(calibration_primitive(c, "lfence")->unit, "cycles");
	assert_true(calibration_primitive(c, "lfence")->native);
	assert_string_equal(calibration_primitive(c, "swapgs")->unit, "ticks");
	assert_false(calibration_primitive(c, "swapgs")->native);
	assert_true(isnan(calibration_primitive(c, "swapgs")->number.median));
	assert_string_equal(calibration_primitive(c, "swapgs")->reason,
			    "ring 0 is interpreted here");
	f = calibration_floor(c, "uaccess.get");
	assert_near(f->value, CALIBRATE_LOAD_FENCED - CALIBRATE_LOAD_MASKED, 1e-9);
	assert_string_equal(f->unit, "cycles");
	f = calibration_floor(c, "fsgsbase.fs");
	assert_true(isnan(f->value));
	assert_string_equal(f->reason, "not measured: wrmsr.fs_base, swapgs (ring 0 is "
				       "interpreted here)");
	f = calibration_floor(c, "nopti.syscall");
	assert_string_equal(f->reason,
			    "not measured: cr3.write.noflush (ring 0 is interpreted here)");
	free(c);
}

static void under_icount_ticks_become_instructions_and_there_are_no_core_cycles(void **state)
{
	struct calibration_replicate r[6];
	struct calibration *c;

	calibration_fixture_fill(r, 6);
	c = calibration_fixture_make(r, 6, EXEC_ICOUNT, 3);
	assert_near(calibration_primitive(c, "swapgs")->number.median,
		    (CALIBRATE_SWAPGS + 1.25) / 8, 1e-9);
	assert_true(isnan(calibration_primitive(c, "lfence")->core_cycles.median));
	assert_true(isnan(c->ticks_per_cycle.median));
	assert_string_equal(calibration_floor(c, "uaccess.get")->unit, "instructions");
	free(c);
}

static void a_replicate_that_lost_a_primitive_only_takes_itself_away(void **state)
{
	struct calibration_replicate r[7];
	struct calibration *c;

	calibration_fixture_fill(r, 7);
	calibration_fixture_lose(r, 1, CALIBRATE_LOAD_MASKED, "disturbed");
	c = calibration_fixture_make(r, 7, EXEC_NATIVE, 0);
	assert_int_equal(calibration_primitive(c, "load.masked")->n, 6);
	assert_string_equal(calibration_primitive(c, "load.masked")->reason, "");
	assert_int_equal(calibration_floor(c, "uaccess.get")->n, 6);
	assert_int_equal(calibration_floor(c, "uaccess.put")->n, 7);
	free(c);
}

static void replicates_out_of_range_are_an_error(void **state)
{
	struct calibration_replicate r[1];
	struct calibration *c = NULL;
	struct err e = ERR_INIT;

	calibration_fixture_fill(r, 1);
	assert_int_equal(calibration_make(r, 0, EXEC_NATIVE, 0, &c, &e), -EINVAL);
	assert_int_equal(calibration_make(r, CALIBRATION_REPLICATES_MAX + 1, EXEC_NATIVE, 0, &c,
					  &e),
			 -EINVAL);
	assert_null(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_point_is_the_median_of_its_clean_batches),
		cmocka_unit_test(a_large_value_of_a_clean_batch_is_kept),
		cmocka_unit_test(too_few_clean_batches_are_no_point_and_it_says_so),
		cmocka_unit_test(a_batch_without_a_ratio_costs_the_others_nothing),
		cmocka_unit_test(a_batch_is_dirty_by_what_moved_beyond_the_calmest),
		cmocka_unit_test(counters_that_a_host_lacks_make_nothing_dirty),
		cmocka_unit_test(an_empty_loop_that_took_longer_makes_a_small_negative_number),
		cmocka_unit_test(a_chain_that_took_no_time_gives_no_core_cycles),
		cmocka_unit_test(the_number_is_the_median_over_replicates_with_its_interval),
		cmocka_unit_test(five_replicates_have_no_finite_interval),
		cmocka_unit_test(every_floor_is_its_formula_in_each_replicate),
		cmocka_unit_test(without_pcid_the_floor_of_nopti_takes_the_write_that_flushes),
		cmocka_unit_test(
			where_ring_0_is_interpreted_ring_3_has_cycles_and_the_rest_reasons),
		cmocka_unit_test(
			under_icount_ticks_become_instructions_and_there_are_no_core_cycles),
		cmocka_unit_test(a_replicate_that_lost_a_primitive_only_takes_itself_away),
		cmocka_unit_test(replicates_out_of_range_are_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
