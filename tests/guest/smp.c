/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a guest with several CPUs is to find: usage: test_smp CPUS [x2apic]. Each CPU is looked at
 * from itself, by a thread that is pinned to it: its place in the topology, its interrupt
 * controller, that it does work, that its timer ticks, and that the others reach it by interrupts.
 */
#include <cpuid.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <time.h>
#include <unistd.h>

#include "ktap.h"

#define CPUS_MAX       256
#define PAGE_BYTES     4096UL
#define REMAPS         24
#define APIC_BASE_MSR  0x1b
#define APIC_BASE_BSP  (1u << 8)
#define APIC_BASE_EXTD (1u << 10)
#define APIC_BASE_EN   (1u << 11)
#define ECX_X2APIC     (1u << 21)
#define EDX_HTT        (1u << 28)
#define AMD_TOPOEXT    (1u << 22)

static unsigned int cpus;
static bool want_x2apic; /* QEMU's software processor has none */

/* All threads of a case, each on a CPU of its own. */
static void (*job)(unsigned int cpu);
static pthread_barrier_t together;

static void *on_cpu(void *arg)
{
	unsigned int cpu = (unsigned int)(uintptr_t)arg;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	ktap_check(sched_setaffinity(0, sizeof(set), &set) == 0, "CPU %u cannot be had: %s", cpu,
		   strerror(errno));
	pthread_barrier_wait(&together);
	job(cpu);
	ktap_check(sched_getcpu() == (int)cpu, "CPU %u: woke up on %d", cpu, sched_getcpu());
	return NULL;
}

static void on_all(void (*fn)(unsigned int cpu))
{
	pthread_t thread[CPUS_MAX];

	job = fn;
	pthread_barrier_init(&together, NULL, cpus);
	for (unsigned int i = 0; i < cpus; i++) {
		int r = pthread_create(&thread[i], NULL, on_cpu, (void *)(uintptr_t)i);

		ktap_check(r == 0, "thread %u: %s", i, strerror(r));
	}
	for (unsigned int i = 0; i < cpus; i++) {
		pthread_join(thread[i], NULL);
	}
	pthread_barrier_destroy(&together);
}

static void read_text(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, buf, size - 1);

	ktap_check(n >= 0, "%s: %s", path, strerror(errno));
	close(fd);
	buf[n] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
}

/* A file of sysfs about one CPU. */
static void expect(unsigned int cpu, const char *file, const char *expected)
{
	char path[128], text[256];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/%s", cpu, file);
	read_text(path, text, sizeof(text));
	ktap_check(strcmp(text, expected) == 0, "%s is '%s', expected '%s'", path, text, expected);
}

static void all_cpus(char *buf, size_t size)
{
	if (cpus == 1) {
		snprintf(buf, size, "0");
	} else {
		snprintf(buf, size, "0-%u", cpus - 1);
	}
}

static void all_are_online(void)
{
	char text[64], all[32];

	all_cpus(all, sizeof(all));
	ktap_check(get_nprocs() == (int)cpus, "%d are online", get_nprocs());
	read_text("/sys/devices/system/cpu/online", text, sizeof(text));
	ktap_check(strcmp(text, all) == 0, "online: '%s', expected '%s'", text, all);
	read_text("/sys/devices/system/cpu/possible", text, sizeof(text));
	ktap_check(strcmp(text, all) == 0, "possible: '%s', expected '%s'", text, all);
}

/* As lscpu would print it: one socket, a core for each CPU, one thread in each. */
static void one_socket_of_single_threaded_cores(void)
{
	char all[32], own[16], core[16];

	all_cpus(all, sizeof(all));
	for (unsigned int i = 0; i < cpus; i++) {
		snprintf(own, sizeof(own), "%u", i);
		snprintf(core, sizeof(core), "%u", i);
		expect(i, "topology/physical_package_id", "0");
		expect(i, "topology/core_id", core);
		expect(i, "topology/thread_siblings_list", own);
		expect(i, "topology/package_cpus_list", all);
	}
}

/* The first two levels belong to a core; a third is shared by all. */
static void caches_are_shared_as_the_topology_says(void)
{
	char all[32], own[16], path[128], level[16], name[64];

	all_cpus(all, sizeof(all));
	for (unsigned int i = 0; i < cpus; i++) {
		snprintf(own, sizeof(own), "%u", i);
		for (unsigned int index = 0; index < 4; index++) {
			snprintf(path, sizeof(path),
				 "/sys/devices/system/cpu/cpu%u/cache/index%u/level", i, index);
			if (access(path, R_OK) < 0) {
				break;
			}
			read_text(path, level, sizeof(level));
			snprintf(name, sizeof(name), "cache/index%u/shared_cpu_list", index);
			expect(i, name, atoi(level) < 3 ? own : all);
		}
	}
}

