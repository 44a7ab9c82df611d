/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See tracing.h. A vCPU's thread tells into its own ring, the owner into the loop's, which it also
 * drains, by a timer. Names are words that never change, or stand in struct tracing.
 */
#include "vmm/tracing.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "devices/virtio/mmio.h"
#include "vmm/vmm_priv.h"

/* A ring takes 8,192 events: enough for 400,000 exits a second of one vCPU. */
#define DRAIN_PERIOD_NS (20 * NS_PER_MSEC)

_Static_assert(ARRAY_SIZE(((struct tracing *)0)->names) == VIRTIO_SLOTS_MAX, "a name for each");
_Static_assert(TRACE_RINGS_MAX > MACHINE_VCPUS_MAX + 1, "a ring for each vCPU and the loop");
_Static_assert(TRACE_TRACKS_MAX > MACHINE_VCPUS_MAX + VIRTIO_SLOTS_MAX * VIRTIO_QUEUES_MAX + 3,
	       "a track for each");

/* A queue has one request at a time in hand, so the requests on its track never overlap. */
static int add_queues(struct tracing *t, struct virtio_mmio *v, const char *name)
{
	char track[32];
	int r = 0;

	for (unsigned int i = 0; i < v->queue_count && r == 0; i++) {
		snprintf(track, sizeof(track), "%s q%u", name, i);
		r = trace_add_track(t->trace, track, &v->queues[i].trace.track);
		v->queues[i].trace.ring = t->loop;
	}
	return r;
}

static int add_tracks(struct machine *m)
{
	struct tracing *t = &m->tracing;
	char name[16];
	int r = trace_add_track(t->trace, "loop", &t->loop_track);

	if (r == 0) {
		r = trace_add_track(t->trace, "phases", &t->phase_track);
	}
	if (r == 0) {
		r = trace_add_track(t->trace, "batches", &t->window_track);
	}
	if (r == 0) {
		r = trace_add_ring(t->trace, &t->loop);
	}
	for (unsigned int i = 0; i < m->vcpu_count && r == 0; i++) {
		snprintf(name, sizeof(name), "vcpu%u", i);
		r = trace_add_track(t->trace, name, &m->vcpus[i].track);
		if (r == 0) {
			r = trace_add_ring(t->trace, &m->vcpus[i].trace);
		}
	}
	for (unsigned int i = 0; i < m->virtio.count && r == 0; i++) {
		snprintf(t->names[i], sizeof(t->names[i]), "%s.%u",
			 m->virtio.slots[i].device->ops->name, i);
		r = add_queues(t, m->virtio.slots[i].device, t->names[i]);
	}
	return r;
}

/**
 * tracing_make() - begin a trace, if one is asked for
 * @m: a machine that has its vCPUs and devices
 * @cfg: with trace and trace_fd
 * @e: gets one line
 *
 * Return: 0 or −errno.
 * Context: the owner, before any vCPU runs.
 */
int tracing_make(struct machine *m, const struct machine_config *cfg, struct err *e)
{
	int r;

	if (!cfg->trace) {
		return 0;
	}
	r = trace_create(cfg->trace_fd, clock_now_ns(&clock_monotonic), &m->tracing.trace);
	if (r == 0) {
		r = add_tracks(m);
	}
	return r < 0 ? err_errno(e, r, "cannot make the trace") : 0;
}

/**
 * tracing_fini() - free what tracing_make() made
 * @m: a machine whose vCPUs have ended, with a trace or without
 *
 * Context: the owner.
 */
void tracing_fini(struct machine *m)
{
	trace_destroy(m->tracing.trace);
	m->tracing.trace = NULL;
}

/* What KVM counted so far: a halted vCPU makes no exit that we would see. */
static void tell_counters(struct machine *m)
{
	struct trace_record r = {.kind = TRACE_COUNTER, .start_ns = trace_now_ns()};

	for (unsigned int i = 0; i < m->vcpu_count; i++) {
		const struct vcpu *v = &m->vcpus[i];
		uint64_t values[VCPU_STAT_COUNT];

		if (v->stats.fd < 0 || kvm_stats_sample(&v->stats, &v->pick, values) < 0) {
			continue;
		}
		r.track = v->track;
		r.name = "exits in KVM, and interrupts";
		r.keys[0] = "exits";
		r.keys[1] = "interrupts";
		r.values[0] = values[VCPU_STAT_EXITS];
		r.values[1] = values[VCPU_STAT_IRQS];
		trace_put(m->tracing.loop, &r);
		if (values[VCPU_STAT_BLOCKING] != KVM_STATS_NO_VALUE) {
			r.name = "halted";
			r.keys[0] = "halted";
			r.keys[1] = NULL;
			r.values[0] = values[VCPU_STAT_BLOCKING];
			trace_put(m->tracing.loop, &r);
		}
	}
}

static void on_drain(void *ctx)
{
	struct machine *m = ctx;

	tell_counters(m);
	m->tracing.error = trace_drain(m->tracing.trace);
	if (m->tracing.error) {
		/* machine_trace_finish() says so; nothing is gained by trying again. */
		(void)!evloop_arm_timer(m->tracing.timer, 0, 0);
	}
}

/**
 * tracing_watch() - write the trace now and then, from the machine's loop
 * @m: a machine that is about to start
 *
 * Return: 0 or −errno.
 * Context: the owner.
 */
int tracing_watch(struct machine *m)
{
	int r;

	if (!m->tracing.trace) {
		return 0;
	}
	r = evloop_add_timer(m->loop, on_drain, m, &m->tracing.timer);
	return r < 0 ? r
		     : evloop_arm_timer(m->tracing.timer,
					clock_now_ns(&clock_monotonic) + DRAIN_PERIOD_NS,
					DRAIN_PERIOD_NS);
}

