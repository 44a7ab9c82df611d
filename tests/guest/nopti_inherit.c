/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who has the flag: threads, children, programs that are executed, and never one with more rights.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "ktap.h"
#include "nopti.h"
#include "nopti_cases.h"

#define THREADS     8
#define SELF        "/proc/self/exe"
#define PLAIN_USER  1000
#define PROGRAM     "/tests/test_nopti"
#define PROGRAM_32  "/tests/test_compat32"
#define EXIT_ROUNDS 40

/* The bits that a child finds after it executed @file; negative errno as a status is a failure. */
static unsigned long bits_after_exec(const char *file, bool request)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		int r = request ? nopti_set(NOPTI_SET_EXEC) : nopti_set(NOPTI_SET_ON);

		ktap_check(r == 0, "ARCH_SET_NOPTI in a child: %s", strerror(-r));
		ktap_check(false, "execve %s: %s", file, strerror((int)-guest_exec_bits(file)));
	}
	ktap_check(pid > 0 && waitpid(pid, &status, 0) == pid, "fork: %s", strerror(errno));
	ktap_check(WIFEXITED(status) && WEXITSTATUS(status) >= NOPTI_GET_STATUS,
		   "%s ended with 0x%x", file, status);
	return (unsigned long)WEXITSTATUS(status) - NOPTI_GET_STATUS;
}

static void *thread_has_flag(void *arg)
{
	int r;

	for (int i = 0; i < 100; i++) {
		ktap_check(nopti_bits() == NOPTI_GET_ON, "a thread has bits 0x%lx", nopti_bits());
		sched_yield();
	}
	r = nopti_set(NOPTI_SET_ON);
	ktap_check(r == 0 || r == -EBUSY, "ARCH_SET_NOPTI 1 in a thread: %d", r);
	guest_call(arg, 5);
	return NULL;
}

void case_threads_inherit(void)
{
	pthread_t thread[THREADS];
	void *code = guest_code(0, 5);

	nopti_need();
	nopti_on();
	for (int i = 0; i < THREADS; i++) {
		ktap_check(pthread_create(&thread[i], NULL, thread_has_flag, code) == 0,
			   "pthread_create");
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(thread[i], NULL);
	}
	ktap_check(nopti_bits() == NOPTI_GET_ON, "bits are 0x%lx after threads", nopti_bits());
}

void case_fork_clears(void)
{
	void *code = guest_code(0, 6);

	nopti_need();
	nopti_on();
	for (int i = 0; i < 50; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			ktap_check(nopti_bits() == 0, "a child has bits 0x%lx", nopti_bits());
			guest_call(code, 6);
			if (i % 2) {
				nopti_on(); /* and can have its own */
				guest_call(code, 6);
			}
			_exit(0);
		}
		ktap_check(pid > 0, "fork: %s", strerror(errno));
		ktap_reap(pid, "the child");
		ktap_check(nopti_bits() == NOPTI_GET_ON, "the parent has bits 0x%lx", nopti_bits());
		guest_call(code, 6);
	}
}

void case_vfork(void)
{
	volatile unsigned long bits = ~0UL;
	volatile int busy = 0;
	int status = 0;
	pid_t pid;

	nopti_need();
	nopti_on();
	pid = vfork();
	if (pid == 0) {
		unsigned long b = ~0UL;

		/* It runs in the parent's address space, whose table it has to use. */
		nopti_get(&b);
		bits = b;
		busy = nopti_set(NOPTI_SET_OFF);
		guest_exec_bits(SELF);
		_exit(1);
	}
	ktap_check(pid > 0 && waitpid(pid, &status, 0) == pid, "vfork: %s", strerror(errno));
	ktap_check(bits == NOPTI_GET_ON, "the vforked child had bits 0x%lx", bits);
	ktap_check(busy == -EBUSY, "clearing in the vforked child: %d", busy);
	ktap_check(WIFEXITED(status) && WEXITSTATUS(status) == NOPTI_GET_STATUS,
		   "after its exec the status was 0x%x", status);
	ktap_check(nopti_bits() == NOPTI_GET_ON, "the parent has bits 0x%lx", nopti_bits());
}

static int process_has_flag(void *arg)
{
	return nopti_bits() == NOPTI_GET_ON ? 0 : 1;
}

void case_shared_mm_inherits(void)
{
	nopti_need();
	nopti_on();
	for (int i = 0; i < 20; i++) {
		ktap_reap(guest_spawn_vm(process_has_flag, NULL, 0),
			  "a process in the same address space");
	}
}

void case_exec_clears(void)
{
	unsigned long bits;

	nopti_need();
	bits = bits_after_exec(SELF, false);
	ktap_check(bits == 0, "bits are 0x%lx after exec", bits);
}

static void *thread_execs(void *arg)
{
	ktap_check(nopti_bits() == NOPTI_GET_ON, "the thread has bits 0x%lx", nopti_bits());
	guest_exec_bits(SELF);
	_exit(1);
}

