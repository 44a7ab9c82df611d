/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * boot_watch: how long a VMM's guest takes to boot, told by the VMM's own KVM_RUN calls.
 *
 * A library for LD_PRELOAD. It stands before ioctl(), lets every call through, and notes the host's
 * TSC when KVM_RUN is first asked for, and when it returns with one of the two marks of
 *abi/marks.h: the kernel's first action and PID 1's. At the latter it writes one line to the file
 *that the environment's BOOT_WATCH names, and ends the program:
 *
 *	<ticks to the kernel's mark> <ticks to PID 1's mark> <returns of KVM_RUN until then>
 *
 * The first is 0 when the kernel sends no mark. Any VMM works that calls ioctl() of a shared C
 * library; ringside's own has its C library in it, so ringside_watched is linked for this without.
 * Everything is opened and mapped before a VMM gives system calls up. For each return of KVM_RUN it
 * adds some ten instructions, the same for every VMM.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <x86intrin.h>

#include "abi/marks.h"

/* struct kvm_run and, behind it, the page with the data of a port access (KVM's api.rst, 5). */
#define RUN_BYTES  8192
#define LINE_BYTES 96

static int watched_fd = -1; /* the first vCPU */
static char *out;           /* the file, mapped: a filtered thread may not write(2) */
static const struct kvm_run *watched;
static uint64_t start_tsc, kernel_tsc, returns;

static void give_up(const char *why)
{
	fprintf(stderr, "boot_watch: %s: %s\n", why, strerror(errno));
	_exit(125);
}

__attribute__((constructor)) static void prepare(void)
{
	const char *path = getenv("BOOT_WATCH");
	int fd = path ? open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : -1;
	void *p = MAP_FAILED;

	if (fd >= 0 && ftruncate(fd, LINE_BYTES) == 0) {
		p = mmap(NULL, LINE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	}
	if (p == MAP_FAILED) {
		give_up(path ? path : "BOOT_WATCH is not set");
	}
	close(fd);
	out = p;
}

static void watch(int vcpu_fd)
{
	void *p = mmap(NULL, RUN_BYTES, PROT_READ, MAP_SHARED, vcpu_fd, 0);

	if (p == MAP_FAILED) {
		give_up("mmap of the vCPU");
	}
	/* So that no page fault of ours is counted. */
	(void)*(volatile const uint8_t *)p;
	(void)*((volatile const uint8_t *)p + RUN_BYTES - 1);
	watched = p;
	watched_fd = vcpu_fd;
}

static void finish(uint64_t now)
{
	snprintf(out, LINE_BYTES, "%llu %llu %llu\n",
		 (unsigned long long)(kernel_tsc ? kernel_tsc - start_tsc : 0),
		 (unsigned long long)(now - start_tsc), (unsigned long long)returns);
	_exit(0);
}

static void look(void)
{
	uint8_t byte;

	returns++;
	if (watched->exit_reason != KVM_EXIT_IO || watched->io.port != MARK_PORT ||
	    watched->io.direction != KVM_EXIT_IO_OUT) {
		return;
	}
	byte = *((const uint8_t *)watched + watched->io.data_offset);
	if (byte == MARK_KERNEL_START && !kernel_tsc) {
		kernel_tsc = __rdtsc();
	} else if (byte == MARK_USER_START) {
		finish(__rdtsc());
	}
}

/* In place of the C library's. */
int ioctl(int fd, unsigned long request, ...);

int ioctl(int fd, unsigned long request, ...)
{
	va_list ap;
	void *arg;
	int r;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (request == KVM_RUN && fd == watched_fd && !start_tsc) {
		start_tsc = __rdtsc();
	}
	r = (int)syscall(SYS_ioctl, fd, request, arg);
	if (r >= 0 && request == KVM_CREATE_VCPU && watched_fd < 0) {
		watch(r);
	}
	if (r == 0 && request == KVM_RUN && fd == watched_fd) {
		look();
	}
	return r;
}
