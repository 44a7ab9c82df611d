/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * first_run: how long a program takes from its execve() to its first KVM_RUN.
 *
 * usage: first_run COMMAND [ARG]...
 *
 * The program is traced, but stopped by nothing that it does often: a seccomp filter lets every
 * system call through at full speed and reports one, ioctl(fd, KVM_RUN). (New threads and execve
 * itself stop it for some microseconds each.) On that first report the time is taken and the
 * program is killed. Two numbers are printed, both nanoseconds: the time that went by, and how long
 * the program's threads were on a CPU in it. Exit status: 0, or 1 with a reason when the program
 * ended before, or had not come so far after 60 seconds.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define KVM_RUN_REQUEST 0xae80u /* _IO(0xAE, 0x80), linux/kvm.h */
#define TIMEOUT_SECONDS 60
#define ARG1_LOW        (offsetof(struct seccomp_data, args) + 8)

static volatile sig_atomic_t timed_out;

static void on_alarm(int signal)
{
	timed_out = 1;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int install_filter(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 0, 5),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, ARG1_LOW),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, KVM_RUN_REQUEST, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) {
		return -errno;
	}
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0 ? -errno : 0;
}

/* Stops itself once, so that the tracer can set its options and start the clock. */
static void be_the_program(char **argv)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int r;

	if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0) {
		perror("first_run: /dev/null");
		_exit(125);
	}
	r = install_filter();
	if (r < 0) {
		fprintf(stderr, "first_run: no seccomp filter: %s\n", strerror(-r));
		_exit(125);
	}
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0) {
		perror("first_run: ptrace");
		_exit(125);
	}
	raise(SIGSTOP);
	execvp(argv[0], argv);
	fprintf(stderr, "first_run: %s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

/* CPU time of all threads of a process, those that ended included. */
static uint64_t cpu_ns(pid_t process)
{
	struct timespec t;
	clockid_t clock;

	if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &t) < 0) {
		return 0;
	}
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The signal to hand on to a thread that stopped with @status: none for the tracer's own stops. */
static int signal_to_deliver(int status)
{
	int sig = WSTOPSIG(status);

	if (status >> 16 || sig == SIGSTOP || sig == SIGTRAP) {
		return 0;
	}
	return sig;
}

/* Return: 0 with the time, or 1 after a message. */
static int follow(pid_t child, uint64_t start, uint64_t *ret_ns)
{
	for (;;) {
		int status;
		pid_t pid = waitpid(-1, &status, __WALL);

		if (pid < 0 && errno == EINTR && !timed_out) {
			continue;
		}
		if (timed_out) {
			fprintf(stderr, "first_run: no KVM_RUN within %d s\n", TIMEOUT_SECONDS);
			return 1;
		}
		if (pid < 0) {
			perror("first_run: waitpid");
			return 1;
		}
		if (WIFSTOPPED(status)) {
			if (status >> 8 == (SIGTRAP | PTRACE_EVENT_SECCOMP << 8)) {
				*ret_ns = now_ns() - start;
				return 0;
			}
			ptrace(PTRACE_CONT, pid, NULL, signal_to_deliver(status));
		} else if (pid == child) {
			fprintf(stderr, "first_run: the program ended without KVM_RUN (%s %d)\n",
				WIFEXITED(status) ? "status" : "signal",
				WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
			return 1;
		}
	}
}

int main(int argc, char **argv)
{
	const struct sigaction act = {.sa_handler = on_alarm};
	uint64_t start, cpu_start, ns = 0;
	int status, r;
	pid_t child;

	if (argc < 2) {
		fprintf(stderr, "usage: first_run COMMAND [ARG]...\n");
		return 2;
	}
	child = fork();
	if (child < 0) {
		perror("first_run: fork");
		return 1;
	}
	if (child == 0) {
		be_the_program(argv + 1);
	}
	if (waitpid(child, &status, 0) < 0 || !WIFSTOPPED(status)) {
		return 1; /* it has said why */
	}
	if (ptrace(PTRACE_SETOPTIONS, child, NULL,
		   PTRACE_O_EXITKILL | PTRACE_O_TRACESECCOMP | PTRACE_O_TRACEEXEC |
			   PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK) < 0) {
		perror("first_run: ptrace");
		kill(child, SIGKILL);
		return 1;
	}
	sigaction(SIGALRM, &act, NULL);
	alarm(TIMEOUT_SECONDS);
	cpu_start = cpu_ns(child);
	start = now_ns();
	ptrace(PTRACE_CONT, child, NULL, 0);
	r = follow(child, start, &ns);
	if (r == 0) {
		printf("%llu %llu\n", (unsigned long long)ns,
		       (unsigned long long)(cpu_ns(child) - cpu_start));
	}
	kill(child, SIGKILL);
	return r;
}
