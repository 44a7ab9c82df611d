/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The effect of a paired comparison: the median of all Walsh averages (d_i + d_j)/2, i <= j, and
 * the interval that inverting the exact signed-rank test gives. After M. Hollander and D. A. Wolfe,
 * "Nonparametric Statistical Methods", 3.2 and 3.3.
 */
#include "stats/signrank.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

/**
 * stats_signrank_quantile() - a quantile of the signed-rank statistic without ties
 * @p: a probability, above 0 and no more than 1/2
 * @n: the number of differences, 1 to STATS_SIGNRANK_MAX
 * @ret_q: the smallest q with P(V <= q) >= @p
 * @ret_below: P(V < q), what an interval cut at that q leaves out on one side
 *
 * Under the null each of the ranks 1..n counts with probability 1/2, so the distribution grows by
 * one rank at a time; keeping probabilities instead of counts avoids 2^n.
 *
 * Return: 0, -ENODATA, -ERANGE, -E2BIG, -ENOMEM.
 */
int stats_signrank_quantile(double p, size_t n, size_t *ret_q, double *ret_below)
{
	_cleanup_free_ double *prob = NULL;
	size_t max = n * (n + 1) / 2;
	double below = 0;
	size_t q = 0;

	if (n == 0) {
		return -ENODATA;
	}
	if (n > STATS_SIGNRANK_MAX) {
		return -E2BIG;
	}
	if (!(p > 0 && p <= 0.5)) {
		return -ERANGE;
	}
	prob = calloc(max + 1, sizeof(*prob));
	if (!prob) {
		return -ENOMEM;
	}
	prob[0] = 1;
	for (size_t rank = 1; rank <= n; rank++) {
		for (size_t v = rank * (rank + 1) / 2 + 1; v-- > 0;) {
			prob[v] = prob[v] / 2 + (v >= rank ? prob[v - rank] / 2 : 0);
		}
	}
	/* The slack keeps a sum that is exactly p in theory from missing it by its last bit. */
	while (below + prob[q] < p - 10 * DBL_EPSILON) {
		below += prob[q++];
	}
	*ret_q = q;
	*ret_below = below;
	return 0;
}

/**
 * stats_hodges_lehmann() - the centre of a sample of differences, and an interval for it
 * @d: the differences
 * @n: how many, 1 to STATS_SIGNRANK_MAX
 * @level: the level asked for, above 0 and below 1
 * @ret_effect: the median of the n(n+1)/2 Walsh averages
 * @ret: W_(k) .. W_(M+1-k) of the sorted Walsh averages, k the signed-rank quantile of
 *       (1 - @level)/2, and 1 where that is 0, with the level that this really has: with few
 *       differences it is below the one asked for (5 give at most .9375, 1 gives 0)
 *
 * Return: 0, -ENODATA, -EDOM, -ERANGE, -E2BIG, -ENOMEM.
 */
int stats_hodges_lehmann(const double *d, size_t n, double level, double *ret_effect,
			 struct stats_interval *ret)
{
	_cleanup_free_ double *w = NULL;
	size_t m = n * (n + 1) / 2;
	size_t at = 0;
	double below;
	size_t k;
	int r;

	r = stats_check(d, n);
	if (r < 0) {
		return r;
	}
	if (!(level > 0 && level < 1)) {
		return -ERANGE;
	}
	r = stats_signrank_quantile((1 - level) / 2, n, &k, &below);
	if (r < 0) {
		return r;
	}
	if (k == 0) {
		k = 1;
		below = ldexp(1, -(int)n); /* P(V = 0): no smaller cut exists */
	}
	w = malloc(m * sizeof(*w));
	if (!w) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		for (size_t j = i; j < n; j++) {
			w[at++] = d[i] / 2 + d[j] / 2;
		}
	}
	stats_sort(w, m);
	*ret_effect = stats_median_of_sorted(w, m);
	*ret = (struct stats_interval){w[k - 1], w[m - k], 1 - 2 * below};
	return 0;
}
