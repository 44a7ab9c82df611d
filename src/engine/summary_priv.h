/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One comparison of a summary: an arm against the baseline of its group. */
#ifndef ENGINE_SUMMARY_PRIV_H
#define ENGINE_SUMMARY_PRIV_H

#include "engine/comparison.h"
#include "report/report.h"

/* What a report's benchmark points into. */
struct summary_row {
	struct stats_block *blocks; /* room for all that are planned */
	char error[256];
	size_t mostly_dirty[2]; /* boots of which fewer than half of the batches are left */
};

/*
 * Side A and side B of a comparison. Mostly they are two arms and one benchmark. Where @against is
 * set they are two benchmarks of the same boots: A is @against, and B @bench, both of arm @arm.
 */
struct summary_pair {
	const struct comparison *c;
	unsigned int group, arm;
	const char *bench, *against;
	struct report report; /* its benches and what they point to are ours */
	struct summary_row *rows;
	size_t room;
	char labels[2][128];
	double *scratch; /* one boot's clean batches */
	size_t scratch_room;
};

int summary_pair_init(struct summary_pair *p, struct err *e) __must_check;
void summary_pair_fini(struct summary_pair *p);

#endif
