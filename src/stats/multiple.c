/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ten benchmarks at 5 % each raise a false alarm in four reports of ten. Holm keeps the chance of
 * any false alarm at the level (for a gate); Benjamini and Hochberg (1995) keep the share of false
 * ones among all that are called (for a list to look through).
 */
#include "stats/multiple.h"

#include <errno.h>
#include <stdlib.h>

struct ranked {
	double p;
	size_t at;
};

static int cmp_ranked(const void *a, const void *b)
{
	const struct ranked *x = a;
	const struct ranked *y = b;

	if (x->p != y->p) {
		return x->p < y->p ? -1 : 1;
	}
	return (x->at > y->at) - (x->at < y->at);
}

static int rank(const double *p, size_t n, struct ranked **ret)
{
	struct ranked *s;

	if (n == 0) {
		return -ENODATA;
	}
	for (size_t i = 0; i < n; i++) {
		if (!(p[i] >= 0 && p[i] <= 1)) {
			return -ERANGE;
		}
	}
	s = malloc(n * sizeof(*s));
	if (!s) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		s[i] = (struct ranked){p[i], i};
	}
	qsort(s, n, sizeof(*s), cmp_ranked);
	*ret = s;
	return 0;
}

/**
 * stats_holm() - Holm's step-down adjusted p-values
 * @p: p-values, each 0 to 1, in any order
 * @n: how many, 1 or more
 * @ret: @n adjusted values in the order of @p, none above 1; may be @p itself
 *
 * Return: 0, -ENODATA, -ERANGE (a value is no probability), -ENOMEM.
 */
int stats_holm(const double *p, size_t n, double *ret)
{
	_cleanup_free_ struct ranked *s = NULL;
	double most = 0;
	int r;

	r = rank(p, n, &s);
	if (r < 0) {
		return r;
	}
	for (size_t i = 0; i < n; i++) {
		double adjusted = s[i].p * (double)(n - i);

		most = adjusted > most ? adjusted : most;
		ret[s[i].at] = most > 1 ? 1 : most;
	}
	return 0;
}

/**
 * stats_bh() - Benjamini and Hochberg's step-up adjusted p-values
 * @p: p-values, each 0 to 1, in any order
 * @n: how many, 1 or more
 * @ret: @n adjusted values in the order of @p, none above 1; may be @p itself
 *
 * Return: 0, -ENODATA, -ERANGE (a value is no probability), -ENOMEM.
 */
int stats_bh(const double *p, size_t n, double *ret)
{
	_cleanup_free_ struct ranked *s = NULL;
	double least = 1;
	int r;

	r = rank(p, n, &s);
	if (r < 0) {
		return r;
	}
	for (size_t i = n; i-- > 0;) {
		double adjusted = s[i].p * (double)n / (double)(i + 1);

		least = adjusted < least ? adjusted : least;
		ret[s[i].at] = least;
	}
	return 0;
}
