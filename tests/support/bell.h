/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Seeded noise for simulations. */
#ifndef TESTS_BELL_H
#define TESTS_BELL_H

#include "base/rng.h"

/* Nearly normal: mean 0, variance 1, the sum of twelve. */
static inline double bell(struct rng *rng)
{
	double sum = -6;

	for (int i = 0; i < 12; i++) {
		sum += rng_unit(rng);
	}
	return sum;
}

#endif
