/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tests are old and plain: Kolmogorov and Smirnov for the shape, Mann and Kendall for a trend,
 * Pettitt for a step. That of two groups is by the share of the variance that the best cut
 * explains: of a normal sample it is 2/pi, of two groups that stand apart nearly all.
 */
#include "stats/shape.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats/special.h"

/* Of 20,000 normal samples so many had such a cut: 148 of 8 values, 7 of 12, none of 24. */
#define SPLIT_SHARE 0.94

/* P(sqrt(nm/(n+m)) D > z) for large samples (Smirnov 1948). */
static double smirnov_tail(double z)
{
	double sum = 0;

	if (z < 0.2) {
		return 1; /* to 12 digits; the series does not converge there */
	}
	for (int k = 1; k < 100; k++) {
		double term = exp(-2 * k * k * z * z);

		sum += k % 2 ? term : -term;
		if (term < 1e-17) {
			break;
		}
	}
	return fmin(1, 2 * sum);
}

/**
 * stats_ks() - two samples' distribution functions, at their farthest from each other
 * @x: the one
 * @n: how many, 1 or more
 * @y: the other
 * @m: how many, 1 or more
 * @ret_d: the distance, 0 to 1
 * @ret_p: its p-value by the limit for large samples, which is too large for small ones
 *
 * Return: 0, -ENODATA, -EDOM, -ENOMEM.
 */
int stats_ks(const double *x, size_t n, const double *y, size_t m, double *ret_d, double *ret_p)
{
	_cleanup_free_ double *sx = NULL;
	_cleanup_free_ double *sy = NULL;
	double d = 0;
	size_t i = 0;
	size_t j = 0;
	int r = stats_sorted(x, n, &sx);

	if (r == 0) {
		r = stats_sorted(y, m, &sy);
	}
	if (r < 0) {
		return r;
	}
	while (i < n && j < m) {
		double at = fmin(sx[i], sy[j]);

		while (i < n && sx[i] <= at) {
			i++;
		}
		while (j < m && sy[j] <= at) {
			j++;
		}
		d = fmax(d, fabs((double)i / (double)n - (double)j / (double)m));
	}
	*ret_d = d;
	*ret_p = smirnov_tail(d * sqrt((double)n * (double)m / (double)(n + m)));
	return 0;
}

/**
 * stats_split() - is it one group of values, or two?
 * @x: one value a boot
 * @n: how many, STATS_SPLIT_LEAST or more
 * @ret: set on success; of equal values: one group, share 0
 *
 * Two groups are said to be there when the best cut explains nearly all variance and neither side
 * is a lone value: an outlier is no group.
 *
 * Return: 0, -ENODATA, -EDOM, -ENOMEM.
 */
int stats_split(const double *x, size_t n, struct stats_split *ret)
{
	struct stats_split best = {0};
	_cleanup_free_ double *s = NULL;
	double total = 0;
	double mean = 0;
	double low = 0;
	int r = stats_sorted(x, n, &s);

	if (r < 0) {
		return r;
	}
	if (n < STATS_SPLIT_LEAST) {
		return -ENODATA;
	}
	for (size_t i = 0; i < n; i++) {
		mean += s[i] / (double)n;
	}
	for (size_t i = 0; i < n; i++) {
		total += (s[i] - mean) * (s[i] - mean);
	}
	if (!isfinite(total)) {
		return -EDOM;
	}
	best.at[0] = best.at[1] = mean;
	for (size_t k = 1; k < n && total > 0; k++) {
		double nl = (double)k;
		double nh = (double)(n - k);
		double ml;
		double mh;
		double share;

		low += s[k - 1] - mean; /* around the mean: large readings keep their digits */
		ml = low / nl;
		mh = -low / nh;
		share = (nl * ml * ml + nh * mh * mh) / total;
		if (share > best.share) {
			best = (struct stats_split){
				.low = k, .at = {mean + ml, mean + mh}, .share = share};
		}
	}
	best.two = best.share >= SPLIT_SHARE && best.low >= 2 && n - best.low >= 2;
	*ret = best;
	return 0;
}

