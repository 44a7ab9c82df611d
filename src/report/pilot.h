/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a pilot has found: how much the block differences of each benchmark vary, what a comparison
 * of so many blocks would therefore find, and how long it would take. A pilot has no verdicts.
 */
#ifndef REPORT_PILOT_H
#define REPORT_PILOT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "samples/class.h"

struct report_pilot_bench {
	const char *name;
	const char *group; /* of a scenario, or NULL */
	const char *arm;   /* label of B */
	const char *per;
	size_t blocks;       /* complete ones */
	double median_a;     /* units */
	double units_hz;     /* units in a second, 0 where the guest has not measured it */
	double sd;           /* of a block difference, units; NaN: fewer than 2 blocks */
	bool varies;         /* false: every block has the same difference */
	double best_batches; /* a boot, for the least time of a precision; NaN: not known;
				infinite: boots do not differ but by their batches */
};

struct report_pilot {
	enum exec_class class;
	size_t boots; /* that were recorded */
	size_t groups;
	unsigned int blocks;  /* of each, as planned */
	unsigned int batches; /* of a benchmark and boot, as planned */
	unsigned int jobs;    /* boots at a time that block_ns is for */
	double boot_ns;       /* that a boot takes, mean; NaN: not known */
	double start_ns;      /* of it until user space is there; NaN: not known */
	double block_ns;      /* of one block of every group; NaN: not known */
	size_t block_boots;   /* boots in that */
	size_t n;
	struct report_pilot_bench *benches;
};

bool report_pilot_varies(const struct report_pilot *p);
int report_pilot_text(const struct report_pilot *p, FILE *out) __must_check;
json_t *report_pilot_json(const struct report_pilot *p);

#endif
