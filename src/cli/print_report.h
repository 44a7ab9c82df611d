/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A comparison's report on stdout, and the exit status that it comes to. */
#ifndef CLI_PRINT_REPORT_H
#define CLI_PRINT_REPORT_H

#include <stdbool.h>

#include "engine/comparison.h"

int print_report(const struct comparison *c, bool json, bool details);

#endif
