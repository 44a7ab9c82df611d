/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Adjusted p-values for several comparisons in one report. */
#ifndef STATS_MULTIPLE_H
#define STATS_MULTIPLE_H

#include "stats/order.h"

int stats_holm(const double *p, size_t n, double *ret) __must_check;
int stats_bh(const double *p, size_t n, double *ret) __must_check;

#endif
