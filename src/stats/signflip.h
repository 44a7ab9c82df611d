/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sign-flip permutation test of block differences. */
#ifndef STATS_SIGNFLIP_H
#define STATS_SIGNFLIP_H

#include <stdint.h>

#include "stats/order.h"

#define STATS_SIGNFLIP_EXACT_MAX 20     /* up to here all 2^n sign patterns are counted */
#define STATS_SIGNFLIP_DRAWS     100000 /* above, so many are drawn */

int stats_sign_flip(const double *d, size_t n, uint64_t seed, double *ret_p) __must_check;

#endif
