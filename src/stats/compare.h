/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One benchmark of one comparison, from boot values to a verdict. A boot is one replicate: its
 * value is the median of its clean batch means, and nothing below that enters any inference.
 *
 *	struct stats_block blocks[n] = {{.a = {a1, a2}, .b = {b1, b2}}, ...};
 *	struct stats_options opt = STATS_OPTIONS_INIT;
 *	opt.judges_speed = ...; opt.deterministic = ...; opt.same_arm = ...; opt.seed = ...;
 *	for each benchmark: r = stats_compare(blocks, n, &opt, &result[i]);
 *	r = stats_compare_family(result, n_results);     all of one report, once
 *	... stats_comparison_fini(&result[i]);
 */
#ifndef STATS_COMPARE_H
#define STATS_COMPARE_H

#include <stdbool.h>
#include <stdint.h>

#include "stats/order.h"
#include "stats/verdict.h"

/* The four boots of an ABBA or BAAB block, all of which gave a value. */
struct stats_block {
	double a[2];
	double b[2];
};

struct stats_options {
	double level;      /* of the intervals */
	double alpha;      /* of the verdict */
	double margin_abs; /* the practical margin, in units ... */
	double margin_rel; /* ... or as a share of A's median: the larger one counts */
	uint64_t seed;     /* for the sign-flip draws above 20 blocks */
	bool judges_speed;
	bool deterministic;
	bool same_arm;
};

#define STATS_OPTIONS_INIT                                                            \
	{                                                                             \
		.level = 0.95, .alpha = 0.05, .margin_abs = 0.1, .margin_rel = 0.001, \
	}

enum { STATS_A, STATS_B };

/*
 * Numbers that cannot be had (no blocks, one block's spread) are NaN, and so are those that would
 * be pretended: where nothing varies in a deterministic class the effect is exact, and there is
 * neither a p nor an interval nor a smallest detectable effect.
 */
struct stats_comparison {
	size_t blocks;
	double *diffs;                            /* B - A of each block; owned */
	double median[2];                         /* of an arm's boots */
	struct stats_interval median_interval[2]; /* infinite up to 5 boots; NaN: all are equal */
	double effect;                            /* Hodges-Lehmann of the block differences */
	struct stats_interval interval;
	struct stats_interval interval90;
	double margin;
	double mde;    /* smallest effect found in 4 experiments of 5 */
	double p;      /* sign-flip */
	bool p_exact;  /* all sign patterns were counted */
	double p_holm; /* adjusted for all benchmarks of the run */
	double p_bh;
	double p_unpaired; /* Mann-Whitney over the boots, blocks ignored; NaN if all are equal */
	double shift;      /* the same way: Hodges-Lehmann shift of B against A ... */
	struct stats_interval shift_interval; /* ... and its Moses interval */
	bool boots_identical;
	bool diffs_identical;
	bool exact;       /* deterministic, and the same difference in every block */
	bool significant; /* before margin, class and everything else */
	enum stats_verdict verdict;
	enum stats_reason reason;
};

int stats_compare(const struct stats_block *blocks, size_t n, const struct stats_options *opt,
		  struct stats_comparison *ret) __must_check;
int stats_compare_family(struct stats_comparison *c, size_t n) __must_check;
void stats_comparison_fini(struct stats_comparison *c);

#endif
