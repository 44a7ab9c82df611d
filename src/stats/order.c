/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Order statistics: the median, its interval without any assumption on the shape, and sorting. */
#include "stats/order.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/**
 * stats_error_text() - what a code of src/stats means
 * @code: 0 or a negative errno from any function of src/stats
 *
 * Return: a static text for people, without a full stop.
 */
const char *stats_error_text(int code)
{
	switch (code) {
	case 0:
		return "no error";
	case -ENODATA:
		return "too few values";
	case -EDOM:
		return "a value is not a finite number";
	case -ERANGE:
		return "a parameter is out of range";
	case -ENOTUNIQ:
		return "all values are equal";
	case -E2BIG:
		return "too many values for the exact method";
	case -ENOMEM:
		return "out of memory";
	default:
		return strerror(-code);
	}
}

/**
 * stats_check() - see that there are values and that all are finite
 * @x: the values
 * @n: how many
 *
 * Return: 0, -ENODATA for none, -EDOM for a NaN or an infinity.
 */
int stats_check(const double *x, size_t n)
{
	if (n == 0) {
		return -ENODATA;
	}
	for (size_t i = 0; i < n; i++) {
		if (!isfinite(x[i])) {
			return -EDOM;
		}
	}
	return 0;
}

static int cmp_double(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

/**
 * stats_sort() - sort in place, ascending
 * @x: finite values
 * @n: how many
 */
void stats_sort(double *x, size_t n)
{
	qsort(x, n, sizeof(*x), cmp_double);
}

/**
 * stats_sorted() - an ascending copy
 * @x: the values
 * @n: how many, 1 or more
 * @ret: the copy, the caller's to free()
 *
 * Return: 0, -ENODATA, -EDOM, -ENOMEM.
 */
int stats_sorted(const double *x, size_t n, double **ret)
{
	double *copy;
	int r;

	r = stats_check(x, n);
	if (r < 0) {
		return r;
	}
	copy = malloc(n * sizeof(*copy));
	if (!copy) {
		return -ENOMEM;
	}
	memcpy(copy, x, n * sizeof(*copy));
	stats_sort(copy, n);
	*ret = copy;
	return 0;
}

/**
 * stats_median_of_sorted() - the median of values in ascending order
 * @x: ascending, finite
 * @n: how many, 1 or more
 *
 * Return: the middle value, or the mean of the two middle ones (each halved first, so that no sum
 * overflows).
 */
double stats_median_of_sorted(const double *x, size_t n)
{
	return n % 2 ? x[n / 2] : x[n / 2 - 1] / 2 + x[n / 2] / 2;
}

/**
 * stats_median() - the median
 * @x: the values, in any order, left alone
 * @n: how many, 1 or more
 * @ret: the middle value, or the mean of the two middle ones
 *
 * Return: 0, -ENODATA, -EDOM, -ENOMEM.
 */
int stats_median(const double *x, size_t n, double *ret)
{
	_cleanup_free_ double *s = NULL;
	int r;

	r = stats_sorted(x, n, &s);
	if (r < 0) {
		return r;
	}
	*ret = stats_median_of_sorted(s, n);
	return 0;
}

/**
 * stats_median_interval() - an interval for the median of the population
 * @x: the values
 * @n: how many, 1 or more
 * @level: the level asked for, above 0 and below 1
 * @ret: x_(k) .. x_(n+1-k) of the greatest k whose level is no less than @level; from minus to
 *       plus infinity (and level 1) where even the extremes do not reach it, as for 5 values at 95
 * %
 *
 * The number of values below the median is binomial(n, 1/2), whatever the distribution, so the
 * interval from the k-th smallest to the k-th greatest misses with probability 2 P(N <= k - 1).
 *
 * Return: 0, -ENODATA, -EDOM, -ERANGE, -ENOMEM.
 */
int stats_median_interval(const double *x, size_t n, double level, struct stats_interval *ret)
{
	_cleanup_free_ double *s = NULL;
	double tail = 0;
	double tail_of_k = 0;
	size_t k = 0;
	int r;

	if (!(level > 0 && level < 1)) {
		return -ERANGE;
	}
	r = stats_sorted(x, n, &s);
	if (r < 0) {
		return r;
	}
	for (size_t i = 0; 2 * (i + 1) <= n + 1; i++) {
		/* log of C(n, i) / 2^n: the plain numbers overflow from n = 1030 on */
		tail += exp(lgamma((double)n + 1) - lgamma((double)i + 1) -
			    lgamma((double)(n - i) + 1) - (double)n * M_LN2);
		if (1 - 2 * tail < level - 1e-12) {
			break;
		}
		k = i + 1;
		tail_of_k = tail;
	}
	if (k == 0) {
		*ret = (struct stats_interval){-INFINITY, INFINITY, 1};
	} else {
		*ret = (struct stats_interval){s[k - 1], s[n - k], 1 - 2 * tail_of_k};
	}
	return 0;
}
