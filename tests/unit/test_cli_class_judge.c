/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <string.h>

#include "abi/timed_loop.h"
#include "cli/class_detect.h"

static const uint64_t lengths[CLASS_LOOP_LENGTHS] = {0, 500, 1000, 3000, 6000};

/* A machine whose loop takes @fixed + instructions * 2^@shift ticks, every time. */
static struct class_facts exact_machine(const char *hypervisor, unsigned int shift, uint64_t fixed)
{
	struct class_facts f = {.hypervisor_bit = true};

	snprintf(f.hypervisor, sizeof(f.hypervisor), "%s", hypervisor);
	memcpy(f.self.iterations, lengths, sizeof(lengths));
	for (unsigned int k = 0; k < CLASS_LOOP_LENGTHS; k++) {
		for (unsigned int i = 0; i < CLASS_LOOP_SAMPLES; i++) {
			f.self.ticks[k][i] = fixed + (lengths[k] * TIMED_LOOP_INSNS << shift);
		}
	}
	return f;
}

static struct class_facts ring_machine(uint64_t ring3_ticks, uint64_t ring0_ticks)
{
	struct class_facts f = exact_machine("", 0, 40);

	f.hypervisor_bit = false;
	f.rings = (struct probe_rings){
		.iterations = 400,
		.ring3 = {.samples = 8, .empty_ticks = 50, .loop_ticks = 50 + ring3_ticks},
		.ring0 = {.samples = 8, .empty_ticks = 60, .loop_ticks = 60 + ring0_ticks},
	};
	return f;
}

static void exact_multiples_under_tcg_are_icount_with_that_shift(void **state)
{
	for (unsigned int shift = 0; shift <= EXEC_ICOUNT_SHIFT_MAX; shift++) {
		struct class_facts f = exact_machine("TCGTCGTCGTCG", shift, 11u << shift);
		struct class_result r;

		class_judge(&f, &r);
		assert_true(r.known);
		assert_int_equal(r.class, EXEC_ICOUNT);
		assert_int_equal(r.icount_shift, shift);
		assert_non_null(strstr(r.evidence, "80 of 80 samples"));
	}
}

static void interrupts_in_less_than_half_of_the_samples_do_not_hide_icount(void **state)
{
	struct class_facts f = exact_machine("TCGTCGTCGTCG", 3, 88);
	struct class_result r;

	for (unsigned int i = 0; i < CLASS_LOOP_SAMPLES / 2; i++) {
		f.self.ticks[4][i] += 12345 + i;
	}
	class_judge(&f, &r);
	assert_int_equal(r.class, EXEC_ICOUNT);
	assert_int_equal(r.icount_shift, 3);
	f.self.ticks[4][CLASS_LOOP_SAMPLES / 2] += 1;
	class_judge(&f, &r);
	assert_int_equal(r.class, EXEC_TCG);
}

static void a_tick_off_at_one_length_is_tcg(void **state)
{
	for (unsigned int k = 1; k < CLASS_LOOP_LENGTHS; k++) {
		struct class_facts f = exact_machine("TCGTCGTCGTCG", 2, 44);
		struct class_result r;

		for (unsigned int i = 0; i < CLASS_LOOP_SAMPLES; i++) {
			f.self.ticks[k][i]++;
		}
		class_judge(&f, &r);
		assert_true(r.known);
		assert_int_equal(r.class, EXEC_TCG);
	}
}

static void a_shift_past_the_limit_is_tcg(void **state)
{
	struct class_facts f = exact_machine("TCGTCGTCGTCG", EXEC_ICOUNT_SHIFT_MAX + 1, 11);
	struct class_result r;

	class_judge(&f, &r);
	assert_int_equal(r.class, EXEC_TCG);
}

static void exact_ticks_without_tcg_are_not_icount(void **state)
{
	struct class_facts f = ring_machine(400, 400);
	struct class_result r;

	class_judge(&f, &r);
	assert_int_equal(r.class, EXEC_NATIVE);
}

static void under_tcg_what_kvm_does_does_not_matter(void **state)
{
	struct class_facts f = exact_machine("TCGTCGTCGTCG", 0, 11);
	struct class_result r;

	f.kvm.error = -ENOENT;
	class_judge(&f, &r);
	assert_true(r.known);
	assert_int_equal(r.class, EXEC_ICOUNT);
}

