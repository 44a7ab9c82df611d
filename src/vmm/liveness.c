/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether the guest can still do anything. Counters are watched from outside, and a vCPU is only
 * disturbed to look at its registers when they have stood still for long. All of it runs on the
 * owner's thread.
 */
#include <pthread.h>
#include <time.h>

#include "arch/x86/boot.h"
#include "base/clock.h"
#include "vmm/vmm_priv.h"

/* Looks at a spinning guest, a second of its running apart, before it is given up. */
#define SPIN_LOOKS 3

/* What the counters say at one look. */
struct sight {
	/*
	 * Stays the same as long as no vCPU does anything; MACHINE_NO_VALUE when one of them is
	 * known to be outside a halt.
	 */
	uint64_t progress;
	/* What a guest that gets anywhere makes go up: exits to us, and interrupts it takes. */
	uint64_t events;
};

static struct sight look(const struct machine *m)
{
	uint64_t exits = machine_exit_count(m);
	struct sight s = {.progress = exits, .events = exits};
	bool halted = true;

	for (unsigned int i = 0; i < m->vcpu_count; i++) {
		uint64_t values[VCPU_STAT_COUNT];

		if (kvm_stats_sample(&m->vcpus[i].stats, &m->vcpus[i].pick, values) < 0) {
			continue;
		}
		if (values[VCPU_STAT_BLOCKING] == 0) {
			halted = false;
		}
		if (values[VCPU_STAT_EXITS] != KVM_STATS_NO_VALUE) {
			s.progress += values[VCPU_STAT_EXITS];
		}
		if (values[VCPU_STAT_IRQS] != KVM_STATS_NO_VALUE) {
			s.events += values[VCPU_STAT_IRQS];
		}
	}
	if (!halted) {
		s.progress = MACHINE_NO_VALUE;
	}
	return s;
}

static bool halted_for_good(struct vcpu *v)
{
	if (vcpu_fetch_state(v) < 0) {
		return false;
	}
	switch (v->state.mp_state) {
	case KVM_MP_STATE_HALTED:
		return !(v->state.regs.rflags & X86_RFLAGS_IF);
	case KVM_MP_STATE_UNINITIALIZED:
	case KVM_MP_STATE_INIT_RECEIVED:
		return true; /* only another vCPU can wake it */
	default:
		return false;
	}
}

/* Time that the vCPUs ran: one that waits for a page of a slow file makes none. */
static uint64_t cpu_time_of(const struct machine *m)
{
	uint64_t sum_ns = 0;

	for (unsigned int i = 0; i < m->vcpu_count; i++) {
		struct timespec ts;
		clockid_t clock;

		if (m->vcpus[i].started && pthread_getcpuclockid(m->vcpus[i].thread, &clock) == 0 &&
		    clock_gettime(clock, &ts) == 0) {
			sum_ns += (uint64_t)ts.tv_sec * NS_PER_SEC + (uint64_t)ts.tv_nsec;
		}
	}
	return sum_ns;
}

static bool interrupts_off(struct vcpu *v)
{
	return vcpu_fetch_state(v) == 0 && !(v->state.regs.rflags & X86_RFLAGS_IF);
}

/* A guest that ran for long with interrupts off, each time it was looked at, and told nobody. */
static bool spins(struct machine *m, uint64_t events)
{
	uint64_t cpu_ns = cpu_time_of(m);
	bool off = true;

	if (events != m->spin_events || cpu_ns < m->spin_since_cpu_ns) {
		m->spin_events = events;
		m->spin_since_cpu_ns = cpu_ns;
		m->spin_looks = 0;
		return false;
	}
	if (cpu_ns - m->spin_since_cpu_ns <
	    MACHINE_SPINS_AFTER_CPU_NS + m->spin_looks * NS_PER_SEC) {
		return false;
	}
	for (unsigned int i = 0; off && i < m->vcpu_count; i++) {
		off = interrupts_off(&m->vcpus[i]);
	}
	/* The look itself may have been an exit. */
	m->spin_events = look(m).events;
	if (!off) {
		m->spin_since_cpu_ns = cpu_ns;
		m->spin_looks = 0;
		return false;
	}
	return ++m->spin_looks == SPIN_LOOKS;
}

/**
 * machine_liveness_reset() - begin to look anew: the guest was held, or goes on
 * @m: a started machine
 *
 * Context: the owner.
 */
void machine_liveness_reset(struct machine *m)
{
	m->quiet_progress = MACHINE_NO_VALUE - 1;
	m->spin_events = MACHINE_NO_VALUE;
	m->spin_looks = 0;
}

/**
 * machine_nmi() - give a vCPU a non-maskable interrupt
 * @m: a machine that runs
 * @vcpu: its number; one that there is not gets none
 *
 * Context: the owner. It is given by the vCPU's thread, as soon as that leaves the guest.
 */
void machine_nmi(struct machine *m, unsigned int vcpu)
{
	if (vcpu < m->vcpu_count) {
		vcpu_request(&m->vcpus[vcpu], VCPU_NMI);
	}
}

/**
 * machine_liveness() - whether the guest can still do anything
 * @m: a started machine
 *
 * To be asked a few times a second. A guest that halts forever is noticed by counters that stand
 * still, and only once they have done so for MACHINE_HALTED_AFTER_NS are its vCPUs disturbed to
 * look at their registers. One that spins is noticed when its vCPUs have run for
 * MACHINE_SPINS_AFTER_CPU_NS without an exit or an interrupt, and have interrupts off each of the
 * times that they are then looked at.
 *
 * Return: MACHINE_HALTED when no interrupt can wake any vCPU, MACHINE_SPINS when none can reach
 * one, else MACHINE_ALIVE. Context: the owner.
 */
enum machine_liveness machine_liveness(struct machine *m)
{
	uint64_t now = clock_now_ns(&clock_monotonic);
	struct sight sight;

	if (machine_is_held(m)) {
		return MACHINE_ALIVE;
	}
	sight = look(m);
	if (spins(m, sight.events)) {
		return MACHINE_SPINS;
	}
	if (sight.progress == MACHINE_NO_VALUE || sight.progress != m->quiet_progress) {
		m->quiet_progress = sight.progress;
		m->quiet_since_ns = now;
		return MACHINE_ALIVE;
	}
	if (now - m->quiet_since_ns < MACHINE_HALTED_AFTER_NS) {
		return MACHINE_ALIVE;
	}
	m->quiet_since_ns = now;
	for (unsigned int i = 0; i < m->vcpu_count; i++) {
		if (!halted_for_good(&m->vcpus[i])) {
			return MACHINE_ALIVE;
		}
	}
	return MACHINE_HALTED;
}
