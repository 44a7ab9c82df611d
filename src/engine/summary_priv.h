/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One comparison of a summary: an arm against the baseline of its group. */
#ifndef ENGINE_SUMMARY_PRIV_H
#define ENGINE_SUMMARY_PRIV_H

#include "engine/comparison.h"
#include "report/report.h"

struct summary_values {
	double *x;
	size_t n, room;
};

/* What a report's benchmark points into. */
struct summary_row {
	struct stats_block *blocks; /* room for all that are planned */
	struct report_boot *boots;  /* for as many as those have */
	size_t n_boots;
	struct summary_values clean[2]; /* batches of each side */
	struct histogram histogram[2];  /* of a probe: its samples of each side */
	char error[256];
};

/*
 * Side A and side B of a comparison. Mostly they are two arms and one benchmark. Where @against is
 * set they are two benchmarks of the same boots: A is @against, and B @bench, both of arm @arm.
 */
struct summary_pair {
	const struct comparison *c;
	unsigned int group, arm;
	unsigned int base; /* the arm of side A, where they are two */
	const char *bench, *against;
	struct report report; /* its benches and what they point to are ours */
	struct summary_row *rows;
	size_t room;
	char labels[2][128];
	char hosts[256];
	char prints[256];
};

const struct plan_group *summary_group_of(const struct summary_pair *p);
size_t summary_first_slot(const struct summary_pair *p, unsigned int block);
bool summary_is_ours(const struct summary_pair *p, size_t slot);
const struct boot_record *summary_whole_boot(const struct summary_pair *p, size_t slot);

int summary_row_fill(struct summary_pair *p, size_t row) __must_check;
void summary_row_fini(struct summary_row *row);

void summary_compare_prints(struct summary_pair *p);

int summary_pair_init(struct summary_pair *p, struct err *e) __must_check;
void summary_pair_fini(struct summary_pair *p);

#endif
