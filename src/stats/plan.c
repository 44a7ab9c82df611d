/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The number of blocks is fixed before the first boot, so it has to be chosen from something: from
 * the standard deviation of block differences that a pilot of a few blocks has seen.
 */
#include "stats/plan.h"

#include <errno.h>
#include <math.h>

#include "stats/tdist.h"

/**
 * stats_mde_factor() - the smallest detectable effect, in standard deviations of a difference
 * @n: how many differences, 2 or more
 * @ret: (t_.975 + t_.80) / sqrt(n) with n - 1 degrees of freedom
 *
 * Return: 0, -ENODATA.
 */
int stats_mde_factor(size_t n, double *ret)
{
	double level;
	double power;
	int r;

	if (n < 2) {
		return -ENODATA;
	}
	r = stats_t_quantile(0.975, (double)n - 1, &level);
	if (r == 0) {
		r = stats_t_quantile(0.80, (double)n - 1, &power);
	}
	if (r == 0) {
		*ret = (level + power) / sqrt((double)n);
	}
	return r;
}

/**
 * stats_mde() - the smallest true effect that so many differences, so noisy, would likely show
 * @d: the differences
 * @n: how many, 2 or more
 * @ret: (t_.975 + t_.80) s/sqrt(n) with n - 1 degrees of freedom, in the unit of @d: a test at
 *       5 %, two-sided, finds an effect of this size in four experiments of five
 *
 * Return: 0, -ENODATA, -EDOM.
 */
int stats_mde(const double *d, size_t n, double *ret)
{
	double mean = 0;
	double ss = 0;
	double factor;
	int r;

	r = stats_check(d, n);
	if (r < 0) {
		return r;
	}
	if (n < 2) {
		return -ENODATA;
	}
	for (size_t i = 0; i < n; i++) {
		mean += d[i] / (double)n;
	}
	for (size_t i = 0; i < n; i++) {
		ss += (d[i] - mean) * (d[i] - mean);
	}
	if (!isfinite(ss)) {
		return -EDOM;
	}
	r = stats_mde_factor(n, &factor);
	if (r < 0) {
		return r;
	}
	*ret = factor * sqrt(ss / ((double)n - 1));
	return 0;
}

/**
 * stats_blocks_for() - the fewest blocks that would likely show an effect
 * @sd: standard deviation of a block difference, 0 or more
 * @effect: what is to be found in four experiments of five, above 0, in the unit of @sd
 * @most: more than this are not to be had
 * @ret: STATS_PLAN_BLOCKS_LEAST to @most
 *
 * Return: 0, -EDOM, -ERANGE for @effect or @sd, -E2BIG when @most blocks are too few.
 */
int stats_blocks_for(double sd, double effect, size_t most, size_t *ret)
{
	if (!isfinite(sd) || !isfinite(effect)) {
		return -EDOM;
	}
	if (!(effect > 0) || sd < 0) {
		return -ERANGE;
	}
	for (size_t n = STATS_PLAN_BLOCKS_LEAST; n <= most; n++) {
		double factor;
		int r = stats_mde_factor(n, &factor);

		if (r < 0) {
			return r;
		}
		if (factor * sd <= effect) {
			*ret = n;
			return 0;
		}
	}
	return -E2BIG;
}
