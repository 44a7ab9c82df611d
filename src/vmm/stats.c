/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a machine with exit_stats knows when it has ended: exits by vCPU, phase and place; what the
 * host did to the vCPUs' threads; KVM's own statistics. On the owner's thread.
 */
#include "vmm/vmm_priv.h"

#include <errno.h>
#include <stdio.h>

#include "devices/virtio/mmio.h"

/**
 * machine_phase_name() - a word for a phase
 * @phase: which
 *
 * Return: "boot", "job" or "batch".
 * Context: any thread.
 */
const char *machine_phase_name(enum machine_phase phase)
{
	static const char *const names[MACHINE_PHASES] = {"boot", "job", "batch"};

	return names[phase];
}

/**
 * machine_phase_ns() - how long a phase took
 * @m: a machine that has ended
 * @phase: which; a run that never reached it has 0
 *
 * Batches are those whose closing mark came, and that were kept.
 *
 * Return: ns of the host's clock.
 * Context: the owner.
 */
uint64_t machine_phase_ns(const struct machine *m, enum machine_phase phase)
{
	uint64_t start = m->times.first_run_ns, end = m->times.ended_ns;
	uint64_t user = m->user_mark_ns ? m->user_mark_ns : end;
	uint64_t ticks = 0, batches, job;

	for (uint64_t i = 0; i < atomic_load(&m->window_count); i++) {
		ticks += m->windows[i].close_tsc - m->windows[i].open_tsc;
	}
	batches = machine_ticks_ns(m, ticks);
	switch (phase) {
	case MACHINE_PHASE_BATCH:
		return batches;
	case MACHINE_PHASE_JOB:
		job = end > user ? end - user : 0;
		return job > batches ? job - batches : 0;
	default:
		return user > start ? user - start : 0;
	}
}

/**
 * machine_tsc_khz() - how fast the host's TSC went since the start
 * @m: a machine that was started
 *
 * Return: kHz, by the host's clock.
 * Context: the owner.
 */
uint64_t machine_tsc_khz(const struct machine *m)
{
	const uint64_t span = UINT64_C(1000000000);
	uint64_t ns = machine_ticks_ns(m, span);

	return ns ? (uint64_t)((double)span * 1e6 / (double)ns) : 0;
}

/* Who has a place: a word, and for virtio which of the devices. */
static const char *name_place(const struct machine *m, bool port, uint64_t address, char *buf,
			      size_t size)
{
	if (port && address - SERIAL_COM1_PORT < SERIAL_PORTS) {
		return "com1";
	}
	if (port && address - SERIAL_COM2_PORT < SERIAL_PORTS) {
		return "com2";
	}
	if (!port && address >= VIRTIO_GPA &&
	    (address - VIRTIO_GPA) / VIRTIO_MMIO_BYTES < m->virtio.count) {
		unsigned int i = (unsigned int)((address - VIRTIO_GPA) / VIRTIO_MMIO_BYTES);

		snprintf(buf, size, "%s.%u", m->virtio.slots[i].device->ops->name, i);
		return buf;
	}
	return bus_device_name(port ? &m->pio : &m->mmio, address);
}

static void tell_cell(const struct vcpu *v, enum machine_phase phase, unsigned int at,
		      double ns_per_tick, machine_exit_stat_fn fn, void *ctx)
{
	const struct exit_cell *c = &v->stats_by_phase->phases[phase].cells[at];
	const struct machine *m = v->m;
	char name[32];
	struct machine_exit_stat s = {
		.vcpu = v->index,
		.phase = phase,
		.count = c->count,
		.total_ns = (uint64_t)((double)c->sum * ns_per_tick),
		.min_ns = (uint64_t)((double)c->min * ns_per_tick),
		.max_ns = (uint64_t)((double)c->max * ns_per_tick),
		.median_ns = (uint64_t)((double)exit_cell_quantile(c, 500) * ns_per_tick),
		.p99_ns = (uint64_t)((double)exit_cell_quantile(c, 990) * ns_per_tick),
		.hist = c->hist,
	};

	if (c->count == 0) {
		return;
	}
	if (at < EXITS_ROWS) {
		const struct exit_row *row = &v->exits.rows[at];
		uint32_t access = atomic_load_explicit(&row->access, memory_order_acquire);
		bool port = access == EXIT_IN || access == EXIT_OUT;

		s.reason = kvm_exit_name(port ? KVM_EXIT_IO : KVM_EXIT_MMIO);
		s.access = exits_access_name(access);
		s.address = atomic_load(&row->address);
		s.device = name_place(m, port, s.address, name, sizeof(name));
	} else {
		s.reason = kvm_exit_name(at - EXITS_ROWS);
	}
	fn(ctx, &s);
}

