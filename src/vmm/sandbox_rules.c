/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See sandbox_rules.h. Nothing here opens a file, makes memory executable, or starts anything. */
#include "vmm/sandbox_rules.h"

#include <asm/ioctls.h>
#include <asm/unistd.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/futex.h>
#include <linux/if_tun.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>

#include "kvm/types.h"

/* glibc's own, which no header names. */
#define FUTEX_JOIN (FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME)

#define VCPU       SANDBOX_ON_VCPU
#define LOOP       SANDBOX_ON_LOOP
#define ALL        SANDBOX_ON_ALL

#define IS(n, v)                                                       \
	{                                                              \
		.mask = UINT32_MAX, .arg = (n), .value = (uint32_t)(v) \
	}
#define IS_LONG(n, v)                                                                \
	{                                                                            \
		.mask = UINT32_MAX, .arg = (n), .value = (uint32_t)(v), .wide = true \
	}
#define OWN(n, which)                                                   \
	{                                                               \
		.mask = UINT32_MAX, .arg = (n), .kind = SANDBOX_##which \
	}

/* Features that need the same. */
#define SANDBOX_HELPERS (SANDBOX_NET | SANDBOX_SHARE)
#define SANDBOX_STREAMS (SANDBOX_NET | SANDBOX_VSOCK)
#define SANDBOX_ASKED   (SANDBOX_SOCKETS | SANDBOX_NET)
#define SANDBOX_PAUSES  (SANDBOX_CTL | SANDBOX_GDB)
#define SANDBOX_SOCKETS (SANDBOX_VSOCK | SANDBOX_CTL | SANDBOX_GDB)

#define RULE(on, feature, call, reason, ...)                         \
	{                                                            \
		(on), SANDBOX_##feature, __NR_##call, #call, reason, \
		{                                                    \
			__VA_ARGS__                                  \
		}                                                    \
	}