static void equal_rings_are_native_and_under_a_hypervisor_nested(void **state)
{
	struct class_facts f = ring_machine(600, 610);
	struct class_result r;

	class_judge(&f, &r);
	assert_true(r.known);
	assert_int_equal(r.class, EXEC_NATIVE);
	assert_string_equal(r.evidence,
			    "1.52 ticks an iteration in guest ring 0, 1.50 in ring 3: ratio 1.0, "
			    "limit 20 (least of 8 samples of 400 iterations); hypervisor: none");
	f.hypervisor_bit = true;
	class_judge(&f, &r);
	assert_int_equal(r.class, EXEC_NESTED);
	assert_non_null(strstr(r.evidence, "hypervisor: unnamed"));
}

static void a_slow_ring_0_is_emulated_only_past_the_limit(void **state)
{
	struct class_facts f = ring_machine(400, 400 * CLASS_EMULATED_RATIO);
	struct class_result r;

	class_judge(&f, &r);
	assert_int_equal(r.class, EXEC_NATIVE);
	f = ring_machine(400, 400 * CLASS_EMULATED_RATIO + 1);
	class_judge(&f, &r);
	assert_true(r.known);
	assert_int_equal(r.class, EXEC_EMULATED);
	assert_ptr_equal(strstr(r.evidence, "this /dev/kvm interprets guest ring 0 (see ring0 of "
					    "'ringside doctor'): 20.00 ticks an iteration in "),
			 r.evidence);
}

static void a_ring_0_that_fails_where_ring_3_works_is_emulated(void **state)
{
	struct class_facts f = ring_machine(400, 400);
	struct class_result r;

	f.rings.ring0 = (struct probe_ring){.error = PROBE_GUEST_FAILED, .text = "KVM exit x"};
	class_judge(&f, &r);
	assert_true(r.known);
	assert_int_equal(r.class, EXEC_EMULATED);
	assert_string_equal(
		r.evidence,
		"this /dev/kvm interprets guest ring 0 (see ring0 of 'ringside doctor'): "
		"a loop that runs in guest ring 3 fails in ring 0: KVM exit x");
}

static void what_could_not_be_timed_is_unknown_and_says_why(void **state)
{
	struct class_facts f = ring_machine(400, 400);
	struct class_result r;

	f.rings.ring0 = (struct probe_ring){.error = -ENOMEM, .text = "no memory"};
	class_judge(&f, &r);
	assert_false(r.known);
	assert_string_equal(r.evidence, "guest ring 0 was not timed: no memory");

	f = ring_machine(400, 400);
	f.rings.ring3 = (struct probe_ring){.error = PROBE_GUEST_FAILED, .text = "KVM exit y"};
	class_judge(&f, &r);
	assert_false(r.known);
	assert_string_equal(r.evidence, "guest ring 3 was not timed: KVM exit y");

	f = ring_machine(400, 400);
	f.kvm.error = -ENOENT;
	snprintf(f.kvm.text, sizeof(f.kvm.text), "kvm-device: gone");
	class_judge(&f, &r);
	assert_false(r.known);
	assert_string_equal(r.evidence, "no KVM to run guests in: kvm-device: gone");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exact_multiples_under_tcg_are_icount_with_that_shift),
		cmocka_unit_test(interrupts_in_less_than_half_of_the_samples_do_not_hide_icount),
		cmocka_unit_test(a_tick_off_at_one_length_is_tcg),
		cmocka_unit_test(a_shift_past_the_limit_is_tcg),
		cmocka_unit_test(exact_ticks_without_tcg_are_not_icount),
		cmocka_unit_test(under_tcg_what_kvm_does_does_not_matter),
		cmocka_unit_test(equal_rings_are_native_and_under_a_hypervisor_nested),
		cmocka_unit_test(a_slow_ring_0_is_emulated_only_past_the_limit),
		cmocka_unit_test(a_ring_0_that_fails_where_ring_3_works_is_emulated),
		cmocka_unit_test(what_could_not_be_timed_is_unknown_and_says_why),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