void case_exec_of_a_thread_clears(void)
{
	int status;
	pid_t pid;

	nopti_need();
	pid = fork();
	if (pid == 0) {
		pthread_t thread;

		nopti_on();
		ktap_check(pthread_create(&thread, NULL, thread_execs, NULL) == 0,
			   "pthread_create");
		for (;;) {
			pause();
		}
	}
	ktap_check(pid > 0 && waitpid(pid, &status, 0) == pid, "fork: %s", strerror(errno));
	ktap_check(WIFEXITED(status) && WEXITSTATUS(status) == NOPTI_GET_STATUS,
		   "the status was 0x%x", status);
}

void case_request_survives_one_exec(void)
{
	static const char path[] = "/tests/test_nopti_exec";
	unsigned long bits;
	int status;
	pid_t pid;

	nopti_need();
	bits = bits_after_exec(SELF, true);
	ktap_check(bits == NOPTI_GET_ON, "bits are 0x%lx after one exec", bits);

	/* The wrapper asks for its own next program; what that one executes has nothing. */
	pid = fork();
	if (pid == 0) {
		execl(path, path, path, "--again", PROGRAM, "get", (char *)NULL);
		_exit(1);
	}
	ktap_check(pid > 0 && waitpid(pid, &status, 0) == pid, "fork: %s", strerror(errno));
	ktap_check(WIFEXITED(status) && WEXITSTATUS(status) == NOPTI_GET_STATUS,
		   "the status was 0x%x after two execs", status);
}

void case_request_is_not_inherited_by_fork(void)
{
	int r, status;
	pid_t pid;

	nopti_need();
	r = nopti_set(NOPTI_SET_EXEC);
	ktap_check(r == 0, "ARCH_SET_NOPTI 2: %s", strerror(-r));
	pid = fork();
	if (pid == 0) {
		ktap_check(nopti_bits() == 0, "a child has bits 0x%lx", nopti_bits());
		guest_exec_bits(SELF);
		_exit(1);
	}
	ktap_check(pid > 0 && waitpid(pid, &status, 0) == pid, "fork: %s", strerror(errno));
	ktap_check(WIFEXITED(status) && WEXITSTATUS(status) == NOPTI_GET_STATUS,
		   "the child's status after exec was 0x%x", status);
	ktap_check(nopti_bits() == NOPTI_GET_EXEC, "the parent has bits 0x%lx", nopti_bits());
}

void case_request_survives_a_failed_exec(void)
{
	int r;

	nopti_need();
	r = nopti_set(NOPTI_SET_EXEC);
	ktap_check(r == 0, "ARCH_SET_NOPTI 2: %s", strerror(-r));
	ktap_check(guest_exec_bits("/nonesuch") == -ENOENT, "execve of nothing");
	ktap_check(guest_exec_bits("/proc/self/status") < 0, "execve of no program");
	ktap_check(nopti_bits() == NOPTI_GET_EXEC, "bits are 0x%lx", nopti_bits());
}

void case_request_is_taken_back(void)
{
	int r, status;
	pid_t pid;

	nopti_need();
	pid = fork();
	if (pid == 0) {
		r = nopti_set(NOPTI_SET_EXEC);
		ktap_check(r == 0, "ARCH_SET_NOPTI 2: %s", strerror(-r));
		nopti_off();
		guest_exec_bits(SELF);
		_exit(1);
	}
	ktap_check(pid > 0 && waitpid(pid, &status, 0) == pid, "fork: %s", strerror(errno));
	ktap_check(WIFEXITED(status) && WEXITSTATUS(status) == NOPTI_GET_STATUS,
		   "the status after exec was 0x%x", status);
}

void case_request_into_32_bit(void)
{
	/* The program itself is right on every kernel. */
	for (int flagged = 0; flagged < (nopti_expected == NOPTI_ON ? 2 : 1); flagged++) {
		const char *word = nopti_expected != NOPTI_ON ? "n" : flagged ? "1" : "0";
		pid_t pid = fork();

		if (pid == 0) {
			int r = flagged ? nopti_set(NOPTI_SET_EXEC) : 0;

			ktap_check(r == 0, "ARCH_SET_NOPTI 2: %s", strerror(-r));
			execl(PROGRAM_32, PROGRAM_32, word, (char *)NULL);
			_exit(1);
		}
		ktap_check(pid > 0, "fork: %s", strerror(errno));
		ktap_reap(pid, "the 32-bit program");
	}
}

static void copy_self(const char *to)
{
	char data[65536];
	int in = open(SELF, O_RDONLY | O_CLOEXEC);
	int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	ssize_t n;

	ktap_check(in >= 0 && out >= 0, "a copy at %s: %s", to, strerror(errno));
	while ((n = read(in, data, sizeof(data))) > 0) {
		ktap_check(write(out, data, (size_t)n) == n, "%s: %s", to, strerror(errno));
	}
	close(in);
	close(out);
}

/* Become a plain user who still has CAP_SYS_RAWIO. */
static void become_plain_user(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {
		{.effective = 1U << CAP_SYS_RAWIO, .permitted = 1U << CAP_SYS_RAWIO}};

	ktap_check(prctl(PR_SET_KEEPCAPS, 1) == 0 &&
			   setresgid(PLAIN_USER, PLAIN_USER, PLAIN_USER) == 0 &&
			   setresuid(PLAIN_USER, PLAIN_USER, PLAIN_USER) == 0 &&
			   syscall(SYS_capset, &head, data) == 0,
		   "giving up root: %s", strerror(errno));
	prctl(PR_SET_DUMPABLE, 1);
}

