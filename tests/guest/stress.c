/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tasks with and without the flag, mixed, doing what makes, ends and disturbs tasks: usage:
 * test_stress none|off|on SECONDS SEED. Each worker is a process that does one random thing after
 * the other in children of its own, half of them flagged where that can be; each thing checks its
 * results. At the end every kind must have been done in both ways.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ktap.h"
#include "nopti.h"

#define PAGE_BYTES   4096UL
#define PGD_SHIFT    39
#define THREADS      3
#define WORKERS_MAX  16
#define END_MARGIN_S 60

static unsigned int seconds, first_seed;

/* Shared with all workers: how often each thing was done, unflagged and flagged; the number begun.
 */
static atomic_ulong (*done)[2];
static atomic_ulong *begun;
static long long end_ms;

static void user_work(void)
{
	void *code = guest_code(0, 71);
	long parent = getppid();
	char *p = mmap(NULL, 8 * PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);

	ktap_check(p != MAP_FAILED, "mmap: %s", strerror(errno));
	for (size_t i = 0; i < 8; i++) {
		p[i * PAGE_BYTES] = (char)i;
		ktap_check(getppid() == parent, "getppid changed");
		guest_call(code, 71);
	}
	munmap(p, 8 * PAGE_BYTES);
	munmap(code, PAGE_BYTES);
}

static void do_plain(unsigned int *seed)
{
	user_work();
}

static void do_fork(unsigned int *seed)
{
	pid_t pid = fork();

	if (pid == 0) {
		user_work();
		_exit(0);
	}
	ktap_check(pid > 0, "fork: %s", strerror(errno));
	user_work();
	ktap_reap(pid, "a forked child");
}

static void do_vfork_exec(unsigned int *seed)
{
	int status;
	pid_t pid = vfork();

	if (pid == 0) {
		guest_exec_bits("/proc/self/exe");
		_exit(1);
	}
	ktap_check(pid > 0 && waitpid(pid, &status, 0) == pid, "vfork: %s", strerror(errno));
	/* A kernel without the flag answers with one less. */
	ktap_check(WIFEXITED(status) && WEXITSTATUS(status) >= NOPTI_GET_STATUS - 1 &&
			   WEXITSTATUS(status) <= NOPTI_GET_STATUS,
		   "the vforked child ended with 0x%x", status);
}

static void do_exec_request(unsigned int *seed)
{
	int status, expected = NOPTI_GET_STATUS - (nopti_expected != NOPTI_ON);
	pid_t pid = fork();

	if (pid == 0) {
		if (nopti_expected == NOPTI_ON && nopti_set(NOPTI_SET_EXEC) < 0) {
			_exit(1);
		}
		guest_exec_bits("/proc/self/exe");
		_exit(1);
	}
	ktap_check(pid > 0 && waitpid(pid, &status, 0) == pid, "fork: %s", strerror(errno));
	expected += nopti_expected == NOPTI_ON ? (int)NOPTI_GET_ON : 0;
	/* With isolation off, the answer may be 0 as well as ENODEV. */
	ktap_check(WIFEXITED(status) && (WEXITSTATUS(status) == expected ||
					 (nopti_expected == NOPTI_OFF &&
					  WEXITSTATUS(status) == NOPTI_GET_STATUS)),
		   "the executed child ended with 0x%x", status);
}

static void *thread_work(void *arg)
{
	for (int i = 0; i < 5; i++) {
		user_work();
		sched_yield();
	}
	return NULL;
}

static void do_threads(unsigned int *seed)
{
	pthread_t thread[THREADS];

	for (int i = 0; i < THREADS; i++) {
		ktap_check(pthread_create(&thread[i], NULL, thread_work, NULL) == 0,
			   "pthread_create");
	}
	user_work();
	for (int i = 0; i < THREADS; i++) {
		pthread_join(thread[i], NULL);
	}
}

static void *thread_forever(void *arg)
{
	for (;;) {
		thread_work(arg);
	}
	return NULL;
}

/* Threads die wherever they are when the process is killed. */
static void do_kill(unsigned int *seed)
{
	pid_t pid = fork();

	if (pid == 0) {
		pthread_t thread;

		if (nopti_expected == NOPTI_ON && rand_r(seed) % 2) {
			nopti_on();
		}
		ktap_check(pthread_create(&thread, NULL, thread_forever, NULL) == 0,
			   "pthread_create");
		thread_forever(NULL);
	}
	ktap_check(pid > 0, "fork: %s", strerror(errno));
	usleep((useconds_t)(rand_r(seed) % 20000));
	kill(pid, SIGKILL);
	ktap_check(waitpid(pid, NULL, 0) == pid, "waitpid: %s", strerror(errno));
}

static volatile sig_atomic_t signals;

static void on_signal(int sig)
{
	signals++;
}

static void do_signals(unsigned int *seed)
{
	const struct itimerval on = {{0, 200}, {0, 200}}, off = {{0}};
	struct sigaction sa = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

	signals = 0;
	sigaction(SIGUSR2, &sa, NULL);
	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &on, NULL);
	for (int i = 1; i <= 50; i++) {
		raise(SIGUSR2);
		user_work();
	}
	setitimer(ITIMER_REAL, &off, NULL);
	ktap_check(signals >= 50, "%d signals", (int)signals);
}

