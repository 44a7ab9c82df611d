/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which clock the guest is to keep time by: KVM's, or the time-stamp counter, with what CPUID must
 * say for a kernel to believe in it. Pure.
 */
#ifndef ARCH_X86_CLOCK_H
#define ARCH_X86_CLOCK_H

#include <stdint.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "kvm/types.h"

enum x86_clock {
	X86_CLOCK_AUTO, /* what KVM offers: the kernel chooses */
	X86_CLOCK_KVM,  /* kvmclock; the counter is not said to be invariant */
	X86_CLOCK_TSC,  /* the counter, invariant and of a known frequency; no kvmclock */
};

int x86_clock_apply(enum x86_clock clock, uint32_t tsc_khz, struct kvm_cpuid_table *t,
		    struct err *e) __must_check;

#endif
