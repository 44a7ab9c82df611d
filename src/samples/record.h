/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The record of one boot, as "ringside run --json" writes it: one line of JSON. The fields that a
 * program judges by are plain here; what is only carried along is JSON already. Everything in it is
 * owned by it.
 */
#ifndef SAMPLES_RECORD_H
#define SAMPLES_RECORD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "samples/class.h"

#define RECORD_SCHEMA_VERSION 1

#define RECORD_CPU_PRINT      16

/* A moment that was not seen. */
#define RECORD_NEVER UINT64_MAX

enum record_phase {
	RECORD_LOAD,        /* the guest's memory holds kernel and initrd */
	RECORD_FIRST_RUN,   /* the first KVM_RUN, or QEMU's start */
	RECORD_KERNEL_MARK, /* the kernel's first instructions */
	RECORD_USER_MARK,   /* the guest's user space */
	RECORD_EXIT,        /* the guest ended */
	RECORD_PHASE_COUNT,
};

struct record_exit {
	char reason[16];
	char detail[32];
	uint64_t count;
	uint64_t ns;
};

struct record_window {
	uint64_t open_tsc;
	uint64_t exits;
	uint64_t kvm_exits; /* RECORD_NEVER: not known */
	uint64_t irqs;
	uint64_t steal_ns;
	uint64_t nivcsw;
};

struct record_boot {
	char *kernel_path;
	char *kernel_sha256;  /* hex, or NULL */
	char *kernel_version; /* the guest's uname, or NULL */
	char *append;
	char *cpu_asked;   /* what was asked of the processor, or NULL */
	const char *clock; /* static: what the guest keeps time by, as asked, or NULL */
	const char *entry; /* static: how the kernel was started, or NULL */
	bool acpi;         /* ACPI tables told it of its devices */
	bool cpu_pmu;      /* with performance counters */
	char cpu_print[RECORD_CPU_PRINT + 1]; /* fingerprint of CPUID, hex; empty: not known */
	const char *backend;                  /* static: "kvm" or "qemu" */
	enum exec_class exec_class;
	unsigned int icount_shift;
	json_t *vcpus;  /* {"count":2,"pin":[0,1],"host":2,"overcommit":false}, or NULL */
	json_t *memory; /* {"bytes":536870912,"pages":"auto",...}, or NULL */
	json_t *files;  /* {"shares":[{"dir":"/a","at":"/mnt/a","ro":true}],"root":...}, or NULL */
	json_t *nets;   /* [{"kind":"tap","tap":"t0","mac":...}], or NULL */
	json_t *kvm;    /* {"api":12,"caps":{...}}, or NULL */
	json_t *qemu;   /* {"version":...,"argv":[...]}, or NULL */

	uint64_t phase_ns[RECORD_PHASE_COUNT]; /* since exec; RECORD_NEVER: not seen */
	uint64_t paused_ns;                    /* the guest stood still, by a pause or a debugger */
	uint64_t user_mark_ticks, user_mark_exits; /* at the user mark; RECORD_NEVER: not known */

	const char *seccomp; /* static: the mode of the threads' filters; NULL: there are none */
	json_t *host; /* record_host_to_json(); NULL: is found out when the record is written */

	uint64_t exits_total, exits_user_ns;
	struct record_exit *exits;
	size_t exit_count;
	json_t *kvm_stats; /* an object, or NULL */
	struct record_window *windows;
	size_t window_count;

	json_t *guest;        /* array: the lines of the results stream */
	json_t *calltime;     /* or NULL */
	json_t *console_tail; /* array of strings, or NULL */
	json_t *backtrace;    /* likewise: where a guest was that failed */
	json_t *registers;    /* likewise: of each vCPU, several lines */

	int status;
	const char *outcome_kind; /* static */
	bool has_guest_status;
	int guest_status;
	char *outcome_text;
};

void record_boot_init(struct record_boot *r);
void record_boot_fini(struct record_boot *r);
bool record_cpu_of_guest(struct record_boot *r);
json_t *record_text_to_json(const char *s);
json_t *record_host_to_json(void);
json_t *record_boot_to_json(const struct record_boot *r);
void record_json_seed(void);
int record_json_write_line(int fd, json_t *line) __must_check;
int record_file_sha256(const char *path, char **ret_hex, struct err *e) __must_check;

#endif
