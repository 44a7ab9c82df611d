/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ways into the kernel that user code does not choose: signals and what raises them, debuggers,
 * samples, NMIs. Each of these cases runs unflagged on every kernel, and flagged where it can.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "ktap.h"
#include "nopti.h"
#include "nopti_cases.h"

#define PAGE_BYTES       4096UL
#define SIGNALS          3000
#define STORM_MS         800
#define STORM_US         300 /* between two timer signals */
#define TRAP_FLAG        0x100UL
#define APIC_BASE        0xfee00000UL
#define APIC_ICR_LOW     (0x300 / 4)
#define APIC_ICR_HIGH    (0x310 / 4)
#define APIC_ID          (0x20 / 4)
#define APIC_NMI         0x4400U /* delivery mode NMI, level assert, to one physical destination */
#define ICR_BUSY         0x1000U
#define NMIS             100
#define SAMPLE_BYTES_MIN 512 /* of a perf sample: the stack in it */
#define NMIS_ACROSS      60
#define EVENTS_MIN       20
#define PATIENCE_MS      30000 /* for so many events on a machine that has other things to do */

/* PTRACE_ARCH_PRCTL, which the C library's header has not. */
#define TRACE_ARCH_PRCTL ((enum __ptrace_request)30)

/* Run something unflagged, and again with the flag where there is one. */
static void both_ways(void (*fn)(void))
{
	fn();
	if (nopti_expected == NOPTI_ON) {
		nopti_on();
		fn();
		ktap_check(nopti_bits() == NOPTI_GET_ON, "bits are 0x%lx", nopti_bits());
		nopti_off();
		fn();
	}
}

static volatile sig_atomic_t taken;

static void count_signal(int sig)
{
	taken++;
}

static void signals_once(void)
{
	static char alternate[65536];
	stack_t ss = {.ss_sp = alternate, .ss_size = sizeof(alternate)};
	struct sigaction sa = {.sa_handler = count_signal};

	taken = 0;
	for (int i = 0; i < SIGNALS; i++) {
		if (i == SIGNALS / 2) {
			ktap_check(sigaltstack(&ss, NULL) == 0, "sigaltstack");
			sa.sa_flags = SA_ONSTACK;
		}
		if (i % (SIGNALS / 2) == 0) {
			sigaction(SIGUSR1, &sa, NULL);
		}
		raise(SIGUSR1);
		ktap_check(taken == i + 1, "%d signals taken of %d", (int)taken, i + 1);
	}
}

void case_signals(void)
{
	both_ways(signals_once);
}

/* For its time, and until there were enough events; but not for ever. */
static bool storm_goes_on(long long begun, unsigned long long events)
{
	long long now = guest_now_ms();

	return now < begun + STORM_MS || (events <= EVENTS_MIN && now < begun + PATIENCE_MS);
}

static void signal_storm_once(void)
{
	const struct itimerval on = {{0, STORM_US}, {0, STORM_US}}, off = {{0}};
	struct sigaction sa = {.sa_handler = count_signal, .sa_flags = SA_RESTART};
	long long begun = guest_now_ms();
	long parent = getppid();
	void *code = guest_code(0, 21);

	taken = 0;
	sigaction(SIGALRM, &sa, NULL);
	ktap_check(setitimer(ITIMER_REAL, &on, NULL) == 0, "setitimer");
	while (storm_goes_on(begun, taken)) {
		for (int i = 0; i < 100; i++) {
			guest_call(code, 21);
			ktap_check(getppid() == parent, "getppid changed");
		}
		ktap_check(madvise(code, PAGE_BYTES, MADV_NORMAL) == 0, "madvise");
	}
	setitimer(ITIMER_REAL, &off, NULL);
	munmap(code, PAGE_BYTES);
	ktap_check(taken > EVENTS_MIN, "%d signals in %lld ms", (int)taken, guest_now_ms() - begun);
}

void case_signal_storm(void)
{
	both_ways(signal_storm_once);
}

static sigjmp_buf back;
static volatile int caught;

static void on_exception(int sig, siginfo_t *info, void *context)
{
	caught = sig;
	siglongjmp(back, 1);
}

