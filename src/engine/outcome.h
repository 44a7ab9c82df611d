/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a run came to. The facts are gathered while the guest runs; one pure function makes the exit
 * status, the kind and the sentence for people out of them.
 */
#ifndef ENGINE_OUTCOME_H
#define ENGINE_OUTCOME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"

/* Exit statuses of "ringside run". 0 to 239 are the guest's own. */
enum outcome_status {
	OUTCOME_GUEST_MAX = 239,   /* a guest's status above this becomes this */
	OUTCOME_PANIC = 240,       /* the guest kernel panicked */
	OUTCOME_OOPS = 241,        /* an oops or warning that --fail-on names */
	OUTCOME_BOOT = 242,        /* no init in time, or no root */
	OUTCOME_HANG = 243,        /* vCPUs spin or halt without progress */
	OUTCOME_TIMEOUT = 244,     /* --timeout ran out */
	OUTCOME_NO_STATUS = 245,   /* the guest ended and left no status */
	OUTCOME_KVM_ERROR = 246,   /* triple fault or KVM error */
	OUTCOME_NO_KVM = 247,      /* this machine's KVM cannot be used */
	OUTCOME_VMM_FAULT = 248,   /* the VMM itself failed */
	OUTCOME_USAGE = 249,       /* usage or configuration */
	OUTCOME_SIGNAL_BASE = 128, /* ended by a signal to us: 128 plus its number */
};

enum outcome_kind {
	OUTCOME_KIND_EXIT,
	OUTCOME_KIND_PANIC,
	OUTCOME_KIND_OOPS,
	OUTCOME_KIND_BOOT,
	OUTCOME_KIND_HANG,
	OUTCOME_KIND_TIMEOUT,
	OUTCOME_KIND_NO_STATUS,
	OUTCOME_KIND_KVM_ERROR,
	OUTCOME_KIND_NO_KVM,
	OUTCOME_KIND_INTERNAL,
	OUTCOME_KIND_USAGE,
	OUTCOME_KIND_OUTPUT, /* our own stdout, stderr or console file cannot be written */
	OUTCOME_KIND_SIGNAL,
};

/* How the machine came to its end. */
enum stop_reason {
	STOP_NONE,         /* it still runs: we end it */
	STOP_EXIT_PORT,    /* the guest wrote the exit port */
	STOP_RESET,        /* the guest reset itself */
	STOP_POWER_OFF,    /* the guest switched itself off */
	STOP_HALTED,       /* every vCPU halted with interrupts off: nothing can wake it */
	STOP_SPIN,         /* a vCPU spins without progress */
	STOP_TRIPLE_FAULT, /* shutdown state */
	STOP_KVM_ERROR,    /* KVM_RUN failed or gave an exit that nothing can be done about */
	STOP_NOT_STARTED,  /* the machine's process refused its configuration */
	STOP_BACKEND_DIED, /* the machine's process or thread is gone */
};

#define OUTCOME_TEXT_MAX 512

struct outcome_facts {
	bool job;                           /* a command or job was to run: a status is due */
	bool user_seen;                     /* user space came up (agent line or user mark) */
	unsigned int cpus_asked;            /* 0: not to be judged */
	unsigned int cpus_seen;             /* that the agent found online; 0: it did not say */
	bool exit_seen;                     /* the agent reported how the command ended */
	int exit_status;                    /* as the guest said, not limited to 8 bits */
	int exit_signal;                    /* 0, or the signal that ended the command */
	char agent_error[OUTCOME_TEXT_MAX]; /* not empty: the agent gave up, and why */
	bool panic_seen;                    /* on the console */
	bool boot_panic;                    /* and it was about a missing root or init */
	bool oops_seen;                     /* on the console, and --fail-on names its kind */
	bool halted_seen;                   /* "System halted" or "Power down" on the console */
	bool timed_out;
	bool alive;         /* timed_out: the agent was to say that it lives, and had */
	uint64_t silent_ns; /* and that was so long before */
	bool silent;        /* it said nothing for all of timeout_ns */
	bool has_exits;     /* what the vCPUs did meanwhile is known */
	uint64_t exits;
	bool boot_timed_out;
	uint64_t timeout_ns; /* the one that ran out */
	int signal;          /* that ended us, or 0 */
	enum stop_reason stop;
	uint32_t stop_value;                   /* STOP_EXIT_PORT: what was written */
	char stop_text[OUTCOME_TEXT_MAX];      /* the backend's word on it, may be empty */
	char console_text[OUTCOME_TEXT_MAX];   /* the panic's or oops's line */
	char output_error[OUTCOME_TEXT_MAX];   /* not empty: writing our output failed */
	char internal_error[OUTCOME_TEXT_MAX]; /* not empty: something of ours failed */
};

struct outcome {
	int status;
	enum outcome_kind kind;
	bool has_guest_status;
	int guest_status; /* the true one, when there is */
	bool report;      /* registers and console lines help to understand it */
	char text[OUTCOME_TEXT_MAX];
};

void outcome_decide(const struct outcome_facts *f, struct outcome *ret);
const char *outcome_kind_name(enum outcome_kind k);

#endif
