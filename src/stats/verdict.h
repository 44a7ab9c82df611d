/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From estimates to a verdict. Lower is better: all that is compared is a cost.
 *
 * The rule, in this order:
 *   1. no complete block, or a class whose time means nothing: inconclusive;
 *   2. fewer than STATS_BLOCKS_MIN blocks: inconclusive, whatever they show;
 *   3. deterministic class, and nothing varies: chance has no part in it, and no p. Equivalent,
 *      "identical", where every boot gave the same value. Where every block has the same difference
 *      it is held against the margin as it is: better or worse above, equivalent up to it;
 *   4. p <= alpha, the interval excludes 0, and the effect is larger than the margin: better or
 *      worse by its sign; but inconclusive where both arms are one and the same, since then the
 *      finding is a false alarm by construction;
 *   5. the 90 % interval lies within (-margin, +margin): equivalent (two one-sided tests at 5 %);
 *   6. else inconclusive.
 *
 * The margin is practical, not statistical: under an instruction counter a difference of 0.003 can
 * be perfectly consistent and yet mean nothing.
 */
#ifndef STATS_VERDICT_H
#define STATS_VERDICT_H

#include <stdbool.h>

#include "stats/order.h"

#define STATS_BLOCKS_MIN 6 /* 5 blocks cannot give a two-sided p below .0625 */

enum stats_verdict {
	VERDICT_BETTER,
	VERDICT_WORSE,
	VERDICT_EQUIVALENT,
	VERDICT_INCONCLUSIVE,
};

enum stats_reason {
	REASON_NO_BLOCKS,       /* nothing to compare */
	REASON_NO_SPEED,        /* the execution class does not judge speed */
	REASON_FEW_BLOCKS,      /* fewer than STATS_BLOCKS_MIN */
	REASON_IDENTICAL,       /* deterministic: the same value in every boot of both arms */
	REASON_SAME_DIFFERENCE, /* deterministic: the same difference in every block */
	REASON_SIGNIFICANT,     /* p, interval and margin agree */
	REASON_FALSE_ALARM,     /* the same, of an arm compared with itself */
	REASON_WITHIN_MARGIN,   /* no change beyond the margin */
	REASON_BELOW_MARGIN,    /* a real difference, but perhaps no larger than the margin */
	REASON_UNDECIDED,       /* the interval holds both 0 and more than the margin */
	REASON_WARNED,          /* set by the report: a warning took the verdict back */
	REASON_INCOMPLETE,      /* likewise: boots are missing, and none was to be had yet */
};

#define STATS_REASON_COUNT 12

struct stats_evidence {
	size_t blocks;
	double effect;                    /* B - A */
	struct stats_interval interval;   /* at 95 % */
	struct stats_interval interval90; /* for equivalence */
	double p;
	double alpha;
	double margin;        /* above 0 */
	bool judges_speed;    /* the class */
	bool deterministic;   /* the class: icount */
	bool same_arm;        /* A and B are one and the same */
	bool boots_identical; /* every boot value of both arms is the same */
	bool diffs_identical; /* every block difference is the same */
};

enum stats_verdict stats_verdict(const struct stats_evidence *e, enum stats_reason *ret_reason);
bool stats_significant(const struct stats_evidence *e);
const char *stats_verdict_name(enum stats_verdict v);
const char *stats_reason_name(enum stats_reason r);

#endif
