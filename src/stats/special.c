/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The incomplete beta function by its continued fraction, and the normal distribution by the C
 * library's erfc, its quantile by bisection: right everywhere, and not called often.
 */
#include "stats/special.h"

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

/**
 * stats_beta_inc() - the regularised incomplete beta function I_x(a, b)
 * @x: 0 to 1; what is outside counts as the end that it is nearer to
 * @y: 1 - x, exact also where x is near 1
 * @a: above 0
 * @b: above 0
 *
 * Return: 0 to 1; the distribution function of a beta variable.
 */
double stats_beta_inc(double x, double y, double a, double b)
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

/**
 * stats_normal_cdf() - P(Z <= z) of a standard normal variable
 * @z: any number; infinities give 0 and 1
 *
 * Return: a probability.
 */
double stats_normal_cdf(double z)
{
	return erfc(-z / M_SQRT2) / 2;
}

/**
 * stats_normal_quantile() - the z with P(Z <= z) = p
 * @p: above 0 and below 1
 * @ret: the quantile, to the last digits of a double
 *
 * Return: 0, -ERANGE.
 */
int stats_normal_quantile(double p, double *ret)
{
	double tail = p < 0.5 ? p : 1 - p;
	double lo = 0;
	double hi = 40; /* erfc() is 0 well before */

	if (!(p > 0 && p < 1)) {
		return -ERANGE;
	}
	for (;;) {
		double mid = lo + (hi - lo) / 2;

		if (mid <= lo || mid >= hi) {
			break;
		}
		if (stats_normal_cdf(-mid) > tail) {
			lo = mid;
		} else {
			hi = mid;
		}
	}
	*ret = p == 0.5 ? 0 : p < 0.5 ? -hi : hi;
	return 0;
}
