/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See nopti.h. */
#include "nopti.h"

#include <errno.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ktap.h"

#define STACK_BYTES 65536

enum nopti_expected nopti_expected;

/**
 * nopti_set() - ARCH_SET_NOPTI
 * @value: one of NOPTI_SET_*, or something wrong
 *
 * Return: 0 or a negative errno.
 */
int nopti_set(unsigned long value)
{
	return syscall(SYS_arch_prctl, NOPTI_ARCH_SET, value) < 0 ? -errno : 0;
}

/**
 * nopti_get() - ARCH_GET_NOPTI
 * @ret_bits: set on success, NOPTI_GET_* bits
 *
 * Return: 0 or a negative errno.
 */
int nopti_get(unsigned long *ret_bits)
{
	return syscall(SYS_arch_prctl, NOPTI_ARCH_GET, ret_bits) < 0 ? -errno : 0;
}

/**
 * nopti_bits() - the same, where it has to work
 *
 * Return: NOPTI_GET_* bits; ends the case as failed when there are none to be had.
 */
unsigned long nopti_bits(void)
{
	unsigned long bits = ~0UL;
	int r = nopti_get(&bits);

	ktap_check(r == 0, "ARCH_GET_NOPTI: %s", strerror(-r));
	ktap_check((bits & ~(NOPTI_GET_ON | NOPTI_GET_EXEC)) == 0, "unknown bits in 0x%lx", bits);
	return bits;
}

/**
 * nopti_on() - set the flag of this process, and see that it is set
 */
void nopti_on(void)
{
	int r = nopti_set(NOPTI_SET_ON);

	ktap_check(r == 0, "ARCH_SET_NOPTI 1: %s", strerror(-r));
	ktap_check(nopti_bits() == NOPTI_GET_ON, "bits are 0x%lx after setting", nopti_bits());
}

/**
 * nopti_off() - clear the flag of this process, and see that it is clear
 */
void nopti_off(void)
{
	int r = nopti_set(NOPTI_SET_OFF);

	ktap_check(r == 0, "ARCH_SET_NOPTI 0: %s", strerror(-r));
	ktap_check(nopti_bits() == 0, "bits are 0x%lx after clearing", nopti_bits());
}

/**
 * nopti_need() - skip the case where the flag cannot be set, by what the host said
 */
void nopti_need(void)
{
	if (nopti_expected == NOPTI_NONE) {
		ktap_skip("this kernel has no NOPTI");
	}
	if (nopti_expected == NOPTI_OFF) {
		ktap_skip("page table isolation is off");
	}
}

/**
 * nopti_arguments() - read "none", "off" or "on"; with "get", tell this program's own bits and end
 * @argc: as for main()
 * @argv: as for main()
 *
 * Return: false when the command line is no good.
 */
bool nopti_arguments(int argc, char **argv)
{
	static const char *const words[] = {
		[NOPTI_NONE] = "none", [NOPTI_OFF] = "off", [NOPTI_ON] = "on"};

	if (argc < 2) {
		return false;
	}
	if (strcmp(argv[1], "get") == 0) {
		unsigned long bits;

		_exit(nopti_get(&bits) == 0 ? NOPTI_GET_STATUS + (int)bits : NOPTI_GET_STATUS - 1);
	}
	for (int i = NOPTI_NONE; i <= NOPTI_ON; i++) {
		if (strcmp(argv[1], words[i]) == 0) {
			nopti_expected = (enum nopti_expected)i;
			return true;
		}
	}
	return false;
}

/**
 * guest_cpus() - how many CPUs this process may run on
 *
 * Return: 1 or more.
 */
int guest_cpus(void)
{
	cpu_set_t set;

	ktap_check(sched_getaffinity(0, sizeof(set), &set) == 0, "sched_getaffinity: %s",
		   strerror(errno));
	return CPU_COUNT(&set);
}

/**
 * guest_pin() - run the calling thread on one CPU
 * @cpu: its number
 */
void guest_pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	ktap_check(sched_setaffinity(0, sizeof(set), &set) == 0, "sched_setaffinity %d: %s", cpu,
		   strerror(errno));
}

/**
 * guest_drop_rawio() - give CAP_SYS_RAWIO up, and keep the others
 */
void guest_drop_rawio(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	ktap_check(syscall(SYS_capget, &head, data) == 0, "capget: %s", strerror(errno));
	data[0].effective &= ~(1U << CAP_SYS_RAWIO);
	ktap_check(syscall(SYS_capset, &head, data) == 0, "capset: %s", strerror(errno));
}

/**
 * guest_int80() - a system call of the 32-bit table, from 64-bit code
 * @nr: its number there
 * @a: first argument; the low 32 bits count
 * @b: second
 * @c: third
 *
 * Return: what the kernel left in EAX, sign-extended.
 */
long guest_int80(long nr, long a, long b, long c)
{
	int result;

	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "a"(nr), "b"(a), "c"(b), "d"(c)
			 : "memory", "r8", "r9", "r10", "r11", "cc");
	return result;
}

/**
 * guest_code() - map a page and put a function there that returns a number
 * @where: the address, nothing must be there; 0 for anywhere
 * @answer: what it returns
 *
 * Return: the page, readable and executable.
 */
void *guest_code(unsigned long where, unsigned int answer)
{
	uint8_t code[] = {0xb8, 0, 0, 0, 0, 0xc3}; /* mov $answer,%eax; ret */
	void *p = mmap((void *)where, 4096, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | (where ? MAP_FIXED_NOREPLACE : 0), -1, 0);

	ktap_check(p != MAP_FAILED, "mmap at 0x%lx: %s", where, strerror(errno));
	memcpy(code + 1, &answer, sizeof(answer));
	memcpy(p, code, sizeof(code));
	ktap_check(mprotect(p, 4096, PROT_READ | PROT_EXEC) == 0, "mprotect: %s", strerror(errno));
	return p;
}

/**
 * guest_call() - call what guest_code() made
 * @code: the page
 * @answer: what it has to return
 */
void guest_call(const void *code, unsigned int answer)
{
	unsigned int (*fn)(void);
	unsigned int got;

	memcpy(&fn, &code, sizeof(fn));
	got = fn();
	ktap_check(got == answer, "the code at %p returned %u, expected %u", code, got, answer);
}

/**
 * guest_exec_bits() - execute a program in place of a child that shares nothing, and ask its bits
 * @file: one that takes "get"
 *
 * Call it in a child: it does not return in case of success.
 *
 * Return: the negative errno of execve(2).
 */
long guest_exec_bits(const char *file)
{
	char *const argv[] = {(char *)file, "get", NULL};
	char *const envp[] = {NULL};

	execve(file, argv, envp);
	return -errno;
}

/**
 * guest_now_ms() - the monotonic clock
 *
 * Return: milliseconds.
 */
long long guest_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

/**
 * guest_spawn_vm() - clone(2) a process that shares this address space
 * @fn: its code
 * @arg: for it
 * @flags: beside CLONE_VM and SIGCHLD
 *
 * Return: its pid. Its stack is never freed.
 */
int guest_spawn_vm(int (*fn)(void *), void *arg, int flags)
{
	char *stack =
		mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int pid;

	ktap_check(stack != MAP_FAILED, "mmap of a stack: %s", strerror(errno));
	pid = clone(fn, stack + STACK_BYTES, CLONE_VM | SIGCHLD | flags, arg);
	ktap_check(pid > 0, "clone: %s", strerror(errno));
	return pid;
}
