/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One primitive, timed by calibrate.elf in a VM of its own that is gone afterwards, with what was
 * seen to disturb each batch. What the numbers mean is abi/calibrate.h's; what becomes of them is
 * for others.
 */
#ifndef VMM_CALIBRATE_H
#define VMM_CALIBRATE_H

#include <errno.h>
#include <stdint.h>

#include "abi/calibrate.h"
#include "kvm/ops.h"
#include "vmm/thread_counters.h"

/* The VM was made, but the payload did not get to its end. */
#define CALIBRATE_GUEST_FAILED (-EIO)
/* The processor, as KVM shows it to guests, does not have the instruction. */
#define CALIBRATE_NO_FEATURE (-EOPNOTSUPP)

/* How far the counters went while a batch ran; COUNTER_NONE: not known here. */
struct calibrate_window {
	uint64_t kvm_exits; /* its own closing mark among them */
	uint64_t irqs;
	uint64_t steal_ns;
	uint64_t nivcsw;
};

struct calibrate_result {
	int error;           /* 0, one of those above, or what making the VM gave: -errno */
	char text[256];      /* the same for people */
	uint64_t operations; /* of the primitive in each batch */
	uint64_t batches;
	uint64_t ticks[CALIBRATE_BATCHES_MAX][CALIBRATE_VALUES];
	struct calibrate_window windows[CALIBRATE_BATCHES_MAX];
};

void calibrate_run(const struct kvm_ops *ops, const char *payload_path,
		   enum calibrate_primitive which, uint64_t batches, struct calibrate_result *ret);

#endif
