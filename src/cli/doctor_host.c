/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See doctor.h: the host's processor and memory, which make numbers good or bad. */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/text.h"
#include "cli/doctor.h"

#define CPUINFO_MAX      (4u << 20)
#define SMALL_FILE_MAX   65536
#define MEMORY_NEEDED_KB (1536u * 1024)
#define CPUS_NEEDED      2

/* The first line of a file below /sys or /proc. */
static int read_line(const char *path, char *ret, size_t len)
{
	_cleanup_free_ char *data = NULL;
	struct err e = ERR_INIT;
	size_t n;
	int r = io_read_file(path, SMALL_FILE_MAX, &data, &n, &e);

	if (r < 0) {
		return r;
	}
	snprintf(ret, len, "%.*s", (int)strcspn(data, "\n"), data);
	return 0;
}

/* A word of the flags line of the first CPU. */
static bool has_flag(const char *flags, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = flags; (p = strstr(p, word)); p += n) {
		if (p[-1] == ' ' && (p[n] == ' ' || p[n] == '\0')) {
			return true;
		}
	}
	return false;
}

static void collect_flags(struct doctor *d)
{
	_cleanup_free_ char *cpuinfo = NULL;
	struct err e = ERR_INIT;
	const char *flags;
	struct check *c;
	size_t n;

	if (io_read_file("/proc/cpuinfo", CPUINFO_MAX, &cpuinfo, &n, &e) < 0 ||
	    !(flags = strstr(cpuinfo, "\nflags"))) {
		doctor_add(d, "cpu-virt", CHECK_SKIP, "no flags in /proc/cpuinfo");
		doctor_add(d, "tsc", CHECK_SKIP, "no flags in /proc/cpuinfo");
		return;
	}
	flags++;
	cpuinfo[flags - cpuinfo + (ptrdiff_t)strcspn(flags, "\n")] = '\0';
	if (has_flag(flags, "svm") || has_flag(flags, "vmx")) {
		doctor_add(d, "cpu-virt", CHECK_OK, "%s", has_flag(flags, "svm") ? "svm" : "vmx");
	} else {
		c = doctor_add(d, "cpu-virt", CHECK_WARN, "neither svm nor vmx");
		doctor_advise(c, "enable virtualisation in the firmware, or nested virtualisation "
				 "when this is a VM");
	}
	if (has_flag(flags, "constant_tsc") && has_flag(flags, "nonstop_tsc")) {
		doctor_add(d, "tsc", CHECK_OK, "constant_tsc nonstop_tsc");
		return;
	}
	c = doctor_add(d, "tsc", CHECK_WARN, "%s%s",
		       has_flag(flags, "constant_tsc") ? "constant_tsc only" : "",
		       has_flag(flags, "nonstop_tsc") ? "nonstop_tsc only" : "neither flag");
	doctor_advise(c, "ticks may change their length with the processor's clock: compare in "
			 "instructions (--icount)");
}

static void collect_memory(struct doctor *d)
{
	_cleanup_free_ char *meminfo = NULL;
	struct err e = ERR_INIT;
	const char *at = NULL;
	unsigned long kb = 0, huge = 0;
	struct check *c;
	size_t n;

	if (io_read_file("/proc/meminfo", SMALL_FILE_MAX, &meminfo, &n, &e) == 0) {
		at = strstr(meminfo, "MemAvailable:");
	}
	if (!at || sscanf(at, "MemAvailable: %lu kB", &kb) != 1) {
		doctor_add(d, "memory", CHECK_SKIP, "/proc/meminfo does not say");
		return;
	}
	c = doctor_add(d, "memory", kb < MEMORY_NEEDED_KB ? CHECK_WARN : CHECK_OK,
		       "%lu MiB available", kb / 1024);
	doctor_advise(c, "end other programs, or give guests less with --memory");
	at = strstr(meminfo, "HugePages_Total:");
	if (at && sscanf(at, "HugePages_Total: %lu", &huge) == 1) {
		doctor_add(d, "huge-pages", CHECK_OK, "%lu reserved", huge);
	}
}

static void collect_cpus(struct doctor *d)
{
	cpu_set_t set;
	struct check *c;
	int n;

	if (sched_getaffinity(0, sizeof(set), &set) < 0) {
		doctor_add(d, "cpus", CHECK_SKIP, "%s", strerror(errno));
		return;
	}
	n = CPU_COUNT(&set);
	c = doctor_add(d, "cpus", n < CPUS_NEEDED ? CHECK_WARN : CHECK_OK, "%d", n);
	doctor_advise(c, "a guest shares its CPU with everything else: expect more dirty batches");
}

/* The word in brackets, as in "always [madvise] never". */
static void collect_thp(struct doctor *d)
{
	char line[128], chosen[32] = "";
	struct check *c;

	if (read_line("/sys/kernel/mm/transparent_hugepage/enabled", line, sizeof(line)) < 0 ||
	    sscanf(line, "%*[^[][%31[^]]]", chosen) != 1) {
		if (sscanf(line, "[%31[^]]]", chosen) != 1) {
			doctor_add(d, "thp", CHECK_SKIP, "this kernel has none");
			return;
		}
	}
	c = doctor_add(d, "thp", strcmp(chosen, "never") == 0 ? CHECK_WARN : CHECK_OK, "%s",
		       chosen);
	doctor_advise(c, "guest memory gets small pages: echo madvise >"
			 "/sys/kernel/mm/transparent_hugepage/enabled");
}

static void collect_clock(struct doctor *d)
{
	char line[64];
	struct check *c;

	if (read_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", line, sizeof(line)) <
	    0) {
		doctor_add(d, "governor", CHECK_SKIP, "the clock is not this system's to set");
	} else {
		bool well = strcmp(line, "performance") == 0;

		c = doctor_add(d, "governor", well ? CHECK_OK : CHECK_WARN, "%s", line);
		doctor_advise(c, "cpupower frequency-set -g performance");
	}
	if (read_line("/sys/devices/system/cpu/smt/active", line, sizeof(line)) < 0) {
		doctor_add(d, "smt", CHECK_SKIP, "this kernel does not say");
		return;
	}
	c = doctor_add(d, "smt", line[0] == '1' ? CHECK_WARN : CHECK_OK, "%s",
		       line[0] == '1' ? "on" : "off");
	doctor_advise(c, "a sibling thread disturbs what is measured: echo off "
			 ">/sys/devices/system/cpu/smt/control");
}

/**
 * doctor_collect_host() - look at the host's processor and memory
 * @d: gets the checks; none of them closes a route
 *
 * Context: any thread.
 */
void doctor_collect_host(struct doctor *d)
{
	collect_flags(d);
	collect_memory(d);
	collect_cpus(d);
	collect_thp(d);
	collect_clock(d);
}
