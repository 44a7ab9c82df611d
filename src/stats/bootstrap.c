/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bias-corrected and accelerated bootstrap (Efron 1987). What is resampled are boots, never the
 * batches in them: batches of one boot are no replicates. Resamples that give just the estimate
 * count half for the bias. A percentile is the smallest resample that has at least its share of all
 * at or below it.
 */
#include "stats/bootstrap.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "stats/special.h"

/**
 * stats_statistic_mean() - the mean, for stats_bca()
 * @x: the values
 * @n: how many, 1 or more
 *
 * Return: the mean.
 */
double stats_statistic_mean(double *x, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++) {
		sum += x[i];
	}
	return sum / (double)n;
}

/**
 * stats_statistic_median() - the median, for stats_bca()
 * @x: the values; they are sorted
 * @n: how many, 1 or more
 *
 * Return: the median.
 */
double stats_statistic_median(double *x, size_t n)
{
	stats_sort(x, n);
	return stats_median_of_sorted(x, n);
}

/* From how the estimate changes when each value in turn is left out. */
static double acceleration(const double *x, size_t n, stats_statistic_fn of, double *room,
			   double *left_out)
{
	double mean = 0;
	double squares = 0;
	double cubes = 0;

	for (size_t i = 0; i < n; i++) {
		memcpy(room, x, i * sizeof(*x));
		memcpy(room + i, x + i + 1, (n - i - 1) * sizeof(*x));
		left_out[i] = of(room, n - 1);
		mean += left_out[i] / (double)n;
	}
	for (size_t i = 0; i < n; i++) {
		double d = mean - left_out[i];

		squares += d * d;
		cubes += d * d * d;
	}
	return squares > 0 ? cubes / (6 * pow(squares, 1.5)) : 0;
}

/* The resample that stands where the percentile of a normal variable is moved to. */
static double cut(const double *sorted, size_t count, const struct stats_bca *b, double z)
{
	double moved = b->z0 + (b->z0 + z) / (1 - b->accel * (b->z0 + z));
	double at = ceil(stats_normal_cdf(moved) * (double)count) - 1;

	at = fmin(fmax(at, 0), (double)count - 1);
	return sorted[(size_t)at];
}

/* @made: what all resamples gave; sorted here. @room: n values. @left: n values. */
static int finish(const double *x, size_t n, stats_statistic_fn of, double level, double *made,
		  size_t count, double *room, double *left, struct stats_bca *ret)
{
	struct stats_bca b = {0};
	double below = 0;
	double slack;
	double z;
	int r;

	memcpy(room, x, n * sizeof(*x));
	b.estimate = of(room, n);
	stats_sort(made, count);
	if (made[0] == made[count - 1]) {
		return -ENOTUNIQ;
	}
	/* The same values added in another order are the same number but for its last bits. */
	slack = 1e-12 * (made[count - 1] - made[0]);
	for (size_t i = 0; i < count; i++) {
		double d = made[i] - b.estimate;

		below += d < -slack ? 1 : d <= slack ? .5 : 0;
	}
	/* An estimate outside of all resamples has no bias that could be told. */
	r = stats_normal_quantile(below / (double)count, &b.z0);
	if (r < 0) {
		return r;
	}
	r = stats_normal_quantile((1 + level) / 2, &z);
	if (r < 0) {
		return r;
	}
	b.accel = acceleration(x, n, of, room, left);
	b.interval = (struct stats_interval){
		.lo = cut(made, count, &b, -z), .hi = cut(made, count, &b, z), .level = level};
	*ret = b;
	return 0;
}

static int check(const double *x, size_t n, size_t least, double level)
{
	int r = stats_check(x, n);

	if (r < 0) {
		return r;
	}
	if (!(level > 0 && level < 1)) {
		return -ERANGE;
	}
	return n < least ? -ENODATA : 0;
}

/**
 * stats_bca() - a BCa interval from STATS_BCA_DRAWS seeded resamples
 * @x: one value a boot
 * @n: how many, STATS_BCA_LEAST or more
 * @of: what the interval is for
 * @level: above 0 and below 1
 * @seed: the same seed, the same interval
 * @ret: set on success
 *
 * Return: 0, -ENODATA for too few boots, -EDOM, -ERANGE for @level, -ENOTUNIQ when all resamples
 * give the same, -ENOMEM.
 */
int stats_bca(const double *x, size_t n, stats_statistic_fn of, double level, uint64_t seed,
	      struct stats_bca *ret)
{
	_cleanup_free_ double *made = NULL;
	_cleanup_free_ double *room = NULL;
	struct rng rng;
	int r = check(x, n, STATS_BCA_LEAST, level);

	if (r < 0) {
		return r;
	}
	made = calloc(STATS_BCA_DRAWS, sizeof(*made));
	room = calloc(2 * n, sizeof(*room));
	if (!made || !room) {
		return -ENOMEM;
	}
	rng_init(&rng, seed);
	for (size_t draw = 0; draw < STATS_BCA_DRAWS; draw++) {
		for (size_t i = 0; i < n; i++) {
			room[i] = x[rng_below(&rng, n)];
		}
		made[draw] = of(room, n);
	}
	return finish(x, n, of, level, made, STATS_BCA_DRAWS, room, room + n, ret);
}

/**
 * stats_bca_enumerated() - the same interval from every resample there is, without chance
 * @x: the values
 * @n: how many, 2 to STATS_BCA_ENUMERATE
 * @of: what the interval is for
 * @level: above 0 and below 1
 * @ret: set on success
 *
 * It is what stats_bca() comes close to, for so few values that nobody should trust either: it
 * shows that the method is right.
 *
 * Return: 0, -ENODATA, -E2BIG for too many values, -EDOM, -ERANGE, -ENOTUNIQ, -ENOMEM.
 */
int stats_bca_enumerated(const double *x, size_t n, stats_statistic_fn of, double level,
			 struct stats_bca *ret)
{
	double room[2 * STATS_BCA_ENUMERATE];
	_cleanup_free_ double *made = NULL;
	size_t count = 1;
	int r = check(x, n, 2, level);

	if (r < 0) {
		return r;
	}
	if (n > STATS_BCA_ENUMERATE) {
		return -E2BIG;
	}
	for (size_t i = 0; i < n; i++) {
		count *= n;
	}
	made = calloc(count, sizeof(*made));
	if (!made) {
		return -ENOMEM;
	}
	for (size_t k = 0; k < count; k++) {
		size_t rest = k;

		for (size_t i = 0; i < n; i++) {
			room[i] = x[rest % n];
			rest /= n;
		}
		made[k] = of(room, n);
	}
	return finish(x, n, of, level, made, count, room, room + n, ret);
}
