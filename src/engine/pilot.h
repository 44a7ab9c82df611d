/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A pilot: a comparison of a few blocks that is judged for how much it varies and for nothing else.
 * From it the number of blocks of a comparison is chosen, before that one's first boot and without
 * any of the pilot's boots in it.
 */
#ifndef ENGINE_PILOT_H
#define ENGINE_PILOT_H

#include "base/cleanup.h"
#include "base/err.h"
#include "engine/comparison.h"
#include "report/pilot.h"

#define PILOT_BLOCKS_DEFAULT 6u
#define PILOT_BLOCKS_LEAST   2u /* one has no spread */

enum pilot_goal_kind {
	PILOT_UNITS,   /* find a difference of so many units ... */
	PILOT_NS,      /* ... of so many nanoseconds ... */
	PILOT_PERCENT, /* ... of so many per cent of A */
	PILOT_TIME,    /* or as small a one as such a time allows */
};

/* What the number of blocks is chosen for. */
struct pilot_goal {
	enum pilot_goal_kind kind;
	double value;   /* PILOT_TIME: nanoseconds */
	char unit[16];  /* of PILOT_UNITS, as it was given */
	char words[64]; /* "--resolve 2cycles" */
};

struct pilot;

int pilot_goal_resolve(const char *text, struct pilot_goal *ret, struct err *e) __must_check;
void pilot_goal_budget(uint64_t ns, struct pilot_goal *ret);
int pilot_goal_check(const struct pilot_goal *g, enum exec_class class, struct err *e) __must_check;

int pilot_create(const struct comparison *c, unsigned int jobs, struct pilot **ret,
		 struct err *e) __must_check;
const struct report_pilot *pilot_report(const struct pilot *p);
int pilot_choose(const struct pilot *p, const struct pilot_goal *g, unsigned int *ret_blocks,
		 const char **ret_which, struct err *e) __must_check;
void pilot_destroy(struct pilot *p);
DEFINE_CLEANUP(struct pilot *, pilot_destroy)

#endif
