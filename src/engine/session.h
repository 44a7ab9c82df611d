/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One boot from start to verdict: drives a backend, brings the guest's output to its places,
 * watches the console and the clocks, and at the end judges, reports and fills in the record.
 */
#ifndef ENGINE_SESSION_H
#define ENGINE_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/draft.h"
#include "base/err.h"
#include "engine/backend.h"
#include "engine/console_allow.h"
#include "engine/console_watch.h"
#include "engine/control_path.h"
#include "engine/decoder.h"
#include "engine/outcome.h"
#include "samples/record.h"

/* What --fail-on names, as bits. */
#define SESSION_FAIL_ON_OOPS    (1U << 0)
#define SESSION_FAIL_ON_WARN    (1U << 1)
#define SESSION_FAIL_ON_KASAN   (1U << 2)
#define SESSION_FAIL_ON_LOCKDEP (1U << 3)
#define SESSION_FAIL_ON_KCSAN   (1U << 4)
#define SESSION_FAIL_ON_UBSAN   (1U << 5)
#define SESSION_FAIL_ON_RCU     (1U << 6)
#define SESSION_FAIL_ON_LOCKUP  (1U << 7)
#define SESSION_FAIL_ON_HUNG    (1U << 8)
#define SESSION_FAIL_ON_TAINT   (1U << 9)

struct session_config {
	struct backend *backend; /* created, not started; taken: it is destroyed at the end */
	const char *kernel_path;
	int symbols_fd;           /* the vmlinux, for the names of addresses; -1: none */
	struct decoder *decoder;  /* who knows the kernel's source lines; NULL or none: nobody */
	struct draft *core;       /* for a core of a guest that failed; NULL: none is wanted */
	bool job;                 /* an agent runs a job: its streams go to stdout and stderr */
	unsigned int cpus;        /* that an agent must find; 0: any number */
	int console_fd;           /* where the guest's console goes to; -1: it is only kept */
	const char *console_name; /* what messages call it */
	bool console_stamps;      /* the time before each of its lines */
	int input_fd;             /* what is typed into the console; -1: nothing */
	uint64_t timeout_ns;      /* for all of it; 0: none */
	uint64_t boot_timeout_ns; /* until user space; 0: none */
	unsigned int fail_on;     /* SESSION_FAIL_ON_* */
	const struct console_allow *allow; /* lines that are no failure; NULL: none */
	uint64_t hang_ns; /* an agent that is silent for so long hangs; 0: not judged */
	bool nmi;         /* a guest that does not end gets an NMI, and panics at it */
	uint64_t exec_ns; /* monotonic: when the program was started */

	const char *name;               /* for "ringside ctl", or NULL */
	struct control_socket *control; /* taken for the name; closed at the end */
	const char *backend_name;       /* what status says of the rest */
	uint64_t memory_bytes;
	unsigned int vcpus;
};

unsigned int session_fail_on_bit(enum console_event event);
int session_fail_on_parse(const char *text, unsigned int *ret, struct err *e) __must_check;
int session_run(const struct session_config *cfg, struct record_boot *record, struct outcome *ret,
		struct err *e) __must_check;

#endif
