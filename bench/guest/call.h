/* SPDX-License-Identifier: GPL-2.0-or-later */
/* System calls by the instruction itself, so that no library is part of what is timed. */
#ifndef BENCH_CALL_H
#define BENCH_CALL_H

static inline long call4(long nr, long a, long b, long c, long d)
{
	register long r10 __asm__("r10") = d;
	long r = nr;

	__asm__ volatile("syscall"
			 : "+a"(r)
			 : "D"(a), "S"(b), "d"(c), "r"(r10)
			 : "rcx", "r11", "memory");
	return r;
}

static inline long call3(long nr, long a, long b, long c)
{
	long r = nr;

	__asm__ volatile("syscall" : "+a"(r) : "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
	return r;
}

#endif
