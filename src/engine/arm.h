/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An arm of a comparison as it is written: KERNEL[,append=TEXT]...[,cpu=SPEC]...[,task=KIND] */
#ifndef ENGINE_ARM_H
#define ENGINE_ARM_H

#include "base/cleanup.h"
#include "base/err.h"

/* What the benchmark's process asks of the kernel before it measures. */
enum arm_task {
	ARM_TASK_PLAIN, /* nothing */
	ARM_TASK_NOPTI, /* no switch of page tables for it: abi/nopti.h */
};

struct arm {
	char *kernel; /* a path or the name of an image */
	char *append; /* kernel command line, may be empty; several are joined by spaces */
	char *cpu;    /* what 'ringside run --cpu' takes, or NULL; several are joined by commas */
	enum arm_task task;
};

int arm_parse(const char *option, const char *text, struct arm *ret, struct err *e) __must_check;
char *arm_text(const struct arm *a) __must_check;
void arm_fini(struct arm *a);
int arm_task_parse(const char *name, enum arm_task *ret) __must_check;
const char *arm_task_name(enum arm_task t);

#endif
