/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A seeded generator: the same seed gives the same numbers on every machine. Not for secrets. */
#ifndef BASE_RNG_H
#define BASE_RNG_H

#include <stddef.h>
#include <stdint.h>

struct rng {
	uint64_t s[4];
};

void rng_init(struct rng *r, uint64_t seed);
uint64_t rng_next(struct rng *r);
uint64_t rng_below(struct rng *r, uint64_t bound);
double rng_unit(struct rng *r);

#endif
