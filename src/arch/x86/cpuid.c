/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See cpuid.h. Leaf numbers: SDM 2A, CPUID; AMD APM 3, appendix E. */
#include "arch/x86/cpuid.h"

#include <errno.h>

#define LEAF_FEATURES       0x1
#define LEAF_CACHE          0x4
#define LEAF_TOPOLOGY       0xb
#define LEAF_XSTATE         0xd
#define LEAF_TOPOLOGY_V2    0x1f
#define LEAF_AMD_FEATURES   0x80000001
#define LEAF_AMD_SIZES      0x80000008
#define LEAF_AMD_CACHE      0x8000001d
#define LEAF_AMD_TOPOLOGY   0x8000001e
#define LEAF_AMD_LEVELS     0x80000026
#define TOPOLOGY_LEVELS     3
#define EBX_AMD             0x68747541u /* "Auth", of AuthenticAMD */
#define EBX_HYGON           0x6f677948u /* "Hygo", of HygonGenuine */
#define ECX_CMP_LEGACY      (1u << 1)
#define ECX_X2APIC          (1u << 21)
#define ECX_TSC_DEADLINE    (1u << 24)
#define ECX_HYPERVISOR      (1u << 31)
#define EDX_HTT             (1u << 28)
#define LEVEL_THREAD        (1u << 8)
#define LEVEL_CORE          (2u << 8)
#define CACHE_LEVEL(eax)    ((eax) >> 5 & 7)
#define CACHE_SHARING_SHIFT 14
#define CACHE_CORES_SHIFT   26

/* Bits of an APIC id that tell the cores apart. */
static uint32_t core_bits(uint32_t cpus)
{
	uint32_t bits = 0;

	while ((UINT32_C(1) << bits) < cpus) {
		bits++;
	}
	return bits;
}

static uint32_t set_field(uint32_t reg, unsigned int shift, unsigned int bits, uint32_t value)
{
	uint32_t max = (UINT32_C(1) << bits) - 1;

	return (reg & ~(max << shift)) | (value < max ? value : max) << shift;
}

static void set_features(struct kvm_cpuid_entry2 *e, const struct x86_cpu *cpu)
{
	e->ebx = set_field(e->ebx, 24, 8, cpu->apic_id);
	e->ebx = set_field(e->ebx, 16, 8, UINT32_C(1) << core_bits(cpu->cpus));
	e->ecx |= ECX_HYPERVISOR | ECX_X2APIC;
	/* KVM leaves this bit to us: it depends on where the local APIC is (api.rst, 4.46). */
	e->ecx &= ~ECX_TSC_DEADLINE;
	e->ecx |= cpu->tsc_deadline ? ECX_TSC_DEADLINE : 0;
	e->edx &= ~EDX_HTT;
	e->edx |= cpu->cpus > 1 ? EDX_HTT : 0;
}

/* The first two levels are a core's own, the third is shared by all. */
static void set_cache(struct kvm_cpuid_entry2 *e, const struct x86_cpu *cpu)
{
	uint32_t sharing = CACHE_LEVEL(e->eax) >= 3 ? cpu->cpus - 1 : 0;

	e->eax = set_field(e->eax, CACHE_SHARING_SHIFT, 12, sharing);
	if (e->function == LEAF_CACHE) {
		e->eax = set_field(e->eax, CACHE_CORES_SHIFT, 6, cpu->cpus - 1);
	}
}

/* AMD's parts say by a bit that their logical processors are cores; on Intel's it means another
 * thing. */
static void set_amd_features(struct kvm_cpuid_entry2 *e, const struct x86_cpu *cpu, bool amd)
{
	if (amd) {
		e->ecx &= ~ECX_CMP_LEGACY;
		e->ecx |= cpu->cpus > 1 ? ECX_CMP_LEGACY : 0;
	}
}

static bool is_amd(const struct kvm_cpuid_table *t)
{
	for (uint32_t i = 0; i < t->head.nent; i++) {
		if (t->entries[i].function == 0) {
			return t->entries[i].ebx == EBX_AMD || t->entries[i].ebx == EBX_HYGON;
		}
	}
	return false;
}

