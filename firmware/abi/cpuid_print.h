/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The fingerprint of a processor: one number over what CPUID says it can do. The host takes it from
 * the leaves that it gives KVM, a guest from the instruction, and both get the same. Left out is
 * what differs between the processors of one machine (APIC ids, topology) or while one runs (the
 * bits that mirror CR4, the size of the state that is turned on). It tells machines apart that
 * differ by accident; it is no defence against one that is made to look alike.
 *
 * Freestanding: for hosts, for guests' user space and for payloads.
 */
#ifndef ABI_CPUID_PRINT_H
#define ABI_CPUID_PRINT_H

#include <stdint.h>

enum cpuid_reg { CPUID_EAX, CPUID_EBX, CPUID_ECX, CPUID_EDX, CPUID_REGS };

#define CPUID_PRINT_BASIS UINT64_C(0xcbf29ce484222325) /* FNV-1a of 64 bits */
#define CPUID_PRINT_PRIME UINT64_C(0x100000001b3)

/* One register of one leaf. */
struct cpuid_print_word {
	uint32_t leaf, index;
	uint32_t reg; /* enum cpuid_reg */
	uint32_t mask;
};

/* Each is read only where its range of leaves (0, 0x40000000, 0x80000000) reaches it; else 0. */
static const struct cpuid_print_word cpuid_print_words[] = {
	{0x0, 0, CPUID_EBX, ~0u}, /* vendor */
	{0x0, 0, CPUID_ECX, ~0u},
	{0x0, 0, CPUID_EDX, ~0u},
	{0x1, 0, CPUID_EAX, ~0u},         /* family, model, stepping */
	{0x1, 0, CPUID_ECX, ~(1u << 27)}, /* OSXSAVE mirrors CR4 */
	{0x1, 0, CPUID_EDX, ~(1u << 28)}, /* HTT follows the number of processors */
	{0x6, 0, CPUID_EAX, ~0u},
	{0x7, 0, CPUID_EBX, ~0u},
	{0x7, 0, CPUID_ECX, ~(1u << 4)}, /* OSPKE mirrors CR4 */
	{0x7, 0, CPUID_EDX, ~0u},
	{0x7, 1, CPUID_EAX, ~0u},
	{0x7, 1, CPUID_EDX, ~0u},
	{0x7, 2, CPUID_EDX, ~0u},
	{0xa, 0, CPUID_EAX, ~0u}, /* performance counters */
	{0xa, 0, CPUID_EBX, ~0u},
	{0xa, 0, CPUID_EDX, ~0u},
	{0xd, 0, CPUID_EAX, ~0u}, /* state components */
	{0xd, 0, CPUID_EDX, ~0u},
	{0xd, 1, CPUID_EAX, ~0u},
	{0xd, 1, CPUID_ECX, ~0u},
	{0x40000000, 0, CPUID_EBX, ~0u}, /* the hypervisor and what it offers */
	{0x40000001, 0, CPUID_EAX, ~0u},
	{0x40000001, 0, CPUID_EDX, ~0u},
	{0x80000001, 0, CPUID_ECX, ~0u},
	{0x80000001, 0, CPUID_EDX, ~0u},
	{0x80000007, 0, CPUID_EDX, ~0u},
	{0x80000008, 0, CPUID_EAX, ~0u}, /* widths of addresses */
	{0x80000008, 0, CPUID_EBX, ~0u},
	{0x8000000a, 0, CPUID_EDX, ~0u},
	{0x80000021, 0, CPUID_EAX, ~0u},
};

#define CPUID_PRINT_WORDS (sizeof(cpuid_print_words) / sizeof(cpuid_print_words[0]))

/* Takes the next word in: the loop over the table starts with CPUID_PRINT_BASIS. */
static inline uint64_t cpuid_print_add(uint64_t print, const struct cpuid_print_word *w,
				       uint32_t value)
{
	value &= w->mask;
	for (unsigned int i = 0; i < 4; i++) {
		print = (print ^ (value >> 8 * i & 0xff)) * CPUID_PRINT_PRIME;
	}
	return print;
}

/* What the processor that runs this says, from any ring. */
static inline uint64_t cpuid_print_here(void)
{
	uint64_t print = CPUID_PRINT_BASIS;

	for (unsigned int i = 0; i < CPUID_PRINT_WORDS; i++) {
		const struct cpuid_print_word *w = &cpuid_print_words[i];
		uint32_t r[CPUID_REGS] = {0};

		__asm__ volatile("cpuid"
				 : "=a"(r[0]), "=b"(r[1]), "=c"(r[2]), "=d"(r[3])
				 : "a"(w->leaf & 0xc0000000), "c"(0));
		if (r[CPUID_EAX] >= w->leaf && r[CPUID_EAX] - w->leaf < 0x40000000) {
			__asm__ volatile("cpuid"
					 : "=a"(r[0]), "=b"(r[1]), "=c"(r[2]), "=d"(r[3])
					 : "a"(w->leaf), "c"(w->index));
		} else {
			r[w->reg] = 0;
		}
		print = cpuid_print_add(print, w, r[w->reg]);
	}
	return print;
}

#endif
