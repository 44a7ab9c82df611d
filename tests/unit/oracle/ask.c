/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Puts src/stats behind standard input, for compare.py: a line is a question of up to four fields
 * that bars separate, "NAME | PARAMETERS | X | Y", each field numbers with blanks between; the
 * answer is a line of numbers, or "error" and the text.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "stats/mannwhitney.h"
#include "stats/multiple.h"
#include "stats/signflip.h"
#include "stats/signrank.h"
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

static void answer(const struct question *q)
{
	double ret[VALUES_MAX] = {0};
	struct stats_mann_whitney w = {0};
	struct stats_interval iv = {0};
	int r;

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
