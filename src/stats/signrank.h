/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One sample of differences: the Hodges-Lehmann estimate and its signed-rank interval. */
#ifndef STATS_SIGNRANK_H
#define STATS_SIGNRANK_H

#include "stats/order.h"

/* The exact table takes n^3/2 steps and n^2/2 numbers. */
#define STATS_SIGNRANK_MAX 512

int stats_signrank_quantile(double p, size_t n, size_t *ret_q, double *ret_below) __must_check;
int stats_hodges_lehmann(const double *d, size_t n, double level, double *ret_effect,
			 struct stats_interval *ret) __must_check;

#endif
