/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What test_cr3.py steps through, instruction by instruction: the first process of a guest, linked
 * where no other program is. Each way into the kernel is one instruction with a label in front of
 * it and one behind, done ROUNDS times unflagged (R15 is 0) and then flagged (R15 is 1), or in a
 * kernel that will not set the flag unflagged again (R15 is 2). At the end it spins at cr3_end.
 */
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "nopti.h"

#define ROUNDS     3
#define PAGE_BYTES 4096UL

enum { UNFLAGGED, FLAGGED, REFUSED };

/* One asm statement each, never inlined: the labels exist once. */
static __attribute__((noinline)) void null_syscall(long phase)
{
	register long r15 __asm__("r15") = phase;
	long nr = SYS_getppid;

	__asm__ volatile(".globl cr3_syscall, cr3_syscall_end\n"
			 "cr3_syscall: syscall\n"
			 "cr3_syscall_end:"
			 : "+a"(nr)
			 : "r"(r15)
			 : "rcx", "r11", "memory");
}

static __attribute__((noinline)) void int80(long phase)
{
	register long r15 __asm__("r15") = phase;
	long nr = 64; /* getppid of the 32-bit table */

	__asm__ volatile(".globl cr3_int80, cr3_int80_end\n"
			 "cr3_int80: int $0x80\n"
			 "cr3_int80_end:"
			 : "+a"(nr)
			 : "r"(r15)
			 : "r8", "r9", "r10", "r11", "memory");
}

static __attribute__((noinline)) void fault(long phase, char *at)
{
	register long r15 __asm__("r15") = phase;

	__asm__ volatile(".globl cr3_fault, cr3_fault_end\n"
			 "cr3_fault: movb (%1), %%al\n"
			 "cr3_fault_end:"
			 :
			 : "r"(r15), "r"(at)
			 : "rax", "memory");
}

static void rounds(long phase)
{
	char *pages = mmap(NULL, (ROUNDS + 1) * PAGE_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (size_t i = 0; i < ROUNDS; i++) {
		null_syscall(phase);
		int80(phase);
		fault(phase, pages + i * PAGE_BYTES);
	}
}

int main(void)
{
	rounds(UNFLAGGED);
	rounds(nopti_set(NOPTI_SET_ON) == 0 ? FLAGGED : REFUSED);
	__asm__ volatile(".globl cr3_end\n"
			 "cr3_end: jmp cr3_end");
	return 0;
}
