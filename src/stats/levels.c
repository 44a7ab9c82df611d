/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kalibera and Jones, "Quantifying performance changes with effect size confidence intervals"
 * (2013): a measurement that is repeated on several levels has a variance on each. What the means
 * of a level vary by is partly the rest of what the level below it varies by; without that it is
 * the level's own. From the two innermost follows how many batches a boot is worth.
 */
#include "stats/levels.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/**
 * stats_levels() - the variance of each level of a balanced nested measurement
 * @x: the values, those of the innermost level together, product of @counts of them
 * @counts: how many of each level there are in one of the next, the innermost first; each 2 or more
 * @levels: 1 to STATS_LEVELS_MAX
 * @ret: set on success; levels above @levels are 0
 *
 * Return: 0, -ENODATA for a count below 2, -ERANGE for @levels, -E2BIG for sizes that overflow,
 * -EDOM, -ENOMEM.
 */
int stats_levels(const double *x, const size_t *counts, size_t levels, struct stats_levels *ret)
{
	struct stats_levels out = {0};
	_cleanup_free_ double *means = NULL;
	size_t n = 1;
	int r;

	if (levels == 0 || levels > STATS_LEVELS_MAX) {
		return -ERANGE;
	}
	for (size_t i = 0; i < levels; i++) {
		if (counts[i] < 2) {
			return -ENODATA;
		}
		if (__builtin_mul_overflow(n, counts[i], &n)) {
			return -E2BIG;
		}
	}
	r = stats_check(x, n);
	if (r < 0) {
		return r;
	}
	means = calloc(n, sizeof(*means));
	if (!means) {
		return -ENOMEM;
	}
	memcpy(means, x, n * sizeof(*x));
	for (size_t level = 0; level < levels; level++) {
		size_t in_one = counts[level];
		size_t groups = n / in_one;
		double within = 0;

		for (size_t g = 0; g < groups; g++) {
			const double *v = means + g * in_one;
			double mean = 0;
			double ss = 0;

			for (size_t i = 0; i < in_one; i++) {
				mean += v[i] / (double)in_one;
			}
			for (size_t i = 0; i < in_one; i++) {
				ss += (v[i] - mean) * (v[i] - mean);
			}
			within += ss / (double)(in_one - 1) / (double)groups;
			means[g] = mean; /* not before the group has been read */
		}
		out.s2[level] = within;
		out.t2[level] = level == 0 ? within
					   : within - out.s2[level - 1] / (double)counts[level - 1];
		n = groups;
		if (!isfinite(within)) {
			return -EDOM;
		}
	}
	out.mean = means[0];
	*ret = out;
	return 0;
}

/**
 * stats_best_count() - how often to repeat on one level, for the least total cost of a precision
 * @own_cost: of one repetition more, such as a batch's time; above 0
 * @outer_cost: of one repetition more of the level above, such as a boot's; above 0
 * @own_t2: this level's own variance, 0 or more
 * @outer_t2: that of the level above; 0 or less: nothing but this level varies
 * @ret: sqrt(outer_cost / own_cost * own_t2 / outer_t2), not rounded; infinite when @outer_t2 is
 *       not above 0 and @own_t2 is, and 1 when neither is
 *
 * Return: 0, -ERANGE for a cost, -EDOM.
 */
int stats_best_count(double own_cost, double outer_cost, double own_t2, double outer_t2,
		     double *ret)
{
	if (!isfinite(own_t2) || !isfinite(outer_t2)) {
		return -EDOM;
	}
	if (!(own_cost > 0 && outer_cost > 0) || own_t2 < 0) {
		return -ERANGE;
	}
	if (outer_t2 <= 0) {
		*ret = own_t2 > 0 ? INFINITY : 1;
		return 0;
	}
	*ret = fmax(1, sqrt(outer_cost / own_cost * (own_t2 / outer_t2)));
	return 0;
}