/* The hot ones of a class first: a filter is searched from the top. */
static const struct sandbox_rule rules[] = {
	/* Running the guest. */
	RULE(VCPU, ALWAYS, ioctl, "let the guest run, on this thread's own vCPU", OWN(0, VCPU_FD),
	     IS(1, KVM_RUN)),
	RULE(VCPU, ALWAYS, ioctl,
	     "an interrupt of a serial line, raised by the access that is due it", OWN(0, VM_FD),
	     IS(1, KVM_IRQ_LINE)),
	RULE(VCPU, ALWAYS, ioctl, "registers for a report of a hang or a panic", OWN(0, VCPU_FD),
	     IS(1, KVM_GET_REGS)),
	RULE(VCPU, ALWAYS, ioctl, "registers for a report of a hang or a panic", OWN(0, VCPU_FD),
	     IS(1, KVM_GET_SREGS)),
	RULE(VCPU, ALWAYS, ioctl, "is the vCPU halted", OWN(0, VCPU_FD), IS(1, KVM_GET_MP_STATE)),
	RULE(VCPU, ALWAYS, ioctl, "a guest that does not end is asked where it is", OWN(0, VCPU_FD),
	     IS(1, KVM_NMI)),
	RULE(VCPU, ALWAYS, getrusage, "switches of this thread, at the edges of a batch",
	     IS(0, RUSAGE_THREAD)),
	RULE(VCPU, ALWAYS, exit, "the thread ends"),
	RULE(ALL, ALWAYS, madvise, "memory that is not used now: a stack, a trace",
	     IS(2, MADV_DONTNEED)),
	RULE(VCPU, ALWAYS, write, "an eventfd wakes the loop: output, a mark, the end",
	     IS_LONG(2, sizeof(uint64_t))),
	RULE(VCPU, ALWAYS, write, "what is to be said on stderr", IS(0, 2)),

	/* Both: memory, locks, clocks, signals. */
	RULE(ALL, ALWAYS, pread64, "KVM's statistics and the thread's run times"),
	RULE(ALL, ALWAYS, futex, "locks, semaphores and conditions wait",
	     IS(1, FUTEX_WAIT_PRIVATE)),
	RULE(ALL, ALWAYS, futex, "and wake", IS(1, FUTEX_WAKE_PRIVATE)),
	RULE(LOOP, ALWAYS, futex, "a wait with a deadline, of the monotonic clock",
	     IS(1, FUTEX_WAIT_BITSET_PRIVATE)),
	RULE(ALL, ALWAYS, futex, "a condition's wait",
	     IS(1, FUTEX_WAIT_BITSET_PRIVATE | FUTEX_CLOCK_REALTIME)),
	RULE(LOOP, ALWAYS, futex, "waiting for a thread's end", IS(1, FUTEX_JOIN)),
	RULE(ALL, ALWAYS, clock_gettime,
	     "the time, where the vDSO cannot tell it; threads' CPU time"),
	RULE(LOOP, ALWAYS, restart_syscall, "a wait with a deadline goes on after SIGCONT"),
	RULE(ALL, ALWAYS, rt_sigreturn, "the handler of the signal that stops vCPUs returns"),
	RULE(ALL, ALWAYS, rt_sigprocmask, "glibc, around a thread's end and raise(3)"),
	RULE(ALL, ALWAYS, getpid, "glibc, for raise(3) and pthread_kill(3)"),
	RULE(ALL, ALWAYS, gettid, "glibc, for raise(3)"),
	RULE(ALL, ALWAYS, tgkill, "a signal to a thread of our own: stop, job control, abort",
	     OWN(0, PID)),
	RULE(ALL, ALWAYS, rt_sigaction,
	     "a deadly signal takes its effect after the terminal is back", IS(0, SIGSEGV)),
	RULE(ALL, ALWAYS, rt_sigaction, "likewise", IS(0, SIGBUS)),
	RULE(ALL, ALWAYS, rt_sigaction, "likewise", IS(0, SIGILL)),
	RULE(ALL, ALWAYS, rt_sigaction, "likewise", IS(0, SIGFPE)),
	RULE(ALL, ALWAYS, rt_sigaction, "likewise", IS(0, SIGABRT)),
	RULE(ALL, ALWAYS, ioctl, "is it a terminal, and how is it set", IS(1, TCGETS)),
	RULE(ALL, ALWAYS, ioctl, "the terminal is made raw, and given back as it was",
	     IS(1, TCSETS)),
	RULE(ALL, ALWAYS, ioctl, "is it ours to set", IS(1, TIOCGPGRP)),
	RULE(ALL, ALWAYS, getpgrp, "is the terminal ours to set"),
	RULE(ALL, ALWAYS, exit_group, "the process ends, with its status"),

	/* The loop: its descriptors. */
	RULE(LOOP, ALWAYS, epoll_wait, "the loop itself"),
	RULE(LOOP, ALWAYS, epoll_ctl, "sources of the loop come", IS(1, EPOLL_CTL_ADD)),
	RULE(LOOP, ALWAYS, epoll_ctl, "pause", IS(1, EPOLL_CTL_MOD)),
	RULE(LOOP, ALWAYS, epoll_ctl, "and go", IS(1, EPOLL_CTL_DEL)),
	RULE(LOOP, ALWAYS, timerfd_settime, "timers are set", IS(1, TFD_TIMER_ABSTIME)),
	RULE(LOOP, ALWAYS, read, "events, timers, signals, what is typed"),
	RULE(LOOP, ALWAYS, write, "the guest's output, the record, messages"),
	RULE(LOOP, ALWAYS, poll, "has an output room, without waiting"),
	RULE(LOOP, ALWAYS, close, "what was opened is closed"),
	RULE(LOOP, ALWAYS, lseek, "the start of the status file, and of the kernel's symbols"),
	RULE(LOOP, ALWAYS, ftruncate, "the status file gets its last text"),
	RULE(LOOP, ALWAYS, newfstatat, "the size of that file; what kind stdout is"),
	RULE(LOOP, ALWAYS, fcntl, "is a descriptor open", IS(1, F_GETFD)),

	/* The loop: memory. */
	RULE(LOOP, ALWAYS, brk, "malloc"),
	RULE(LOOP, ALWAYS, mmap, "malloc, of large pieces", IS(2, PROT_READ | PROT_WRITE),
	     IS(3, MAP_PRIVATE | MAP_ANONYMOUS)),
	RULE(LOOP, ALWAYS, mmap, "the kernel's symbols, for reading", IS(2, PROT_READ),
	     IS(3, MAP_PRIVATE)),
	RULE(LOOP, ALWAYS, mremap, "realloc, of large pieces", IS(3, MREMAP_MAYMOVE)),
	RULE(LOOP, ALWAYS, munmap, "memory is given back, the guest's at the end"),

	/* The loop: the machine, when its vCPUs have ended, and before. */
	RULE(LOOP, ALWAYS, ioctl, "an interrupt of a serial line, when something was typed",
	     OWN(0, VM_FD), IS(1, KVM_IRQ_LINE)),
	RULE(LOOP, ALWAYS, ioctl, "registers of a vCPU whose thread has ended",
	     IS(1, KVM_GET_REGS)),
	RULE(LOOP, ALWAYS, ioctl, "registers of a vCPU whose thread has ended",
	     IS(1, KVM_GET_SREGS)),
	RULE(LOOP, ALWAYS, ioctl, "was it halted", IS(1, KVM_GET_MP_STATE)),
	RULE(LOOP, ALWAYS, ioctl, "KVM's abilities, for the record", OWN(0, KVM_FD),
	     IS(1, KVM_CHECK_EXTENSION)),

	/* The loop: signals. */
	RULE(LOOP, ALWAYS, rt_sigaction, "who deals with a violation: asked, not changed",
	     IS(0, SIGSYS), IS_LONG(1, 0)),
	RULE(LOOP, ALWAYS, rt_sigaction, "signals are given back at the end", IS(0, SIGTTIN)),
	RULE(LOOP, ALWAYS, rt_sigaction, "likewise", IS(0, SIGTTOU)),
	RULE(LOOP, ALWAYS, rt_sigaction, "likewise", IS(0, SIGPIPE)),
	RULE(LOOP, ALWAYS, rt_sigaction, "a signal that ended the run ends us too", IS(0, SIGINT)),
	RULE(LOOP, ALWAYS, rt_sigaction, "likewise", IS(0, SIGTERM)),
	RULE(LOOP, ALWAYS, rt_sigaction, "likewise", IS(0, SIGHUP)),
	RULE(LOOP, ALWAYS, rt_sigaction, "likewise", IS(0, SIGQUIT)),
	RULE(LOOP, ALWAYS, wait4, "a helper process has ended"),

	/* Devices that a machine may have. */
	RULE(LOOP, DISKS, preadv, "the guest reads a disk"),
	RULE(LOOP, DISKS, pwritev, "the guest writes a disk"),
	RULE(LOOP, DISKS, fdatasync, "the guest flushes a disk"),
	RULE(LOOP, DISKS, fallocate, "the guest discards sectors of an image",
	     IS(1, FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE)),
	RULE(LOOP, DISKS, fallocate, "the guest zeroes sectors of an image",
	     IS(1, FALLOC_FL_KEEP_SIZE | FALLOC_FL_ZERO_RANGE)),
	RULE(LOOP, DISKS, ioctl, "the guest discards sectors of a block device", IS(1, BLKDISCARD)),
	RULE(LOOP, DISKS, ioctl, "the guest zeroes sectors of a block device", IS(1, BLKZEROOUT)),
	RULE(LOOP, RNG, getrandom, "the guest's entropy", IS(2, 0)),
	RULE(LOOP, VSOCK, socket, "a connection of the guest's to a program of the host",
	     IS(0, AF_UNIX), IS(1, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC), IS(2, 0)),
	RULE(LOOP, VSOCK, connect, "to the socket at the path of --vsock and the port"),
	RULE(LOOP, VSOCK, recvmsg, "what the program sends", IS(2, MSG_DONTWAIT)),
	RULE(LOOP, STREAMS, sendmsg, "what the guest sends to a program or to passt",
	     IS(2, MSG_DONTWAIT | MSG_NOSIGNAL)),
	RULE(LOOP, VSOCK, shutdown, "the guest sends no more", IS(1, SHUT_WR)),

	/* A share: the guest's driver starts and resets it from a vCPU, too. */
	RULE(ALL, SHARE, sendmsg, "virtiofsd is told of the guest's queues", IS(2, MSG_NOSIGNAL)),
	RULE(ALL, SHARE, recvfrom, "its answer", IS(3, 0)),
	RULE(ALL, SHARE, shutdown, "one that does not answer is given up", IS(1, SHUT_RDWR)),
	RULE(LOOP, SHARE, clock_nanosleep, "it may take a moment to end", IS(0, CLOCK_REALTIME),
	     IS(1, 0)),
	RULE(LOOP, HELPERS, pidfd_send_signal, "a helper ends, and it alone is reached",
	     IS(1, SIGKILL), IS(3, 0)),

	/* Networks. */
	RULE(LOOP, NET, readv, "a frame for the guest, from a tap"),
	RULE(LOOP, NET, writev, "a frame of the guest's, to a tap"),
	RULE(LOOP, NET, ioctl, "what the guest's driver leaves to the tap", IS(1, TUNSETOFFLOAD)),

	/* Sockets that this user's programs connect to. */
	RULE(LOOP, SOCKETS, accept4, "a program connects", IS(3, SOCK_NONBLOCK | SOCK_CLOEXEC)),
	RULE(LOOP, ASKED, recvfrom, "what it asks; a frame from passt", IS(3, MSG_DONTWAIT)),
	RULE(LOOP, ASKED, sendto, "and is answered; the rest of a frame",
	     IS(3, MSG_DONTWAIT | MSG_NOSIGNAL)),
	RULE(LOOP, SOCKETS, unlink, "the socket goes with the run"),

	/* --core, whose folder and file are open. */
	RULE(LOOP, CORE, pwrite64, "the guest's memory goes into the file"),
	RULE(LOOP, CORE, linkat, "the file gets a name", IS(4, AT_SYMLINK_FOLLOW)),
	RULE(LOOP, CORE, renameat, "which is that of --core once it is whole"),
	RULE(LOOP, CORE, unlinkat, "one that is not whole goes", IS(2, 0)),

	/* ringside ctl, and a debugger. */
	RULE(LOOP, PAUSES, ioctl, "the guest's clock knows of the pause", IS(1, KVM_KVMCLOCK_CTRL)),
	RULE(LOOP, GDB, setsockopt, "packets go out at once", IS(1, IPPROTO_TCP),
	     IS(2, TCP_NODELAY)),
	RULE(LOOP, GDB, ioctl, "GDB sets registers", IS(1, KVM_SET_REGS)),
	RULE(LOOP, GDB, ioctl, "likewise", IS(1, KVM_SET_SREGS)),
	RULE(LOOP, GDB, ioctl, "and reads and sets those of numbers", IS(1, KVM_GET_XSAVE)),
	RULE(LOOP, GDB, ioctl, "likewise", IS(1, KVM_SET_XSAVE)),
	RULE(LOOP, GDB, ioctl, "the segment bases", IS(1, KVM_GET_MSRS)),
	RULE(LOOP, GDB, ioctl, "likewise", IS(1, KVM_SET_MSRS)),
	RULE(LOOP, GDB, ioctl, "breakpoints and steps", IS(1, KVM_SET_GUEST_DEBUG)),
	RULE(VCPU, GDB, ioctl, "a breakpoint of the guest's own goes back to it", OWN(0, VCPU_FD),
	     IS(1, KVM_GET_VCPU_EVENTS)),
	RULE(VCPU, GDB, ioctl, "a breakpoint of the guest's own goes back to it", OWN(0, VCPU_FD),
	     IS(1, KVM_SET_VCPU_EVENTS)),
};

/**
 * sandbox_rules() - the table
 * @ret_count: gets the number of rules
 *
 * Return: the rules, in the order of their weight.
 * Context: any thread.
 */
const struct sandbox_rule *sandbox_rules(size_t *ret_count)
{
	*ret_count = sizeof(rules) / sizeof(rules[0]);
	return rules;
}
