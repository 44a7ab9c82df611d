/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cpuid.elf: what CPUID says to the guest, in words: the fingerprint, and a line for each register
 * that it is made of.
 */
#include "fw.h"

#include "abi/cpuid_print.h"

static uint32_t read(const struct cpuid_print_word *w)
{
	uint32_t r[CPUID_REGS];

	__asm__ volatile("cpuid"
			 : "=a"(r[0]), "=b"(r[1]), "=c"(r[2]), "=d"(r[3])
			 : "a"(w->leaf), "c"(w->index));
	return r[w->reg];
}

uint64_t payload_main(void)
{
	uint64_t print = cpuid_print_here();

	fw_printf("print %x %x\n", (uint32_t)(print >> 32), (uint32_t)print);
	for (unsigned int i = 0; i < CPUID_PRINT_WORDS; i++) {
		const struct cpuid_print_word *w = &cpuid_print_words[i];

		fw_printf("%x %x %u %x\n", w->leaf, w->index, w->reg, read(w));
	}
	return 0;
}
