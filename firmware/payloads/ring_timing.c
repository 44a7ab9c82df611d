/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ring_timing.elf: how long a known number of instructions takes at the privilege level that the
 * host started us in. Where ring 0 is interpreted, the same loop is slower there by orders of
 * magnitude. abi/payload.h says where the numbers are.
 */
#include "fw.h"

#include "abi/timed_loop.h"

/* One copy of the loop for all lengths. */
static __attribute__((noinline)) uint64_t time_loop(uint64_t iterations)
{
	return timed_loop_ticks(iterations);
}

uint64_t payload_main(void)
{
	uint64_t longest = fw_arg(0, RING_TIMING_ITERATIONS);
	uint64_t samples = fw_arg(1, RING_TIMING_SAMPLES);
	const uint64_t lengths[RING_TIMING_LENGTHS] = {0, longest / 2, longest};

	if (samples > RING_TIMING_SAMPLES_MAX) {
		samples = RING_TIMING_SAMPLES_MAX;
	}
	time_loop(longest); /* fetch and translate it once */
	for (uint64_t i = 0; i < samples; i++) {
		for (unsigned int k = 0; k < RING_TIMING_LENGTHS; k++) {
			fw_block.values[RING_TIMING_LENGTHS * i + k] = time_loop(lengths[k]);
		}
	}
	fw_block.value_count = samples * RING_TIMING_LENGTHS;
	return 0;
}
