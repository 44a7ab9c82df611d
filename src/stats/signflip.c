/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Were there no difference between the arms, each block difference could as well have had the other
 * sign. The p-value is the share of all sign patterns whose sum is at least as far from 0 as the
 * one that was seen: exact, whatever the distribution of the differences.
 */
#include "stats/signflip.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/rng.h"

/*
 * Sums that are equal on paper differ in their last bits, and a tie must count. A relative slack of
 * 1e-9 is far above what adding twenty numbers rounds away, also where the differences are the
 * small rest of large readings, and far below any difference that means something.
 */
#define TIE_SLACK 1e-9

/* Every sum of the first n values under all 2^n sign patterns. */
static void all_sums(const double *d, size_t n, double *sums)
{
	sums[0] = 0;
	for (size_t i = 0; i < n; i++) {
		size_t half = (size_t)1 << i;

		for (size_t s = 0; s < half; s++) {
			sums[half + s] = sums[s] - d[i];
			sums[s] += d[i];
		}
	}
}

/*
 * All patterns as pairs of half patterns: no sum is the result of more than n additions (a walk in
 * Gray code order would drag its rounding through a million of them), and the tables stay at 1024.
 */
static double exact(const double *d, size_t n, double least)
{
	double left[1 << (STATS_SIGNFLIP_EXACT_MAX / 2)];
	double right[1 << (STATS_SIGNFLIP_EXACT_MAX / 2)];
	size_t nl = n / 2;
	size_t nr = n - nl;
	size_t extreme = 0;

	all_sums(d, nl, left);
	all_sums(d + nl, nr, right);
	for (size_t i = 0; i < (size_t)1 << nl; i++) {
		for (size_t j = 0; j < (size_t)1 << nr; j++) {
			extreme += fabs(left[i] + right[j]) >= least;
		}
	}
	return ldexp((double)extreme, -(int)n);
}

/* The observed pattern is one of those drawn, so p is never 0. */
static double drawn(const double *d, size_t n, double least, uint64_t seed)
{
	struct rng rng;
	size_t extreme = 1;

	rng_init(&rng, seed);
	for (size_t draw = 0; draw < STATS_SIGNFLIP_DRAWS; draw++) {
		uint64_t bits = 0;
		double sum = 0;

		for (size_t i = 0; i < n; i++) {
			if (i % 64 == 0) {
				bits = rng_next(&rng);
			}
			sum += bits & 1 ? -d[i] : d[i];
			bits >>= 1;
		}
		extreme += fabs(sum) >= least;
	}
	return (double)extreme / (STATS_SIGNFLIP_DRAWS + 1);
}

/**
 * stats_sign_flip() - two-sided p-value of "the differences are as likely to have either sign"
 * @d: the differences
 * @n: how many, 1 or more
 * @seed: used above STATS_SIGNFLIP_EXACT_MAX differences only: the same seed, the same p
 * @ret_p: above 0, no more than 1
 *
 * Return: 0, -ENODATA, -EDOM (also where the sum overflows).
 */
int stats_sign_flip(const double *d, size_t n, uint64_t seed, double *ret_p)
{
	double sum = 0;
	double size = 0;
	double least;
	int r;

	r = stats_check(d, n);
	if (r < 0) {
		return r;
	}
	for (size_t i = 0; i < n; i++) {
		sum += d[i];
		size += fabs(d[i]);
	}
	if (!isfinite(size)) {
		return -EDOM;
	}
	least = fabs(sum) - TIE_SLACK * size;
	*ret_p = n <= STATS_SIGNFLIP_EXACT_MAX ? exact(d, n, least) : drawn(d, n, least, seed);
	return 0;
}
