/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Student's t by the incomplete beta function, the quantile by bisection: slow beside a series, and
 * right everywhere; it runs a handful of times a report.
 */
#include "stats/tdist.h"

#include <errno.h>
#include <float.h>
#include <math.h>

/*
 * The continued fraction of the incomplete beta function (DLMF 8.17.22), evaluated with Lentz's
 * method. Converges fast for x < (a + 1)/(a + b + 2); the caller sees to that.
 */
static double beta_fraction(double x, double a, double b)
{
	double c = 1;
	double d = 1 / (1 - (a + b) * x / (a + 1));
	double f = d;

	for (int m = 1; m < 10000; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double step;

		d = 1 / (1 + even * d);
		c = 1 + even / c;
		f *= c * d;
		d = 1 / (1 + odd * d);
		c = 1 + odd / c;
		step = c * d;
		f *= step;
		if (fabs(step - 1) < 4 * DBL_EPSILON) {
			break;
		}
	}
	return f;
}

/* The regularised incomplete beta function I_x(a, b); y is 1 - x, exact where x is near 1. */
static double beta_inc(double x, double y, double a, double b)
{
	double front;

	if (x <= 0) {
		return 0;
	}
	if (y <= 0) {
		return 1;
	}
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(y));
	if (x < (a + 1) / (a + b + 2)) {
		return front * beta_fraction(x, a, b) / a;
	}
	return 1 - front * beta_fraction(y, b, a) / b;
}

/* P(T > t) for t >= 0 */
static double upper_tail(double t, double df)
{
	double t2 = t * t;

	if (isinf(t2)) {
		return 0;
	}
	return beta_inc(df / (df + t2), t2 / (df + t2), df / 2, 0.5) / 2;
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
	double t_level;
	double t_power;
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
	r = stats_t_quantile(0.975, (double)n - 1, &t_level);
	if (r < 0) {
		return r;
	}
	r = stats_t_quantile(0.80, (double)n - 1, &t_power);
	if (r < 0) {
		return r;
	}
	*ret = (t_level + t_power) * sqrt(ss / ((double)n - 1) / (double)n);
	return 0;
}
