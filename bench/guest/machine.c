/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the batches need from the machine: marks, counts, a quiet place to run. See bench.h. */
#include "bench.h"

#include <cpuid.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "abi/marks.h"
#include "tick.h"

#define HWCAP2_FSGSBASE           (1UL << 1) /* asm/hwcap2.h */
#define CPUID_80000001_EDX_RDTSCP (1U << 27)

/* Text of /proc/interrupts: a hundred lines and more CPUs than a guest has. */
#define INTERRUPTS_BYTES 65536

/* Text of /proc/<tid>/status, which has some 60 short lines. */
#define STATUS_BYTES 4096

/**
 * machine_init() - look at the machine, once, in the parent of all benchmarks
 * @m: set on success
 * @marks: whether ports may be written: only in a guest
 * @e: set on failure
 *
 * Return: 0, -ENODEV for a CPU that cannot be measured on, or the errno of mmap(2).
 * Context: the parent.
 */
int machine_init(struct machine *m, bool marks, struct err *e)
{
	unsigned int a, b, c, d;
	cpu_set_t allowed;

	if (!__get_cpuid(0x80000001, &a, &b, &c, &d) || !(d & CPUID_80000001_EDX_RDTSCP)) {
		return err_set(e, -ENODEV, "the CPU has no RDTSCP");
	}
	*m = (struct machine){.cpu = 0, .port_fd = -1};
	m->shared = mmap(NULL, sizeof(*m->shared), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (m->shared == MAP_FAILED) {
		return err_errno(e, -errno, "mmap");
	}
	/* CPU 0, or on a machine that gives us others, the first of those. */
	if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0) {
		while (m->cpu < CPU_SETSIZE - 1 && !CPU_ISSET(m->cpu, &allowed)) {
			m->cpu++;
		}
	}
	m->port_fd = marks ? open("/dev/port", O_WRONLY | O_CLOEXEC) : -1;
	m->interrupts_fd = open("/proc/interrupts", O_RDONLY | O_CLOEXEC);
	m->fsgsbase = getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE;
	m->pti = nopti_pti_in_force();
	return 0;
}

/**
 * machine_settle() - pin, lock and raise this process
 * @m: from machine_init()
 * @e: set on failure
 *
 * SCHED_FIFO makes a ping-pong exact: a woken thread of the same priority does not preempt its
 * waker, and a yield goes to the other thread. Where it is not granted the result says so.
 *
 * Return: 0 or the errno of sched_setaffinity(2).
 * Context: a benchmark's process, before it makes threads: they inherit all but the locking.
 */
int machine_settle(struct machine *m, struct err *e)
{
	const struct sched_param param = {.sched_priority = 1};
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(m->cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0) {
		return err_errno(e, -errno, "sched_setaffinity to CPU %d", m->cpu);
	}
	m->fifo = sched_setscheduler(0, SCHED_FIFO, &param) == 0;
	machine_lock();
	return machine_check_cpu(m, e);
}

/**
 * machine_lock() - have all memory of this process, now and later, in its page tables
 *
 * Context: a benchmark's process; again after a fork, in both.
 */
void machine_lock(void)
{
	if (mlockall(MCL_CURRENT | MCL_FUTURE) < 0) {
		/* Not root on a developer's machine: a page fault may then meet a batch. */
	}
}

/**
 * machine_check_cpu() - assert that the calling thread is where it belongs
 * @m: from machine_init()
 * @e: set on failure
 *
 * Return: 0 or -EXDEV.
 * Context: any thread of a benchmark.
 */
int machine_check_cpu(const struct machine *m, struct err *e)
{
	int cpu = sched_getcpu();

	return cpu == m->cpu ? 0
			     : err_set(e, -EXDEV, "runs on CPU %d, was pinned to %d", cpu, m->cpu);
}

/**
 * interrupts_parse() - sum one CPU's column of /proc/interrupts
 * @text: the file
 * @cpu: which column, by the number in its "CPU<n>" heading
 *
 * Return: interrupts of every kind, 0 when that CPU has no column.
 * Context: pure.
 */
uint64_t interrupts_parse(const char *text, int cpu)
{
	const char *line = strchr(text, '\n');
	uint64_t sum = 0;
	int column = -1;
	int n = 0;

	for (const char *p = strstr(text, "CPU"); p && line && p < line; p = strstr(p + 1, "CPU")) {
		if (atoi(p + 3) == cpu) {
			column = n;
		}
		n++;
	}
	while (column >= 0 && line && *++line) {
		const char *p = strchr(line, ':');
		const char *end = strchr(line, '\n');

		for (n = 0; p && (!end || p < end); n++) {
			char *after;
			uint64_t v = strtoull(p + 1, &after, 10);

			/* "ERR" and "MIS" have one number for all CPUs, which is right for one. */
			if (after == p + 1 || !isspace((unsigned char)p[1])) {
				break;
			}
			if (n == column) {
				sum += v;
				break;
			}
			p = after;
		}
		line = end;
	}
	return sum;
}

/**
 * machine_interrupts() - how many interrupts this CPU has had
 * @m: from machine_init()
 *
 * Return: the count, 0 where it cannot be known.
 * Context: outside of what is timed.
 */
uint64_t machine_interrupts(const struct machine *m)
{
	static char text[INTERRUPTS_BYTES];
	size_t len = 0;
	ssize_t n;

	if (m->interrupts_fd < 0) {
		return 0;
	}
	while (len < sizeof(text) - 1 &&
	       (n = pread(m->interrupts_fd, text + len, sizeof(text) - 1 - len, (off_t)len)) > 0) {
		len += (size_t)n;
	}
	text[len] = '\0';
	return interrupts_parse(text, m->cpu);
}

/**
 * switches_parse() - add up a task's context switches
 * @text: its /proc/<tid>/status
 *
 * Return: voluntary and other ones, 0 when the text has none.
 * Context: pure.
 */
uint64_t switches_parse(const char *text)
{
	static const char key[] = "voluntary_ctxt_switches:";
	uint64_t sum = 0;

	/* "nonvoluntary_ctxt_switches:" ends in the same words. */
	for (const char *p = strstr(text, key); p; p = strstr(p, key)) {
		p += sizeof(key) - 1;
		sum += strtoull(p, NULL, 10);
	}
	return sum;
}

/**
 * machine_switches() - context switches of this process's threads, of either kind
 * @peer_fd: /proc/<tid>/status of a task elsewhere that counts too, or -1
 *
 * Return: the count.
 * Context: any thread, outside of what is timed.
 */
uint64_t machine_switches(int peer_fd)
{
	struct rusage ru = {0};
	char text[STATUS_BYTES];
	ssize_t n = peer_fd < 0 ? 0 : pread(peer_fd, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	getrusage(RUSAGE_SELF, &ru);
	return (uint64_t)ru.ru_nvcsw + (uint64_t)ru.ru_nivcsw + switches_parse(text);
}

/**
 * machine_mark() - write a mark
 * @m: from machine_init()
 * @code: MARK_*
 *
 * Context: any thread.
 */
void machine_mark(const struct machine *m, uint8_t code)
{
	if (m->port_fd >= 0 && pwrite(m->port_fd, &code, 1, MARK_PORT) != 1) {
		/* The host counts windows, so it notices. */
	}
}
