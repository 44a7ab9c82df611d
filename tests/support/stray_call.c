/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs a program and makes one of its threads do what a thread that was taken over would: a system
 * call that has no business there, with the arguments 1 to 6. It takes the place of the N-th wait
 * of the main thread, or of the N-th KVM_RUN of another; if it is let be, that call follows.
 *
 * usage: stray_call loop|vcpu NUMBER N PROGRAM [ARGUMENT]...
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define KVM_RUN     0xae80
#define SYSCALL_LEN 2 /* of the instruction, bytes */
#define OPTIONS     (PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL)

static struct {
	bool loop;
	long nr;
	int left;
	pid_t main, done_by; /* 0: not yet */
	struct user_regs_struct before;
} stray;

static bool is_place(pid_t tid, const struct user_regs_struct *r)
{
	if (stray.loop) {
		return tid == stray.main && r->orig_rax == SYS_epoll_wait;
	}
	return tid != stray.main && r->orig_rax == SYS_ioctl && r->rsi == KVM_RUN;
}

/* At a call's start rax is -ENOSYS. */
static void on_call(pid_t tid)
{
	struct user_regs_struct r;

	if (ptrace(PTRACE_GETREGS, tid, NULL, &r) < 0) {
		return;
	}
	if (tid == stray.done_by) {
		stray.done_by = -1;
		/* A call that a filter stopped has its number for a result; SIGSYS follows. */
		if ((long)r.rax == stray.nr) {
			return;
		}
		r = stray.before;
		r.rip -= SYSCALL_LEN;
		r.rax = r.orig_rax;
		ptrace(PTRACE_SETREGS, tid, NULL, &r);
	} else if (stray.done_by == 0 && (long)r.rax == -ENOSYS && is_place(tid, &r) &&
		   --stray.left == 0) {
		stray.done_by = tid;
		stray.before = r;
		r.orig_rax = (unsigned long)stray.nr;
		r.rdi = 1, r.rsi = 2, r.rdx = 3, r.r10 = 4, r.r8 = 5, r.r9 = 6;
		ptrace(PTRACE_SETREGS, tid, NULL, &r);
	}
}

static int follow(void)
{
	int status;
	pid_t tid;

	while ((tid = waitpid(-1, &status, __WALL)) > 0) {
		int sig = 0;

		if (WIFEXITED(status) || WIFSIGNALED(status)) {
			if (tid == stray.main) {
				return status;
			}
			continue;
		}
		if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
			on_call(tid);
		} else if (WSTOPSIG(status) != SIGTRAP && WSTOPSIG(status) != SIGSTOP) {
			sig = WSTOPSIG(status);
		}
		ptrace(PTRACE_SYSCALL, tid, NULL, sig);
	}
	return -1;
}

int main(int argc, char **argv)
{
	int status;

	if (argc < 5) {
		fputs("usage: stray_call loop|vcpu NUMBER N PROGRAM [ARGUMENT]...\n", stderr);
		return 2;
	}
	stray.loop = strcmp(argv[1], "loop") == 0;
	stray.nr = atol(argv[2]);
	stray.left = atoi(argv[3]);
	stray.main = fork();
	if (stray.main == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		execv(argv[4], argv + 4);
		_exit(127);
	}
	if (waitpid(stray.main, &status, 0) < 0 ||
	    ptrace(PTRACE_SETOPTIONS, stray.main, NULL, OPTIONS) < 0 ||
	    ptrace(PTRACE_SYSCALL, stray.main, NULL, 0) < 0) {
		perror("stray_call");
		return 2;
	}
	status = follow();
	if (WIFSIGNALED(status)) {
		signal(WTERMSIG(status), SIG_DFL);
		raise(WTERMSIG(status));
	}
	return WEXITSTATUS(status);
}
