/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Intervals by resampling boots: Efron's BCa. */
#ifndef STATS_BOOTSTRAP_H
#define STATS_BOOTSTRAP_H

#include <stdint.h>

#include "stats/order.h"

#define STATS_BCA_LEAST     10 /* boots; below it, the interval is not what it says */
#define STATS_BCA_DRAWS     10000
#define STATS_BCA_ENUMERATE 6 /* values of which all resamples are made: 6^6 */

/* A number made of @n values, which it may reorder. */
typedef double (*stats_statistic_fn)(double *x, size_t n);

struct stats_bca {
	double estimate; /* of the values themselves */
	double z0;       /* correction of bias */
	double accel;    /* correction of skewness */
	struct stats_interval interval;
};

double stats_statistic_mean(double *x, size_t n);
double stats_statistic_median(double *x, size_t n);

int stats_bca(const double *x, size_t n, stats_statistic_fn of, double level, uint64_t seed,
	      struct stats_bca *ret) __must_check;
int stats_bca_enumerated(const double *x, size_t n, stats_statistic_fn of, double level,
			 struct stats_bca *ret) __must_check;

#endif
