/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See sandbox.h. The tables that sandbox_gen.c made are filled in on the stack of each thread. */
#include "vmm/sandbox.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "vmm/sandbox_filters.h"

#ifndef SYS_SECCOMP
#define SYS_SECCOMP 1 /* si_code; <asm/siginfo.h>, which glibc's headers exclude */
#endif

static const char *const mode_names[] = {
	[SANDBOX_OFF] = "off",
	[SANDBOX_LOG] = "log",
	[SANDBOX_TRAP] = "trap",
	[SANDBOX_KILL] = "kill",
};

/* What the handler of SIGSYS goes by: it can find it in no other way. Written before any filter. */
static struct {
	enum sandbox_mode mode;
	int status;
	void (*before_end)(void);
} on_violation;
static _Thread_local enum sandbox_class thread_class;

/**
 * sandbox_mode_parse() - what a name means
 * @name: "kill", "trap", "log" or "off"
 * @ret: set on success
 *
 * Return: 0 or −EINVAL. Context: any thread.
 */
int sandbox_mode_parse(const char *name, enum sandbox_mode *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(mode_names); i++) {
		if (strcmp(mode_names[i], name) == 0) {
			*ret = (enum sandbox_mode)i;
			return 0;
		}
	}
	return -EINVAL;
}

/**
 * sandbox_mode_name() - the name of a mode
 * @mode: which
 *
 * Return: static text. Context: any thread.
 */
const char *sandbox_mode_name(enum sandbox_mode mode)
{
	return mode_names[mode];
}

/* A line that is put together without the C library, which may be in the middle of anything. */
struct line {
	char text[320];
	size_t len;
};

static void put(struct line *l, const char *text)
{
	while (*text && l->len < sizeof(l->text)) {
		l->text[l->len++] = *text++;
	}
}

static void put_number(struct line *l, uint64_t value, unsigned int base)
{
	char digits[24];
	size_t at = sizeof(digits) - 1;

	digits[at] = '\0';
	do {
		digits[--at] = "0123456789abcdef"[value % base];
		value /= base;
	} while (value);
	put(l, base == 16 ? "0x" : "");
	put(l, digits + at);
}

static const char *call_name(int nr)
{
	bool known = nr >= 0 && (size_t)nr < ARRAY_SIZE(sandbox_call_names);

	return known && sandbox_call_names[nr] ? sandbox_call_names[nr] : "a call without a name";
}

static void say(const siginfo_t *info, const ucontext_t *uc)
{
	static const int args[] = {REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8, REG_R9};
	static const char *const who[] = {
		[SANDBOX_VCPU] = "a vCPU's thread", [SANDBOX_LOOP] = "the loop's thread"};
	bool ours = info->si_arch == AUDIT_ARCH_X86_64;
	struct line l = {.len = 0};

	put(&l, "ringside: error: seccomp: ");
	put(&l, who[thread_class]);
	put(&l, " made the system call ");
	put(&l, ours ? call_name(info->si_syscall) : "of another architecture");
	put(&l, " (");
	put_number(&l, (unsigned int)info->si_syscall, 10);
	put(&l, "), which is not in its list; arguments");
	for (size_t i = 0; i < ARRAY_SIZE(args); i++) {
		put(&l, " ");
		put_number(&l, (uint64_t)uc->uc_mcontext.gregs[args[i]], 16);
	}
	put(&l, "\n");
	if (write(STDERR_FILENO, l.text, l.len) < 0) {
		return; /* nowhere is left to say so */
	}
}

/*
 * Only what signal-safety(7) allows, and what the list of every class has. A call of this handler
 * that is not in the list finds the signal's action reset, and so ends the process as well.
 */
static void on_sigsys(int sig, siginfo_t *info, void *context)
{
	if (on_violation.before_end) {
		on_violation.before_end();
	}
	if (info->si_code == SYS_SECCOMP) {
		say(info, context);
	}
	if (on_violation.mode == SANDBOX_KILL && info->si_code == SYS_SECCOMP) {
		/* The call itself: a sanitizer does more in _exit(), by calls of its own. */
		syscall(SYS_exit_group, on_violation.status);
	}
	raise(sig);
}

