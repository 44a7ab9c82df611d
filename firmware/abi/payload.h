/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a firmware payload and the VMM agree on: one page in guest RAM, through which the host
 * hands arguments in before the start and reads numbers after the end, without an exit for any.
 *
 * The page is the first of the payload's image, at PAYLOAD_BLOCK_GPA. Its magic stands in the ELF
 * file already, so a host can tell a payload from a kernel before it starts anything.
 *
 * Every payload has a PVH note, too, for hosts that know nothing of the block, such as QEMU: ring
 * 0, and only what the exit port and COM1 tell.
 *
 * A payload starts as a 64-bit Linux kernel does (long mode, flat segments, the low memory mapped
 * one to one) and does not care whether it was put into ring 0 or ring 3. In ring 3 it needs
 * IOPL 3 for its ports, and its pages must be open to user mode.
 */
#ifndef ABI_PAYLOAD_H
#define ABI_PAYLOAD_H

#include <stdint.h>

#define PAYLOAD_BLOCK_GPA   UINT64_C(0x100000)           /* 1 MiB */
#define PAYLOAD_MAGIC       UINT64_C(0x3130524957465352) /* "RSFWIR01" */

#define PAYLOAD_ARG_COUNT   8
#define PAYLOAD_VALUE_COUNT 496

enum payload_state {
	PAYLOAD_NOT_STARTED = 0,
	PAYLOAD_STARTED = 1,
	PAYLOAD_DONE = 2,    /* the values are complete */
	PAYLOAD_TRAPPED = 3, /* an exception nobody expected: values[0..2] = vector, error, RIP */
};

struct payload_block {
	uint64_t magic;
	uint64_t state;  /* enum payload_state */
	uint64_t ring;   /* the privilege level that the payload found itself in: 0 or 3 */
	uint64_t status; /* what it wrote to the exit port */
	uint64_t value_count;
	uint64_t reserved[3];
	uint64_t args[PAYLOAD_ARG_COUNT]; /* 0 asks for the payload's own default */
	uint64_t values[PAYLOAD_VALUE_COUNT];
};

_Static_assert(sizeof(struct payload_block) == 4096, "one page");

/*
 * ring_timing.elf: args[0] iterations of the longest loop (RING_TIMING_ITERATIONS by default),
 * args[1] samples of each length (RING_TIMING_SAMPLES by default). It times abi/timed_loop.h with
 * no iterations, half of the longest, and the longest, in turn; values[3 * i + k] is sample i of
 * length k in TSC ticks.
 */
#define RING_TIMING_ITERATIONS  1000
#define RING_TIMING_SAMPLES     16
#define RING_TIMING_SAMPLES_MAX 160
#define RING_TIMING_LENGTHS     3

#endif
