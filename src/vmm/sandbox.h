/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The filters that a machine's threads put on themselves before the first KVM_RUN: what is not in
 * sandbox_rules.c, the kernel does not do for them. They stay until the process ends, and bind what
 * it does after the machine's end as well.
 *
 * A call outside the list is not made. The thread finds itself in a handler of SIGSYS that says
 * what it was and ends the process. A thread that has blocked that signal is killed by the kernel.
 */
#ifndef VMM_SANDBOX_H
#define VMM_SANDBOX_H

#include "base/cleanup.h"
#include "base/err.h"
#include "vmm/sandbox_rules.h"

enum sandbox_mode {
	SANDBOX_OFF,  /* no filters */
	SANDBOX_LOG,  /* the call is made, and the kernel's log says so */
	SANDBOX_TRAP, /* one line, and death by SIGSYS, with a core file where those are on */
	SANDBOX_KILL, /* one line, and an exit status */
};

/* The runtime of a sanitizer makes calls of its own, a whole program's at its end among them. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANDBOX_DEFAULT SANDBOX_OFF
#else
#define SANDBOX_DEFAULT SANDBOX_KILL
#endif

struct sandbox_config {
	enum sandbox_mode mode;
	int status;               /* of a process that KILL ends */
	void (*before_end)(void); /* from the handler, on any thread; may be NULL */
	unsigned int features;    /* SANDBOX_DISKS, ... */
	int vm_fd, kvm_fd;
};

int sandbox_mode_parse(const char *name, enum sandbox_mode *ret) __must_check;
const char *sandbox_mode_name(enum sandbox_mode mode);
int sandbox_prepare(const struct sandbox_config *cfg, struct err *e) __must_check;
int sandbox_enter(const struct sandbox_config *cfg, enum sandbox_class class,
		  int vcpu_fd) __must_check;

#endif
