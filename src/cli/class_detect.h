/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which execution class this machine has. class_collect() measures, class_judge() decides from the
 * numbers alone, class_detect() does both. Measuring takes up to a tenth of a second and makes
 * VMs of its own: do it before or after a run, never within.
 */
#ifndef CLI_CLASS_DETECT_H
#define CLI_CLASS_DETECT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "samples/class.h"
#include "vmm/probe.h"

/* The loop that ringside runs on itself: each of these lengths, this many times. */
#define CLASS_LOOP_LENGTHS 5
#define CLASS_LOOP_SAMPLES 16

/* Ring 0 is called emulated when the same loop takes this many times as long as in ring 3. */
#define CLASS_EMULATED_RATIO 20

struct class_loop {
	uint64_t iterations[CLASS_LOOP_LENGTHS]; /* ascending, the first 0 */
	uint64_t ticks[CLASS_LOOP_LENGTHS][CLASS_LOOP_SAMPLES];
};

struct class_facts {
	bool hypervisor_bit;    /* CPUID leaf 1, ECX 31 */
	char hypervisor[13];    /* CPUID leaf 0x40000000, "" without a hypervisor */
	struct class_loop self; /* our own process */
	struct probe_kvm kvm;
	struct probe_rings rings; /* only when kvm.error is 0 */
};

struct class_result {
	bool known; /* false: no KVM, and no software processor under us either */
	enum exec_class class;
	unsigned int icount_shift; /* EXEC_ICOUNT only */
	char evidence[512];        /* what was measured, how often, and what follows */
};

void class_judge(const struct class_facts *facts, struct class_result *ret);
void class_collect(struct class_facts *ret);
void class_detect(struct class_result *ret);

#endif
