/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What user code's own page table maps, read through the debug hook of the test image
 * (pti_dump in debugfs): usage: test_isolation none|off|on. The kernel is unmapped for whoever has
 * no flag, mapped for who has, and unmapped again after clearing.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ktap.h"
#include "nopti.h"

#define FOLDER      "/sys/kernel/debug/pti_dump/"
#define PRESENT     1UL
#define USER        4UL
#define HUGE        0x80UL
#define NX          (1UL << 63)
#define PGD_SHIFT   39
#define PROGRAM     "/tests/test_isolation"
#define STATUS_SAYS 100 /* + 1 when the kernel is mapped */

struct walk {
	unsigned long pgd, p4d, pud, pmd, pte;
};

static unsigned long kernel_text;

static struct walk walk_in(const char *file, unsigned long address)
{
	struct walk w = {0};
	char path[128], text[256];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), FOLDER "%s", file);
	fd = open(path, O_RDWR | O_CLOEXEC);
	ktap_check(fd >= 0, "%s: %s", path, strerror(errno));
	n = snprintf(text, sizeof(text), "%lx", address);
	ktap_check(write(fd, text, (size_t)n) == n, "write to %s: %s", path, strerror(errno));
	n = pread(fd, text, sizeof(text) - 1, 0);
	ktap_check(n > 0, "read of %s: %s", path, strerror(errno));
	close(fd);
	text[n] = '\0';
	ktap_check(sscanf(text, "pgd %lx p4d %lx pud %lx pmd %lx pte %lx", &w.pgd, &w.p4d, &w.pud,
			  &w.pmd, &w.pte) == 5,
		   "%s says '%s'", path, text);
	return w;
}

static bool mapped(const struct walk *w)
{
	if (!(w->pgd & PRESENT) || !(w->p4d & PRESENT) || !(w->pud & PRESENT)) {
		return false;
	}
	if (w->pud & HUGE) {
		return true;
	}
	return (w->pmd & PRESENT) && ((w->pmd & HUGE) || (w->pte & PRESENT));
}

static bool user_maps(unsigned long address)
{
	struct walk w = walk_in("user_table", address);

	return mapped(&w);
}

/* Symbols of the kernel, and whether user code's own table has to map them for the unflagged. */
static struct {
	const char *name;
	bool entry;
	unsigned long address;
} symbols[] = {{"commit_creds"}, {"init_task"}, {"saved_command_line"}, {"entry_SYSCALL_64", true}};

#define SYMBOLS (sizeof(symbols) / sizeof(symbols[0]))

static void read_symbols(void)
{
	unsigned long address;
	char line[256], type, what[128];
	FILE *f = fopen("/proc/kallsyms", "re");

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx %c %127s", &address, &type, what) != 3) {
			continue;
		}
		for (size_t i = 0; i < SYMBOLS; i++) {
			if (strcmp(what, symbols[i].name) == 0) {
				symbols[i].address = address;
			}
		}
	}
	if (f) {
		fclose(f);
	}
	for (size_t i = 0; i < SYMBOLS; i++) {
		ktap_check(symbols[i].address, "no symbol %s", symbols[i].name);
	}
}

/* Only on a test image; a kernel that should have the hook and has none is a failure. */
static void need_hook(void)
{
	char line[64] = "";
	FILE *f;

	nopti_need();
	f = fopen(FOLDER "kernel_text", "re");
	if (!f && errno == ENOENT) {
		ktap_skip("this image has no pti_dump");
	}
	ktap_check(f && fgets(line, sizeof(line), f), FOLDER "kernel_text: %s", strerror(errno));
	fclose(f);
	ktap_check(sscanf(line, "kernel_text %lx", &kernel_text) == 1 ||
			   sscanf(line, "%lx", &kernel_text) == 1,
		   "kernel_text says '%s'", line);
	ktap_check(kernel_text > 0xffffffff80000000UL, "kernel_text is 0x%lx", kernel_text);
}

/* All that has to hold in one state. */
static void expect(bool flagged, const char *when)
{
	static int data;

	ktap_check(user_maps(kernel_text) == flagged, "%s: kernel text is %s", when,
		   flagged ? "unmapped" : "mapped");
	for (size_t i = 0; i < SYMBOLS; i++) {
		bool mapped = flagged || symbols[i].entry;

		ktap_check(user_maps(symbols[i].address) == mapped, "%s: %s is %s", when,
			   symbols[i].name, mapped ? "unmapped" : "mapped");
	}
	ktap_check(user_maps((uintptr_t)&expect) && user_maps((uintptr_t)&data),
		   "%s: user memory is unmapped", when);
}

static void case_unflagged(void)
{
	need_hook();
	expect(false, "at the start");
}

static void case_flagged(void)
{
	need_hook();
	nopti_on();
	expect(true, "after setting");
}

static void case_cleared(void)
{
	need_hook();
	for (int i = 0; i < 10; i++) {
		nopti_on();
		expect(true, "after setting");
		nopti_off();
		expect(false, "after clearing");
	}
}

/* The kernel is the kernel's: whoever runs in ring 3 has no user bit on the way to it. */
static void case_kernel_is_no_user_memory(void)
{
	struct walk w;

	need_hook();
	nopti_on();
	w = walk_in("user_table", kernel_text);
	ktap_check(mapped(&w), "kernel text is unmapped");
	ktap_check(!(w.pmd & HUGE ? w.pmd & USER : w.pte & USER),
		   "kernel text has the user bit: pmd 0x%lx pte 0x%lx", w.pmd, w.pte);
}

