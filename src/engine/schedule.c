/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See schedule.h. Pure; any thread. */
#include "engine/schedule.h"

#include <errno.h>
#include <stdlib.h>

#include "base/rng.h"

/**
 * schedule_make() - draw the order of all boots and what differs between them
 * @seed: any value; the same one gives the same schedule on every machine
 * @blocks: 1 to SCHEDULE_BLOCKS_MAX
 * @ret: set on success, SCHEDULE_BLOCK_BOOTS * @blocks boots in order; the caller frees it
 *
 * Return: 0 or -ENOMEM.
 * Context: any thread.
 */
int schedule_make(uint64_t seed, unsigned int blocks, struct schedule_boot **ret)
{
	struct schedule_boot *boots = calloc(blocks, SCHEDULE_BLOCK_BOOTS * sizeof(*boots));
	struct schedule_boot *b = boots;
	struct rng rng;

	if (!boots) {
		return -ENOMEM;
	}
	rng_init(&rng, seed);
	for (unsigned int k = 0; k < blocks; k++) {
		enum arm_id outer = rng_below(&rng, 2) ? ARM_B : ARM_A;
		enum arm_id inner = outer == ARM_A ? ARM_B : ARM_A;

		for (unsigned int i = 0; i < SCHEDULE_BLOCK_BOOTS; i++, b++) {
			b->block = k;
			b->arm = i == 0 || i == 3 ? outer : inner;
			b->seed = (uint32_t)rng_next(&rng);
			b->stack_bytes = 16 * (uint32_t)rng_below(&rng, 256);
			b->env_bytes = (uint32_t)rng_below(&rng, 1024);
		}
	}
	*ret = boots;
	return 0;
}

/**
 * arm_name() - how records call an arm
 * @arm: the arm
 *
 * Return: "a" or "b".
 * Context: any thread.
 */
const char *arm_name(enum arm_id arm)
{
	return arm == ARM_A ? "a" : "b";
}
