/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Misbehaves in the way that its argument names: tests/zoo.py has what a run makes of each. What
 * has to be done in the kernel is: code of a few bytes takes the place of do_syslog(), which
 * nothing else calls, by /dev/mem, and syslog(2) runs it.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096u

#define die(...)                              \
	do {                                  \
		fprintf(stderr, __VA_ARGS__); \
		exit(99);                     \
	} while (0)

/* In the kernel. */

static uint64_t symbol(const char *name)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	char line[512], found[256], type;
	unsigned long long address;

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%llx %c %255s", &address, &type, found) == 3 &&
		    strcmp(found, name) == 0) {
			fclose(f);
			return address;
		}
	}
	die("zoo: the kernel has no symbol %s\n", name);
}

static uint64_t physical(uint64_t address)
{
	FILE *f = fopen("/proc/iomem", "re");
	unsigned long long begin;
	char line[256];

	while (f && fgets(line, sizeof(line), f)) {
		if (strstr(line, "Kernel code") && sscanf(line, "%llx", &begin) == 1) {
			fclose(f);
			return begin + (address - symbol("_text"));
		}
	}
	die("zoo: /proc/iomem has no kernel code\n");
}

/* Two pages of the kernel's text, from the one that @address is in. */
static uint8_t *window(uint64_t address)
{
	uint64_t at = physical(address);
	int fd = open("/dev/mem", O_RDWR | O_CLOEXEC);
	uint8_t *p = fd < 0 ? MAP_FAILED
			    : mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
				   (off_t)(at & ~(uint64_t)(PAGE - 1)));

	if (p == MAP_FAILED) {
		die("zoo: /dev/mem: %s\n", strerror(errno));
	}
	return p + at % PAGE;
}

static void plant(const void *code, size_t len)
{
	memcpy(window(symbol("do_syslog")), code, len);
}

static void run_in_kernel(const void *code, size_t len)
{
	plant(code, len);
	syscall(SYS_syslog, 0, NULL, 0);
}

#define CODE(...)                                            \
	do {                                                 \
		static const uint8_t code[] = {__VA_ARGS__}; \
		run_in_kernel(code, sizeof(code));           \
	} while (0)

static void halt_irqs_off(void)
{
	CODE(0xfa, 0xf4, 0xeb, 0xfd); /* cli; hlt; again */
}

static void spin_irqs_off(void)
{
	CODE(0xfa, 0xeb, 0xfe); /* cli; jmp to itself */
}

static void spin_irqs_on(void)
{
	CODE(0xfb, 0xeb, 0xfe);
}

static void triple_fault(void)
{
	CODE(0x48, 0x83, 0xec, 0x10,                   /* sub $16, %rsp */
	     0x48, 0xc7, 0x04, 0x24, 0, 0, 0, 0,       /* movq $0, (%rsp) */
	     0x48, 0xc7, 0x44, 0x24, 0x08, 0, 0, 0, 0, /* movq $0, 8(%rsp) */
	     0x0f, 0x01, 0x1c, 0x24,                   /* lidt (%rsp) */
	     0x0f, 0x0b);                              /* ud2 */
}

static void no_page_table(void)
{
	CODE(0x31, 0xc0, 0x0f, 0x22, 0xd8); /* %cr3 = 0 */
}

static void null_pointer(void)
{
	CODE(0x31, 0xc0, 0x8b, 0x00, 0xc3);
}

static void wild_pointer(void)
{
	CODE(0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0xad, 0xde, 0x8b, 0x00, 0xc3);
}

static void divide(void)
{
	CODE(0x31, 0xd2, 0x31, 0xc9, 0xf7, 0xf1, 0xc3);
}

static void invalid_opcode(void)
{
	CODE(0x0f, 0x0b, 0xc3);
}

static void no_stack(void)
{
	CODE(0x31, 0xe4, 0x50); /* %esp = 0; push */
}

static uint8_t *put(uint8_t *p, uint8_t a, uint8_t b, uint64_t value)
{
	*p++ = a;
	*p++ = b;
	memcpy(p, &value, 8);
	return p + 8;
}

/* Code that calls a function of the kernel with up to four arguments and returns. */
static size_t call_code(uint8_t *code, const char *function, const uint64_t *args)
{
	static const uint8_t movabs[][2] = {{0x48, 0xbf}, {0x48, 0xbe}, {0x48, 0xba}, {0x48, 0xb9}};
	uint8_t *p = code;

	for (size_t i = 0; i < 4; i++) {
		p = put(p, movabs[i][0], movabs[i][1], args[i]);
	}
	memcpy(p, "\x45\x31\xc0\x45\x31\xc9", 6); /* %r8 and %r9 = 0 */
	p = put(p + 6, 0x48, 0xb8, symbol(function));
	memcpy(p, "\x48\x83\xec\x08\xff\xd0\x48\x83\xc4\x08\x31\xc0\xc3", 13);
	return (size_t)(p + 13 - code);
}

/* @text stands in the kernel, behind the code; returns the code's length with it. */
static size_t panic_code(uint8_t *code, const char *text)
{
	uint64_t args[4] = {symbol("do_syslog") + 128};

	call_code(code, "panic", args);
	strcpy((char *)code + 128, text);
	return 128 + strlen(text) + 1;
}

static void panic(void)
{
	uint8_t code[256] = {0};

	run_in_kernel(code, panic_code(code, "zoo"));
}

