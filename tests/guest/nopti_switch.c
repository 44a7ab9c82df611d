/* SPDX-License-Identifier: GPL-2.0-or-later */
/* More than one task on a CPU, and more than one CPU. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ktap.h"
#include "nopti.h"
#include "nopti_cases.h"

#define PAGE_BYTES  4096UL
#define ROUND_TRIPS 2000
#define THREADS     4
#define CPUS_MAX    64
#define STORM_MS    1500
#define PATIENCE_MS 30000
#define REMAPS      24

void case_sibling_stays_isolated(void)
{
	int to[2], from[2];
	char byte = 0;
	pid_t pid;

	nopti_need();
	ktap_check(pipe(to) == 0 && pipe(from) == 0, "pipe: %s", strerror(errno));
	pid = fork();
	/* Each closes the other's ends, so that the end of one is seen by the other. */
	close(pid == 0 ? to[1] : to[0]);
	close(pid == 0 ? from[0] : from[1]);
	if (pid == 0) {
		/* It was there before the flag was, and it is here while it is. */
		for (int i = 0; i < 4; i++) {
			ktap_check(read(to[0], &byte, 1) == 1, "read");
			ktap_check(nopti_bits() == 0, "the sibling has bits 0x%lx in round %d",
				   nopti_bits(), i);
			ktap_check(write(from[1], &byte, 1) == 1, "write");
		}
		_exit(0);
	}
	for (int i = 0; i < 4; i++) {
		if (i % 2) {
			nopti_on();
		} else {
			nopti_off();
		}
		ktap_check(write(to[1], &byte, 1) == 1 && read(from[0], &byte, 1) == 1, "pipe: %s",
			   strerror(errno));
	}
	ktap_reap(pid, "the sibling");
	/* What it looks like in the page tables is test_isolation's to tell. */
}

/* One end of a ping-pong; whoever has the flag keeps it. */
static void pong(int in, int out, bool flagged, unsigned int answer)
{
	void *code = guest_code(0, answer);
	unsigned int n = 0;

	if (flagged) {
		nopti_on();
	}
	for (;;) {
		ssize_t got = read(in, &n, sizeof(n));

		if (got == 0) {
			_exit(0);
		}
		ktap_check(got == sizeof(n), "read: %s", strerror(errno));
		guest_call(code, answer);
		n++;
		if (n % 100 < 2) {
			ktap_check(nopti_bits() == (flagged ? NOPTI_GET_ON : 0), "bits 0x%lx at %u",
				   nopti_bits(), n);
		}
		ktap_check(write(out, &n, sizeof(n)) == sizeof(n), "write: %s", strerror(errno));
	}
}

void case_switches_between_flagged_and_unflagged(void)
{
	/* A ring of four on one CPU, so that each kind follows each kind. */
	static const bool flagged[] = {true, false, false, true};
	int ends[5][2];
	pid_t pid[4];

	nopti_need();
	guest_pin(0);
	for (int i = 0; i < 5; i++) {
		ktap_check(pipe(ends[i]) == 0, "pipe: %s", strerror(errno));
	}
	for (int i = 0; i < 4; i++) {
		pid[i] = fork();
		if (pid[i] == 0) {
			for (int j = 0; j < 5; j++) {
				if (j != i) {
					close(ends[j][0]);
				}
				if (j != i + 1) {
					close(ends[j][1]);
				}
			}
			pong(ends[i][0], ends[i + 1][1], flagged[i], 40U + (unsigned int)i);
		}
		ktap_check(pid[i] > 0, "fork: %s", strerror(errno));
	}
	/* So that the end of one of them is seen by the others, and here. */
	for (int i = 0; i < 5; i++) {
		if (i != 4) {
			close(ends[i][0]);
		}
		if (i != 0) {
			close(ends[i][1]);
		}
	}
	for (unsigned int i = 0; i < ROUND_TRIPS; i++) {
		unsigned int n = i * 10;

		ktap_check(write(ends[0][1], &n, sizeof(n)) == sizeof(n) &&
				   read(ends[4][0], &n, sizeof(n)) == sizeof(n),
			   "pipe: %s", strerror(errno));
		ktap_check(n == i * 10 + 4, "%u came back in round %u", n, i);
	}
	close(ends[0][1]);
	close(ends[4][0]);
	for (int i = 0; i < 4; i++) {
		ktap_reap(pid[i], "a task of the ring");
	}
}

static atomic_bool stop;
static atomic_ulong rounds[CPUS_MAX];
static void *shared_code;

/* Until stop: system calls, page faults and new code, and the flag is there on whatever CPU. */
static void *work(void *arg)
{
	unsigned long flag = arg ? NOPTI_GET_ON : 0;

	while (!atomic_load(&stop)) {
		char *p = mmap(NULL, 4 * PAGE_BYTES, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		ktap_check(p != MAP_FAILED, "mmap: %s", strerror(errno));
		memset(p, 1, 4 * PAGE_BYTES);
		munmap(p, 4 * PAGE_BYTES);
		guest_call(shared_code, 51);
		ktap_check(nopti_bits() == flag, "bits 0x%lx", nopti_bits());
		atomic_fetch_add(&rounds[sched_getcpu() % CPUS_MAX], 1);
	}
	return NULL;
}

static void start_work(pthread_t *thread, bool flagged)
{
	shared_code = guest_code(0, 51);
	atomic_store(&stop, false);
	for (int i = 0; i < CPUS_MAX; i++) {
		atomic_store(&rounds[i], 0);
	}
	for (int i = 0; i < THREADS; i++) {
		ktap_check(pthread_create(&thread[i], NULL, work, flagged ? &stop : NULL) == 0,
			   "pthread_create");
	}
}

static int cpus_used(void)
{
	int used = 0;

	for (int i = 0; i < CPUS_MAX; i++) {
		used += atomic_load(&rounds[i]) > 0;
	}
	return used;
}

/* For its time, and until work was done on every CPU; but not for ever. */
static bool storm_goes_on(long long begun)
{
	long long now = guest_now_ms();

	return now < begun + STORM_MS || (cpus_used() < guest_cpus() && now < begun + PATIENCE_MS);
}

static void end_work(const pthread_t *thread)
{
	int used;

	atomic_store(&stop, true);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(thread[i], NULL);
	}
	used = cpus_used();
	ktap_check(used == guest_cpus(), "work was done on %d CPUs of %d", used, guest_cpus());
}