static void check_levels(unsigned int leaf, unsigned int cpu)
{
	unsigned int a, b, c, d;

	__cpuid_count(leaf, 0, a, b, c, d);
	ktap_check((b & 0xffff) == 1 && (c >> 8 & 0xff) == 1 && d == cpu && (a & 31) == 0,
		   "CPU %u: leaf 0x%x.0 is %x %x %x %x", cpu, leaf, a, b, c, d);
	__cpuid_count(leaf, 1, a, b, c, d);
	ktap_check((b & 0xffff) == cpus && (c >> 8 & 0xff) == 2 && d == cpu &&
			   (1u << (a & 31)) >= cpus &&
			   ((a & 31) == 0 || 1u << ((a & 31) - 1) < cpus),
		   "CPU %u: leaf 0x%x.1 is %x %x %x %x", cpu, leaf, a, b, c, d);
	__cpuid_count(leaf, 2, a, b, c, d);
	ktap_check((c >> 8 & 0xff) == 0, "CPU %u: leaf 0x%x.2 is %x %x %x %x", cpu, leaf, a, b, c,
		   d);
}

static void check_leaves(unsigned int cpu)
{
	unsigned int a, b, c, d, max = __get_cpuid_max(0, NULL);

	__cpuid(1, a, b, c, d);
	ktap_check(b >> 24 == cpu, "CPU %u: its APIC id is %u", cpu, b >> 24);
	/* Only with HTT has the field a meaning. */
	ktap_check(cpus == 1 || (b >> 16 & 0xff) >= cpus, "CPU %u: room for %u ids", cpu,
		   b >> 16 & 0xff);
	ktap_check(!(d & EDX_HTT) == (cpus == 1), "CPU %u: HTT of %u CPUs: %x", cpu, cpus, d);
	ktap_check(!want_x2apic || c & ECX_X2APIC, "CPU %u: no x2APIC: %x", cpu, c);
	if (max >= 0xb && __get_cpuid_count(0xb, 0, &a, &b, &c, &d) && b) {
		check_levels(0xb, cpu);
	}
	if (max >= 0x1f && __get_cpuid_count(0x1f, 0, &a, &b, &c, &d) && b) {
		check_levels(0x1f, cpu);
	}
	if (__get_cpuid(0x80000001, &a, &b, &c, &d) && c & AMD_TOPOEXT) {
		__cpuid(0x8000001e, a, b, c, d);
		ktap_check(a == cpu && (b & 0xff) == cpu && (b >> 8 & 0xff) == 0 &&
				   (c & 0x7ff) == 0,
			   "CPU %u: leaf 0x8000001e is %x %x %x %x", cpu, a, b, c, d);
	}
}

static void each_cpu_reads_its_own_place_by_cpuid(void)
{
	on_all(check_leaves);
}

static void each_cpus_apic_is_in_x2apic_mode(void)
{
	if (!want_x2apic) {
		ktap_skip("no x2APIC was asked for");
	}
	for (unsigned int i = 0; i < cpus; i++) {
		char path[64];
		uint64_t base;
		int fd;

		snprintf(path, sizeof(path), "/dev/cpu/%u/msr", i);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		ktap_check(fd >= 0 && pread(fd, &base, sizeof(base), APIC_BASE_MSR) == sizeof(base),
			   "%s: %s", path, strerror(errno));
		close(fd);
		ktap_check((base & (APIC_BASE_EN | APIC_BASE_EXTD)) ==
				   (APIC_BASE_EN | APIC_BASE_EXTD),
			   "CPU %u: APIC base 0x%llx", i, (unsigned long long)base);
		ktap_check(!(base & APIC_BASE_BSP) == (i != 0), "CPU %u: APIC base 0x%llx", i,
			   (unsigned long long)base);
	}
}

/* So much CPU time each of them must have spent, at the same time as the others. */
#define WORK_NS     50000000LL
#define WORK_ROUNDS 20

static atomic_uint working;
static atomic_bool all_worked;

static long long thread_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* Nobody stops before all have done their part, so all are busy at once. */
static void work(unsigned int cpu)
{
	bool counted = false;

	while (!atomic_load(&all_worked)) {
		for (volatile int i = 0; i < 10000; i++) {
		}
		if (!counted && thread_ns() >= WORK_NS) {
			counted = true;
			if (atomic_fetch_add(&working, 1) + 1 == cpus) {
				atomic_store(&all_worked, true);
			}
		}
	}
}

/* One number for each CPU, of a row of /proc/interrupts; zeros when there is no such row. */
static void interrupts(const char *row, unsigned long long *counts)
{
	static char text[65536];
	size_t used = 0;
	ssize_t n;
	char *p;
	int fd = open("/proc/interrupts", O_RDONLY | O_CLOEXEC);

	while (fd >= 0 && (n = read(fd, text + used, sizeof(text) - 1 - used)) > 0) {
		used += (size_t)n;
	}
	close(fd);
	text[used] = '\0';
	for (p = text; p && strncmp(p + strspn(p, " "), row, strlen(row)) != 0;) {
		p = strchr(p, '\n');
		p = p ? p + 1 : NULL;
	}
	memset(counts, 0, cpus * sizeof(*counts));
	if (!p) {
		return;
	}
	p = strchr(p, ':') + 1;
	for (unsigned int i = 0; i < cpus; i++) {
		counts[i] = strtoull(p, &p, 10);
	}
}

