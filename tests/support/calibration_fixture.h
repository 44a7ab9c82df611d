/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Replicates of a calibration with known numbers. */
#ifndef TESTS_CALIBRATION_FIXTURE_H
#define TESTS_CALIBRATION_FIXTURE_H

#include "engine/calibration.h"

void calibration_fixture_fill(struct calibration_replicate *r, size_t count);
void calibration_fixture_lose(struct calibration_replicate *r, size_t count,
			      enum calibrate_primitive which, const char *why);
void calibration_fixture_lose_ring0(struct calibration_replicate *r, size_t count);
struct calibration *calibration_fixture_make(const struct calibration_replicate *r, size_t count,
					     enum exec_class class, unsigned int shift);

#endif