static void case_child(void)
{
	pid_t pid;

	need_hook();
	nopti_on();
	pid = fork();
	if (pid == 0) {
		expect(false, "in a forked child");
		_exit(0);
	}
	ktap_reap(pid, "the child");
	expect(true, "in the parent");
}

static void *in_thread(void *arg)
{
	expect(true, "in a thread");
	return NULL;
}

static void case_thread(void)
{
	pthread_t thread;

	need_hook();
	nopti_on();
	ktap_check(pthread_create(&thread, NULL, in_thread, NULL) == 0, "pthread_create");
	pthread_join(thread, NULL);
	expect(true, "after the thread");
}

static void case_sibling(void)
{
	int to[2], from[2];
	char byte = 0;
	pid_t pid;

	need_hook();
	ktap_check(pipe(to) == 0 && pipe(from) == 0, "pipe: %s", strerror(errno));
	pid = fork();
	/* Each closes the other's ends, so that the end of one is seen by the other. */
	close(pid == 0 ? to[1] : to[0]);
	close(pid == 0 ? from[0] : from[1]);
	if (pid == 0) {
		for (int i = 0; i < 4; i++) {
			ktap_check(read(to[0], &byte, 1) == 1, "read");
			expect(false, "in the sibling");
			ktap_check(write(from[1], &byte, 1) == 1, "write");
		}
		_exit(0);
	}
	for (int i = 0; i < 4; i++) {
		if (i % 2 == 0) {
			nopti_on();
		} else {
			nopti_off();
		}
		ktap_check(write(to[1], &byte, 1) == 1 && read(from[0], &byte, 1) == 1, "pipe: %s",
			   strerror(errno));
	}
	ktap_reap(pid, "the sibling");
}

static void case_exec(void)
{
	static const unsigned long values[] = {NOPTI_SET_OFF, NOPTI_SET_ON, NOPTI_SET_EXEC};

	need_hook();
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		int status, expected = STATUS_SAYS + (values[i] == NOPTI_SET_EXEC);
		pid_t pid = fork();

		if (pid == 0) {
			ktap_check(nopti_set(values[i]) == 0, "ARCH_SET_NOPTI %lu", values[i]);
			execl(PROGRAM, PROGRAM, "mapped", (char *)NULL);
			_exit(1);
		}
		ktap_check(pid > 0 && waitpid(pid, &status, 0) == pid, "fork: %s", strerror(errno));
		ktap_check(WIFEXITED(status) && WEXITSTATUS(status) == expected,
			   "after ARCH_SET_NOPTI %lu and exec the status is 0x%x", values[i],
			   status);
	}
}

/* The entry for user code in the table of user mode, and in the kernel's half of the pair. */
static void expect_nx(unsigned long address, bool flagged, const char *when)
{
	struct walk user = walk_in("user_table", address);

	ktap_check(mapped(&user), "%s: 0x%lx is unmapped", when, address);
	ktap_check(!(user.pgd & NX), "%s: 0x%lx: NX in the user table's entry 0x%lx", when, address,
		   user.pgd);
	if (access(FOLDER "kernel_table", F_OK) == 0) {
		struct walk kernel = walk_in("kernel_table", address);

		ktap_check((kernel.pgd & PRESENT) && !(kernel.pgd & NX) == flagged,
			   "%s: 0x%lx: the kernel table's entry is 0x%lx", when, address,
			   kernel.pgd);
	}
}

static void case_nx(void)
{
	/* Entries of the top table from before, during and after; each made when its time comes. */
	unsigned long at[4] = {(uintptr_t)&expect};

	need_hook();
	if (access(FOLDER "kernel_table", F_OK) != 0) {
		ktap_diag("no kernel_table: only the user half is looked at");
	}
	for (int round = 0; round < 3; round++) {
		const bool flagged = round == 1;
		static const char *const when[] = {"before", "while flagged", "after clearing"};

		if (round > 0) {
			if (flagged) {
				nopti_on();
			} else {
				nopti_off();
			}
		}
		at[round + 1] = (5UL + (unsigned long)round) << PGD_SHIFT;
		guest_code(at[round + 1], 1);
		for (int i = 0; i <= round + 1; i++) {
			expect_nx(at[i], flagged, when[round]);
			guest_call(i ? (void *)at[i] : guest_code(0, 1), 1);
		}
	}
}

static const struct ktap_case cases[] = {
	{"the kernel is unmapped for an unflagged task", case_unflagged},
	{"it is mapped for a flagged task", case_flagged},
	{"it is unmapped again after clearing", case_cleared},
	{"what is mapped is no user memory", case_kernel_is_no_user_memory},
	{"a forked child is isolated", case_child},
	{"a thread is not", case_thread},
	{"a sibling stays isolated", case_sibling},
	{"an executed program is isolated unless requested", case_exec},
	{"NX of the user's PGD entries", case_nx},
};

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "mapped") == 0) {
		nopti_expected = NOPTI_ON;
		need_hook();
		return STATUS_SAYS + user_maps(kernel_text);
	}
	if (!nopti_arguments(argc, argv)) {
		fprintf(stderr, "usage: %s none|off|on\n", argv[0]);
		return 2;
	}
	if (nopti_expected == NOPTI_ON && access(FOLDER, F_OK) == 0) {
		read_symbols(); /* once for all cases */
	}
	return ktap_run(cases, sizeof(cases) / sizeof(cases[0]));
}
