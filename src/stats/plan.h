/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What an experiment of a given size would find, and how large one must be to find it. */
#ifndef STATS_PLAN_H
#define STATS_PLAN_H

#include "stats/order.h"

#define STATS_PLAN_BLOCKS_LEAST 6 /* fewer cannot reach 5 % two-sided */

int stats_mde_factor(size_t n, double *ret) __must_check;
int stats_mde(const double *d, size_t n, double *ret) __must_check;
int stats_blocks_for(double sd, double effect, size_t most, size_t *ret) __must_check;

#endif
