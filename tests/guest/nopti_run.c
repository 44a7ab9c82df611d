/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Code that runs with the flag: every place in memory, and the old ways into the kernel. */
#include <asm/ldt.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ktap.h"
#include "nopti.h"
#include "nopti_cases.h"

#define PGD_SHIFT    39 /* what one entry of the top table maps: 512 GiB */
#define PAGE_BYTES   4096UL
#define INT80_ROUNDS 2000
#define VSYSCALL     0xffffffffff600000UL

/* The system calls of the 32-bit table. */
enum { I386_GETPID = 20, I386_GETPPID = 64, I386_WRITE = 4, I386_NEWUNAME = 122 };

static unsigned int on_the_stack(unsigned int n)
{
	volatile unsigned int big[4096];

	big[n % 4096] = n;
	return n == 0 ? big[0] : on_the_stack(n - 1) + big[n % 4096];
}

void case_user_code_runs(void)
{
	void *before = guest_code(0, 11), *after;

	nopti_need();
	guest_call(before, 11);
	nopti_on();
	guest_call(before, 11);
	after = guest_code(0, 12);
	guest_call(after, 12);
	/* Deeper than the stack has pages so far. */
	ktap_check(on_the_stack(60) == 60 * 61 / 2, "the stack does not add up");
	nopti_off();
	guest_call(before, 11);
	guest_call(after, 12);
	guest_call(guest_code(0, 13), 13);
	ktap_check(on_the_stack(90) == 90 * 91 / 2, "the stack does not add up");
}

/* Code in the middle of what the @slot-th entry of the top page table maps. */
static void *code_in_slot(unsigned int slot)
{
	return guest_code(((unsigned long)slot << PGD_SHIFT) + 0x123456000UL, slot);
}

static void call_slots(const unsigned int *slots, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		guest_call((void *)(((unsigned long)slots[i] << PGD_SHIFT) + 0x123456000UL),
			   slots[i]);
	}
}

void case_new_pgd_entries(void)
{
	static const unsigned int before[] = {1, 2, 63, 128}, during[] = {3, 64, 129, 200},
				  after[] = {4, 65, 130, 201};
	const size_t n = 4;

	nopti_need();
	for (size_t i = 0; i < n; i++) {
		code_in_slot(before[i]);
	}
	call_slots(before, n);
	nopti_on();
	call_slots(before, n);
	for (size_t i = 0; i < n; i++) {
		code_in_slot(during[i]);
		call_slots(&during[i], 1);
	}
	/* An entry that goes and comes again, as data first and then as code. */
	for (int i = 0; i < 20; i++) {
		void *at = (void *)((unsigned long)before[i % 4] << PGD_SHIFT);
		char *p;

		munmap((char *)at + 0x123456000UL, PAGE_BYTES);
		p = mmap(at, 3 * PAGE_BYTES, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
		ktap_check(p == at, "mmap at %p: %s", at, strerror(errno));
		memset(p, 0x55, 3 * PAGE_BYTES);
		munmap(p, 3 * PAGE_BYTES);
		code_in_slot(before[i % 4]);
		call_slots(&before[i % 4], 1);
	}
	nopti_off();
	for (size_t i = 0; i < n; i++) {
		code_in_slot(after[i]);
	}
	call_slots(before, n);
	call_slots(during, n);
	call_slots(after, n);
	nopti_on();
	call_slots(before, n);
	call_slots(during, n);
	call_slots(after, n);
}

static sigjmp_buf back;
static volatile int fault_signal, fault_code;
static void *volatile fault_address;

static void on_fault(int sig, siginfo_t *info, void *context)
{
	fault_signal = sig;
	fault_code = info->si_code;
	fault_address = info->si_addr;
	siglongjmp(back, 1);
}

static void catch_faults(void)
{
	struct sigaction sa = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};

	sigaction(SIGSEGV, &sa, NULL);
	sigaction(SIGBUS, &sa, NULL);
}

