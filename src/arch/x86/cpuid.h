/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What CPUID tells a guest: KVM's offer, with this machine's topology put in. Pure. */
#ifndef ARCH_X86_CPUID_H
#define ARCH_X86_CPUID_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "kvm/types.h"

struct x86_cpu {
	uint32_t apic_id;
	uint32_t cpus; /* of the machine, 1 and up; each a core of its own, in one package */
	bool tsc_deadline;
};

int x86_cpuid_for(struct kvm_cpuid_table *t, const struct x86_cpu *cpu) __must_check;
uint64_t x86_cpuid_xcr0(const struct kvm_cpuid_table *t);

#endif