/*
 * Ticks of each CPU. A guest that calibrates its APIC's timer on a busy host may give it up, and
 * have the old timer chip tick for the first CPU, and that one for the others.
 */
static void ticks(unsigned long long *counts)
{
	unsigned long long chip[CPUS_MAX];

	interrupts("LOC:", counts);
	interrupts("0:", chip);
	for (unsigned int i = 0; i < cpus; i++) {
		counts[i] += chip[i];
	}
}

static void all_cpus_work_at_once_and_their_timers_tick(void)
{
	unsigned long long before[CPUS_MAX], after[CPUS_MAX];
	unsigned int ticked = 0;

	ticks(before);
	/* A host that was away makes the time pass, and the tick comes a little later. */
	for (int round = 0; round < WORK_ROUNDS && ticked < cpus; round++) {
		atomic_store(&working, 0);
		atomic_store(&all_worked, false);
		on_all(work);
		ticks(after);
		ticked = 0;
		for (unsigned int i = 0; i < cpus; i++) {
			ticked += after[i] > before[i];
		}
	}
	for (unsigned int i = 0; i < cpus; i++) {
		ktap_check(after[i] > before[i],
			   "CPU %u: its timer never ticked in the meantime (%llu)", i, after[i]);
	}
}

static int membarrier(int command)
{
	return (int)syscall(SYS_membarrier, command, 0, 0);
}

static uint32_t *volatile shared_page;
static atomic_uint generation, seen[CPUS_MAX];
static atomic_bool remapped;

/*
 * Who has seen that generation g is mapped must not find an older page: so the page that
 * thread 0 took away was really gone from every CPU's TLB when its system call returned.
 */
static void read_while_remapped(unsigned int cpu)
{
	if (cpu != 0) {
		while (!atomic_load(&remapped)) {
			unsigned int at_least = atomic_load(&generation);
			uint32_t found = *(volatile uint32_t *)shared_page;

			ktap_check(found >= at_least,
				   "CPU %u: read page %u after page %u was there", cpu, found,
				   at_least);
			atomic_store(&seen[cpu], found);
		}
		return;
	}
	for (uint32_t g = 1; g <= REMAPS; g++) {
		uint32_t *page = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE,
				      MAP_SHARED | MAP_ANONYMOUS, -1, 0);

		ktap_check(page != MAP_FAILED, "mmap: %s", strerror(errno));
		*page = g;
		ktap_check(mremap(page, PAGE_BYTES, PAGE_BYTES, MREMAP_MAYMOVE | MREMAP_FIXED,
				  (void *)shared_page) == (void *)shared_page,
			   "mremap: %s", strerror(errno));
		atomic_store(&generation, g);
		/* The guest may spare a vCPU that the host has put off the flush of its TLB; a
		 * barrier always is an interrupt. */
		ktap_check(membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0, "membarrier: %s",
			   strerror(errno));
		/* Every fourth time all readers are waited for, so that they hold the page. */
		for (unsigned int i = 1; g % 4 == 0 && i < cpus; i++) {
			while (atomic_load(&seen[i]) < g) {
				sched_yield();
			}
		}
	}
	atomic_store(&remapped, true);
}

static void a_page_taken_away_is_gone_on_every_cpu(void)
{
	unsigned long long before[CPUS_MAX], after[CPUS_MAX];

	if (cpus == 1) {
		ktap_skip("this needs two CPUs");
	}
	shared_page =
		mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ktap_check(shared_page != MAP_FAILED, "mmap: %s", strerror(errno));
	ktap_check(membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0, "membarrier: %s",
		   strerror(errno));
	interrupts("CAL:", before);
	on_all(read_while_remapped);
	interrupts("CAL:", after);
	for (unsigned int i = 1; i < cpus; i++) {
		ktap_check(after[i] > before[i],
			   "CPU %u: nobody interrupted it in %d changes of the page", i, REMAPS);
	}
}

int main(int argc, char **argv)
{
	static const struct ktap_case cases[] = {
		{"all CPUs are online, and no more", all_are_online, 0},
		{"one socket of single-threaded cores", one_socket_of_single_threaded_cores, 0},
		{"caches are shared as the topology says", caches_are_shared_as_the_topology_says,
		 0},
		{"each CPU reads its own place by CPUID", each_cpu_reads_its_own_place_by_cpuid, 0},
		{"each CPU's APIC is in x2APIC mode", each_cpus_apic_is_in_x2apic_mode, 0},
		{"all CPUs work at once, and their timers tick",
		 all_cpus_work_at_once_and_their_timers_tick, 0},
		{"a page taken away is gone on every CPU", a_page_taken_away_is_gone_on_every_cpu,
		 0},
	};

	cpus = argc > 1 ? (unsigned int)atoi(argv[1]) : 0;
	want_x2apic = argc == 3 && strcmp(argv[2], "x2apic") == 0;
	if (cpus == 0 || cpus > CPUS_MAX || argc != 2 + want_x2apic) {
		fprintf(stderr, "usage: test_smp CPUS [x2apic]\n");
		return 2;
	}
	return ktap_run(cases, sizeof(cases) / sizeof(cases[0]));
}
