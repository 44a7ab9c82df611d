/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What this process may still do: read what it has open, write its answer, and take memory, each up
 * to a limit. Any other system call is refused, also those that elfutils would make on the way, to
 * look for more debug information elsewhere.
 */
#include "decode/decode.h"

#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#define CPU_SECONDS  5
#define MEMORY_BYTES (UINT64_C(4) << 30)

static int limit(int what, uint64_t value)
{
	const struct rlimit l = {.rlim_cur = value, .rlim_max = value};

	return setrlimit(what, &l) < 0 ? -errno : 0;
}

static int filter(void)
{
	static const int calls[] = {
		SCMP_SYS(read),         SCMP_SYS(write),     SCMP_SYS(pread64),
		SCMP_SYS(lseek),        SCMP_SYS(fstat),     SCMP_SYS(newfstatat),
		SCMP_SYS(brk),          SCMP_SYS(munmap),    SCMP_SYS(mremap),
		SCMP_SYS(madvise),      SCMP_SYS(futex),     SCMP_SYS(exit),
		SCMP_SYS(sysinfo),      SCMP_SYS(getrandom), SCMP_SYS(exit_group),
		SCMP_SYS(rt_sigreturn),
	};
	scmp_filter_ctx f = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	int r = f ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < sizeof(calls) / sizeof(calls[0]); i++) {
		r = seccomp_rule_add(f, SCMP_ACT_ALLOW, calls[i], 0);
	}
	if (r == 0) {
		r = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1,
				     SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
	}
	if (r == 0) {
		r = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), 1,
				     SCMP_A1(SCMP_CMP_EQ, F_GETFD));
	}
	if (r == 0) {
		r = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), 1,
				     SCMP_A1(SCMP_CMP_EQ, F_GETFL));
	}
	if (r == 0) {
		r = seccomp_load(f);
	}
	seccomp_release(f);
	return r;
}

/**
 * decode_jail() - give up everything but what is needed
 *
 * Return: 0 or a negative errno; then nothing may be read.
 * Context: the program's one thread.
 */
int decode_jail(void)
{
	int r = limit(RLIMIT_CPU, CPU_SECONDS);

	if (r == 0) {
		r = limit(RLIMIT_AS, MEMORY_BYTES);
	}
	if (r == 0) {
		r = limit(RLIMIT_FSIZE, 0);
	}
	if (r == 0) {
		r = limit(RLIMIT_CORE, 0);
	}
	if (r == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) {
		r = -errno;
	}
	return r == 0 ? filter() : r;
}
