/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The Mann-Whitney U test, exact with ties: given the pooled values, each choice of n of them as
 * the first group is as likely as any other under the null, so counting the choices by their U
 * gives the distribution. U is kept doubled throughout: a tie is a half.
 */
#include "stats/mannwhitney.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The sizes of the groups of equal values, from the smallest value up; *ret is the caller's. */
static int tie_groups(const double *x, size_t n, const double *y, size_t m, size_t **ret,
		      size_t *ret_groups)
{
	_cleanup_free_ double *pool = malloc((n + m) * sizeof(*pool));
	_cleanup_free_ size_t *size = calloc(n + m, sizeof(*size));
	size_t groups = 0;

	if (!pool || !size) {
		return -ENOMEM;
	}
	memcpy(pool, x, n * sizeof(*x));
	memcpy(pool + n, y, m * sizeof(*y));
	stats_sort(pool, n + m);
	for (size_t i = 0; i < n + m; i++) {
		if (i > 0 && pool[i] != pool[i - 1]) {
			groups++;
		}
		size[groups]++;
	}
	*ret = TAKE_PTR(size);
	*ret_groups = groups + 1;
	return 0;
}

static void add_shifted(double *row, const double *from, size_t width, double times, size_t by)
{
	for (size_t u = by; u < width; u++) {
		row[u] += times * from[u - by];
	}
}

/*
 * P(2U = u) for u of 0 .. 2nm, n no more than m. ways[j][u] counts the choices of j among the
 * values seen so far; a group of t equal values, c of them chosen, adds to 2U twice the y below for
 * each of the c, and once for each of the t - c that are tied with them.
 */
static int count_smaller(size_t n, size_t m, const size_t *size, size_t groups, double **ret)
{
	size_t width = 2 * n * m + 1;
	_cleanup_free_ double *ways = calloc((n + 1) * width, sizeof(*ways));
	_cleanup_free_ double *prob = NULL;
	size_t seen = 0;
	double total = 0;

	if (!ways) {
		return -ENOMEM;
	}
	ways[0] = 1;
	for (size_t g = 0; g < groups; g++) {
		size_t t = size[g];

		/* From above, so that the rows below, which are read, have not yet taken this in.
		 */
		for (size_t j = (seen + t < n ? seen + t : n) + 1; j-- > 0;) {
			double *row = ways + j * width;
			double choose = 1; /* C(t, c) */

			if (j > seen || seen - j + t > m) {
				memset(row, 0, width * sizeof(*row)); /* too few x, or too many y */
			}
			for (size_t c = 1; c <= t && c <= j; c++) {
				size_t before = j - c;

				choose *= (double)(t - c + 1) / (double)c;
				if (before <= seen && seen - before + t - c <= m) {
					add_shifted(row, ways + before * width, width, choose,
						    c * (2 * (seen - before) + t - c));
				}
			}
		}
		seen += t;
	}
	prob = malloc(width * sizeof(*prob));
	if (!prob) {
		return -ENOMEM;
	}
	for (size_t u = 0; u < width; u++) {
		total += ways[n * width + u];
	}
	for (size_t u = 0; u < width; u++) {
		prob[u] = ways[n * width + u] / total;
	}
	*ret = TAKE_PTR(prob);
	return 0;
}

/* The same for any n and m: the other group's U is nm - U, and the table grows with the smaller. */
static int u_distribution(size_t n, size_t m, const size_t *size, size_t groups, double **ret)
{
	double *prob;
	int r;

	if (n <= m) {
		return count_smaller(n, m, size, groups, ret);
	}
	r = count_smaller(m, n, size, groups, &prob);
	if (r < 0) {
		return r;
	}
	for (size_t lo = 0, hi = 2 * n * m; lo < hi; lo++, hi--) {
		double t = prob[lo];

		prob[lo] = prob[hi];
		prob[hi] = t;
	}
	*ret = prob;
	return 0;
}

static double normal_cdf(double z)
{
	return erfc(-z / M_SQRT2) / 2;
}

/* The standard deviation of U, less what ties take from it. */
static double u_sd(size_t n, size_t m, const size_t *size, size_t groups)
{
	double all = (double)(n + m);
	double ties = 0;

	for (size_t g = 0; g < groups; g++) {
		double t = (double)size[g];

		ties += t * t * t - t;
	}
	return sqrt((double)n * (double)m / 12 * (all + 1 - ties / (all * (all - 1))));
}

static int check_two(const double *x, size_t n, const double *y, size_t m)
{
	int r;

	r = stats_check(x, n);
	if (r < 0) {
		return r;
	}
	r = stats_check(y, m);
	if (r < 0) {
		return r;
	}
	return n > STATS_MANNWHITNEY_MAX || m > STATS_MANNWHITNEY_MAX - n ? -E2BIG : 0;
}

