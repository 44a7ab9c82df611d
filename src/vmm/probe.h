/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What KVM does with guest code at the two privilege levels: the timing payload is run once in
 * ring 3 and once in ring 0, each in a VM of its own that is gone afterwards.
 */
#ifndef VMM_PROBE_H
#define VMM_PROBE_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

struct kvm_ops;

#define PROBE_CAPS_MAX 64

struct probe_cap {
	const char *name; /* static; the end of doctor's kvm-cap-NAME */
	bool needed;
	const char *use; /* static */
	int value;       /* what KVM_CHECK_EXTENSION says, 0: absent */
};

struct probe_kvm {
	int error;      /* 0, or -errno: no device, no permission, another version */
	char text[512]; /* the same for people, beginning with doctor's check id */
	int api_version;
	unsigned int cap_count;
	struct probe_cap caps[PROBE_CAPS_MAX];
};

/* The VM was made, but the guest's code did not get to its end. */
#define PROBE_GUEST_FAILED (-EIO)

struct probe_ring {
	int error;            /* 0, PROBE_GUEST_FAILED, or what making the VM gave: -errno */
	char text[256];       /* the same for people */
	uint64_t samples;     /* of each length */
	uint64_t empty_ticks; /* least of all samples without an iteration */
	uint64_t loop_ticks;  /* least of all samples with all iterations */
};

struct probe_rings {
	uint64_t iterations;
	struct probe_ring ring0;
	struct probe_ring ring3;
};

void probe_kvm(const struct kvm_ops *ops, struct probe_kvm *ret);
void probe_ring_timing(const struct kvm_ops *ops, const char *payload_path,
		       struct probe_rings *ret);

#endif
