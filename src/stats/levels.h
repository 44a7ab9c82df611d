/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the spread of nested measurements comes from: calls, batches, boots. */
#ifndef STATS_LEVELS_H
#define STATS_LEVELS_H

#include "stats/order.h"

#define STATS_LEVELS_MAX 4

/* Levels count from 0, the innermost: batches of one boot, then boots, then what boots are of. */
struct stats_levels {
	double mean;
	double s2[STATS_LEVELS_MAX]; /* variance of the means of a level, within the next one */
	double t2[STATS_LEVELS_MAX]; /* of it the level's own share; below 0 by chance: none */
};

int stats_levels(const double *x, const size_t *counts, size_t levels,
		 struct stats_levels *ret) __must_check;
int stats_best_count(double own_cost, double outer_cost, double own_t2, double outer_t2,
		     double *ret) __must_check;

#endif
