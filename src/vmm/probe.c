/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See probe.h. */
#include "vmm/probe.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "kvm/kvm.h"
#include "vmm/payload.h"

/* Interpreted ring 0 runs about a million instructions a second: this is some ten milliseconds. */
#define PROBE_ITERATIONS 400
#define PROBE_SAMPLES    8
#define PROBE_TIMEOUT_NS (5 * NS_PER_SEC)

static int run_timing(const struct kvm_ops *ops, const char *path, unsigned int ring,
		      struct payload_outcome *ret, struct err *e)
{
	_cleanup_(payload_vm_destroy_p) struct payload_vm *vm = NULL;
	int r = payload_vm_create(ops, path, ring, &vm, e);

	r = r < 0 ? r : payload_vm_set_arg(vm, 0, PROBE_ITERATIONS);
	r = r < 0 ? r : payload_vm_set_arg(vm, 1, PROBE_SAMPLES);
	return r < 0 ? r : payload_vm_run(vm, PROBE_TIMEOUT_NS, ret, e);
}

static void time_ring(const struct kvm_ops *ops, const char *path, unsigned int ring,
		      struct probe_ring *ret)
{
	struct payload_outcome out;
	struct err e = ERR_INIT;
	int r = run_timing(ops, path, ring, &out, &e);

	*ret = (struct probe_ring){.empty_ticks = UINT64_MAX, .loop_ticks = UINT64_MAX};
	if (r == 0 && out.end != PAYLOAD_END_EXIT) {
		r = err_set(&e, PROBE_GUEST_FAILED, "%s", out.text);
	} else if (r == 0 && (out.block.state != PAYLOAD_DONE || out.block.ring != ring ||
			      out.block.value_count != PROBE_SAMPLES * RING_TIMING_LENGTHS)) {
		r = err_set(&e, PROBE_GUEST_FAILED,
			    "the timing payload left no numbers (state %llu, ring %llu)",
			    (unsigned long long)out.block.state,
			    (unsigned long long)out.block.ring);
	}
	if (r < 0) {
		ret->error = r;
		snprintf(ret->text, sizeof(ret->text), "%s", e.text);
		return;
	}
	for (unsigned int i = 0; i < PROBE_SAMPLES; i++) {
		const uint64_t *sample = &out.block.values[RING_TIMING_LENGTHS * i];
		uint64_t loop = sample[RING_TIMING_LENGTHS - 1];

		ret->empty_ticks = sample[0] < ret->empty_ticks ? sample[0] : ret->empty_ticks;
		ret->loop_ticks = loop < ret->loop_ticks ? loop : ret->loop_ticks;
	}
	ret->samples = PROBE_SAMPLES;
}

/**
 * probe_ring_timing() - time a loop in guest ring 3 and in guest ring 0
 * @ops: the system calls to use; NULL for the real ones
 * @payload_path: firmware/ring_timing.elf
 * @ret: always filled; a ring without numbers carries its error
 *
 * Context: a thread that may make VMs and sleep; takes SIGALRM meanwhile.
 */
void probe_ring_timing(const struct kvm_ops *ops, const char *payload_path, struct probe_rings *ret)
{
	ops = ops ? ops : &kvm_ops_real;
	ret->iterations = PROBE_ITERATIONS;
	time_ring(ops, payload_path, 3, &ret->ring3);
	time_ring(ops, payload_path, 0, &ret->ring0);
}

/**
 * probe_kvm() - whether the device is there, and what it offers
 * @ops: the system calls to use; NULL for the real ones
 * @ret: always filled; without a usable device only @ret->error and @ret->text
 *
 * Context: any thread.
 */
void probe_kvm(const struct kvm_ops *ops, struct probe_kvm *ret)
{
	struct kvm_dev dev = KVM_DEV_INIT;
	struct err e = ERR_INIT;
	const struct kvm_cap *caps;
	size_t count;

	*ret = (struct probe_kvm){0};
	ret->error = kvm_dev_init(&dev, ops ? ops : &kvm_ops_real, KVM_DEVICE_PATH, &e);
	snprintf(ret->text, sizeof(ret->text), "%s", e.text);
	if (ret->error) {
		return;
	}
	ret->api_version = dev.api_version;
	caps = kvm_caps(&count);
	for (size_t i = 0; i < count && i < PROBE_CAPS_MAX; i++) {
		ret->caps[ret->cap_count++] = (struct probe_cap){
			.name = caps[i].name,
			.needed = caps[i].needed,
			.use = caps[i].use,
			.value = kvm_dev_cap(&dev, caps[i].number),
		};
	}
	kvm_dev_fini(&dev);
}
