/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The two functions of mathematics that more than one estimator needs. */
#ifndef STATS_SPECIAL_H
#define STATS_SPECIAL_H

#include "stats/order.h"

double stats_beta_inc(double x, double y, double a, double b);
double stats_normal_cdf(double z);
int stats_normal_quantile(double p, double *ret) __must_check;

#endif
