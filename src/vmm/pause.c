/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A machine that stands still, and goes on. Each vCPU is held by up to two: the owner's pause, of
 * all of them, and a debugger, of each by itself. One that is held is asked to leave the guest, and
 * its thread then waits ("parked"): its registers are as the guest has them and anybody may use its
 * descriptor. The owner asks and does not wait: a thread may itself be waiting for room in a
 * ring that the owner empties. It hears of the last one by machine_notify().
 *
 * The guest's clocks go on while it stands, as those of a stopped computer's would that somebody
 * sets right afterwards. KVM tells a guest with kvmclock on the way back, so that its watchdogs do
 * not take the gap for a lockup (Documentation/virt/kvm/api.rst, KVM_KVMCLOCK_CTRL).
 */
#include "vmm/vmm_priv.h"

/**
 * vcpu_park() - wait while the vCPU is held
 * @v: a vCPU outside the guest, its last access completed
 *
 * Context: its thread. Returns at once when it is not held, or is to stop.
 */
void vcpu_park(struct vcpu *v)
{
	pthread_mutex_lock(&v->park_lock);
	while ((atomic_load(&v->requests) & (VCPU_PAUSE | VCPU_STOP | VCPU_STATE)) == VCPU_PAUSE) {
		v->parked = true;
		machine_notify(v->m);
		pthread_cond_wait(&v->unpark, &v->park_lock);
	}
	v->parked = false;
	pthread_mutex_unlock(&v->park_lock);
}

/**
 * vcpu_is_parked() - whether a vCPU stands and stays
 * @v: a vCPU
 *
 * Return: true when its thread waits in vcpu_park() and will until it is let go.
 * Context: the owner, who alone lets it go.
 */
bool vcpu_is_parked(struct vcpu *v)
{
	bool parked;

	pthread_mutex_lock(&v->park_lock);
	parked = v->parked && (atomic_load(&v->requests) & (VCPU_PAUSE | VCPU_STOP)) == VCPU_PAUSE;
	pthread_mutex_unlock(&v->park_lock);
	return parked;
}

/**
 * vcpu_unpark() - wake a vCPU's thread, so that it looks at its requests again
 * @v: a vCPU
 * @clear: requests that are taken back: VCPU_PAUSE, or none
 *
 * Context: any thread.
 */
void vcpu_unpark(struct vcpu *v, uint32_t clear)
{
	pthread_mutex_lock(&v->park_lock);
	atomic_fetch_and(&v->requests, ~clear);
	pthread_cond_signal(&v->unpark);
	pthread_mutex_unlock(&v->park_lock);
}

static bool is_held(const struct vcpu *v)
{
	return v->m->paused || v->debug_held || atomic_load(&v->debug_hit);
}

/**
 * machine_apply_holds() - make each vCPU stand or run as those who hold it want
 * @m: a machine
 *
 * Context: the owner.
 */
void machine_apply_holds(struct machine *m)
{
	for (unsigned int i = 0; i < m->vcpu_count; i++) {
		struct vcpu *v = &m->vcpus[i];
		bool asked = atomic_load(&v->requests) & VCPU_PAUSE;

		if (is_held(v) && !asked) {
			vcpu_request(v, VCPU_PAUSE);
		} else if (!is_held(v) && asked) {
			/* A guest without kvmclock has nothing to be told, and KVM says so. */
			(void)!kvm_vcpu_clock_ctrl(&v->kvm);
			vcpu_unpark(v, VCPU_PAUSE);
		}
	}
	/* One that was parked already tells nothing new: the loop looks. */
	machine_notify(m);
}

static bool all_parked(struct machine *m)
{
	for (unsigned int i = 0; i < m->vcpu_count; i++) {
		if (!vcpu_is_parked(&m->vcpus[i])) {
			return false;
		}
	}
	return true;
}

static bool any_held(const struct machine *m)
{
	for (unsigned int i = 0; i < m->vcpu_count; i++) {
		if (is_held(&m->vcpus[i])) {
			return true;
		}
	}
	return false;
}

/**
 * machine_stands() - whether all vCPUs have left the guest and stay out of it
 * @m: a machine
 *
 * Return: false also while the last one is on its way.
 * Context: the owner.
 */
bool machine_stands(struct machine *m)
{
	return !atomic_load(&m->ending) && m->started && all_parked(m);
}

/**
 * machine_look_at_holds() - tell the owner's events when the machine came to stand, or goes on
 * @m: a started machine
 *
 * Context: the owner, after machine_notify().
 */
void machine_look_at_holds(struct machine *m)
{
	bool stands = machine_stands(m);

	if (!stands && any_held(m) && !atomic_load(&m->ending)) {
		return; /* on its way, or a debugger steps */
	}
	if (stands != m->told_standing) {
		m->told_standing = stands;
		/* What a pause did not let happen is nobody's hang. */
		machine_liveness_reset(m);
		if (m->events->standing) {
			m->events->standing(m->events_ctx, stands);
		}
	}
}

/**
 * machine_pause() - let the guest stand still, or go on
 * @m: a started machine
 * @on: stand
 *
 * Returns at once; the event "standing" follows when all vCPUs are out of the guest, and again when
 * they go on. A debugger that holds the machine keeps it after machine_pause(m, false).
 *
 * Context: the owner.
 */
void machine_pause(struct machine *m, bool on)
{
	if (!m->started || m->paused == on) {
		return;
	}
	m->paused = on;
	machine_apply_holds(m);
}

/**
 * machine_is_held() - whether anybody wants the guest to stand, a debugger that steps included
 * @m: a machine
 *
 * Return: true from machine_pause() on, before all vCPUs have left the guest.
 * Context: the owner.
 */
bool machine_is_held(const struct machine *m)
{
	return any_held(m);
}
