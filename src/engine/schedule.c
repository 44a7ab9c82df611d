/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See schedule.h. Pure; any thread. */
#include "engine/schedule.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "base/rng.h"

/**
 * schedule_boots() - how many boots groups take
 * @groups: the groups
 * @n: how many, 1 to SCHEDULE_GROUPS_MAX
 *
 * Return: the number, two for each arm and block.
 * Context: any thread.
 */
size_t schedule_boots(const struct schedule_group *groups, size_t n)
{
	size_t boots = 0;

	for (size_t i = 0; i < n; i++) {
		boots += (size_t)2 * groups[i].arms * groups[i].blocks;
	}
	return boots;
}

static void draw_order(struct rng *rng, unsigned int arms, unsigned int *ret_order)
{
	for (unsigned int i = 0; i < arms; i++) {
		ret_order[i] = i;
	}
	for (unsigned int i = 0; i + 1 < arms; i++) {
		unsigned int j = i + (unsigned int)rng_below(rng, arms - i);
		unsigned int arm = ret_order[i];

		ret_order[i] = ret_order[j];
		ret_order[j] = arm;
	}
}

/**
 * schedule_make() - draw the order of all boots and what differs between them
 * @seed: any value; the same one gives the same schedule on every machine
 * @groups: the groups, in the order in which they are booted
 * @n: how many, 1 to SCHEDULE_GROUPS_MAX
 * @ret: set on success, schedule_boots() boots in order; the caller frees it
 *
 * Each group draws from a stream of its own: how many blocks one has changes nothing in another.
 *
 * Return: 0 or -ENOMEM.
 * Context: any thread.
 */
int schedule_make(uint64_t seed, const struct schedule_group *groups, size_t n,
		  struct schedule_boot **ret)
{
	struct schedule_boot *boots = calloc(schedule_boots(groups, n), sizeof(*boots));
	struct schedule_boot *b = boots;
	unsigned int order[SCHEDULE_ARMS_MAX];
	struct rng rng;

	if (!boots) {
		return -ENOMEM;
	}
	for (unsigned int g = 0; g < n; g++) {
		unsigned int arms = groups[g].arms;

		assert(arms >= 2 && arms <= SCHEDULE_ARMS_MAX);
		rng_init(&rng, seed + g);
		for (unsigned int k = 0; k < groups[g].blocks; k++) {
			draw_order(&rng, arms, order);
			for (unsigned int i = 0; i < 2 * arms; i++, b++) {
				b->group = g;
				b->block = k;
				b->arm = order[i < arms ? i : 2 * arms - 1 - i];
				b->seed = (uint32_t)rng_next(&rng);
				b->stack_bytes = 16 * (uint32_t)rng_below(&rng, 256);
				b->env_bytes = (uint32_t)rng_below(&rng, 1024);
			}
		}
	}
	*ret = boots;
	return 0;
}

/**
 * arm_name() - how records call an arm
 * @arm: its number in its group, below SCHEDULE_ARMS_MAX
 *
 * Return: a constant text: "a" for the baseline, then "b", "c", ...
 * Context: any thread.
 */
const char *arm_name(unsigned int arm)
{
	static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};

	_Static_assert(ARRAY_SIZE(names) == SCHEDULE_ARMS_MAX, "a name for each arm");
	assert(arm < ARRAY_SIZE(names));
	return names[arm];
}

/**
 * arm_letter() - how reports call an arm
 * @arm: its number in its group, below SCHEDULE_ARMS_MAX
 *
 * Return: 'A' for the baseline, then 'B', 'C', ...
 * Context: any thread.
 */
char arm_letter(unsigned int arm)
{
	return (char)('A' + arm);
}