#define EXPECT(signal, code)                                                        \
	do {                                                                        \
		caught = 0;                                                         \
		if (sigsetjmp(back, 1) == 0) {                                      \
			code;                                                       \
		}                                                                   \
		ktap_check(caught == (signal), "%s gave signal %d", #code, caught); \
	} while (0)

static void exceptions_once(void)
{
	static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
	struct sigaction sa = {.sa_sigaction = on_exception, .sa_flags = SA_SIGINFO | SA_NODEFER};

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		sigaction(signals[i], &sa, NULL);
	}
	for (int i = 0; i < 100; i++) {
		EXPECT(SIGFPE, __asm__ volatile("xor %%edx, %%edx\n\txor %%eax, %%eax\n\t"
						"div %%edx" ::
							: "eax", "edx", "cc"));
		EXPECT(SIGILL, __asm__ volatile("ud2"));
		EXPECT(SIGTRAP, __asm__ volatile("int3"));
		EXPECT(SIGSEGV, __asm__ volatile("hlt"));
		EXPECT(SIGSEGV, __asm__ volatile("int $0x55"));
		EXPECT(SIGSEGV, __asm__ volatile("mov %0, %%gs" ::"r"(0x7fff)));
		EXPECT(SIGSEGV, *(volatile long *)0x8000000000000000UL = 1);
		EXPECT(SIGSEGV, __asm__ volatile("cli"));
	}
}

void case_exceptions(void)
{
	both_ways(exceptions_once);
}

static volatile sig_atomic_t steps;

static void on_step(int sig, siginfo_t *info, void *context)
{
	steps++;
}

static void single_step_once(void)
{
	struct sigaction sa = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO | SA_RESTART};
	long nr = SYS_getppid, parent = getppid(), got = 0;

	sigaction(SIGTRAP, &sa, NULL);
	for (int i = 0; i < 50; i++) {
		steps = 0;
		__asm__ volatile("pushfq\n\t"
				 "orq %2, (%%rsp)\n\t"
				 "popfq\n\t"
				 "nop\n\t"
				 "syscall\n\t"
				 "nop\n\t"
				 "pushfq\n\t"
				 "andq %3, (%%rsp)\n\t"
				 "popfq"
				 : "=a"(got)
				 : "a"(nr), "i"(TRAP_FLAG), "i"(~TRAP_FLAG)
				 : "rcx", "r11", "memory", "cc");
		ktap_check(got == parent, "getppid under single steps: %ld", got);
		ktap_check(steps >= 5 && steps <= 7, "%d steps", (int)steps);
	}
}

void case_single_step(void)
{
	both_ways(single_step_once);
}

static volatile long traced_word;

/* What is debugged: it stops, and goes through system calls, a signal and steps. */
static void tracee(bool flagged)
{
	if (flagged) {
		nopti_on();
	}
	ktap_check(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0, "PTRACE_TRACEME");
	traced_word = 1;
	raise(SIGSTOP);
	for (int i = 0; i < 50; i++) {
		syscall(SYS_getppid);
	}
	ktap_check(traced_word == 4711, "the debugger's word is %ld", traced_word);
	if (nopti_expected == NOPTI_ON) {
		ktap_check(nopti_bits() == (flagged ? NOPTI_GET_ON : 0),
			   "the tracee has bits 0x%lx", nopti_bits());
	}
	_exit(0);
}

static int wait_stop(pid_t pid)
{
	int status;

	ktap_check(waitpid(pid, &status, 0) == pid, "waitpid: %s", strerror(errno));
	ktap_check(WIFSTOPPED(status), "the tracee is not stopped but 0x%x", status);
	return WSTOPSIG(status);
}

static void trace(bool flagged)
{
	struct user_regs_struct regs;
	long word, seen = 0;
	pid_t pid = fork();
	struct iovec ours = {&word, sizeof(word)}, theirs = {(void *)&traced_word, sizeof(word)};

	if (pid == 0) {
		tracee(flagged);
	}
	ktap_check(pid > 0 && wait_stop(pid) == SIGSTOP, "no SIGSTOP");
	ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
	ktap_check(ptrace(PTRACE_PEEKDATA, pid, &traced_word, NULL) == 1, "PTRACE_PEEKDATA");
	ktap_check(ptrace(PTRACE_POKEDATA, pid, &traced_word, 42L) == 0, "PTRACE_POKEDATA");
	ktap_check(process_vm_readv(pid, &ours, 1, &theirs, 1, 0) == sizeof(word) && word == 42,
		   "process_vm_readv");
	if (nopti_expected == NOPTI_ON) {
		/* Not somebody else's to change, whatever they may do to this task otherwise. */
		ktap_check(ptrace(TRACE_ARCH_PRCTL, pid, (long)!flagged, NOPTI_ARCH_SET) == -1 &&
				   errno == EINVAL,
			   "the debugger's ARCH_SET_NOPTI: %s", strerror(errno));
	}
	word = 4711;
	ktap_check(process_vm_writev(pid, &ours, 1, &theirs, 1, 0) == sizeof(word),
		   "process_vm_writev");
	for (int i = 0; i < 40; i++) {
		ktap_check(ptrace(PTRACE_SYSCALL, pid, NULL, NULL) == 0, "PTRACE_SYSCALL");
		ktap_check(wait_stop(pid) == (SIGTRAP | 0x80), "no system call");
		ktap_check(ptrace(PTRACE_GETREGS, pid, NULL, &regs) == 0, "PTRACE_GETREGS");
		seen += regs.orig_rax == SYS_getppid;
		/* A changed register makes the way out an IRET. */
		regs.r15 = (unsigned long long)i;
		ktap_check(ptrace(PTRACE_SETREGS, pid, NULL, &regs) == 0, "PTRACE_SETREGS");
	}
	ktap_check(seen > 30, "%ld of 40 stops were in getppid", seen);
	for (int i = 0; i < 300; i++) {
		ktap_check(ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) == 0, "PTRACE_SINGLESTEP");
		ktap_check(wait_stop(pid) == SIGTRAP, "no step");
	}
	ktap_check(ptrace(PTRACE_CONT, pid, NULL, NULL) == 0, "PTRACE_CONT");
	ktap_reap(pid, "the tracee");
}

