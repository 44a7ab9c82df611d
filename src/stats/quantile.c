/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two arms can have the same median and differ in their tails: one number hides that, nine or ten
 * do not. The quantile of Harrell and Davis (1982) is a mean of all order statistics, weighted
 * by the chance that each is the quantile: smoother than any single one of them.
 */
#include "stats/quantile.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats/special.h"

/*
 * The weights are those of a beta distribution of mean q. It is sub-Gaussian with a variance proxy
 * of 1 / (4 (n + 2)) (Marchal and Arbel 2017), so that all weight farther out than @reach is below
 * exp(-80), 1e-34, and is left out.
 */
static double of_sorted(const double *s, size_t n, double q)
{
	double a = ((double)n + 1) * q;
	double b = ((double)n + 1) * (1 - q);
	double reach = sqrt(40 / ((double)n + 2));
	size_t first = (size_t)fmax(1, floor((q - reach) * (double)n));
	size_t last = (size_t)fmin((double)n, ceil((q + reach) * (double)n));
	double before = 0;
	double sum = 0;

	for (size_t i = first; i <= last; i++) {
		double x = (double)i / (double)n;
		double upto = stats_beta_inc(x, (double)(n - i) / (double)n, a, b);

		sum += (upto - before) * s[i - 1];
		before = upto;
	}
	return sum;
}

/**
 * stats_percentile() - the smallest value that a share of all values does not exceed
 * @x: the values
 * @n: how many, 1 or more
 * @q: the share, above 0 and at most 1
 * @ret: one of the values: the ceil(q n)-th smallest
 *
 * Return: 0, -ENODATA, -EDOM, -ERANGE for @q, -ENOMEM.
 */
int stats_percentile(const double *x, size_t n, double q, double *ret)
{
	_cleanup_free_ double *s = NULL;
	int r;

	if (!(q > 0 && q <= 1)) {
		return -ERANGE;
	}
	r = stats_sorted(x, n, &s);
	if (r == 0) {
		/* Not one too far where q n is whole on paper. */
		double rank = ceil(q * (double)n * (1 - 1e-12));

		*ret = s[rank < 1 ? 0 : (size_t)rank - 1];
	}
	return r;
}

/**
 * stats_harrell_davis() - a quantile as a weighted mean of the order statistics
 * @x: the values
 * @n: how many, 1 or more
 * @q: above 0 and below 1
 * @ret: in the unit of @x
 *
 * Return: 0, -ENODATA, -EDOM, -ERANGE for @q, -ENOMEM.
 */
int stats_harrell_davis(const double *x, size_t n, double q, double *ret)
{
	_cleanup_free_ double *s = NULL;
	int r;

	if (!(q > 0 && q < 1)) {
		return -ERANGE;
	}
	r = stats_sorted(x, n, &s);
	if (r == 0) {
		*ret = of_sorted(s, n, q);
	}
	return r;
}

/**
 * stats_quantile_shift() - the difference of two samples at ten quantiles
 * @a: values of the one
 * @n: how many, 1 or more
 * @b: values of the other
 * @m: how many, 1 or more
 * @ret: one row a quantile, .1 to .9 and .99
 *
 * Return: 0, -ENODATA, -EDOM, -ENOMEM.
 */
int stats_quantile_shift(const double *a, size_t n, const double *b, size_t m,
			 struct stats_shift_point ret[STATS_SHIFT_QUANTILES])
{
	struct stats_shift_point out[STATS_SHIFT_QUANTILES];
	_cleanup_free_ double *sa = NULL;
	_cleanup_free_ double *sb = NULL;
	int r = stats_sorted(a, n, &sa);

	if (r == 0) {
		r = stats_sorted(b, m, &sb);
	}
	if (r < 0) {
		return r;
	}
	for (size_t i = 0; i < STATS_SHIFT_QUANTILES; i++) {
		struct stats_shift_point *p = &out[i];

		p->q = i < 9 ? (double)(i + 1) / 10 : .99;
		p->a = of_sorted(sa, n, p->q);
		p->b = of_sorted(sb, m, p->q);
		p->diff = p->b - p->a;
		if (!isfinite(p->diff)) {
			return -EDOM;
		}
	}
	memcpy(ret, out, sizeof(out));
	return 0;
}
