/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A test at 5 % rejects a true null one time in twenty: how many of n rejections are no surprise.
 */
#include "stats/binomial.h"

#include <errno.h>

#include "stats/special.h"

#define MOST 1000000u /* trials: the quantile is looked for one by one */

/* P(X <= k) of n trials, DLMF 8.17.5. */
static double cdf(size_t k, size_t n, double p)
{
	return k >= n ? 1 : stats_beta_inc(1 - p, p, (double)(n - k), (double)k + 1);
}

/**
 * stats_binomial_range() - between which counts a number of successes mostly lies
 * @n: trials, 0 to a million
 * @p: the probability of each, above 0 and below 1
 * @level: how often it lies there at least, above 0 and below 1
 * @ret_lo: the (1 - @level)/2 quantile of the binomial distribution: the least k with P(X <= k) of
 *          so much
 * @ret_hi: the (1 + @level)/2 quantile
 *
 * Return: 0, -ERANGE for @p or @level, -E2BIG for @n.
 */
int stats_binomial_range(size_t n, double p, double level, size_t *ret_lo, size_t *ret_hi)
{
	size_t lo = 0;
	size_t hi;

	if (!(p > 0 && p < 1 && level > 0 && level < 1)) {
		return -ERANGE;
	}
	if (n > MOST) {
		return -E2BIG;
	}
	while (cdf(lo, n, p) < (1 - level) / 2) {
		lo++;
	}
	for (hi = lo; cdf(hi, n, p) < (1 + level) / 2;) {
		hi++;
	}
	*ret_lo = lo;
	*ret_hi = hi;
	return 0;
}
