/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See calibration_fixture.h. */
#include "calibration_fixture.h"

#include "support.h"

#include <math.h>

/* Every primitive takes its number plus one ticks, in replicate i that many plus i tenths. */
void calibration_fixture_fill(struct calibration_replicate *r, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		for (unsigned int k = 0; k < CALIBRATE_PRIMITIVE_COUNT; k++) {
			r[i].points[k] = (struct calibration_point){
				.measured = true,
				.ticks = k + 1 + (double)i / 10,
				.core_cycles = (k + 1 + (double)i / 10) / 2,
				.ticks_per_cycle = 2,
				.batches = 50,
				.dirty = 3,
			};
		}
	}
}

void calibration_fixture_lose(struct calibration_replicate *r, size_t count,
			      enum calibrate_primitive which, const char *why)
{
	for (size_t i = 0; i < count; i++) {
		r[i].points[which] = (struct calibration_point){.core_cycles = NAN};
		snprintf(r[i].points[which].reason, sizeof(r[i].points[which].reason), "%s", why);
	}
}

void calibration_fixture_lose_ring0(struct calibration_replicate *r, size_t count)
{
	static const unsigned int rings[] = {
#define ROW(id, name, ring, copies, loops, about) ring,
		CALIBRATE_PRIMITIVES(ROW)
#undef ROW
	};

	for (unsigned int k = 0; k < CALIBRATE_PRIMITIVE_COUNT; k++) {
		if (rings[k] == 0) {
			calibration_fixture_lose(r, count, (enum calibrate_primitive)k,
						 "ring 0 is interpreted here");
		}
	}
}

struct calibration *calibration_fixture_make(const struct calibration_replicate *r, size_t count,
					     enum exec_class class, unsigned int shift)
{
	struct calibration *c = NULL;
	struct err e = ERR_INIT;

	if (calibration_make(r, count, class, shift, &c, &e) < 0) {
		fail_msg("%s", e.text);
	}
	return c;
}
