/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See outcome.h. Pure; any thread. */
#include "engine/outcome.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"

static void set(struct outcome *o, int status, enum outcome_kind kind, const char *fmt, ...)
	__printf(4, 5);

static void set(struct outcome *o, int status, enum outcome_kind kind, const char *fmt, ...)
{
	va_list ap;

	o->status = status;
	o->kind = kind;
	o->report = status >= OUTCOME_PANIC && status <= OUTCOME_KVM_ERROR;
	va_start(ap, fmt);
	vsnprintf(o->text, sizeof(o->text), fmt, ap);
	va_end(ap);
}

static void set_guest_status(struct outcome *o, int status)
{
	o->has_guest_status = true;
	o->guest_status = status;
	if (status < 0 || status > OUTCOME_GUEST_MAX) {
		set(o, OUTCOME_GUEST_MAX, OUTCOME_KIND_EXIT,
		    "the guest's status %d is given as %d: those above are ours", status,
		    OUTCOME_GUEST_MAX);
	} else {
		set(o, status, OUTCOME_KIND_EXIT, "the guest ended with status %d", status);
	}
}

/* What is wrong on our side of the machine says nothing about the guest, so it comes first. */
static bool decide_host(const struct outcome_facts *f, struct outcome *o)
{
	if (f->signal) {
		set(o, OUTCOME_SIGNAL_BASE + f->signal, OUTCOME_KIND_SIGNAL,
		    "ended by signal %d (%s)", f->signal, strsignal(f->signal));
	} else if (f->output_error[0]) {
		set(o, OUTCOME_USAGE, OUTCOME_KIND_OUTPUT, "%s", f->output_error);
	} else if (f->internal_error[0]) {
		set(o, OUTCOME_VMM_FAULT, OUTCOME_KIND_INTERNAL, "%s", f->internal_error);
	} else {
		return false;
	}
	return true;
}

/* What the guest itself said, by its console or its agent. */
static bool decide_said(const struct outcome_facts *f, struct outcome *o)
{
	if (f->oops_seen && !f->panic_seen) {
		set(o, OUTCOME_OOPS, OUTCOME_KIND_OOPS, "the guest kernel said: %s",
		    f->console_text);
	} else if (f->cpus_seen && f->cpus_asked && f->cpus_seen != f->cpus_asked) {
		set(o, OUTCOME_BOOT, OUTCOME_KIND_BOOT, "the guest brought up %u of %u vCPUs",
		    f->cpus_seen, f->cpus_asked);
	} else if (f->exit_seen) {
		set_guest_status(o, f->exit_signal && !f->exit_status
					    ? OUTCOME_SIGNAL_BASE + f->exit_signal
					    : f->exit_status);
		if (f->exit_signal) {
			snprintf(o->text, sizeof(o->text),
				 "the command in the guest was ended by signal %d (%s)",
				 f->exit_signal, strsignal(f->exit_signal));
		}
	} else if (f->panic_seen && f->boot_panic) {
		set(o, OUTCOME_BOOT, OUTCOME_KIND_BOOT, "the guest did not boot: %s",
		    f->console_text);
	} else if (f->panic_seen) {
		set(o, OUTCOME_PANIC, OUTCOME_KIND_PANIC, "the guest kernel panicked: %s",
		    f->console_text);
	} else if (f->agent_error[0]) {
		set(o, OUTCOME_NO_STATUS, OUTCOME_KIND_NO_STATUS,
		    "the guest's agent gave up, so there is no status: %s", f->agent_error);
	} else {
		return false;
	}
	return true;
}

static bool decide_clock(const struct outcome_facts *f, struct outcome *o)
{
	double s = (double)f->timeout_ns / (double)NS_PER_SEC;

	if (f->silent) {
		char exits[64] = "";

		if (f->has_exits) {
			snprintf(exits, sizeof(exits), "; exits of its vCPUs meanwhile: %llu",
				 (unsigned long long)f->exits);
		}
		set(o, OUTCOME_HANG, OUTCOME_KIND_HANG,
		    "the guest hangs: its agent was silent for the %g s of --hang-timeout%s", s,
		    exits);
	} else if (f->timed_out && f->alive) {
		set(o, OUTCOME_TIMEOUT, OUTCOME_KIND_TIMEOUT,
		    "the guest did not end within the %g s of --timeout; it is slow, and does not "
		    "hang: its agent was heard %.1f s before",
		    s, (double)f->silent_ns / (double)NS_PER_SEC);
	} else if (f->timed_out) {
		set(o, OUTCOME_TIMEOUT, OUTCOME_KIND_TIMEOUT,
		    "the guest did not end within the %g s of --timeout", s);
	} else if (f->boot_timed_out) {
		set(o, OUTCOME_BOOT, OUTCOME_KIND_BOOT,
		    "the guest's user space did not start within the %g s of --boot-timeout", s);
	} else {
		return false;
	}
	return true;
}