/**
 * tracing_unwatch() - write no more from the loop
 * @m: a machine
 *
 * Context: the owner.
 */
void tracing_unwatch(struct machine *m)
{
	evloop_remove(m->tracing.timer);
	m->tracing.timer = NULL;
}

static void tell_span(struct machine *m, uint32_t track, const char *name, uint64_t start_ns,
		      uint64_t end_ns)
{
	const struct trace_record r = {.kind = TRACE_SPAN,
				       .name = name,
				       .track = track,
				       .start_ns = start_ns,
				       .end_ns = end_ns};

	trace_put(m->tracing.loop, &r);
}

static void tell_phases(struct machine *m)
{
	uint64_t end = m->times.ended_ns, user = m->user_mark_ns ? m->user_mark_ns : end;
	uint64_t count = atomic_load(&m->window_count);

	if (end == 0) {
		return; /* it never ran */
	}
	tell_span(m, m->tracing.phase_track, machine_phase_name(MACHINE_PHASE_BOOT),
		  m->times.first_run_ns, user);
	if (m->user_mark_ns) {
		tell_span(m, m->tracing.phase_track, machine_phase_name(MACHINE_PHASE_JOB), user,
			  end);
	}
	for (uint64_t i = 0; i < count; i++) {
		const struct machine_window *w = &m->windows[i];
		uint64_t host = w->open_tsc - m->vcpus[0].tsc_offset - m->start_tsc;
		uint64_t at = m->start_ns + machine_ticks_ns(m, host);

		tell_span(m, m->tracing.window_track, machine_phase_name(MACHINE_PHASE_BATCH), at,
			  at + machine_ticks_ns(m, w->close_tsc - w->open_tsc));
		if (i % (TRACE_RECORDS / 2) == 0) {
			(void)!trace_drain(m->tracing.trace);
		}
	}
}

/**
 * machine_trace_finish() - write what is left of the trace, and its end
 * @m: a machine that has ended
 *
 * Return: 0, also without a trace; the −errno of the first write that failed.
 * Context: the owner, once.
 */
int machine_trace_finish(struct machine *m)
{
	if (!m->tracing.trace || m->tracing.finished) {
		return 0;
	}
	m->tracing.finished = true;
	(void)!trace_drain(m->tracing.trace);
	tell_phases(m);
	return trace_finish(m->tracing.trace);
}

/**
 * tracing_exit() - a vCPU is about to go back into the guest
 * @v: the vCPU, with a trace
 * @start_ns: when it came out
 * @reason: why, KVM_EXIT_*
 * @row: what vcpu_dispatch() returned
 *
 * Context: the vCPU's thread.
 */
void tracing_exit(struct vcpu *v, uint64_t start_ns, uint32_t reason,
		  const struct exit_counter *row)
{
	struct trace_record r = {.kind = TRACE_SPAN,
				 .name = kvm_exit_name(reason),
				 .track = v->track,
				 .start_ns = start_ns,
				 .end_ns = trace_now_ns()};

	if (row) {
		const struct exit_row *place =
			(const struct exit_row *)((const char *)row -
						  __builtin_offsetof(struct exit_row, counter));

		r.name = exits_access_name(
			atomic_load_explicit(&place->access, memory_order_relaxed));
		r.keys[0] = "address";
		r.values[0] = atomic_load_explicit(&place->address, memory_order_relaxed);
	}
	trace_put(v->trace, &r);
}

/**
 * tracing_ran() - a vCPU has left the guest for good
 * @v: the vCPU, with a trace
 * @start_ns: when it entered
 *
 * Context: the vCPU's thread.
 */
void tracing_ran(struct vcpu *v, uint64_t start_ns)
{
	const struct trace_record r = {.kind = TRACE_SPAN,
				       .name = "run",
				       .track = v->track,
				       .start_ns = start_ns,
				       .end_ns = trace_now_ns()};

	trace_put(v->trace, &r);
}

/**
 * tracing_mark() - the guest wrote a mark
 * @v: the vCPU that did, with a trace
 * @code: what it wrote
 *
 * Context: the vCPU's thread.
 */
void tracing_mark(const struct vcpu *v, uint8_t code)
{
	const struct trace_record r = {.kind = TRACE_INSTANT,
				       .name = "mark",
				       .track = v->track,
				       .start_ns = trace_now_ns(),
				       .keys = {"code"},
				       .values = {code}};

	trace_put(v->trace, &r);
}

/**
 * tracing_serve() - the owner has answered a doorbell
 * @slot: the device's, of a machine with a trace
 * @start_ns: when it began to
 *
 * Context: the owner.
 */
void tracing_serve(struct virtio_slot *slot, uint64_t start_ns)
{
	struct machine *m = slot->m;

	tell_span(m, m->tracing.loop_track, m->tracing.names[slot - m->virtio.slots], start_ns,
		  trace_now_ns());
}

/**
 * tracing_output() - the owner has handed on what a serial line had
 * @m: a machine with a trace
 * @line: which
 * @bytes: how many
 * @start_ns: when it began to
 *
 * Context: the owner.
 */
void tracing_output(struct machine *m, enum machine_line line, size_t bytes, uint64_t start_ns)
{
	const struct trace_record r = {.kind = TRACE_SPAN,
				       .name = line == MACHINE_COM1 ? "com1" : "com2",
				       .track = m->tracing.loop_track,
				       .start_ns = start_ns,
				       .end_ns = trace_now_ns(),
				       .keys = {"bytes"},
				       .values = {bytes}};

	trace_put(m->tracing.loop, &r);
}
