/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Order statistics, and what all of src/stats shares: intervals and error codes.
 *
 * Every function here returns 0 or one of:
 *   -ENODATA   fewer values than the estimator is defined for
 *   -EDOM      a value is NaN or infinite, or so large that the result would be
 *   -ERANGE    a parameter (level, probability, degrees of freedom) outside its range
 *   -ENOTUNIQ  all values are equal, so that there is nothing to rank
 *   -E2BIG     more values than the exact method's tables are made for
 *   -ENOMEM    no memory
 * Pure maths: no input or output, no state, callable from any thread.
 */
#ifndef STATS_ORDER_H
#define STATS_ORDER_H

#include <stddef.h>

#include "base/cleanup.h"

/* An interval, ends included, and the level that it really has (not the one that was asked for). */
struct stats_interval {
	double lo;
	double hi;
	double level; /* 0 to 1 */
};

const char *stats_error_text(int code);
int stats_check(const double *x, size_t n) __must_check;
int stats_sorted(const double *x, size_t n, double **ret) __must_check;
void stats_sort(double *x, size_t n);
double stats_median_of_sorted(const double *x, size_t n);
int stats_median(const double *x, size_t n, double *ret) __must_check;
int stats_median_interval(const double *x, size_t n, double level,
			  struct stats_interval *ret) __must_check;

#endif
