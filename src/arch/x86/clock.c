/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See clock.h. Leaves: SDM 2A, CPUID; Documentation/virt/kvm/x86/cpuid.rst. */
#include "arch/x86/clock.h"

#include <errno.h>

#define LEAF_BASIC        0
#define LEAF_TSC          0x15
#define LEAF_FREQUENCY    0x16
#define LEAF_HYPERVISOR   0x40000000
#define LEAF_KVM_FEATURES 0x40000001
#define LEAF_KVM_TIMING   0x40000010
#define LEAF_POWER        0x80000007
#define EDX_INVARIANT_TSC (1u << 8)
#define KVM_CLOCKS        (1u << 0 | 1u << 3 | 1u << 24) /* old, new, and "it is stable" */
#define KVM_CLOCK2        (1u << 3)
#define GENUINE_INTEL_EBX 0x756e6547

/* The local APIC's timer of KVM counts nanoseconds, and a kernel takes the crystal for its clock.
 */
#define CRYSTAL_HZ  UINT32_C(1000000000)
#define CRYSTAL_KHZ (CRYSTAL_HZ / 1000)
#define BUS_MHZ     100

static struct kvm_cpuid_entry2 *find(struct kvm_cpuid_table *t, uint32_t leaf)
{
	for (uint32_t i = 0; i < t->head.nent; i++) {
		if (t->entries[i].function == leaf) {
			return &t->entries[i];
		}
	}
	return NULL;
}

/* A leaf as it is to be, instead of what KVM offers there; all below it count as there too. */
static int set_leaf(struct kvm_cpuid_table *t, uint32_t first, const struct kvm_cpuid_entry2 *leaf)
{
	struct kvm_cpuid_entry2 *top = find(t, first), *at = find(t, leaf->function);

	if (!at) {
		if (t->head.nent == KVM_CPUID_MAX) {
			return -E2BIG;
		}
		at = &t->entries[t->head.nent++];
	}
	*at = *leaf;
	if (top && top->eax < leaf->function) {
		top->eax = leaf->function;
	}
	return 0;
}

static int set_frequency(struct kvm_cpuid_table *t, uint32_t tsc_khz)
{
	const struct kvm_cpuid_entry2 tsc = {
		.function = LEAF_TSC, .eax = CRYSTAL_KHZ, .ebx = tsc_khz, .ecx = CRYSTAL_HZ};
	const struct kvm_cpuid_entry2 mhz = {.function = LEAF_FREQUENCY,
					     .eax = tsc_khz / 1000,
					     .ebx = tsc_khz / 1000,
					     .ecx = BUS_MHZ};
	const struct kvm_cpuid_entry2 kvm = {
		.function = LEAF_KVM_TIMING, .eax = tsc_khz, .ebx = CRYSTAL_KHZ};
	const struct kvm_cpuid_entry2 *basic = find(t, LEAF_BASIC);
	int r = set_leaf(t, LEAF_HYPERVISOR, &kvm);

	/* On AMD's processors these leaves mean nothing. */
	if (r == 0 && basic && basic->ebx == GENUINE_INTEL_EBX) {
		r = set_leaf(t, LEAF_BASIC, &tsc);
		r = r < 0 ? r : set_leaf(t, LEAF_BASIC, &mhz);
	}
	return r;
}

/**
 * x86_clock_apply() - let CPUID say which clock a guest is to keep time by
 * @clock: which
 * @tsc_khz: frequency of the guest's counter, from KVM; only looked at for X86_CLOCK_TSC
 * @t: leaves as they are without; changed in place
 * @e: gets one line
 *
 * Linux takes kvmclock, unless the counter is invariant and nothing speaks against it.
 *
 * Return: 0; −ENODEV when the host has no such clock, or does not say how fast it is; −E2BIG when
 * the table has no room.
 * Context: any thread.
 */
int x86_clock_apply(enum x86_clock clock, uint32_t tsc_khz, struct kvm_cpuid_table *t,
		    struct err *e)
{
	struct kvm_cpuid_entry2 *kvm = find(t, LEAF_KVM_FEATURES);
	struct kvm_cpuid_entry2 *power = find(t, LEAF_POWER);

	switch (clock) {
	case X86_CLOCK_KVM:
		if (!kvm || !(kvm->eax & KVM_CLOCK2)) {
			return err_set(e, -ENODEV, "--clock kvmclock: this host's KVM has none");
		}
		if (power) {
			power->edx &= ~EDX_INVARIANT_TSC;
		}
		return 0;
	case X86_CLOCK_TSC:
		if (!power || !(power->edx & EDX_INVARIANT_TSC)) {
			return err_set(e, -ENODEV,
				       "--clock tsc: this host's time-stamp counter is not "
				       "invariant, or KVM does not offer it as such");
		}
		if (tsc_khz == 0) {
			return err_set(e, -ENODEV,
				       "--clock tsc: KVM does not know this host's frequency");
		}
		if (kvm) {
			kvm->eax &= ~KVM_CLOCKS;
		}
		return set_frequency(t, tsc_khz) < 0
			       ? err_set(e, -E2BIG, "--clock tsc: no room for its CPUID leaves")
			       : 0;
	default:
		return 0;
	}
}
