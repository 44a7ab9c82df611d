/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of "ringside run", parsed and checked against each other. */
#ifndef CLI_RUN_OPTIONS_H
#define CLI_RUN_OPTIONS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "cli/options.h"
#include "engine/console_allow.h"
#include "vmm/cpu.h"
#include "vmm/vmm.h"

#define RUN_ICOUNT_OFF UINT64_MAX

struct run_options {
	const char *kernel;
	struct opt_list initrds;
	struct opt_list append;
	uint64_t cpus;
	const char *pin; /* see run_pin.h, or NULL */
	uint64_t memory_bytes;
	const char *pages; /* as written, or NULL */
	struct machine_memory memory;
	const char *cpu; /* as written, or NULL */
	struct x86_cpu_spec cpu_spec;
	const char *clock; /* as written */
	enum x86_clock clock_kind;
	struct opt_list disks;  /* see run_devices.h */
	struct opt_list shares; /* see run_shares.h */
	struct opt_list files;  /* see run_files.h */
	const char *root;
	bool init;
	const char *vsock;    /* likewise */
	struct opt_list nets; /* see run_net.h */
	bool rng;
	bool nmi;
	const char *kernel_debug; /* or NULL */
	const char *entry;        /* "auto", "linux64", "pvh" */
	const char *acpi;         /* "auto", "on", "off" */
	const char *backend;      /* "auto", "kvm", "qemu" */
	uint64_t icount;          /* shift, or RUN_ICOUNT_OFF */
	uint64_t timeout_ns, boot_timeout_ns, hang_timeout_ns;
	const char *fail_on;
	struct opt_list allow;         /* regular expressions */
	struct console_allow *allowed; /* the same, the caller's to destroy; NULL: none */
	unsigned int fail_on_mask;     /* SESSION_FAIL_ON_* */
	const char *json;
	const char *status_file;
	const char *console;
	bool console_stamps;
	const char *stats; /* FILE, "-" for a table, or NULL */
	const char *trace;
	const char *core; /* or NULL */
	const char *debug;
	const char *job;
	const char *gdb;          /* as written, or NULL */
	char gdb_where[PATH_MAX]; /* without its ",nowait" */
	bool gdb_nowait;
	const char *name;    /* for "ringside ctl", or NULL */
	bool force;          /* start although this machine's KVM is unfit */
	const char *seccomp; /* as written, or NULL */
	enum sandbox_mode seccomp_mode;
	bool lab;
	struct opt_list rw;
	const char *kernel_sha256;
	struct opt_rest rest;
};

int run_options_parse(struct run_options *o, int argc, char **argv, struct err *e) __must_check;
int run_options_check_outputs(struct run_options *o, struct err *e) __must_check;

/* Whether an agent is to run something; else the guest boots on its own, with its console on stdin
 * and stdout. */
static inline bool run_options_has_job(const struct run_options *o)
{
	return o->job || o->rest.command_count > 0;
}

#endif
