/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A comparison as it stands: its plan and the boots that are recorded so far. It is filled line by
 * line, from a results file or as the boots happen; each boot is held against the plan and against
 * the others, so that one comparison is of one plan on one machine.
 */
#ifndef ENGINE_COMPARISON_H
#define ENGINE_COMPARISON_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "engine/calibration.h"
#include "engine/noise.h"
#include "engine/plan.h"
#include "samples/boot_record.h"

/* What a boot says about the comparison. */
enum boot_use {
	BOOT_WHOLE,     /* every benchmark has numbers */
	BOOT_FAILED,    /* the guest failed: that is data, and not repeated */
	BOOT_NOT_THERE, /* the machine or the user failed it: it is done again */
};

#define COMPARISON_WHY_MAX 512

/* What a line was that is no boot that counts. */
#define COMPARISON_NO_BOOT (-1)
#define COMPARISON_FLOORS  (-2)
#define COMPARISON_NOISE   (-3)

/* The type of the line that says why there is no calibration. */
#define COMPARISON_NO_CALIBRATION "no-calibration"

struct comparison {
	struct plan plan;
	char *plan_text;            /* the line it is written as; NULL while there is no plan */
	struct boot_record **boots; /* plan.boot_count; NULL: not recorded, to be done */
	size_t done;                /* recorded boots */
	size_t *failed; /* a group: of these, the ones whose guest did not give every number */
	struct calibration *calibration;   /* of the host, where it is recorded */
	char *no_calibration;              /* else why there is none, where that is recorded */
	struct noise noise;                /* floors of the host, where they are recorded */
	bool has_noise;                    /* they are */
	const struct boot_record *first;   /* the first with a class: the others must be alike */
	enum boot_use last_use;            /* of the boot that was added last */
	char last_why[COMPARISON_WHY_MAX]; /* and why, when it is not whole */
	int64_t last_slot;                 /* and its slot, or what that line was */
};

int comparison_set_plan(struct comparison *c, struct plan *take, struct err *e) __must_check;
int comparison_add_line(struct comparison *c, const char *text, size_t len,
			struct err *e) __must_check;
int comparison_read(struct comparison *c, const char *path, struct err *e) __must_check;
int comparison_check_alike(const struct comparison *c, const struct boot_record *r,
			   struct err *e) __must_check;
void comparison_take(struct comparison *c, struct comparison *from);
enum boot_use comparison_judge(const struct comparison *c, const struct boot_record *r,
			       char *ret_why, size_t len);
void comparison_fini(struct comparison *c);

#endif
