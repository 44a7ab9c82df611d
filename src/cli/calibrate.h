/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * 'ringside calibrate' in two parts: calibrate_measure.c starts a process for each replicate and is
 * that process too, calibrate_print.c tells. The maths is engine/calibration.c.
 */
#ifndef CLI_CALIBRATE_H
#define CLI_CALIBRATE_H

#include <stdio.h>

#include "base/err.h"
#include "engine/calibration.h"
#include "samples/class.h"

struct calibrate_plan {
	uint64_t replicates; /* 1 to CALIBRATION_REPLICATES_MAX */
	uint64_t batches;    /* of each primitive in each replicate */
	bool ring0;          /* time what needs ring 0, too */
};

/* Nothing went wrong, but a signal came: its number is in ret_signal. */
#define CALIBRATE_INTERRUPTED 1

int calibrate_one(const struct calibrate_plan *plan, int fd, struct err *e) __must_check;
int calibrate_all(const struct calibrate_plan *plan, struct calibration_replicate *ret,
		  int *ret_signal, struct err *e) __must_check;
void calibrate_print(const struct calibration *c, FILE *out);

#endif
