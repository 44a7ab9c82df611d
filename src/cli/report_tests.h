/* SPDX-License-Identifier: GPL-2.0-or-later */
/* "ringside report" of a test run. */
#ifndef CLI_REPORT_TESTS_H
#define CLI_REPORT_TESTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "base/err.h"
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

int report_tests(const struct report_tests *o);
int report_tests_changes(const char *baseline, bool json, const struct test_report *now,
			 struct err *e) __must_check;

#endif
