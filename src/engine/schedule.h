/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The order of the boots. A block is four boots, ABBA or BAAB at random, so that a linear drift of
 * the machine cancels inside it. What else may differ from boot to boot (where the stack begins,
 * how long the environment is) is drawn for each boot on its own, so that no arm owns a lucky
 * value.
 */
#ifndef ENGINE_SCHEDULE_H
#define ENGINE_SCHEDULE_H

#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

#define SCHEDULE_BLOCK_BOOTS 4u
#define SCHEDULE_BLOCKS_MAX  10000u

enum arm_id { ARM_A, ARM_B };

#define ARM_COUNT 2

struct schedule_boot {
	unsigned int block;
	enum arm_id arm;
	uint32_t seed;        /* for the benchmark's own draws */
	uint32_t stack_bytes; /* by which the stack is moved: a multiple of 16, below 4096 */
	uint32_t env_bytes;   /* by which the environment is longer: below 1024 */
};

int schedule_make(uint64_t seed, unsigned int blocks, struct schedule_boot **ret) __must_check;
const char *arm_name(enum arm_id arm);

#endif