static int sign_of(double v)
{
	return (v > 0) - (v < 0);
}

/**
 * stats_trend() - does a value rise or fall with its place? (Mann 1945, Kendall)
 * @x: values in order of time
 * @n: how many, STATS_TREND_LEAST or more
 * @ret_tau: share of pairs that rise minus share that fall, -1 to 1
 * @ret_p: two-sided, normal with correction for ties and continuity
 *
 * Return: 0, -ENODATA, -EDOM, -ENOTUNIQ when all are equal, -ENOMEM.
 */
int stats_trend(const double *x, size_t n, double *ret_tau, double *ret_p)
{
	_cleanup_free_ double *s = NULL;
	double score = 0;
	double count = (double)n;
	double var = count * (count - 1) * (2 * count + 5);
	int r = stats_sorted(x, n, &s);

	if (r < 0) {
		return r;
	}
	if (n < STATS_TREND_LEAST) {
		return -ENODATA;
	}
	if (s[0] == s[n - 1]) {
		return -ENOTUNIQ;
	}
	for (size_t i = 0; i < n; i++) {
		for (size_t j = i + 1; j < n; j++) {
			score += sign_of(x[j] - x[i]);
		}
	}
	for (size_t i = 0, run; i < n; i += run) {
		for (run = 1; i + run < n && s[i + run] == s[i]; run++) {
		}
		var -= (double)run * (double)(run - 1) * (double)(2 * run + 5);
	}
	*ret_tau = score / (count * (count - 1) / 2);
	*ret_p = fmin(1, 2 * stats_normal_cdf(-fmax(0, fabs(score) - 1) / sqrt(var / 18)));
	return 0;
}

/**
 * stats_change() - where a series most likely changed its level, once (Pettitt 1979)
 * @x: values in order of time
 * @n: how many, STATS_CHANGE_LEAST or more
 * @ret: set on success; p is an approximation, good to where it matters (below 0.5)
 *
 * By ranks: where a value is large does not matter, only that it is larger. O(n log n).
 *
 * Return: 0, -ENODATA, -EDOM, -ENOTUNIQ when all are equal, -ENOMEM.
 */
int stats_change(const double *x, size_t n, struct stats_change *ret)
{
	struct stats_change out = {0};
	_cleanup_free_ double *s = NULL;
	double count = (double)n;
	double walk = 0;
	double most = 0;
	double before;
	double after;
	int r = stats_sorted(x, n, &s);

	if (r < 0) {
		return r;
	}
	if (n < STATS_CHANGE_LEAST) {
		return -ENODATA;
	}
	if (s[0] == s[n - 1]) {
		return -ENOTUNIQ;
	}
	/* U_t = sum of the signs of all differences across t = 2 sum of ranks - t (n + 1). */
	for (size_t t = 0; t + 1 < n; t++) {
		size_t lo = 0;
		size_t hi = n;
		size_t first;

		while (lo < hi) {
			size_t mid = lo + (hi - lo) / 2;

			if (s[mid] < x[t]) {
				lo = mid + 1;
			} else {
				hi = mid;
			}
		}
		first = lo;
		hi = n;
		while (lo < hi) {
			size_t mid = lo + (hi - lo) / 2;

			if (s[mid] <= x[t]) {
				lo = mid + 1;
			} else {
				hi = mid;
			}
		}
		/* Mid-rank of ties: half the sum of the first and the last rank. */
		walk += (double)(first + 1 + lo) - (count + 1);
		if (fabs(walk) > most) {
			most = fabs(walk);
			out.at = t + 1;
		}
	}
	out.p = fmin(1, 2 * exp(-6 * most * most / (count * count * count + count * count)));
	r = stats_median(x, out.at, &before);
	if (r == 0) {
		r = stats_median(x + out.at, n - out.at, &after);
	}
	if (r < 0) {
		return r;
	}
	out.step = after - before;
	if (!isfinite(out.step)) {
		return -EDOM;
	}
	*ret = out;
	return 0;
}
