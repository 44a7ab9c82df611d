/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See remote.h. The other process is stopped by ptrace(2) and made to execute the SYSCALL
 * instruction that it waits in once more, with our arguments; then it gets its registers back and
 * runs on. To it the wait was interrupted, as by a debugger.
 */
#include "remote.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>

#include "abi/nopti.h"

#define SYSCALL_BYTES 2
#define SYSCALL_WORD  0x050f    /* 0f 05, read as a little-endian number */
#define RED_ZONE      128       /* x86-64 psABI 3.2.2: bytes below the stack pointer in use */
#define SCRATCH_ABOVE 512       /* bytes below it that are nobody's */
#define UNTOUCHED     (~0x5aUL) /* no answer has these bits */

_Static_assert(SCRATCH_ABOVE > RED_ZONE + sizeof(unsigned long), "it must be below the red zone");

static int wait_for_stop(pid_t pid, struct err *e)
{
	int status;

	while (waitpid(pid, &status, __WALL) < 0) {
		if (errno != EINTR) {
			return err_errno(e, -errno, "waitpid for %d", pid);
		}
	}
	return WIFSTOPPED(status) ? 0
				  : err_set(e, -ESRCH, "process %d ended while it was asked", pid);
}

/* In a process that is stopped behind a SYSCALL instruction; @saved are its registers. */
static int call_there(pid_t pid, const struct user_regs_struct *saved, unsigned long *ret_bits,
		      struct err *e)
{
	struct user_regs_struct regs = *saved;
	unsigned long at = saved->rsp - SCRATCH_ABOVE;
	long word;
	int r;

	errno = 0;
	word = ptrace(PTRACE_PEEKTEXT, pid, saved->rip - SYSCALL_BYTES, NULL);
	if (errno != 0 || (word & 0xffff) != SYSCALL_WORD) {
		return err_set(e, -EAGAIN, "process %d is not in a system call", pid);
	}
	regs.rip -= SYSCALL_BYTES;
	regs.rax = SYS_arch_prctl;
	regs.orig_rax = (unsigned long)-1; /* nothing to restart */
	regs.rdi = NOPTI_ARCH_GET;
	regs.rsi = at;
	if (ptrace(PTRACE_POKEDATA, pid, at, UNTOUCHED) < 0 ||
	    ptrace(PTRACE_SETREGS, pid, NULL, &regs) < 0 ||
	    ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) < 0) {
		return err_errno(e, -errno, "ptrace of %d", pid);
	}
	r = wait_for_stop(pid, e);
	if (r < 0) {
		return r;
	}
	if (ptrace(PTRACE_GETREGS, pid, NULL, &regs) < 0) {
		return err_errno(e, -errno, "ptrace of %d", pid);
	}
	if (regs.rax != 0) {
		return err_errno(e, (int)regs.rax, "arch_prctl(ARCH_GET_NOPTI) in process %d", pid);
	}
	errno = 0;
	word = ptrace(PTRACE_PEEKDATA, pid, at, NULL);
	if (errno != 0 || (unsigned long)word == UNTOUCHED) {
		return err_set(e, -EIO, "process %d did not answer", pid);
	}
	*ret_bits = (unsigned long)word;
	return 0;
}

/**
 * remote_nopti_get() - what arch_prctl(ARCH_GET_NOPTI) says in another process
 * @pid: a process of one thread, or the thread; it must wait in a system call that may be
 * interrupted
 * @ret_bits: set on success, NOPTI_GET_*
 * @e: set on failure
 *
 * Return: 0, -EAGAIN when it is not in a system call, -EINVAL where its kernel does not know the
 * call, -ESRCH when it ended, or the errno of ptrace(2).
 * Context: any thread, which waits for the other to stop; needs CAP_SYS_PTRACE or a child.
 */
int remote_nopti_get(pid_t pid, unsigned long *ret_bits, struct err *e)
{
	struct user_regs_struct saved;
	int r;

	if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) < 0) {
		return err_errno(e, -errno, "ptrace(PTRACE_SEIZE) of %d", pid);
	}
	if (ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) < 0) {
		r = err_errno(e, -errno, "ptrace(PTRACE_INTERRUPT) of %d", pid);
		ptrace(PTRACE_DETACH, pid, NULL, NULL);
		return r;
	}
	r = wait_for_stop(pid, e);
	if (r < 0) {
		return r;
	}
	if (ptrace(PTRACE_GETREGS, pid, NULL, &saved) < 0) {
		r = err_errno(e, -errno, "ptrace of %d", pid);
	} else {
		r = call_there(pid, &saved, ret_bits, e);
		ptrace(PTRACE_SETREGS, pid, NULL, &saved);
	}
	ptrace(PTRACE_DETACH, pid, NULL, NULL);
	return r;
}