static void do_ptrace(unsigned int *seed)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		if (nopti_expected == NOPTI_ON && rand_r(seed) % 2) {
			nopti_on();
		}
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		for (;;) {
			user_work();
		}
	}
	ktap_check(pid > 0 && waitpid(pid, &status, 0) == pid && WIFSTOPPED(status), "ptrace");
	for (int i = 0; i < 60; i++) {
		ktap_check(ptrace(i % 3 ? PTRACE_SYSCALL : PTRACE_SINGLESTEP, pid, NULL, NULL) == 0,
			   "ptrace: %s", strerror(errno));
		ktap_check(waitpid(pid, &status, 0) == pid && WIFSTOPPED(status),
			   "the tracee: 0x%x", status);
	}
	kill(pid, SIGKILL);
	ktap_check(waitpid(pid, NULL, 0) == pid, "waitpid: %s", strerror(errno));
}

static void do_new_pgd(unsigned int *seed)
{
	for (int i = 0; i < 5; i++) {
		unsigned int slot = 1 + (unsigned int)rand_r(seed) % 200;
		void *code = guest_code(((unsigned long)slot << PGD_SHIFT) + 0x1000, slot);

		guest_call(code, slot);
		munmap(code, PAGE_BYTES);
	}
}

static void do_int80(unsigned int *seed)
{
	long pid = getpid(), got = guest_int80(20, 0, 0, 0);

	/* A kernel may be without. */
	for (int i = 0; i < 200 && got == pid; i++) {
		ktap_check(guest_int80(20, 0, 0, 0) == pid, "getpid by int80");
	}
}

static void do_migrate(unsigned int *seed)
{
	cpu_set_t all, one;

	sched_getaffinity(0, sizeof(all), &all);
	for (int i = 0; i < 10; i++) {
		int cpu = rand_r(seed) % CPU_COUNT(&all);

		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		ktap_check(sched_setaffinity(0, sizeof(one), &one) == 0, "sched_setaffinity: %s",
			   strerror(errno));
		user_work();
	}
}

static void do_toggle(unsigned int *seed)
{
	for (int i = 0; i < 10 && nopti_expected == NOPTI_ON; i++) {
		nopti_off();
		user_work();
		nopti_on();
		user_work();
	}
}

static const struct {
	const char *name;
	void (*run)(unsigned int *seed);
} things[] = {
	{"plain", do_plain},       {"fork", do_fork},       {"vfork and exec", do_vfork_exec},
	{"exec", do_exec_request}, {"threads", do_threads}, {"kill", do_kill},
	{"signals", do_signals},   {"ptrace", do_ptrace},   {"new PGD entries", do_new_pgd},
	{"int80", do_int80},       {"migrate", do_migrate}, {"toggle", do_toggle},
};

#define THINGS (sizeof(things) / sizeof(things[0]))

/* One thing in a child, so that whatever it leaves behind is gone after it. */
static void one_thing(unsigned int *seed)
{
	/* Everything once in both ways, and from then on at random. */
	unsigned long n = atomic_fetch_add(begun, 1);
	size_t which = (n < 2 * THINGS ? n : (unsigned long)rand_r(seed)) % THINGS;
	bool flagged = nopti_expected == NOPTI_ON &&
		       (n < 2 * THINGS ? n / THINGS : (unsigned long)rand_r(seed) % 2);
	pid_t pid = fork();

	if (pid == 0) {
		if (flagged) {
			nopti_on();
		}
		things[which].run(seed);
		_exit(0);
	}
	ktap_check(pid > 0, "fork: %s", strerror(errno));
	ktap_reap(pid, things[which].name);
	atomic_fetch_add(&done[which][flagged], 1);
}

static void case_stress(void)
{
	int workers = guest_cpus() * 2 + 1;
	pid_t pid[WORKERS_MAX];

	workers = workers < WORKERS_MAX ? workers : WORKERS_MAX;
	end_ms = guest_now_ms() + seconds * 1000LL;
	for (int i = 0; i < workers; i++) {
		pid[i] = fork();
		ktap_check(pid[i] >= 0, "fork: %s", strerror(errno));
		if (pid[i] == 0) {
			unsigned int seed = first_seed + (unsigned int)i;

			while (guest_now_ms() < end_ms || atomic_load(begun) < 2 * THINGS) {
				one_thing(&seed);
				seed += 1000; /* the child's draws are its own */
			}
			_exit(0);
		}
	}
	for (int i = 0; i < workers; i++) {
		ktap_reap(pid[i], "a worker");
	}
	for (size_t i = 0; i < THINGS; i++) {
		ktap_diag("%s: %lu unflagged, %lu flagged", things[i].name,
			  atomic_load(&done[i][0]), atomic_load(&done[i][1]));
	}
	for (size_t i = 0; i < THINGS; i++) {
		ktap_check(atomic_load(&done[i][0]) > 0, "%s was never done", things[i].name);
		ktap_check(nopti_expected != NOPTI_ON || atomic_load(&done[i][1]) > 0,
			   "%s was never done with the flag", things[i].name);
	}
}

int main(int argc, char **argv)
{
	struct ktap_case c = {"everything at once", case_stress, 0};

	if (!nopti_arguments(argc, argv) || argc != 4) {
		fprintf(stderr, "usage: %s none|off|on SECONDS SEED\n", argv[0]);
		return 2;
	}
	seconds = (unsigned int)strtoul(argv[2], NULL, 10);
	first_seed = (unsigned int)strtoul(argv[3], NULL, 10);
	c.limit_s = seconds + END_MARGIN_S;
	done = mmap(NULL, sizeof(*done) * THINGS + sizeof(*begun), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (done == MAP_FAILED) {
		return KTAP_FAIL;
	}
	begun = (atomic_ulong *)(done + THINGS);
	return ktap_run(&c, 1);
}
