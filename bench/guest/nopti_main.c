/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nopti: runs a program for which the kernel does not switch page tables (abi/nopti.h), whatever
 * the program knows of it. The flag itself would not outlive the exec, so the wrapper asks for the
 * next one to set it.
 *
 * usage: ringside-nopti COMMAND [ARG]...
 *
 * Exit status: the command's; 125 when the kernel does not grant it, 126 and 127 as with sh.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "abi/nopti.h"

#define STATUS_REFUSED 125
#define STATUS_NOEXEC  126
#define STATUS_MISSING 127

int main(int argc, char **argv)
{
	unsigned long got = 0;

	if (argc < 2) {
		fprintf(stderr, "usage: ringside-nopti COMMAND [ARG]...\n");
		return STATUS_REFUSED;
	}
	if (syscall(SYS_arch_prctl, NOPTI_ARCH_SET, NOPTI_SET_EXEC) < 0 ||
	    syscall(SYS_arch_prctl, NOPTI_ARCH_GET, &got) < 0) {
		fprintf(stderr, "ringside-nopti: arch_prctl(ARCH_SET_NOPTI, 2): %s\n",
			strerror(errno));
		return STATUS_REFUSED;
	}
	if (!(got & NOPTI_GET_EXEC)) {
		fprintf(stderr,
			"ringside-nopti: arch_prctl(ARCH_GET_NOPTI) says %#lx: no request "
			"for the next exec\n",
			got);
		return STATUS_REFUSED;
	}
	execvp(argv[1], argv + 1);
	fprintf(stderr, "ringside-nopti: %s: %s\n", argv[1], strerror(errno));
	return errno == ENOENT ? STATUS_MISSING : STATUS_NOEXEC;
}