static void decide_stop(const struct outcome_facts *f, struct outcome *o)
{
	static const char *const how[] = {
		[STOP_NONE] = "fell silent",   [STOP_EXIT_PORT] = "wrote the exit port",
		[STOP_RESET] = "reset itself", [STOP_POWER_OFF] = "switched itself off",
		[STOP_HALTED] = "halted",      [STOP_SPIN] = "spins",
	};
	const char *detail = f->stop_text[0] ? ": " : "";

	switch (f->stop) {
	case STOP_TRIPLE_FAULT:
		set(o, OUTCOME_KVM_ERROR, OUTCOME_KIND_KVM_ERROR, "the guest triple-faulted%s%s",
		    detail, f->stop_text);
		return;
	case STOP_KVM_ERROR:
		set(o, OUTCOME_KVM_ERROR, OUTCOME_KIND_KVM_ERROR, "KVM cannot go on%s%s", detail,
		    f->stop_text);
		return;
	case STOP_NOT_STARTED:
		set(o, OUTCOME_USAGE, OUTCOME_KIND_USAGE, "the virtual machine does not start%s%s",
		    detail, f->stop_text);
		return;
	case STOP_BACKEND_DIED:
		set(o, OUTCOME_VMM_FAULT, OUTCOME_KIND_INTERNAL, "the virtual machine is gone%s%s",
		    detail, f->stop_text);
		return;
	case STOP_SPIN:
		set(o, OUTCOME_HANG, OUTCOME_KIND_HANG, "the guest spins without progress%s%s",
		    detail, f->stop_text);
		return;
	case STOP_HALTED:
		if (!f->halted_seen) {
			set(o, OUTCOME_HANG, OUTCOME_KIND_HANG,
			    "every vCPU halted and nothing can wake one%s%s", detail, f->stop_text);
			return;
		}
		break;
	default:
		break;
	}
	if (f->job) {
		set(o, OUTCOME_NO_STATUS, OUTCOME_KIND_NO_STATUS,
		    "the guest %s %s and left no status%s%s", how[f->stop],
		    f->user_seen ? "while the command ran" : "before its user space started",
		    detail, f->stop_text);
	} else if (f->stop == STOP_EXIT_PORT) {
		set_guest_status(o, (int)f->stop_value);
	} else {
		set(o, 0, OUTCOME_KIND_EXIT, "the guest %s", how[f->stop]);
	}
}

/**
 * outcome_decide() - judge a run that has ended
 * @f: all that is known about it
 * @ret: set
 *
 * In this order: what ended us from outside, what the guest said, our clocks, how the machine
 * ended. So a panic is a panic although the kernel resets the machine after it, and a command's
 * status stands although the machine did not go down cleanly.
 */
void outcome_decide(const struct outcome_facts *f, struct outcome *ret)
{
	memset(ret, 0, sizeof(*ret));
	if (!decide_host(f, ret) && !decide_said(f, ret) && !decide_clock(f, ret)) {
		decide_stop(f, ret);
	}
}

/**
 * outcome_kind_name() - the word for a kind in records
 * @k: a kind
 *
 * Return: a static string.
 */
const char *outcome_kind_name(enum outcome_kind k)
{
	static const char *const names[] = {
		[OUTCOME_KIND_EXIT] = "exit",          [OUTCOME_KIND_PANIC] = "panic",
		[OUTCOME_KIND_OOPS] = "oops",          [OUTCOME_KIND_BOOT] = "boot",
		[OUTCOME_KIND_HANG] = "hang",          [OUTCOME_KIND_TIMEOUT] = "timeout",
		[OUTCOME_KIND_NO_STATUS] = "nostatus", [OUTCOME_KIND_KVM_ERROR] = "kvmerror",
		[OUTCOME_KIND_NO_KVM] = "nokvm",       [OUTCOME_KIND_INTERNAL] = "internal",
		[OUTCOME_KIND_USAGE] = "usage",        [OUTCOME_KIND_OUTPUT] = "output",
		[OUTCOME_KIND_SIGNAL] = "signal",
	};

	return names[k];
}
