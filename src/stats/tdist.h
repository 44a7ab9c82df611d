/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Student's t. */
#ifndef STATS_TDIST_H
#define STATS_TDIST_H

#include "stats/order.h"

int stats_t_cdf(double t, double df, double *ret) __must_check;
int stats_t_quantile(double p, double df, double *ret) __must_check;

#endif
