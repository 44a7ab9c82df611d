/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a comparison's floors come from: a file, or a calibration of this host. */
#ifndef CLI_COMPARE_FLOORS_H
#define CLI_COMPARE_FLOORS_H

#include "base/cleanup.h"
#include "base/err.h"
#include "engine/comparison.h"

int compare_floors_line(const char *option, const struct comparison *c, char **ret_line,
			struct err *e) __must_check;

#endif
