/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The time stamp counter, read in order with the code around it (SDM 2B, RDTSC and RDTSCP): nothing
 * that is timed begins before the first read, and all of it has ended before the second.
 */
#ifndef BENCH_TSC_H
#define BENCH_TSC_H

#include <stdint.h>

static inline uint64_t tsc_begin(void)
{
	uint32_t low, high;

	__asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high) : : "memory");
	return (uint64_t)high << 32 | low;
}

static inline uint64_t tsc_end(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtscp\n\tlfence" : "=a"(low), "=d"(high) : : "rcx", "memory");
	return (uint64_t)high << 32 | low;
}

#endif