void case_threads_over_cpus(void)
{
	pthread_t thread[THREADS];
	long long begun;
	cpu_set_t set;

	nopti_need();
	if (guest_cpus() < 2) {
		ktap_skip("this needs two CPUs");
	}
	nopti_on();
	start_work(thread, true);
	for (int i = 0; i < THREADS; i++) {
		CPU_ZERO(&set);
		CPU_SET(i % guest_cpus(), &set);
		pthread_setaffinity_np(thread[i], sizeof(set), &set);
	}
	begun = guest_now_ms();
	while (storm_goes_on(begun)) {
		usleep(50000);
	}
	end_work(thread);
}

void case_migration_storm(void)
{
	pthread_t thread[THREADS];
	long long begun;
	unsigned int seed = 1;
	int cpus = guest_cpus();

	nopti_need();
	if (cpus < 2) {
		ktap_skip("this needs two CPUs");
	}
	nopti_on();
	start_work(thread, true);
	begun = guest_now_ms();
	while (storm_goes_on(begun)) {
		cpu_set_t set;

		CPU_ZERO(&set);
		CPU_SET(rand_r(&seed) % cpus, &set);
		pthread_setaffinity_np(thread[rand_r(&seed) % THREADS], sizeof(set), &set);
	}
	end_work(thread);
}

static _Thread_local sigjmp_buf back;

static void on_fault(int sig)
{
	siglongjmp(back, 1);
}

static char *volatile window;
static atomic_uint published, seen_old;

/* Reads through the window, whose page is another one whenever published has grown. */
static void *read_window(void *arg)
{
	while (!atomic_load(&stop)) {
		unsigned int before = atomic_load(&published);

		if (sigsetjmp(back, 1) == 0) {
			unsigned int got = *(volatile unsigned int *)window;

			/* Published before we looked: an older page may not be seen any more. */
			if (got < before) {
				atomic_fetch_add(&seen_old, 1);
			}
		}
		syscall(SYS_getppid);
	}
	return NULL;
}

static void remap_storm(void)
{
	struct sigaction sa = {.sa_handler = on_fault, .sa_flags = SA_NODEFER};
	pthread_t thread[THREADS];
	cpu_set_t set;

	sigaction(SIGSEGV, &sa, NULL);
	atomic_store(&stop, false);
	atomic_store(&published, 0);
	atomic_store(&seen_old, 0);
	window = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ktap_check(window != MAP_FAILED, "mmap: %s", strerror(errno));
	for (int i = 0; i < THREADS; i++) {
		ktap_check(pthread_create(&thread[i], NULL, read_window, NULL) == 0,
			   "pthread_create");
		CPU_ZERO(&set);
		CPU_SET(i % guest_cpus(), &set);
		pthread_setaffinity_np(thread[i], sizeof(set), &set);
	}
	for (unsigned int i = 1; i <= REMAPS; i++) {
		unsigned int *fresh = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE,
					   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		*fresh = i;
		if (i % 2) {
			mprotect(window, PAGE_BYTES, PROT_NONE);
		} else {
			munmap(window, PAGE_BYTES);
		}
		ktap_check(mremap(fresh, PAGE_BYTES, PAGE_BYTES, MREMAP_MAYMOVE | MREMAP_FIXED,
				  window) == window,
			   "mremap: %s", strerror(errno));
		atomic_store(&published, i);
	}
	atomic_store(&stop, true);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(thread[i], NULL);
	}
	ktap_check(atomic_load(&seen_old) == 0, "%u reads saw a page that was gone",
		   atomic_load(&seen_old));
}

void case_unmapping_reaches_all_cpus(void)
{
	if (guest_cpus() < 2) {
		ktap_skip("this needs two CPUs");
	}
	/* Right on every kernel. */
	remap_storm();
	if (nopti_expected == NOPTI_ON) {
		pid_t pid = fork(); /* with one thread, whatever is left of the others */

		if (pid == 0) {
			nopti_on();
			remap_storm();
			_exit(0);
		}
		ktap_reap(pid, "the flagged half");
	}
}

void case_clearing_after_all_cpus(void)
{
	int cpus = guest_cpus();
	void *code = guest_code(0, 61);

	nopti_need();
	for (int i = 0; i < 50; i++) {
		nopti_on();
		for (int cpu = 0; cpu < cpus; cpu++) {
			guest_pin(cpu);
			guest_call(code, 61);
		}
		guest_pin(i % cpus);
		nopti_off();
		for (int cpu = 0; cpu < cpus; cpu++) {
			guest_pin(cpu);
			guest_call(code, 61);
			ktap_check(nopti_bits() == 0, "bits 0x%lx on CPU %d", nopti_bits(), cpu);
		}
	}
}
