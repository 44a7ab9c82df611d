/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a median hides: two groups in one sample, another shape with the same middle, a value that
 * moves while it is measured. None of these is a verdict; each is a reason to look.
 */
#ifndef STATS_SHAPE_H
#define STATS_SHAPE_H

#include <stdbool.h>

#include "stats/order.h"

#define STATS_SPLIT_LEAST  8 /* values below which no split is looked for */
#define STATS_TREND_LEAST  5 /* values below which no order is unlikely */
#define STATS_CHANGE_LEAST 10

/* A sample cut in two where that explains most. */
struct stats_split {
	bool two;     /* two groups, and not one that is wide */
	size_t low;   /* values in the lower group */
	double at[2]; /* means of the groups */
	double share; /* of all variance that lies between the groups, 0 to 1 */
};

struct stats_change {
	size_t at;   /* the first value of the second part */
	double p;    /* of there being no change */
	double step; /* median of the second part - of the first */
};

int stats_ks(const double *x, size_t n, const double *y, size_t m, double *ret_d,
	     double *ret_p) __must_check;
int stats_split(const double *x, size_t n, struct stats_split *ret) __must_check;
int stats_trend(const double *x, size_t n, double *ret_tau, double *ret_p) __must_check;
int stats_change(const double *x, size_t n, struct stats_change *ret) __must_check;

#endif
