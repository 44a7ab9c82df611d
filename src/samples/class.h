/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Execution classes: what one tick of the guest's TSC is worth on the machine that ran it. Every
 * record carries its class, and every number takes the name of its unit from here, so that no
 * report can call something cycles that was none.
 */
#ifndef SAMPLES_CLASS_H
#define SAMPLES_CLASS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"

enum exec_class {
	EXEC_NATIVE,   /* KVM on the processor's own virtualisation */
	EXEC_NESTED,   /* the same, while this host is itself a guest */
	EXEC_EMULATED, /* KVM is there, but ring 0 is interpreted: unfit for kernels */
	EXEC_TCG,      /* inside QEMU's software processor: time means nothing */
	EXEC_ICOUNT,   /* QEMU with -icount: an instruction is a fixed number of ticks */
};

#define EXEC_CLASS_COUNT      5
#define EXEC_ICOUNT_SHIFT_MAX 10

const char *exec_class_name(enum exec_class c);
int exec_class_parse(const char *name, enum exec_class *ret) __must_check;
const char *exec_class_unit(enum exec_class c);
const char *exec_class_unit_one(enum exec_class c);
bool exec_class_has_unit(enum exec_class c, const char *word);
const char *exec_class_about(enum exec_class c);
uint64_t exec_class_ticks_per_unit(enum exec_class c, unsigned int icount_shift);
bool exec_class_judges_speed(enum exec_class c);
bool exec_class_runs_kernels(enum exec_class c);

#endif
