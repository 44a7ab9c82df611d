/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Student's t by the incomplete beta function, the quantile by bisection: slow beside a series, and
 * right everywhere; it runs a handful of times a report.
 */
#include "stats/tdist.h"

#include <errno.h>
#include <math.h>

#include "stats/special.h"

/* P(T > t) for t >= 0 */
static double upper_tail(double t, double df)
{
	double t2 = t * t;

	if (isinf(t2)) {
		return 0;
	}
	return stats_beta_inc(df / (df + t2), t2 / (df + t2), df / 2, 0.5) / 2;
}

/**
 * stats_t_cdf() - P(T <= t)
 * @t: any number but NaN
 * @df: degrees of freedom, above 0, need not be whole
 * @ret: a probability
 *
 * Return: 0, -EDOM for a NaN, -ERANGE for bad degrees of freedom.
 */
int stats_t_cdf(double t, double df, double *ret)
{
	if (isnan(t)) {
		return -EDOM;
	}
	if (!(df > 0 && isfinite(df))) {
		return -ERANGE;
	}
	*ret = t < 0 ? upper_tail(-t, df) : 1 - upper_tail(t, df);
	return 0;
}

/**
 * stats_t_quantile() - the t with P(T <= t) = p
 * @p: above 0 and below 1
 * @df: degrees of freedom, above 0
 * @ret: the quantile, to about 1e-13 of itself
 *
 * Return: 0, -ERANGE (also where the quantile is no finite number).
 */
int stats_t_quantile(double p, double df, double *ret)
{
	double tail = p < 0.5 ? p : 1 - p;
	double lo = 0;
	double hi = 1;

	if (!(p > 0 && p < 1 && df > 0 && isfinite(df))) {
		return -ERANGE;
	}
	if (p == 0.5) {
		*ret = 0;
		return 0;
	}
	while (upper_tail(hi, df) > tail) {
		lo = hi;
		hi *= 2;
		if (isinf(hi)) {
			return -ERANGE;
		}
	}
	for (;;) {
		double mid = lo + (hi - lo) / 2;

		if (mid <= lo || mid >= hi) {
			break;
		}
		if (upper_tail(mid, df) > tail) {
			lo = mid;
		} else {
			hi = mid;
		}
	}
	*ret = p < 0.5 ? -hi : hi;
	return 0;
}
