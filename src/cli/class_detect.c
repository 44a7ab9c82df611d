/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See class_detect.h: the measurements. */
#include "cli/class_detect.h"

#include <cpuid.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "abi/timed_loop.h"
#include "cli/helpers.h"

#define CPUID_HYPERVISOR_BIT  (1u << 31) /* SDM: reserved; every hypervisor sets it */
#define CPUID_HYPERVISOR_LEAF 0x40000000

/* Short: with -icount shift=10 the longest takes 0.8 ms of the guest's time, less than a timer
 * tick. */
static const uint64_t loop_iterations[CLASS_LOOP_LENGTHS] = {0, 50, 100, 200, 400};

static void read_hypervisor(struct class_facts *f)
{
	unsigned int a = 0, b = 0, c = 0, d = 0;

	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & CPUID_HYPERVISOR_BIT)) {
		return;
	}
	f->hypervisor_bit = true;
	__cpuid(CPUID_HYPERVISOR_LEAF, a, b, c, d);
	memcpy(f->hypervisor, &b, 4);
	memcpy(f->hypervisor + 4, &c, 4);
	memcpy(f->hypervisor + 8, &d, 4);
	for (char *p = f->hypervisor; *p; p++) {
		if (*p < ' ' || *p > '~') {
			*p = '?';
		}
	}
}

/* One copy of the loop, so that all lengths run the same instructions. */
static __attribute__((noinline)) uint64_t time_loop(uint64_t iterations)
{
	return timed_loop_ticks(iterations);
}

static void time_ourselves(struct class_loop *l)
{
	memcpy(l->iterations, loop_iterations, sizeof(l->iterations));
	time_loop(loop_iterations[CLASS_LOOP_LENGTHS - 1]);
	for (unsigned int i = 0; i < CLASS_LOOP_SAMPLES; i++) {
		for (unsigned int k = 0; k < CLASS_LOOP_LENGTHS; k++) {
			l->ticks[k][i] = time_loop(loop_iterations[k]);
		}
	}
}

/**
 * class_collect() - measure what class_judge() needs
 * @ret: always filled; what could not be measured carries its error
 *
 * Context: a thread that may make VMs and sleep.
 */
void class_collect(struct class_facts *ret)
{
	struct err e = ERR_INIT;
	char payload[PATH_MAX];
	int r;

	memset(ret, 0, sizeof(*ret));
	read_hypervisor(ret);
	time_ourselves(&ret->self);
	probe_kvm(NULL, &ret->kvm);
	if (ret->kvm.error) {
		return;
	}
	r = cli_find_helper("firmware/ring_timing.elf", payload, sizeof(payload), &e);
	if (r == 0) {
		probe_ring_timing(NULL, payload, &ret->rings);
		return;
	}
	ret->rings.ring0.error = r;
	ret->rings.ring3.error = r;
	snprintf(ret->rings.ring3.text, sizeof(ret->rings.ring3.text), "%s", e.text);
}

/**
 * class_detect() - measure and decide
 * @ret: always set
 *
 * Context: a thread that may make VMs and sleep.
 */
void class_detect(struct class_result *ret)
{
	struct class_facts facts;

	class_collect(&facts);
	class_judge(&facts, ret);
}