/**
 * stats_mann_whitney() - do two independent groups differ in location?
 * @x: the first group
 * @n: its size, 1 or more
 * @y: the second group
 * @m: its size, 1 or more; @n + @m no more than STATS_MANNWHITNEY_MAX
 * @ret: U and p-values; exact with or without ties up to STATS_MANNWHITNEY_EXACT_MAX pairs, above
 *       that normal, with corrections for ties and continuity
 *
 * Return: 0, -ENODATA, -EDOM, -E2BIG, -ENOMEM, and -ENOTUNIQ where all values of both groups are
 * equal: then there is nothing to rank, and p = 1 would look like a finding.
 */
int stats_mann_whitney(const double *x, size_t n, const double *y, size_t m,
		       struct stats_mann_whitney *ret)
{
	_cleanup_free_ size_t *size = NULL;
	_cleanup_free_ double *prob = NULL;
	struct stats_mann_whitney w = {0};
	size_t groups;
	size_t u2 = 0;
	double less;
	int r;

	r = check_two(x, n, y, m);
	if (r < 0) {
		return r;
	}
	r = tie_groups(x, n, y, m, &size, &groups);
	if (r < 0) {
		return r;
	}
	if (groups == 1) {
		return -ENOTUNIQ;
	}
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < m; j++) {
			u2 += x[i] > y[j] ? 2 : x[i] == y[j];
		}
	}
	w.u = (double)u2 / 2;
	w.exact = n * m <= STATS_MANNWHITNEY_EXACT_MAX;
	if (w.exact) {
		r = u_distribution(n, m, size, groups, &prob);
		if (r < 0) {
			return r;
		}
		for (size_t u = 0; u <= 2 * n * m; u++) {
			w.p_less += u <= u2 ? prob[u] : 0;
			w.p_greater += u >= u2 ? prob[u] : 0;
		}
	} else {
		double off = w.u - (double)n * (double)m / 2;
		double sd = u_sd(n, m, size, groups);

		w.p_less = normal_cdf((off + 0.5) / sd);
		w.p_greater = normal_cdf(-(off - 0.5) / sd);
	}
	less = w.p_less < w.p_greater ? w.p_less : w.p_greater;
	w.p = 2 * less < 1 ? 2 * less : 1;
	*ret = w;
	return 0;
}

/* The smallest q with P(U <= q) >= p where nothing is tied, and P(U < q). */
static int u_quantile(double p, size_t n, size_t m, size_t *ret_q, double *ret_below)
{
	_cleanup_free_ size_t *size = NULL;
	_cleanup_free_ double *prob = NULL;
	double below = 0;
	size_t q = 0;
	int r;

	size = malloc((n + m) * sizeof(*size));
	if (!size) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < n + m; i++) {
		size[i] = 1;
	}
	if (n * m > STATS_MANNWHITNEY_EXACT_MAX) {
		double mean = (double)n * (double)m / 2;
		double sd = u_sd(n, m, size, n + m);

		while (normal_cdf(((double)q + 0.5 - mean) / sd) < p) {
			q++;
		}
		*ret_q = q;
		*ret_below = q ? normal_cdf(((double)q - 0.5 - mean) / sd) : 0;
		return 0;
	}
	r = u_distribution(n, m, size, n + m, &prob);
	if (r < 0) {
		return r;
	}
	while (below + prob[2 * q] < p - 10 * DBL_EPSILON) {
		below += prob[2 * q++];
	}
	*ret_q = q;
	*ret_below = below;
	return 0;
}

/**
 * stats_shift() - how far the second group lies above the first
 * @x: the first group
 * @n: its size, 1 or more
 * @y: the second group
 * @m: its size, 1 or more; @n + @m no more than STATS_MANNWHITNEY_MAX
 * @level: the level asked for, above 0 and below 1
 * @ret_shift: the Hodges-Lehmann estimate, the median of all y_j - x_i
 * @ret: Moses's interval D_(k) .. D_(nm+1-k) of the sorted differences, k the quantile of U at
 *       (1 - @level)/2 without ties, and 1 where that is 0, with the level that this really has
 *
 * Return: 0, -ENODATA, -EDOM, -ERANGE, -E2BIG, -ENOMEM.
 */
int stats_shift(const double *x, size_t n, const double *y, size_t m, double level,
		double *ret_shift, struct stats_interval *ret)
{
	_cleanup_free_ double *d = NULL;
	size_t at = 0;
	double below;
	size_t k;
	int r;

	r = check_two(x, n, y, m);
	if (r < 0) {
		return r;
	}
	if (!(level > 0 && level < 1)) {
		return -ERANGE;
	}
	r = u_quantile((1 - level) / 2, n, m, &k, &below);
	if (r < 0) {
		return r;
	}
	if (k == 0) {
		k = 1;
		/* P(U = 0) = 1 / C(n + m, n) */
		below = exp(lgamma((double)n + 1) + lgamma((double)m + 1) -
			    lgamma((double)(n + m) + 1));
	}
	d = malloc(n * m * sizeof(*d));
	if (!d) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < m; j++) {
			d[at++] = y[j] - x[i];
		}
	}
	r = stats_check(d, at); /* a difference may overflow */
	if (r < 0) {
		return r;
	}
	stats_sort(d, at);
	*ret_shift = stats_median_of_sorted(d, at);
	*ret = (struct stats_interval){d[k - 1], d[at - k], 1 - 2 * below};
	return 0;
}
