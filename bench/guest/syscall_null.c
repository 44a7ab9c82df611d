/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * syscall.null: getppid(), the least that a system call can do, by the instruction itself so that
 * no library is part of it.
 */
#include "bench.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Both loops compile to the same instructions but one. */
static void null_loop(void *state, unsigned int turns)
{
	do {
		long r = SYS_getppid;

		__asm__ volatile("syscall" : "+a"(r) : : "rcx", "r11", "memory");
	} while (--turns);
}

static void null_empty(void *state, unsigned int turns)
{
	do {
		long r = SYS_getppid;

		__asm__ volatile("" : "+a"(r) : : "rcx", "r11", "memory");
	} while (--turns);
}

static int null_setup(struct run *r, struct err *e)
{
	long ppid = SYS_getppid;

	__asm__ volatile("syscall" : "+a"(ppid) : : "rcx", "r11", "memory");
	return ppid == getppid() ? 0
				 : err_set(e, -ENOTRECOVERABLE, "the call returned %ld, not %d",
					   ppid, getppid());
}

static int null_finish(struct run *r, struct err *e)
{
	return 0;
}

const struct bench bench_syscall_null = {
	.name = "syscall.null",
	.unit = "call",
	.calls = 1000,
	.calls_of_loop = 1,
	.setup = null_setup,
	.loop = null_loop,
	.empty = null_empty,
	.finish = null_finish,
};
