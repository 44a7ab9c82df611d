/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ten benchmarks at 5 % each raise a false alarm in four reports of ten. Holm keeps the chance of
 * any false alarm at the level (for a gate); Benjamini and Hochberg (1995) keep the share of false
 * ones among all that are called (for a list to look through).
 */
#include "stats/multiple.h"

#include <errno.h>
#include <stdbool.h>
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

/*
 * Both methods walk the ranks from one end, scale each p-value by its rank, and let no value fall
 * behind the one before it: Holm from the least upwards, the other from the greatest downwards.
 */
static int adjust(const double *p, size_t n, bool step_down, double *ret)
{
	_cleanup_free_ struct ranked *s = NULL;
	double bound = step_down ? 0 : 1;
	int r = rank(p, n, &s);

	if (r < 0) {
		return r;
	}
	for (size_t step = 0; step < n; step++) {
		size_t i = step_down ? step : n - 1 - step;
		double adjusted =
			step_down ? s[i].p * (double)(n - i) : s[i].p * (double)n / (double)(i + 1);

		adjusted = adjusted > 1 ? 1 : adjusted;
		if (step_down ? adjusted > bound : adjusted < bound) {
			bound = adjusted;
		}
		ret[s[i].at] = bound;
	}
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
	return adjust(p, n, true, ret);
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
	return adjust(p, n, false, ret);
}
