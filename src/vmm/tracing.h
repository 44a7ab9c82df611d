/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a machine tells a trace: each vCPU's time in the machine and its exits, the doorbells and
 * requests of the virtio devices and their interrupts, what came out of the serial lines, marks,
 * phases, and now and then KVM's counters. A machine without a trace has a NULL where this has a
 * pointer; its vCPUs run the loop that does not even ask.
 */
#ifndef VMM_TRACING_H
#define VMM_TRACING_H

#include "base/trace.h"
#include "vmm/vmm.h"

struct vcpu;
struct virtio_slot;
struct exit_counter;

struct tracing {
	struct trace *trace;
	struct trace_ring *loop; /* of the owner's thread */
	uint32_t loop_track, phase_track, window_track;
	struct evloop_source *timer;
	bool finished;
	int error;
	char names[18][24]; /* of the virtio devices, as VIRTIO_SLOTS_MAX has them */
};

int tracing_make(struct machine *m, const struct machine_config *cfg, struct err *e) __must_check;
void tracing_fini(struct machine *m);
int tracing_watch(struct machine *m) __must_check;
void tracing_unwatch(struct machine *m);

void tracing_exit(struct vcpu *v, uint64_t start_ns, uint32_t reason,
		  const struct exit_counter *row);
void tracing_ran(struct vcpu *v, uint64_t start_ns);
void tracing_mark(const struct vcpu *v, uint8_t code);
void tracing_serve(struct virtio_slot *slot, uint64_t start_ns);
void tracing_output(struct machine *m, enum machine_line line, size_t bytes, uint64_t start_ns);

#endif
