/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A comparison's report on stdout and in files, and the exit status that it comes to. */
#ifndef CLI_PRINT_REPORT_H
#define CLI_PRINT_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "engine/comparison.h"
#include "report/filter.h"
#include "report/report.h"

struct report_output {
	const char *results; /* the file that the comparison is recorded in */
	bool json;           /* on stdout as JSON, not as text */
	json_t **json_to;    /* where that goes instead, for the caller to free; NULL: stdout */
	int (*form)(const struct report_set *s, FILE *out); /* or in this form; NULL: as text */
	bool details; /* as text: a section for each benchmark, also of a scenario */
	/* A page to write as well, or NULL; with "-" it goes to stdout in place of all else. */
	const char *html;
	unsigned int jobs; /* of a pilot: boots that run at a time; 0: 1 */
	bool aside;        /* of a pilot: on stderr, since the report itself is still to come */
	bool matrix;       /* of each arm against each, also where the plan has none */
	struct report_filter filter; /* what of it is shown */
	const char *host; /* of several hosts, whose reports follow each other; or NULL */
	bool host_before, host_behind;
	const char *gate; /* what fails it, of the words of OPT_ROW_GATE; NULL: there is none */
};

#define OPT_ROW_MATRIX(value)                                                                               \
	{                                                                                                   \
		OPT_FLAG, "matrix", 0, &(value),                                                            \
			.help = "of groups of three and more arms: also each one against each, as a table " \
				"for each benchmark"                                                        \
	}

/* The options of each command that prints a report. */
#define OPT_ROW_GATE(value)                                                                                \
	{                                                                                                  \
		OPT_CHOICE, "gate", 0, &(value),                                                           \
			.choices = "worse|changed|inconclusive", .alone = "worse",                         \
			.help = "one answer for CI, on a line at the end and as the exit status: 1 where " \
				"a row is worse beyond its margin, by its p after Holm over all rows or "  \
				"exactly; changed: or better; inconclusive: or where the data do not "     \
				"decide"                                                                   \
	}

int print_report(const struct comparison *c, const struct report_output *o);

#endif
