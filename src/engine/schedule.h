/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The order of the boots. They are arranged in groups, each of arms that are compared with one
 * another, and a group in blocks. A block boots every arm of its group once in an order drawn at
 * random and then once more in the mirrored order (two arms: ABBA or BAAB), so that a linear drift
 * of the machine cancels between any two arms. What else may differ from boot to boot (where the
 * stack begins, how long the environment is) is drawn for each boot on its own, so that no arm owns
 * a lucky value.
 */
#ifndef ENGINE_SCHEDULE_H
#define ENGINE_SCHEDULE_H

#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

#define SCHEDULE_ARMS_MAX   8u      /* of a group */
#define SCHEDULE_GROUPS_MAX 64u     /* of a comparison */
#define SCHEDULE_BLOCKS_MAX 512u    /* of a group: what the report's exact interval is made for */
#define SCHEDULE_BOOTS_MAX  100000u /* of a comparison */

/* The first arm of a group is the baseline of all others. */
enum { ARM_A, ARM_B };

struct schedule_group {
	unsigned int arms;   /* 2 to SCHEDULE_ARMS_MAX */
	unsigned int blocks; /* 1 to SCHEDULE_BLOCKS_MAX */
};

struct schedule_boot {
	unsigned int group;
	unsigned int block;   /* of its group */
	unsigned int arm;     /* of its group */
	uint32_t seed;        /* for the benchmark's own draws */
	uint32_t stack_bytes; /* by which the stack is moved: a multiple of 16, below 4096 */
	uint32_t env_bytes;   /* by which the environment is longer: below 1024 */
};

size_t schedule_boots(const struct schedule_group *groups, size_t n);
int schedule_make(uint64_t seed, const struct schedule_group *groups, size_t n,
		  struct schedule_boot **ret) __must_check;
const char *arm_name(unsigned int arm);
char arm_letter(unsigned int arm);

#endif
