/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The structures of the KVM interface, for folders that fill or read them without calling KVM. */
#ifndef KVM_TYPES_H
#define KVM_TYPES_H

#include <linux/kvm.h>
#include <string.h>

/* Room for all CPUID entries that a host may offer; KVM itself stops at 256. */
#define KVM_CPUID_MAX 256
#define KVM_MSRS_MAX  16

struct kvm_cpuid_table {
	struct kvm_cpuid2 head;
	struct kvm_cpuid_entry2 entries[KVM_CPUID_MAX];
};

/* The entries that there are: most of the room is never written to, nor given pages. */
static inline void kvm_cpuid_copy(struct kvm_cpuid_table *to, const struct kvm_cpuid_table *from)
{
	memcpy(to, from, sizeof(from->head) + from->head.nent * sizeof(from->entries[0]));
}

struct kvm_msr_table {
	struct kvm_msrs head;
	struct kvm_msr_entry entries[KVM_MSRS_MAX];
};

#endif
