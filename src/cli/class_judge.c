/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See class_detect.h: the decision, from numbers alone. */
#include "cli/class_detect.h"

#include <stdio.h>
#include <string.h>

#include "abi/timed_loop.h"

#define TCG_SIGNATURE "TCGTCGTCGTCG"

/* How many of a length's samples must agree before they are called exact. */
#define EXACT_SAMPLES_MIN (CLASS_LOOP_SAMPLES / 2)

static uint64_t least(const uint64_t *v, unsigned int n)
{
	uint64_t m = v[0];

	for (unsigned int i = 1; i < n; i++) {
		m = v[i] < m ? v[i] : m;
	}
	return m;
}

static unsigned int count_equal(const uint64_t *v, unsigned int n, uint64_t to)
{
	unsigned int c = 0;

	for (unsigned int i = 0; i < n; i++) {
		c += v[i] == to;
	}
	return c;
}

/*
 * Under -icount the ticks between two lengths are the instructions between them, shifted, and
 * nothing else: an interrupt may add to a sample, never take away. So the least of each length is
 * taken, must have been seen often, and must lie on one line without any remainder.
 *
 * Return: the shift, or -1. @ret_agreeing: samples that agreed with their length's least.
 */
static int find_icount_shift(const struct class_loop *l, unsigned int *ret_agreeing)
{
	int shift = -1;

	*ret_agreeing = 0;
	for (unsigned int k = 0; k < CLASS_LOOP_LENGTHS; k++) {
		uint64_t ticks = least(l->ticks[k], CLASS_LOOP_SAMPLES);
		unsigned int agreeing = count_equal(l->ticks[k], CLASS_LOOP_SAMPLES, ticks);
		uint64_t base = least(l->ticks[0], CLASS_LOOP_SAMPLES);
		uint64_t insns = l->iterations[k] * TIMED_LOOP_INSNS;

		*ret_agreeing += agreeing;
		if (agreeing < EXACT_SAMPLES_MIN) {
			return -1;
		}
		if (k == 0) {
			continue;
		}
		if (k == 1) {
			for (int s = 0; s <= EXEC_ICOUNT_SHIFT_MAX; s++) {
				if (ticks - base == insns << s) {
					shift = s;
				}
			}
		}
		if (shift < 0 || ticks - base != insns << shift) {
			return -1;
		}
	}
	return shift;
}

/* Ticks of one iteration of our own loop, from its longest length. */
static double self_ticks_per_iteration(const struct class_loop *l)
{
	const unsigned int last = CLASS_LOOP_LENGTHS - 1;

	return ((double)least(l->ticks[last], CLASS_LOOP_SAMPLES) -
		(double)least(l->ticks[0], CLASS_LOOP_SAMPLES)) /
	       (double)l->iterations[last];
}

static double ring_ticks_per_iteration(const struct probe_ring *r, uint64_t iterations)
{
	return ((double)r->loop_ticks - (double)r->empty_ticks) / (double)iterations;
}

static void judge_software_cpu(const struct class_facts *f, struct class_result *ret)
{
	unsigned int agreeing;
	int shift = find_icount_shift(&f->self, &agreeing);
	const unsigned int all = CLASS_LOOP_LENGTHS * CLASS_LOOP_SAMPLES;

	ret->known = true;
	if (shift >= 0) {
		ret->class = EXEC_ICOUNT;
		ret->icount_shift = (unsigned int)shift;
		snprintf(ret->evidence, sizeof(ret->evidence),
			 "hypervisor %s; a loop of %d lengths took exactly its instructions << %d "
			 "ticks (%u of %u samples at their least)",
			 TCG_SIGNATURE, CLASS_LOOP_LENGTHS, shift, agreeing, all);
		return;
	}
	ret->class = EXEC_TCG;
	snprintf(ret->evidence, sizeof(ret->evidence),
		 "hypervisor %s; ticks do not follow the instructions of a loop (%.2f ticks an "
		 "iteration, %u of %u samples at their least)",
		 TCG_SIGNATURE, self_ticks_per_iteration(&f->self), agreeing, all);
}

static const char *hypervisor_text(const struct class_facts *f)
{
	if (!f->hypervisor_bit) {
		return "none";
	}
	return f->hypervisor[0] ? f->hypervisor : "unnamed";
}

/* Stands before the numbers, for those who do not know what they say. */
#define INTERPRETED "this /dev/kvm interprets guest ring 0 (see ring0 of 'ringside doctor'): "

static void judge_rings(const struct class_facts *f, struct class_result *ret)
{
	const struct probe_rings *r = &f->rings;
	double slow, fast, ratio;

	if (r->ring3.error) {
		snprintf(ret->evidence, sizeof(ret->evidence), "guest ring 3 was not timed: %s",
			 r->ring3.text);
		return;
	}
	if (r->ring0.error && r->ring0.error != PROBE_GUEST_FAILED) {
		snprintf(ret->evidence, sizeof(ret->evidence), "guest ring 0 was not timed: %s",
			 r->ring0.text);
		return;
	}
	ret->known = true;
	if (r->ring0.error) {
		ret->class = EXEC_EMULATED;
		snprintf(ret->evidence, sizeof(ret->evidence),
			 INTERPRETED "a loop that runs in guest ring 3 fails in ring 0: %s",
			 r->ring0.text);
		return;
	}
	slow = ring_ticks_per_iteration(&r->ring0, r->iterations);
	fast = ring_ticks_per_iteration(&r->ring3, r->iterations);
	/* A loop of two instructions takes a cycle or so; a quotient by less says nothing. */
	fast = fast < 0.1 ? 0.1 : fast;
	ratio = slow / fast;
	if (ratio > CLASS_EMULATED_RATIO) {
		ret->class = EXEC_EMULATED;
	} else {
		ret->class = f->hypervisor_bit ? EXEC_NESTED : EXEC_NATIVE;
	}
	snprintf(ret->evidence, sizeof(ret->evidence),
		 "%s%.2f ticks an iteration in guest ring 0, %.2f in ring 3: ratio %.1f, limit %d "
		 "(least of %lu samples of %lu iterations); hypervisor: %s",
		 ret->class == EXEC_EMULATED ? INTERPRETED : "", slow, fast, ratio,
		 CLASS_EMULATED_RATIO, (unsigned long)r->ring0.samples,
		 (unsigned long)r->iterations, hypervisor_text(f));
}

/**
 * class_judge() - the execution class that measurements show
 * @facts: as class_collect() fills it
 * @ret: always set; @ret->known is false when there is no KVM, nor a software processor under
 * us, or when it could not be timed; the evidence says which
 *
 * Time decides, not what is offered: inside QEMU's software processor KVM may work well, and its
 * guests are still counted in the outer machine's ticks.
 *
 * Context: pure.
 */
void class_judge(const struct class_facts *facts, struct class_result *ret)
{
	*ret = (struct class_result){.class = EXEC_NATIVE};
	if (strcmp(facts->hypervisor, TCG_SIGNATURE) == 0) {
		judge_software_cpu(facts, ret);
		return;
	}
	if (facts->kvm.error) {
		snprintf(ret->evidence, sizeof(ret->evidence), "no KVM to run guests in: %s",
			 facts->kvm.text);
		return;
	}
	judge_rings(facts, ret);
}
