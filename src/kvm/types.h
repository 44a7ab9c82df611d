/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The structures of the KVM interface, for folders that fill or read them without calling KVM. */
#ifndef KVM_TYPES_H
#define KVM_TYPES_H

#include <linux/kvm.h>

/* Room for all CPUID entries that a host may offer; KVM itself stops at 256. */
#define KVM_CPUID_MAX 256
#define KVM_MSRS_MAX  16

struct kvm_cpuid_table {
	struct kvm_cpuid2 head;
	struct kvm_cpuid_entry2 entries[KVM_CPUID_MAX];
};

struct kvm_msr_table {
	struct kvm_msrs head;
	struct kvm_msr_entry entries[KVM_MSRS_MAX];
};

#endif