enum touch { READ, WRITE, RUN };

static void expect_fault(void *at, enum touch touch, int code)
{
	fault_signal = 0;
	if (sigsetjmp(back, 1) == 0) {
		if (touch == RUN) {
			guest_call(at, 0);
		} else if (touch == WRITE) {
			*(volatile char *)at = 1;
		} else {
			(void)*(volatile char *)at;
		}
	}
	ktap_check(fault_signal == SIGSEGV && fault_address == at && fault_code == code,
		   "touch %d at %p: signal %d, code %d, address %p", touch, at, fault_signal,
		   fault_code, fault_address);
}

void case_page_faults(void)
{
	const size_t pages = 600;
	void *kernel = (void *)0xffffffff81000000UL;
	char *p;

	nopti_need();
	nopti_on();
	catch_faults();
	p = mmap(NULL, pages * PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		 0);
	ktap_check(p != MAP_FAILED, "mmap: %s", strerror(errno));
	for (size_t i = 0; i < pages; i++) {
		ktap_check(p[i * PAGE_BYTES] == 0, "page %zu is not empty", i);
		p[i * PAGE_BYTES] = (char)i;
	}
	for (size_t i = 0; i < pages; i++) {
		ktap_check(p[i * PAGE_BYTES] == (char)i, "page %zu changed", i);
	}
	ktap_check(mprotect(p, PAGE_BYTES, PROT_READ) == 0 &&
			   mprotect(p + PAGE_BYTES, PAGE_BYTES, PROT_NONE) == 0,
		   "mprotect: %s", strerror(errno));
	expect_fault(p, WRITE, SEGV_ACCERR);
	expect_fault(p, RUN, SEGV_ACCERR);
	expect_fault(p + PAGE_BYTES, READ, SEGV_ACCERR);
	expect_fault(p + 2 * PAGE_BYTES, RUN, SEGV_ACCERR);
	expect_fault((void *)64, READ, SEGV_MAPERR);
	/* The table that is in force maps the kernel now: for the kernel alone. */
	expect_fault(kernel, READ, SEGV_MAPERR);
	expect_fault(kernel, WRITE, SEGV_MAPERR);
	expect_fault(kernel, RUN, SEGV_MAPERR);
	ktap_check(madvise(p + 2 * PAGE_BYTES, PAGE_BYTES, MADV_DONTNEED) == 0 &&
			   p[2 * PAGE_BYTES] == 0,
		   "madvise");
	/* Faults in the kernel's own accesses to user memory. */
	ktap_check(write(-1, p + PAGE_BYTES, 1) == -1 && errno == EBADF, "write");
	ktap_check(syscall(SYS_uname, p + PAGE_BYTES) == -1 && errno == EFAULT, "uname");
	nopti_off();
	expect_fault(kernel, READ, SEGV_MAPERR);
	expect_fault(p, WRITE, SEGV_ACCERR);
}

static void int80_rounds(void)
{
	long pid = getpid(), parent = getppid();

	for (int i = 0; i < INT80_ROUNDS; i++) {
		ktap_check(guest_int80(I386_GETPID, 0, 0, 0) == pid, "getpid by int80");
		ktap_check(guest_int80(I386_GETPPID, 0, 0, 0) == parent, "getppid by int80");
		ktap_check(getppid() == parent, "getppid by syscall");
	}
	ktap_check(guest_int80(9999, 0, 0, 0) == -ENOSYS, "a number that is none by int80");
	ktap_check(guest_int80(I386_WRITE, -1, 0, 0) == -EBADF, "write by int80");
	ktap_check(guest_int80(I386_NEWUNAME, 8, 0, 0) == -EFAULT, "uname to nowhere by int80");
}

void case_int80(void)
{
	if (guest_int80(I386_GETPID, 0, 0, 0) != getpid()) {
		ktap_skip("this kernel takes no 32-bit system calls");
	}
	/* Right on every kernel. */
	int80_rounds();
	if (nopti_expected == NOPTI_ON) {
		nopti_on();
		int80_rounds();
		nopti_off();
		int80_rounds();
	}
}

