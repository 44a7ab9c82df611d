/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What test_cr3.py steps through, instruction by instruction: the first process of a guest, linked
 * where no other program is. Each way into the kernel is one instruction with a label in front of
 * it and one behind, done ROUNDS times (a page fault once) in each of three phases: unflagged (R15
 * is 0); flagged (R15 is 1), or unflagged in a kernel that does not set the flag (R15 is 2); and
 * after clearing (R15 is 3). Each phase also makes an entry of its own in the top page table. At
 * the end it spins at cr3_end.
 */
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "nopti.h"

#define ROUNDS     2
#define PAGE_BYTES 4096UL

#define PGD_SHIFT  39
#define FIRST_SLOT 100 /* of the top page table, for the first phase */

enum { UNFLAGGED, FLAGGED, REFUSED, CLEARED };

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

static void rounds(long phase, unsigned long slot)
{
	void *code = guest_code(slot << PGD_SHIFT, 1);
	char *page =
		mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	guest_call(code, 1);
	for (size_t i = 0; i < ROUNDS; i++) {
		null_syscall(phase);
		int80(phase);
	}
	fault(phase, page);
}

int main(void)
{
	rounds(UNFLAGGED, FIRST_SLOT);
	rounds(nopti_set(NOPTI_SET_ON) == 0 ? FLAGGED : REFUSED, FIRST_SLOT + 1);
	nopti_set(NOPTI_SET_OFF);
	rounds(CLEARED, FIRST_SLOT + 2);
	__asm__ volatile(".globl cr3_end\n"
			 "cr3_end: jmp cr3_end");
	return 0;
}
