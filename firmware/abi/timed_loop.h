/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A loop of a known number of instructions between two TSC reads. Payloads run it as guests, and
 * ringside runs it on itself to learn what its own machine counts.
 */
#ifndef ABI_TIMED_LOOP_H
#define ABI_TIMED_LOOP_H

#include <stdint.h>

/*
 * Lengths of a and b iterations differ by exactly (b - a) * TIMED_LOOP_INSNS instructions; what
 * stands around the loop is the same for every length, zero included.
 */
#define TIMED_LOOP_INSNS 2

static inline uint64_t timed_loop_ticks(uint64_t iterations)
{
	uint64_t lo, hi, start;

	/*
	 * LFENCE keeps the TSC reads from moving into, or over, the loop (SDM 2B, RDTSC). All of it
	 * lies in one aligned block of 32 bytes and the padding before the first read, so every
	 * copy of it runs the same instructions and is fetched alike.
	 */
	__asm__ volatile(".p2align 5\n\t"
			 "lfence\n\t"
			 "rdtsc\n\t"
			 "lfence\n\t"
			 "shl $32, %%rdx\n\t"
			 "or %%rdx, %%rax\n\t"
			 "mov %%rax, %[start]\n\t"
			 "test %[n], %[n]\n\t"
			 "jz 2f\n"
			 "1:\n\t"
			 "dec %[n]\n\t"
			 "jnz 1b\n"
			 "2:\n\t"
			 "lfence\n\t"
			 "rdtsc\n\t"
			 "lfence"
			 : "=&a"(lo), "=&d"(hi), [start] "=&r"(start), [n] "+&r"(iterations)
			 :
			 : "cc", "memory");
	return (hi << 32 | lo) - start;
}

#endif