/**
 * machine_exit_stats_each() - exits to user space, by vCPU, phase and place
 * @m: a machine that has ended; one without exit_stats has none
 * @fn: called for each place that there were exits at; what it is given is gone afterwards
 * @ctx: its first argument
 *
 * Context: the owner.
 */
void machine_exit_stats_each(const struct machine *m, machine_exit_stat_fn fn, void *ctx)
{
	const double ns_per_tick = machine_ns_per_tick(m);

	for (unsigned int i = 0; i < m->vcpu_count; i++) {
		for (unsigned int p = 0; m->vcpus[i].stats_by_phase && p < MACHINE_PHASES; p++) {
			for (unsigned int at = 0; at < EXIT_STATS_CELLS; at++) {
				tell_cell(&m->vcpus[i], p, at, ns_per_tick, fn, ctx);
			}
		}
	}
}

/**
 * machine_thread_stat() - what the host did to a vCPU's thread in a phase
 * @m: a machine that has ended
 * @vcpu: number of the vCPU
 * @phase: the phase; another vCPU than the one that wrote the mark comes to it by its next exit
 * @ret: set; all of it MACHINE_NO_VALUE without exit_stats
 *
 * Context: the owner.
 */
void machine_thread_stat(const struct machine *m, unsigned int vcpu, enum machine_phase phase,
			 struct machine_thread_stat *ret)
{
	const struct exit_stats *s = m->vcpus[vcpu].stats_by_phase;

	*ret = (struct machine_thread_stat){MACHINE_NO_VALUE, MACHINE_NO_VALUE};
	if (s) {
		ret->steal_ns = s->phases[phase].thread.steal_ns;
		ret->nivcsw = s->phases[phase].thread.nivcsw;
	}
}

struct telling {
	machine_kvm_stat_fn fn;
	void *ctx;
};

static void tell_kvm(void *ctx, const struct kvm_stat *stat, const uint64_t *items)
{
	static const char *const types[] = {"cumulative", "instant", "peak", "linear histogram",
					    "log histogram"};
	static const char *const units[] = {"none", "bytes", "seconds", "cycles", "boolean"};
	uint32_t type = (stat->flags & KVM_STATS_TYPE_MASK) >> KVM_STATS_TYPE_SHIFT;
	uint32_t unit = (stat->flags & KVM_STATS_UNIT_MASK) >> KVM_STATS_UNIT_SHIFT;
	const struct telling *t = ctx;
	const struct machine_kvm_stat s = {
		.name = stat->name,
		.type = type < ARRAY_SIZE(types) ? types[type] : "unknown",
		.unit = unit < ARRAY_SIZE(units) ? units[unit] : "unknown",
		.base = (stat->flags & KVM_STATS_BASE_MASK) == KVM_STATS_BASE_POW2 ? 2 : 10,
		.exponent = stat->exponent,
		.bucket_size = stat->bucket_size,
		.values = items,
		.count = stat->items,
	};

	t->fn(t->ctx, &s);
}

/**
 * machine_kvm_stats_each() - KVM's own statistics, all buckets of them
 * @m: a machine
 * @vcpu: number of the vCPU whose they are; −1: those of the VM
 * @fn: called for each; what it is given is gone afterwards
 * @ctx: its first argument
 *
 * Return: 0; −ENOTTY when this KVM has none; another −errno.
 * Context: the owner.
 */
int machine_kvm_stats_each(const struct machine *m, int vcpu, machine_kvm_stat_fn fn, void *ctx)
{
	const struct kvm_stats *s = vcpu < 0 ? &m->vm_stats : &m->vcpus[vcpu].stats;
	struct telling t = {.fn = fn, .ctx = ctx};

	return s->fd < 0 ? -ENOTTY : kvm_stats_items_each(s, tell_kvm, &t);
}