static uint32_t slot_value(const struct sandbox_config *cfg, const struct sandbox_slot *s,
			   int vcpu_fd)
{
	if (s->features != SANDBOX_ALWAYS && !(s->features & cfg->features)) {
		return s->kind == SANDBOX_CALL ? SANDBOX_NO_CALL : SANDBOX_NO_VALUE;
	}
	switch (s->kind) {
	case SANDBOX_PID:
		return (uint32_t)getpid();
	case SANDBOX_VCPU_FD:
		return (uint32_t)vcpu_fd;
	case SANDBOX_VM_FD:
		return (uint32_t)cfg->vm_fd;
	case SANDBOX_KVM_FD:
		return (uint32_t)cfg->kvm_fd;
	default:
		return s->value;
	}
}

static void fill_in(const struct sandbox_config *cfg, struct sock_filter *insns, size_t count,
		    int vcpu_fd)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t slot = insns[i].k - SANDBOX_SLOT_BASE;

		if (insns[i].code == (BPF_JMP | BPF_JEQ | BPF_K) &&
		    slot < ARRAY_SIZE(sandbox_slots)) {
			insns[i].k = slot_value(cfg, &sandbox_slots[slot], vcpu_fd);
		} else if (insns[i].code == (BPF_RET | BPF_K) && insns[i].k == SECCOMP_RET_TRAP &&
			   cfg->mode == SANDBOX_LOG) {
			insns[i].k = SECCOMP_RET_LOG;
		}
	}
}

/**
 * sandbox_prepare() - what must be done once, before there are threads to filter
 * @cfg: how
 * @e: gets one line
 *
 * Takes the rights to gain new ones from the process, for good, and installs the handler.
 *
 * Return: 0; −EOPNOTSUPP when this kernel has no filters; another −errno.
 * Context: the owner, before any vCPU's thread is started.
 */
int sandbox_prepare(const struct sandbox_config *cfg, struct err *e)
{
	struct sigaction act = {.sa_sigaction = on_sigsys,
				.sa_flags = SA_SIGINFO | SA_NODEFER | (int)SA_RESETHAND};
	uint32_t action = cfg->mode == SANDBOX_LOG ? SECCOMP_RET_LOG : SECCOMP_RET_TRAP;

	if (cfg->mode == SANDBOX_OFF) {
		return 0;
	}
	if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) < 0) {
		return err_set(e, -EOPNOTSUPP,
			       "--seccomp %s: this kernel has no such filters "
			       "(CONFIG_SECCOMP_FILTER); --seccomp off runs without",
			       sandbox_mode_name(cfg->mode));
	}
	on_violation.mode = cfg->mode;
	on_violation.status = cfg->status;
	on_violation.before_end = cfg->before_end;
	if (sigaction(SIGSYS, &act, NULL) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) {
		return err_errno(e, -errno, "--seccomp %s", sandbox_mode_name(cfg->mode));
	}
	return 0;
}

/**
 * sandbox_enter() - put the filter on the calling thread, for good
 * @cfg: as given to sandbox_prepare(), with the machine's descriptors
 * @class: what the thread does from here
 * @vcpu_fd: of its vCPU, or −1
 *
 * The filter does not slow down the guest by the mitigations that it would bring by itself: those
 * guard a process from code that it runs for others, and ringside runs none of the guest's.
 *
 * Return: 0 or −errno.
 * Context: the thread.
 */
int sandbox_enter(const struct sandbox_config *cfg, enum sandbox_class class, int vcpu_fd)
{
	static const struct {
		const struct sock_filter *insns;
		size_t count;
	} filters[SANDBOX_CLASSES][2] = {
		[SANDBOX_VCPU] = {{sandbox_vcpu_filter, ARRAY_SIZE(sandbox_vcpu_filter)},
				  {sandbox_vcpu_plain, ARRAY_SIZE(sandbox_vcpu_plain)}},
		[SANDBOX_LOOP] = {{sandbox_loop_filter, ARRAY_SIZE(sandbox_loop_filter)},
				  {sandbox_loop_plain, ARRAY_SIZE(sandbox_loop_plain)}},
	};
	const bool plain = cfg->features == SANDBOX_ALWAYS;
	struct sock_filter insns[SANDBOX_INSNS_MAX];
	struct sock_fprog prog = {.len = (unsigned short)filters[class][plain].count,
				  .filter = insns};

	if (cfg->mode == SANDBOX_OFF) {
		return 0;
	}
	thread_class = class;
	memcpy(insns, filters[class][plain].insns, prog.len * sizeof(*insns));
	fill_in(cfg, insns, prog.len, vcpu_fd);
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW,
		       &prog) < 0
		       ? -errno
		       : 0;
}