/* The first bytes of the scheduler's tick are replaced at once: it may come at any time. */
static void replace_tick(uint64_t bytes, unsigned int len)
{
	uint8_t *tick = window(symbol("sched_tick"));

	if (len == 2) {
		*(volatile uint16_t *)tick = (uint16_t)bytes;
	} else {
		*(volatile uint64_t *)tick = bytes;
	}
	for (;;) {
	}
}

static void panic_in_interrupt(void)
{
	uint8_t code[256] = {0};
	int64_t to = (int64_t)(symbol("do_syslog") - (symbol("sched_tick") + 5));

	plant(code, panic_code(code, "zoo in interrupt"));
	replace_tick(UINT64_C(0xe9) | (uint64_t)(uint32_t)to << 8, 8);
}

static void oops_in_interrupt(void)
{
	replace_tick(0x0b0f, 2);
}

/* What WARN() ends in. */
static void warn(void)
{
	uint8_t code[256] = {0};
	uint64_t args[4] = {symbol("do_syslog") + 128, 7, symbol("do_syslog"), 9};

	call_code(code, "__warn", args);
	strcpy((char *)code + 128, "zoo.c");
	run_in_kernel(code, 128 + 6);
}

/* In user space. */

/* What nothing is mapped at, and what the compiler does not know. */
static void segfault(void)
{
	volatile int *nowhere = (volatile int *)(uintptr_t)getpagesize();

	*nowhere = 0;
}

static void out_of_memory(void)
{
	for (;;) {
		char *p = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			       -1, 0);

		for (size_t i = 0; p != MAP_FAILED && i < 1 << 20; i += PAGE) {
			p[i] = 1;
		}
	}
}

/* The agent's next instruction is none. */
static void kill_agent(void)
{
	FILE *maps = fopen("/proc/1/maps", "re");
	int fd = open("/proc/1/mem", O_RDWR | O_CLOEXEC);
	unsigned long begin, end;
	char line[512], page[PAGE];

	memset(page, 0xf4, sizeof(page));
	while (maps && fgets(line, sizeof(line), maps)) {
		if (!strstr(line, " r-xp ") || strstr(line, "[v") ||
		    sscanf(line, "%lx-%lx", &begin, &end) != 2) {
			continue;
		}
		for (; begin < end; begin += PAGE) {
			if (pwrite(fd, page, PAGE, (off_t)begin) != PAGE) {
				die("zoo: /proc/1/mem: %s\n", strerror(errno));
			}
		}
	}
}

static void stop_agent(void)
{
	if (ptrace(PTRACE_SEIZE, 1, 0, 0) < 0 || ptrace(PTRACE_INTERRUPT, 1, 0, 0) < 0) {
		die("zoo: ptrace: %s\n", strerror(errno));
	}
	for (;;) {
		pause();
	}
}

/* All of the CPU, before all others, and without the kernel's throttle. */
static void starve_agent(void)
{
	const struct sched_param p = {.sched_priority = 99};
	FILE *f = fopen("/proc/sys/kernel/sched_rt_runtime_us", "we");

	if (!f || fputs("-1", f) < 0 || fclose(f) != 0 ||
	    sched_setscheduler(0, SCHED_FIFO, &p) < 0) {
		die("zoo: real time: %s\n", strerror(errno));
	}
	for (;;) {
	}
}

/* A parent of vfork() waits where no signal but SIGKILL ends it. */
static void uninterruptible(void)
{
	if (vfork() == 0) {
		for (;;) {
			pause();
		}
	}
}

static void fork_bomb(void)
{
	const struct rlimit limit = {.rlim_cur = 20, .rlim_max = 20};
	unsigned int made = 0;
	pid_t pid;

	if (setrlimit(RLIMIT_NPROC, &limit) < 0 || setresuid(1000, 1000, 1000) < 0) {
		die("zoo: limits: %s\n", strerror(errno));
	}
	while ((pid = fork()) > 0) {
		made++;
	}
	if (pid == 0) {
		for (;;) {
			pause();
		}
	}
	printf("%u children, then: %s\n", made, strerror(errno));
	exit(errno == EAGAIN ? 3 : 4);
}

static const struct {
	const char *name;
	void (*fn)(void);
} animals[] = {
	{"halt_irqs_off", halt_irqs_off},
	{"spin_irqs_off", spin_irqs_off},
	{"spin_irqs_on", spin_irqs_on},
	{"triple_fault", triple_fault},
	{"no_page_table", no_page_table},
	{"null_pointer", null_pointer},
	{"wild_pointer", wild_pointer},
	{"divide", divide},
	{"invalid_opcode", invalid_opcode},
	{"no_stack", no_stack},
	{"panic", panic},
	{"panic_in_interrupt", panic_in_interrupt},
	{"oops_in_interrupt", oops_in_interrupt},
	{"warn", warn},
	{"segfault", segfault},
	{"abort", abort},
	{"out_of_memory", out_of_memory},
	{"kill_agent", kill_agent},
	{"stop_agent", stop_agent},
	{"starve_agent", starve_agent},
	{"uninterruptible", uninterruptible},
	{"fork_bomb", fork_bomb},
};

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";

	if (getpid() == 1) {
		if (getenv("ZOO_REBOOTS")) {
			reboot(RB_AUTOBOOT);
		}
		segfault();
	}
	for (size_t i = 0; i < sizeof(animals) / sizeof(animals[0]); i++) {
		if (strcmp(animals[i].name, name) == 0) {
			animals[i].fn();
			return 0;
		}
	}
	fprintf(stderr, "zoo: no animal '%s'\n", name);
	return 2;
}
