/* SPDX-License-Identifier: GPL-2.0-or-later */
/* "ringside report" of a test run. */
#ifndef CLI_REPORT_TESTS_H
#define CLI_REPORT_TESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "report/test_baseline.h"
#include "report/test_report.h"

enum report_form {
	REPORT_TEXT,
	REPORT_JSON,
	REPORT_JUNIT,
	REPORT_TAP,
	REPORT_GITHUB,
	REPORT_MARKDOWN,
};

struct report_tests {
	char *const *paths;
	size_t count;
	bool merge;
	enum report_form form;
	const char *baseline; /* NULL: all is shown */
	const char *results;  /* NULL, or where what was merged goes */
};

int report_begin_results(const char *path, FILE **ret, struct err *e) __must_check;
int report_end_results(const char *path, FILE *f, int r, struct err *e) __must_check;
int report_tests(const struct report_tests *o);

/* What has changed since an older run. */
struct report_changes {
	struct test_baseline *baseline;
	struct test_extract *extract; /* as a report */
};

int report_changes_open(struct report_changes *c, const char *path, const struct test_report *now,
			struct err *e) __must_check;
void report_changes_close(struct report_changes *c);

#endif
