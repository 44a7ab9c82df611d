/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See process.h. */
#include "base/process.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

/**
 * process_die_with() - have the kernel end this process when the one that made it is gone
 * @parent: what that one's getpid() was before fork(2)
 *
 * Whatever ended it: nothing is left, not even after SIGKILL. It lasts over execve(2), but for a
 * program that has more rights than its caller or changes its user. Where the parent is gone
 * already, this does not return.
 *
 * Context: a new process, before it starts a program; safe after fork(2). The signal is tied to the
 * thread that forked, which has to be the one that stays.
 */
void process_die_with(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent) {
		_exit(127);
	}
}
