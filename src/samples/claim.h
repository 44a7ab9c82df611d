/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What somebody has said that a change saves: the words, the numbers, on which hardware, where it
 * can be read, and what a percentage is of. A claim belongs to one arm of a group and to one row
 * that is measured there. It travels with the plan, so that a report needs nothing but the results.
 */
#ifndef SAMPLES_CLAIM_H
#define SAMPLES_CLAIM_H

#include <jansson.h>

#include "base/cleanup.h"
#include "base/err.h"

/* Texts may be NULL unless it says otherwise; numbers that were not given are NaN. */
struct claim {
	char *text;     /* one sentence; never NULL */
	char *source;   /* where it was said; never NULL */
	char *hardware; /* on what; never NULL */
	char *unit;     /* of the numbers but the percentages: "cycles per switch" */
	char *of;       /* what a percentage, and @from, is of: "its __get_user() column" */
	char *bench;   /* the row: "ctxsw.pipe.fs", or "switch_to.fsgs@ctxsw.pipe.fs"; never NULL */
	char *against; /* the benchmark of the same boots to compare with; NULL: the baseline arm */
	char *floor;   /* id of the floor, such as "fsgsbase.fs" */
	char *no_floor;                   /* why there is none */
	char *note;                       /* what to mind when reading the row */
	unsigned int arm;                 /* of its group: 1 and more, or any with @against */
	double from, to;                  /* as "from 12,400 to 21,000" */
	double change_low, change_high;   /* a difference; equal where it is one number */
	double percent_low, percent_high; /* the same as a percentage of @of */
};

void claim_init(struct claim *c);
void claim_fini(struct claim *c);
json_t *claim_to_json(const struct claim *c);
int claim_from_json(const json_t *o, struct claim *ret, struct err *e) __must_check;

#endif
