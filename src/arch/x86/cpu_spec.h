/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which processor a guest is to see, as --cpu writes it: BASE[,-FEATURE|+FEATURE]..., and what that
 * makes of the leaves that KVM offers. Names are QEMU's. Pure.
 */
#ifndef ARCH_X86_CPU_SPEC_H
#define ARCH_X86_CPU_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/cpuid_print.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "kvm/types.h"

#define X86_FEATURES_MAX 160
#define X86_CPU_QEMU_MAX 2048 /* room for x86_cpu_spec_qemu() */

/* The first levels are those of the x86-64 psABI; a baseline decides about these only. */
enum x86_level {
	X86_LEVEL_SYSTEM, /* for kernels: left as the host has it */
	X86_LEVEL_1,
	X86_LEVEL_2,
	X86_LEVEL_3,
	X86_LEVEL_4,
	X86_LEVEL_ABOVE, /* for programs, in no level */
};

struct x86_feature {
	const char *name;
	uint32_t leaf, index;
	enum cpuid_reg reg;
	unsigned int bit;
	enum x86_level level;
	const char *needs; /* a feature that it cannot be without, or NULL */
};

enum x86_wish {
	X86_AS_HOST,
	X86_WITHOUT,
	X86_WITH, /* the host must have it */
};

struct x86_cpu_spec {
	bool asked;   /* something was written */
	bool demands; /* some feature must be there */
	uint8_t wish[X86_FEATURES_MAX];
	bool pmu;       /* performance counters: off unless asked for */
	bool pmu_named; /* either way */
};

const struct x86_feature *x86_features(size_t *ret_count);
int x86_cpu_spec_parse(const char *text, struct x86_cpu_spec *ret, struct err *e) __must_check;
int x86_cpu_spec_apply(const struct x86_cpu_spec *s, struct kvm_cpuid_table *t,
		       struct err *e) __must_check;
int x86_cpu_spec_qemu(const struct x86_cpu_spec *s, char ret[X86_CPU_QEMU_MAX],
		      struct err *e) __must_check;
uint64_t x86_cpuid_print(const struct kvm_cpuid_table *t);
void x86_cpu_spec_msrs(const struct x86_cpu_spec *s, const struct kvm_cpuid_table *offered,
		       struct kvm_msr_table *msrs);
bool x86_cpu_spec_without(const struct x86_cpu_spec *s, const char *name);

#endif
