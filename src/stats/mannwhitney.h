/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two independent groups: the Mann-Whitney test and the shift between them. */
#ifndef STATS_MANNWHITNEY_H
#define STATS_MANNWHITNEY_H

#include <stdbool.h>

#include "stats/order.h"

/* Up to so many pairs the distribution is counted out; above, the normal approximation serves. */
#define STATS_MANNWHITNEY_EXACT_MAX 2500
/* No more values in both groups together: the shift sorts all their pairs. */
#define STATS_MANNWHITNEY_MAX 2600

struct stats_mann_whitney {
	double u;         /* pairs with x above y; a tied pair counts one half */
	double p_less;    /* against "x tends to lie below y" */
	double p_greater; /* against "x tends to lie above y" */
	double p;         /* two-sided: twice the smaller one, no more than 1 */
	bool exact;
};

int stats_mann_whitney(const double *x, size_t n, const double *y, size_t m,
		       struct stats_mann_whitney *ret) __must_check;
int stats_shift(const double *x, size_t n, const double *y, size_t m, double level,
		double *ret_shift, struct stats_interval *ret) __must_check;

#endif
