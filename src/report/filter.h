/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A part of a set of reports, to be shown. Nothing is computed anew: verdicts and p-values are
 * those among all rows, and the part says that it is one.
 */
#ifndef REPORT_FILTER_H
#define REPORT_FILTER_H

#include "base/cleanup.h"
#include "base/err.h"
#include "report/report.h"

/* Lists with commas between; NULL: all. */
struct report_filter {
	const char *benches; /* names of rows, or what they begin with before a dot */
	const char *arms;    /* labels, written as groups are: comparisons with one of them */
	const char *groups;  /* of a scenario: one name as it is, or names with "\\," for a comma */
};

struct report_part;

int report_part_create(const struct report_set *s, const struct report_filter *f,
		       struct report_part **ret, struct err *e) __must_check;
const struct report_set *report_part_set(const struct report_part *p);
void report_part_destroy(struct report_part *p);
DEFINE_CLEANUP(struct report_part *, report_part_destroy)

void report_put_shown(FILE *out, const struct report *r);

#endif
