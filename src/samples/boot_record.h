/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One boot's record as read back: only what the statistics and the report need, checked. Ticks are
 * turned into units here, and a batch learns here what disturbed it; nothing above deals with
 * either.
 */
#ifndef SAMPLES_BOOT_RECORD_H
#define SAMPLES_BOOT_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "samples/class.h"
#include "samples/histogram.h"

#define BOOT_BATCHES_MAX 100000u

/* What was seen to disturb a batch; a set of them is a mask of 1 << cause. */
enum disturbance {
	DISTURBED_EXIT,    /* the VMM's user space ran */
	DISTURBED_KVM,     /* more exits into the host kernel than the boot's calmest batch had */
	DISTURBED_IRQ,     /* the guest took an interrupt */
	DISTURBED_STEAL,   /* the host ran something else while the vCPU wanted to run */
	DISTURBED_PREEMPT, /* the host took the CPU from the vCPU's thread */
	DISTURBED_SWITCH,  /* the guest took its CPU from the benchmark's thread */
	DISTURBED_CLOCK,   /* the processor's clock ran at another rate than in the boot's others */
};

#define DISTURBANCE_COUNT 7

const char *disturbance_name(enum disturbance c);

/* A benchmark's batches, or the mean of a probe that the kernel counted while it ran. */
struct boot_bench {
	char *name;     /* "ctxsw.pipe.fs", or "switch_to.fsgs@ctxsw.pipe.fs" for a probe */
	char *per_call; /* what one call is called: "call", "switch" */
	char *error;    /* why it has no numbers; all below is empty then */
	bool is_probe;
	uint64_t samples;           /* of a probe */
	struct histogram histogram; /* of its samples, where the record has it */
	uint64_t calls;             /* in a batch; 0 for a probe */
	size_t batch_count;         /* of a probe: 1 */
	double units_hz;            /* units in a second, where the guest has measured it; else 0 */
	double *units;              /* per call, one number a batch, the empty loop subtracted */
	uint8_t *dirty;             /* one mask a batch */
	double empty_ticks; /* of the loop around nothing, median; 0: not known, or too short */
};

/* Where in a comparison a boot belongs; slot is BOOT_NO_SLOT outside of one. */
#define BOOT_NO_SLOT (-1)

struct boot_record {
	int64_t slot;  /* number of the boot in the schedule, from 0 */
	int64_t group; /* from 0 */
	int64_t block; /* of its group, from 0 */
	char arm;      /* 'a', 'b', ... */

	char *outcome_kind; /* "exit", "panic", "timeout", ... */
	char *outcome_text; /* may be empty */
	int64_t status;     /* 0 to 255, as 'ringside run' ended */
	uint64_t user_ns;   /* from the start to user space; 0: not reached, or not known */
	uint64_t exit_ns;   /* from the start to the guest's end; 0: not known */
	char *console_tail; /* what the guest said last, lines joined by newlines; may be empty */
	char *backtrace;    /* where it was, likewise */

	/* Provenance. Texts are empty when the boot did not get far enough to know. */
	enum exec_class exec_class;
	bool has_class;
	uint64_t ticks_per_unit; /* 1 or more */
	char *ringside_version;
	char *kernel_sha256;
	char *kernel_version;
	char *host_name; /* in its network, empty: not known */
	char *host_cpu;
	char *host_kernel;
	char *host_microcode; /* empty: not known */
	char *append;         /* the guest's command line, as it was booted */
	char *host_clock;     /* its clock source, empty: not known */
	char *cpu_print;      /* fingerprint of what CPUID told the guest */
	char *backend;
	char *qemu_version;

	size_t bench_count;
	struct boot_bench *benches;
};

int boot_record_parse(const char *line, size_t len, struct boot_record **ret,
		      struct err *e) __must_check;
void boot_record_destroy(struct boot_record *r);
DEFINE_CLEANUP(struct boot_record *, boot_record_destroy)

const struct boot_bench *boot_record_find(const struct boot_record *r, const char *name);

#endif
