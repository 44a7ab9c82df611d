/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Puts src/stats behind standard input, for compare.py: a line is a question of up to four fields
 * that bars separate, "NAME | PARAMETERS | X | Y", each field numbers with blanks between; the
 * answer is a line of numbers, or "error" and the text.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "stats/binomial.h"
#include "stats/bootstrap.h"
#include "stats/levels.h"
#include "stats/mannwhitney.h"
#include "stats/multiple.h"
#include "stats/plan.h"
#include "stats/quantile.h"
#include "stats/shape.h"
#include "stats/signflip.h"
#include "stats/signrank.h"
#include "stats/special.h"
#include "stats/tdist.h"

#define VALUES_MAX 4096

struct question {
	char *name;
	double params[4];
	double x[VALUES_MAX];
	double y[VALUES_MAX];
	size_t n;
	size_t m;
};

static size_t numbers(const char *s, double *ret, size_t max)
{
	size_t n = 0;
	char *end;

	while (s && n < max) {
		double v = strtod(s, &end);

		if (end == s) {
			break;
		}
		ret[n++] = v;
		s = end;
	}
	return n;
}

static void put(int r, const double *values, size_t n)
{
	if (r < 0) {
		printf("error %s\n", stats_error_text(r));
		return;
	}
	for (size_t i = 0; i < n; i++) {
		printf("%.17g%c", values[i], i + 1 < n ? ' ' : '\n');
	}
}

/* What looks at more than the middle of a sample. Return: whether the question was one of these. */
static bool answer_shape(const struct question *q)
{
	size_t counts[STATS_LEVELS_MAX] = {0};
	struct stats_levels l = {0};
	struct stats_change c = {0};
	struct stats_bca b = {0};
	size_t range[2] = {0};
	double ret[2] = {0};
	int r;

	if (strcmp(q->name, "harrell_davis") == 0) {
		r = stats_harrell_davis(q->x, q->n, q->params[0], ret);
		put(r, ret, 1);
	} else if (strcmp(q->name, "percentile") == 0) {
		r = stats_percentile(q->x, q->n, q->params[0], ret);
		put(r, ret, 1);
	} else if (strcmp(q->name, "binomial") == 0) {
		r = stats_binomial_range((size_t)q->params[0], q->params[1], q->params[2],
					 &range[0], &range[1]);
		ret[0] = (double)range[0];
		ret[1] = (double)range[1];
		put(r, ret, 2);
	} else if (strcmp(q->name, "beta_inc") == 0) {
		ret[0] = stats_beta_inc(q->params[0], 1 - q->params[0], q->params[1], q->params[2]);
		put(0, ret, 1);
	} else if (strcmp(q->name, "normal_quantile") == 0) {
		r = stats_normal_quantile(q->params[0], ret);
		put(r, ret, 1);
	} else if (strcmp(q->name, "ks") == 0) {
		r = stats_ks(q->x, q->n, q->y, q->m, &ret[0], &ret[1]);
		put(r, ret, 2);
	} else if (strcmp(q->name, "trend") == 0) {
		r = stats_trend(q->x, q->n, &ret[0], &ret[1]);
		put(r, ret, 2);
	} else if (strcmp(q->name, "change") == 0) {
		r = stats_change(q->x, q->n, &c);
		put(r, (double[]){(double)c.at, c.p, c.step}, 3);
	} else if (strcmp(q->name, "bca_enumerated") == 0) {
		r = stats_bca_enumerated(q->x, q->n, stats_statistic_mean, q->params[0], &b);
		put(r, (double[]){b.z0, b.accel, b.interval.lo, b.interval.hi}, 4);
	} else if (strcmp(q->name, "levels") == 0) {
		for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
			counts[i] = (size_t)q->params[i];
		}
		r = stats_levels(q->x, counts, 3, &l);
		put(r, (double[]){l.mean, l.s2[0], l.s2[1], l.s2[2], l.t2[1], l.t2[2]}, 6);
	} else {
		return false;
	}
	return true;
}

static void answer(const struct question *q)
{
	double ret[VALUES_MAX] = {0};
	struct stats_mann_whitney w = {0};
	struct stats_interval iv = {0};
	int r;

	if (answer_shape(q)) {
		return;
	}
	if (strcmp(q->name, "median") == 0) {
		r = stats_median(q->x, q->n, ret);
		put(r, ret, 1);
	} else if (strcmp(q->name, "median_interval") == 0) {
		r = stats_median_interval(q->x, q->n, q->params[0], &iv);
		put(r, (double[]){iv.lo, iv.hi, iv.level}, 3);
	} else if (strcmp(q->name, "hodges_lehmann") == 0) {
		r = stats_hodges_lehmann(q->x, q->n, q->params[0], ret, &iv);
		put(r, (double[]){ret[0], iv.lo, iv.hi, iv.level}, 4);
	} else if (strcmp(q->name, "sign_flip") == 0) {
		r = stats_sign_flip(q->x, q->n, (uint64_t)q->params[0], ret);
		put(r, ret, 1);
	} else if (strcmp(q->name, "mann_whitney") == 0) {
		r = stats_mann_whitney(q->x, q->n, q->y, q->m, &w);
		put(r, (double[]){w.u, w.p_less, w.p_greater, w.p}, 4);
	} else if (strcmp(q->name, "shift") == 0) {
		r = stats_shift(q->x, q->n, q->y, q->m, q->params[0], ret, &iv);
		put(r, (double[]){ret[0], iv.lo, iv.hi, iv.level}, 4);
	} else if (strcmp(q->name, "t_cdf") == 0) {
		r = stats_t_cdf(q->params[0], q->params[1], ret);
		put(r, ret, 1);
	} else if (strcmp(q->name, "t_quantile") == 0) {
		r = stats_t_quantile(q->params[0], q->params[1], ret);
		put(r, ret, 1);
	} else if (strcmp(q->name, "mde") == 0) {
		r = stats_mde(q->x, q->n, ret);
		put(r, ret, 1);
	} else if (strcmp(q->name, "holm") == 0) {
		r = stats_holm(q->x, q->n, ret);
		put(r, ret, q->n);
	} else if (strcmp(q->name, "bh") == 0) {
		r = stats_bh(q->x, q->n, ret);
		put(r, ret, q->n);
	} else {
		printf("error unknown question %s\n", q->name);
	}
}

int main(void)
{
	static struct question q;
	_cleanup_free_ char *line = NULL;
	size_t size = 0;

	while (getline(&line, &size, stdin) > 0) {
		char *rest = line;

		q.name = strtok(strsep(&rest, "|\n"), " ");
		if (!q.name) {
			continue;
		}
		numbers(strsep(&rest, "|"), q.params, ARRAY_SIZE(q.params));
		q.n = numbers(strsep(&rest, "|"), q.x, VALUES_MAX);
		q.m = numbers(strsep(&rest, "|"), q.y, VALUES_MAX);
		answer(&q);
	}
	return 0;
}
