/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <string.h>

#include "arch/x86/clock.h"

#define INTEL     0x756e6547
#define AMD       0x68747541
#define INVARIANT (1u << 8)
#define CLOCKS    0x01000009u

static struct kvm_cpuid_table t;
static struct err e;

static struct kvm_cpuid_entry2 *leaf(uint32_t function)
{
	for (uint32_t i = 0; i < t.head.nent; i++) {
		if (t.entries[i].function == function) {
			return &t.entries[i];
		}
	}
	return NULL;
}

static void offer(uint32_t vendor, uint32_t power)
{
	const struct kvm_cpuid_entry2 entries[] = {
		{.function = 0, .eax = 0xd, .ebx = vendor},
		{.function = 0x40000000, .eax = 0x40000001},
		{.function = 0x40000001, .eax = CLOCKS | 0x20},
		{.function = 0x80000007, .edx = power},
	};

	e = (struct err)ERR_INIT;
	memset(&t, 0, sizeof(t));
	t.head.nent = ARRAY_SIZE(entries);
	memcpy(t.entries, entries, sizeof(entries));
}

static void what_kvm_offers_stays_unless_it_is_asked_otherwise(void **state)
{
	struct kvm_cpuid_table before;

	offer(INTEL, INVARIANT);
	before = t;
	assert_int_equal(x86_clock_apply(X86_CLOCK_AUTO, 0, &t, &e), 0);
	assert_memory_equal(&t, &before, sizeof(t));
}

static void with_kvmclock_the_counter_is_not_said_to_be_invariant(void **state)
{
	offer(AMD, INVARIANT | 1);
	assert_int_equal(x86_clock_apply(X86_CLOCK_KVM, 0, &t, &e), 0);
	assert_int_equal(leaf(0x80000007)->edx, 1);
	assert_int_equal(leaf(0x40000001)->eax, CLOCKS | 0x20);
}

static void the_counter_comes_with_its_frequency_and_without_kvmclock(void **state)
{
	const struct kvm_cpuid_entry2 *l;

	offer(INTEL, INVARIANT);
	assert_int_equal(x86_clock_apply(X86_CLOCK_TSC, 2399998, &t, &e), 0);
	assert_int_equal(leaf(0x40000001)->eax, 0x20);
	assert_int_equal(leaf(0x80000007)->edx, INVARIANT);
	l = leaf(0x15);
	assert_int_equal((uint64_t)l->ecx * l->ebx / l->eax, UINT64_C(2399998000));
	assert_int_equal(l->ecx, 1000000000); /* and the timer of the local APIC */
	assert_int_equal(leaf(0x16)->eax, 2399);
	assert_int_equal(leaf(0x40000010)->eax, 2399998);
	assert_int_equal(leaf(0)->eax, 0x16);
	assert_int_equal(leaf(0x40000000)->eax, 0x40000010);
}

static void on_amd_the_leaves_of_intel_stay_away(void **state)
{
	offer(AMD, INVARIANT);
	assert_int_equal(x86_clock_apply(X86_CLOCK_TSC, 2000000, &t, &e), 0);
	assert_null(leaf(0x15));
	assert_null(leaf(0x16));
	assert_int_equal(leaf(0)->eax, 0xd);
	assert_int_equal(leaf(0x40000010)->eax, 2000000);
	/* Once more gives the same: a leaf that is there is replaced. */
	assert_int_equal(x86_clock_apply(X86_CLOCK_TSC, 2000000, &t, &e), 0);
	assert_int_equal(t.head.nent, 5);
}

static void a_clock_that_the_host_does_not_have_is_an_error(void **state)
{
	offer(INTEL, 0);
	assert_int_equal(x86_clock_apply(X86_CLOCK_TSC, 2000000, &t, &e), -ENODEV);
	assert_string_equal(e.text,
			    "--clock tsc: this host's time-stamp counter is not invariant, or "
			    "KVM does not offer it as such");
	offer(INTEL, INVARIANT);
	assert_int_equal(x86_clock_apply(X86_CLOCK_TSC, 0, &t, &e), -ENODEV);
	assert_string_equal(e.text, "--clock tsc: KVM does not know this host's frequency");
	leaf(0x40000001)->eax = 0x20;
	assert_int_equal(x86_clock_apply(X86_CLOCK_KVM, 0, &t, &e), -ENODEV);
	t.head.nent = 0;
	assert_int_equal(x86_clock_apply(X86_CLOCK_KVM, 0, &t, &e), -ENODEV);
	assert_int_equal(x86_clock_apply(X86_CLOCK_TSC, 1, &t, &e), -ENODEV);
}

static void a_table_without_room_is_an_error(void **state)
{
	offer(INTEL, INVARIANT);
	for (uint32_t i = t.head.nent; i < KVM_CPUID_MAX; i++) {
		t.entries[i] = (struct kvm_cpuid_entry2){.function = 0x20000000 + i};
	}
	t.head.nent = KVM_CPUID_MAX;
	assert_int_equal(x86_clock_apply(X86_CLOCK_TSC, 2000000, &t, &e), -E2BIG);
	assert_int_equal(t.head.nent, KVM_CPUID_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_kvm_offers_stays_unless_it_is_asked_otherwise),
		cmocka_unit_test(with_kvmclock_the_counter_is_not_said_to_be_invariant),
		cmocka_unit_test(the_counter_comes_with_its_frequency_and_without_kvmclock),
		cmocka_unit_test(on_amd_the_leaves_of_intel_stay_away),
		cmocka_unit_test(a_clock_that_the_host_does_not_have_is_an_error),
		cmocka_unit_test(a_table_without_room_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
