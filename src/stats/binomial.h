/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How often something of known probability happens. */
#ifndef STATS_BINOMIAL_H
#define STATS_BINOMIAL_H

#include "stats/order.h"

int stats_binomial_range(size_t n, double p, double level, size_t *ret_lo,
			 size_t *ret_hi) __must_check;

#endif