static void ldt_write(unsigned int entry, void *base, bool present)
{
	struct user_desc d = {.entry_number = entry,
			      .base_addr = (unsigned int)(uintptr_t)base,
			      .limit = PAGE_BYTES - 1,
			      .seg_32bit = 1,
			      .useable = 1};

	if (!present) {
		d = (struct user_desc){
			.entry_number = entry, .read_exec_only = 1, .seg_not_present = 1};
	}
	ktap_check(syscall(SYS_modify_ldt, 0x11, &d, sizeof(d)) == 0, "modify_ldt %u: %s", entry,
		   strerror(errno));
}

/* In 64-bit mode ES means nothing, but its descriptor is read from the LDT all the same. */
static unsigned short ldt_load_es(unsigned int entry)
{
	unsigned short sel = (unsigned short)(entry << 3 | 7), old, got;

	__asm__ volatile("mov %%es, %w0\n\t"
			 "mov %w2, %%es\n\t"
			 "mov %%es, %w1\n\t"
			 "mov %w0, %%es"
			 : "=&r"(old), "=&r"(got)
			 : "r"(sel));
	return (unsigned short)(got >> 3);
}

/* GS is free in 64-bit programs: it keeps a selector over system calls and switches. */
static unsigned int ldt_read_gs(unsigned int entry)
{
	unsigned short sel = (unsigned short)(entry << 3 | 7);
	unsigned int value;

	__asm__ volatile("mov %w0, %%gs" : : "r"(sel));
	for (int i = 0; i < 20; i++) {
		syscall(SYS_sched_yield);
	}
	__asm__ volatile("movl %%gs:4, %0\n\t"
			 "mov %w1, %%gs"
			 : "=&r"(value)
			 : "r"(0)
			 : "memory");
	return value;
}

static void ldt_rounds(unsigned int *data)
{
	for (unsigned int i = 0; i < 50; i++) {
		unsigned int entry = i % 3;

		ldt_write(entry, data, true);
		data[1] = 1000 + i;
		ktap_check(ldt_load_es(entry) == entry, "round %u by ES", i);
		ktap_check(ldt_read_gs(entry) == 1000 + i, "round %u by GS", i);
		if (i % 7 == 6) {
			ldt_write(entry, NULL, false);
		}
	}
}

void case_ldt(void)
{
	unsigned int *data = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);

	ktap_check(data != MAP_FAILED, "mmap: %s", strerror(errno));
	/* Right on every kernel. */
	ldt_rounds(data);
	if (nopti_expected == NOPTI_ON) {
		pid_t pid;

		nopti_on();
		ldt_rounds(data);
		/* A child has a copy of the table, and no flag. */
		pid = fork();
		if (pid == 0) {
			ktap_check(nopti_bits() == 0, "a child has bits 0x%lx", nopti_bits());
			ldt_rounds(data);
			nopti_on();
			ldt_rounds(data);
			_exit(0);
		}
		ktap_reap(pid, "the child");
		nopti_off();
		ldt_rounds(data);
		nopti_on();
		ldt_rounds(data);
	}
}

void case_vsyscall(void)
{
	time_t (*vtime)(time_t *) = (time_t(*)(time_t *))(VSYSCALL + 1024);
	time_t now;

	catch_faults();
	if (sigsetjmp(back, 1) != 0) {
		ktap_skip("this kernel emulates no vsyscall");
	}
	vtime(NULL);
	/* Right on every kernel. */
	for (int flagged = 0; flagged < 2; flagged++) {
		for (int i = 0; i < 200; i++) {
			now = vtime(NULL);
			ktap_check(now - time(NULL) <= 1 && time(NULL) - now <= 1,
				   "time by vsyscall");
		}
		if (nopti_expected == NOPTI_ON) {
			nopti_on();
		}
	}
}