static unsigned long bits_after_exec_as_user(const char *file)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		int r;

		become_plain_user();
		r = nopti_set(NOPTI_SET_EXEC);
		ktap_check(r == 0, "ARCH_SET_NOPTI 2 with CAP_SYS_RAWIO alone: %s", strerror(-r));
		ktap_check(false, "execve %s: %s", file, strerror((int)-guest_exec_bits(file)));
	}
	ktap_check(pid > 0 && waitpid(pid, &status, 0) == pid, "fork: %s", strerror(errno));
	ktap_check(WIFEXITED(status) && WEXITSTATUS(status) >= NOPTI_GET_STATUS,
		   "%s ended with 0x%x", file, status);
	return (unsigned long)WEXITSTATUS(status) - NOPTI_GET_STATUS;
}

void case_no_setuid_exec(void)
{
	static const char path[] = "/nopti-setuid";
	static const struct {
		uid_t owner;
		mode_t mode;
		bool as_user;
		unsigned long bits;
		const char *what;
	} rows[] = {
		{0, 0755, true, NOPTI_GET_ON, "a user's exec of a plain file"},
		{0, 04755, true, 0, "a user's exec of a setuid root file"},
		{0, 02755, true, 0, "a user's exec of a setgid root file"},
		{PLAIN_USER, 04755, false, 0, "root's exec of a setuid user file"},
		{PLAIN_USER, 02755, false, 0, "root's exec of a setgid user file"},
	};

	nopti_need();
	copy_self(path);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		unsigned long bits;

		ktap_check(chown(path, rows[i].owner, rows[i].owner) == 0 &&
				   chmod(path, rows[i].mode) == 0,
			   "%s: %s", path, strerror(errno));
		bits = rows[i].as_user ? bits_after_exec_as_user(path)
				       : bits_after_exec(path, true);
		ktap_check(bits == rows[i].bits, "%s left bits 0x%lx", rows[i].what, bits);
	}
	unlink(path);
}

void case_no_file_caps_exec(void)
{
	static const char folder[] = "/nopti-caps", path[] = "/nopti-caps/program";
	const struct vfs_cap_data caps = {.magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE,
					  .data[0].permitted = 1U << CAP_NET_RAW};
	unsigned long bits;

	nopti_need();
	/* The root is a ramfs, and those under /dev and /tmp are mounted nosuid. */
	mkdir(folder, 0755);
	ktap_check(mount("tmpfs", folder, "tmpfs", 0, "mode=0755") == 0, "mount: %s",
		   strerror(errno));
	copy_self(path);
	bits = bits_after_exec_as_user(path);
	ktap_check(bits == NOPTI_GET_ON, "bits are 0x%lx without file capabilities", bits);
	if (setxattr(path, "security.capability", &caps, XATTR_CAPS_SZ_2, 0) < 0) {
		int e = errno;

		umount(folder);
		ktap_skip("no file system here keeps file capabilities: %s", strerror(e));
	}
	bits = bits_after_exec_as_user(path);
	umount(folder);
	ktap_check(bits == 0, "bits are 0x%lx after exec of a file with capabilities", bits);
}

static void *thread_ends_process(void *arg)
{
	usleep(500);
	_exit(0);
}

static void *thread_spins(void *arg)
{
	for (;;) {
		getppid();
	}
	return NULL;
}

static void end_somehow(int how)
{
	volatile int *volatile nothing = (volatile int *)8;
	pthread_t thread;

	nopti_on();
	switch (how) {
	case 0:
		_exit(0);
	case 1:
		raise(SIGKILL);
		break;
	case 2:
		abort();
	case 3:
		*nothing = 1;
		break;
	case 4: /* code where there is none */
		((void (*)(void))(uintptr_t)nothing)();
		break;
	default:
		pthread_create(&thread, NULL, thread_spins, NULL);
		pthread_create(&thread, NULL, thread_ends_process, NULL);
		for (;;) {
			getppid();
		}
	}
}

void case_end_of_a_flagged_process(void)
{
	static const int signals[] = {0, SIGKILL, SIGABRT, SIGSEGV, SIGSEGV, 0};
	const int ways = sizeof(signals) / sizeof(signals[0]);

	nopti_need();
	for (int i = 0; i < EXIT_ROUNDS; i++) {
		int status, how = i % ways;
		pid_t pid = fork();

		if (pid == 0) {
			end_somehow(how);
			_exit(99);
		}
		ktap_check(pid > 0 && waitpid(pid, &status, 0) == pid, "fork: %s", strerror(errno));
		ktap_check(signals[how] ? WIFSIGNALED(status) && WTERMSIG(status) == signals[how]
					: WIFEXITED(status) && WEXITSTATUS(status) == 0,
			   "way %d ended with status 0x%x", how, status);
	}
}