static void set_leaf(struct kvm_cpuid_entry2 *e, const struct x86_cpu *cpu, bool amd)
{
	switch (e->function) {
	case LEAF_FEATURES:
		set_features(e, cpu);
		break;
	case LEAF_CACHE:
	case LEAF_AMD_CACHE:
		if (e->eax & 0x1f) {
			set_cache(e, cpu);
		}
		break;
	case LEAF_AMD_FEATURES:
		set_amd_features(e, cpu, amd);
		break;
	case LEAF_AMD_SIZES:
		e->ecx = set_field(e->ecx, 0, 8, cpu->cpus - 1);
		e->ecx = set_field(e->ecx, 12, 4, core_bits(cpu->cpus));
		break;
	case LEAF_AMD_TOPOLOGY:
		e->eax = cpu->apic_id;
		e->ebx = set_field(e->ebx, 0, 8, cpu->apic_id);
		e->ebx = set_field(e->ebx, 8, 8, 0);
		e->ecx = 0;
		break;
	default:
		break;
	}
}

static struct kvm_cpuid_entry2 topology_level(uint32_t leaf, uint32_t level,
					      const struct x86_cpu *cpu)
{
	struct kvm_cpuid_entry2 e = {
		.function = leaf,
		.index = level,
		.flags = KVM_CPUID_FLAG_SIGNIFCANT_INDEX,
		.ecx = level,
		.edx = cpu->apic_id,
	};

	if (level == 0) {
		e.ebx = 1;
		e.ecx |= LEVEL_THREAD;
	} else if (level == 1) {
		e.eax = core_bits(cpu->cpus);
		e.ebx = cpu->cpus;
		e.ecx |= LEVEL_CORE;
	}
	return e;
}

/**
 * x86_cpuid_for() - turn KVM's offer into what one CPU of the machine says
 * @t: the leaves that KVM supports; changed in place
 * @cpu: which CPU, of how many
 *
 * The hypervisor's leaves (0x40000000 and up) stay, so the guest finds KVM's clock and knows that
 * port 0x80 need not be written for delays. KVM answers the topology leaves with zeros or with the
 * host's own; they are replaced, and AMD's newest, which says nothing more, is left out.
 *
 * Return: 0, −EINVAL without a CPU, −E2BIG when the table has no room for the topology.
 * Context: any thread.
 */
int x86_cpuid_for(struct kvm_cpuid_table *t, const struct x86_cpu *cpu)
{
	const bool amd = is_amd(t);
	bool topology[2] = {false, false};
	uint32_t kept = 0;

	if (cpu->cpus == 0 || cpu->apic_id >= cpu->cpus) {
		return -EINVAL;
	}
	for (uint32_t i = 0; i < t->head.nent; i++) {
		struct kvm_cpuid_entry2 e = t->entries[i];

		if (e.function == LEAF_TOPOLOGY || e.function == LEAF_TOPOLOGY_V2) {
			topology[e.function == LEAF_TOPOLOGY_V2] = true;
			continue;
		}
		if (e.function == LEAF_AMD_LEVELS) {
			continue;
		}
		set_leaf(&e, cpu, amd);
		t->entries[kept++] = e;
	}
	for (int v2 = 0; v2 < 2; v2++) {
		for (uint32_t level = 0; topology[v2] && level < TOPOLOGY_LEVELS; level++) {
			if (kept == KVM_CPUID_MAX) {
				return -E2BIG;
			}
			t->entries[kept++] =
				topology_level(v2 ? LEAF_TOPOLOGY_V2 : LEAF_TOPOLOGY, level, cpu);
		}
	}
	t->head.nent = kept;
	return 0;
}

/**
 * x86_cpuid_xcr0() - all state components that a guest with these leaves may turn on
 * @t: the leaves
 *
 * Return: a value for XCR0, or 0 when there is no XSAVE.
 * Context: any thread. SDM 1 13.2.
 */
uint64_t x86_cpuid_xcr0(const struct kvm_cpuid_table *t)
{
	for (uint32_t i = 0; i < t->head.nent; i++) {
		const struct kvm_cpuid_entry2 *e = &t->entries[i];

		if (e->function == LEAF_XSTATE && e->index == 0) {
			return (uint64_t)e->edx << 32 | e->eax;
		}
	}
	return 0;
}
