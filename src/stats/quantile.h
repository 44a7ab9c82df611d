/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Quantiles by Harrell and Davis, and how far two samples differ at each of them. */
#ifndef STATS_QUANTILE_H
#define STATS_QUANTILE_H

#include "stats/order.h"

/* .1 to .9, and .99. */
#define STATS_SHIFT_QUANTILES 10

struct stats_shift_point {
	double q;    /* which quantile, 0 to 1 */
	double a, b; /* of the two samples */
	double diff; /* b - a */
};

int stats_percentile(const double *x, size_t n, double q, double *ret) __must_check;
int stats_harrell_davis(const double *x, size_t n, double q, double *ret) __must_check;
int stats_quantile_shift(const double *a, size_t n, const double *b, size_t m,
			 struct stats_shift_point ret[STATS_SHIFT_QUANTILES]) __must_check;

#endif