void case_ptrace_flagged(void)
{
	trace(false);
	if (nopti_expected == NOPTI_ON) {
		trace(true);
	}
}

void case_ptrace_by_flagged(void)
{
	nopti_need();
	nopti_on();
	trace(false);
	trace(true);
}

static int perf_open(struct perf_event_attr *attr)
{
	int fd = (int)syscall(SYS_perf_event_open, attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0 && (errno == ENOENT || errno == EOPNOTSUPP || errno == ENOSYS)) {
		ktap_skip("no such perf event here: %s", strerror(errno));
	}
	ktap_check(fd >= 0, "perf_event_open: %s", strerror(errno));
	return fd;
}

static void breakpoint_once(void)
{
	static char watched[64] __attribute__((aligned(64)));
	struct perf_event_attr attr = {.type = PERF_TYPE_BREAKPOINT,
				       .size = sizeof(attr),
				       .bp_type = HW_BREAKPOINT_W,
				       .bp_addr = (uintptr_t)watched,
				       .bp_len = HW_BREAKPOINT_LEN_8,
				       .sample_period = 1};
	int fd = perf_open(&attr), ends[2];
	uint64_t hits = 0;

	ktap_check(pipe(ends) == 0, "pipe: %s", strerror(errno));
	for (int i = 0; i < 200; i++) {
		/* The kernel's own copy to user memory meets it: a debug exception in ring 0. */
		ktap_check(write(ends[1], "12345678", 8) == 8 && read(ends[0], watched, 8) == 8,
			   "pipe: %s", strerror(errno));
	}
	ktap_check(read(fd, &hits, sizeof(hits)) == sizeof(hits), "read: %s", strerror(errno));
	ktap_check(hits >= 200, "%llu hits in 200 reads", (unsigned long long)hits);
	close(fd);
	close(ends[0]);
	close(ends[1]);
}

void case_breakpoint_in_the_kernel(void)
{
	both_ways(breakpoint_once);
}

static void perf_storm_once(void)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .size = sizeof(attr),
				       .config = PERF_COUNT_SW_CPU_CLOCK,
				       .sample_period = 100000, /* ns */
				       .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN |
						      PERF_SAMPLE_REGS_USER |
						      PERF_SAMPLE_STACK_USER,
				       .sample_regs_user = 0xff,
				       .sample_stack_user = 512};
	const size_t bytes = (1 + 64) * PAGE_BYTES;
	int fd = perf_open(&attr);
	struct perf_event_mmap_page *ring =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	long long begun = guest_now_ms();
	unsigned long long produced = 0;
	long parent = getppid();

	ktap_check(ring != MAP_FAILED, "mmap of the samples: %s", strerror(errno));
	while (storm_goes_on(begun, produced / SAMPLE_BYTES_MIN)) {
		for (int i = 0; i < 50; i++) {
			ktap_check(getppid() == parent, "getppid changed");
		}
		produced = ring->data_head;
		ring->data_tail = produced;
	}
	ktap_check(produced / SAMPLE_BYTES_MIN > EVENTS_MIN, "%llu bytes of samples in %lld ms",
		   produced, guest_now_ms() - begun);
	munmap(ring, bytes);
	close(fd);
}

void case_perf_storm(void)
{
	both_ways(perf_storm_once);
}

