/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What this host makes of no difference: read into a comparison's results, and added to by it. */
#ifndef CLI_COMPARE_NOISE_H
#define CLI_COMPARE_NOISE_H

#include "engine/comparison.h"
#include "samples/results.h"

void compare_noise_record(struct comparison *c, struct results *results);

#endif
