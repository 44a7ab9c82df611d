/* SPDX-License-Identifier: GPL-2.0-or-later */
/* "ringside report" of comparisons. */
#ifndef CLI_REPORT_COMPARISONS_H
#define CLI_REPORT_COMPARISONS_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/print_report.h"

struct report_comparisons {
	char *const *paths;
	size_t count;
	bool merge;          /* they are parts of one comparison, or of one plan on several hosts */
	const char *results; /* NULL, or where what was merged goes */
	struct report_output output; /* but for its results */
};

int report_comparisons(const struct report_comparisons *o);

#endif