static volatile uint32_t *apic_map(void)
{
	int fd = open("/dev/mem", O_RDWR | O_SYNC | O_CLOEXEC);
	char flags[4096], *line = NULL;
	FILE *f = fopen("/proc/cpuinfo", "re");
	void *p;

	while (f && (line = fgets(flags, sizeof(flags), f)) && strncmp(line, "flags", 5) != 0) {
		/* on */
	}
	if (f) {
		fclose(f);
	}
	if (!line || strstr(line, " x2apic")) {
		ktap_skip(
			"the interrupt controller may be in x2APIC mode, without a page to write to");
	}
	if (fd < 0) {
		ktap_skip("no /dev/mem: %s", strerror(errno));
	}
	p = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)APIC_BASE);
	close(fd);
	if (p == MAP_FAILED) {
		ktap_skip("the APIC's page cannot be mapped: %s", strerror(errno));
	}
	return p;
}

/* How many NMIs the kernel has taken on all CPUs. */
static long nmis_taken(void)
{
	char line[1024];
	long sum = -1;
	FILE *f = fopen("/proc/interrupts", "re");

	while (f && fgets(line, sizeof(line), f)) {
		char *p = strstr(line, "NMI:");

		if (p) {
			sum = 0;
			p += 4;
			for (int i = 0, used; i < 16; i++) {
				long n;

				if (sscanf(p, "%ld%n", &n, &used) != 1) {
					break;
				}
				sum += n;
				p += used;
			}
		}
	}
	if (f) {
		fclose(f);
	}
	ktap_check(sum >= 0, "/proc/interrupts has no NMI line");
	return sum;
}

static void send_nmi(volatile uint32_t *apic, uint32_t to)
{
	while (apic[APIC_ICR_LOW] & ICR_BUSY) {
		/* the last one is on its way */
	}
	apic[APIC_ICR_HIGH] = to << 24;
	apic[APIC_ICR_LOW] = APIC_NMI;
}

/*
 * The APIC's own registers, by /dev/mem: an NMI that a CPU sends itself arrives in user code, on
 * the table that user code runs on. The kernel finds no source for it, says so, and goes on.
 */
static void nmi_storm_once(void)
{
	volatile uint32_t *apic = apic_map();
	long parent = getppid(), before;
	void *code = guest_code(0, 31);

	guest_pin(0);
	before = nmis_taken();
	for (int i = 0; i < NMIS; i++) {
		send_nmi(apic, apic[APIC_ID] >> 24);
		guest_call(code, 31);
		ktap_check(getppid() == parent, "getppid changed");
	}
	ktap_check(nmis_taken() - before >= NMIS / 2, "%ld NMIs taken of %d", nmis_taken() - before,
		   NMIS);
	munmap(code, PAGE_BYTES);
	munmap((void *)apic, PAGE_BYTES);
}

void case_nmi_storm(void)
{
	both_ways(nmi_storm_once);
}

/* Where the others are is nothing that the sender chooses: entry code, too. */
static void nmi_from_another_once(void)
{
	volatile uint32_t *apic = apic_map();
	long parent = getppid(), before;
	uint32_t to;
	int pipe_to[2];
	pid_t pid;

	guest_pin(0);
	to = apic[APIC_ID] >> 24;
	ktap_check(pipe(pipe_to) == 0, "pipe: %s", strerror(errno));
	before = nmis_taken();
	pid = fork();
	if (pid == 0) {
		guest_pin(1);
		for (int i = 0; i < NMIS_ACROSS; i++) {
			send_nmi(apic, to);
			/* Those that come while one is pending are one; and another moment each
			 * time. */
			usleep((useconds_t)(500 + i * 37));
		}
		_exit(0);
	}
	ktap_check(pid > 0, "fork: %s", strerror(errno));
	for (int i = 0; waitpid(pid, NULL, WNOHANG) == 0; i++) {
		char byte = (char)i;

		ktap_check(getppid() == parent, "getppid changed");
		ktap_check(write(pipe_to[1], &byte, 1) == 1 && read(pipe_to[0], &byte, 1) == 1 &&
				   byte == (char)i,
			   "pipe: %s", strerror(errno));
		guest_int80(20, 0, 0, 0);
	}
	ktap_check(nmis_taken() - before >= NMIS_ACROSS / 4, "%ld NMIs taken of %d",
		   nmis_taken() - before, NMIS_ACROSS);
	close(pipe_to[0]);
	close(pipe_to[1]);
	munmap((void *)apic, PAGE_BYTES);
}

void case_nmi_storm_from_another_cpu(void)
{
	if (guest_cpus() < 2) {
		ktap_skip("this needs two CPUs");
	}
	both_ways(nmi_from_another_once);
}
