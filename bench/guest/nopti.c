/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tasks for which the kernel does not switch page tables (abi/nopti.h). A benchmark of such an arm
 * asks for it, and asserts before and after that it has it, and that there is something to be freed
 * from: with isolation off, by itself or by a parameter, the arm would measure nothing.
 */
#include "bench.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "abi/nopti.h"
#include "base/io.h"
#include "base/text.h"

#define CPUINFO_PATH      "/proc/cpuinfo"
#define CPUINFO_BYTES_MAX (1 << 20)

/**
 * nopti_parse_cpuinfo() - does the kernel isolate page tables, by its own words?
 * @text: /proc/cpuinfo
 *
 * vulnerabilities/meltdown in sysfs does not tell: on a CPU that needs no isolation it says "Not
 * affected" also where pti=on has forced it.
 *
 * Return: true when the flag "pti" is among the first CPU's.
 * Context: pure.
 */
bool nopti_parse_cpuinfo(const char *text)
{
	const char *flags = text_starts_with(text, "flags") ? text : strstr(text, "\nflags");
	const char *end = flags ? strchr(flags + 1, '\n') : NULL;

	for (const char *p = flags; p && (p = strstr(p, " pti")) && (!end || p < end); p++) {
		if (p[4] == ' ' || p[4] == '\n' || p[4] == '\0') {
			return true;
		}
	}
	return false;
}

/**
 * nopti_pti_in_force() - does this kernel isolate page tables?
 *
 * Return: true when it does; false also where that cannot be known.
 * Context: any thread.
 */
bool nopti_pti_in_force(void)
{
	_cleanup_free_ char *text = NULL;

	return io_read_file(CPUINFO_PATH, CPUINFO_BYTES_MAX, &text, NULL, NULL) == 0 &&
	       nopti_parse_cpuinfo(text);
}

/**
 * nopti_check() - assert that this process has, or has not, what its arm says
 * @m: from machine_init(), its @nopti set
 * @e: set on failure
 *
 * Return: 0, -ENOTRECOVERABLE when the flag is not what it should be, or the errno of
 * arch_prctl(2).
 * Context: a benchmark's process.
 */
int nopti_check(const struct machine *m, struct err *e)
{
	unsigned long got = 0;

	if (syscall(SYS_arch_prctl, NOPTI_ARCH_GET, &got) < 0) {
		/* A kernel that does not know the call has flagged nobody. */
		return m->nopti ? err_errno(e, -errno, "arch_prctl(ARCH_GET_NOPTI)") : 0;
	}
	if (!!(got & NOPTI_GET_ON) != m->nopti) {
		return err_set(e, -ENOTRECOVERABLE,
			       "arch_prctl(ARCH_GET_NOPTI) says %#lx, the flag should be %d", got,
			       (int)m->nopti);
	}
	return 0;
}

/**
 * nopti_require() - assert that there is something to be freed from, if the arm is about that
 * @m: from machine_init(), its @nopti set
 * @e: set on failure
 *
 * Return: 0, or -ENOTRECOVERABLE where the kernel does not isolate page tables.
 * Context: any process.
 */
int nopti_require(const struct machine *m, struct err *e)
{
	return !m->nopti || m->pti
		       ? 0
		       : err_set(e, -ENOTRECOVERABLE,
				 "task=nopti: page table isolation is not in force (no flag 'pti' "
				 "in " CPUINFO_PATH "): boot with append=pti=on");
}

/**
 * nopti_take() - get the flag if the arm says so, and assert that it counts
 * @m: from machine_init(), its @nopti set
 * @e: set on failure
 *
 * Return: 0, -ENOTRECOVERABLE where the kernel does not isolate page tables or the flag is not what
 * it should be, or the errno of arch_prctl(2): -EINVAL from a kernel without
 * CONFIG_RINGSIDE_NOPTI.
 * Context: a benchmark's process, before it makes threads.
 */
int nopti_take(const struct machine *m, struct err *e)
{
	int r = nopti_require(m, e);

	if (r < 0) {
		return r;
	}
	if (m->nopti && syscall(SYS_arch_prctl, NOPTI_ARCH_SET, NOPTI_SET_ON) < 0) {
		return err_errno(e, -errno,
				 "task=nopti: arch_prctl(ARCH_SET_NOPTI, 1) (the kernel needs "
				 "CONFIG_RINGSIDE_NOPTI)");
	}
	return nopti_check(m, e);
}
