/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The report as one file of HTML that needs nothing beside itself: no script, no font, no picture
 * from elsewhere. Light and dark, on paper, by keyboard and read aloud.
 */
#ifndef REPORT_HTML_H
#define REPORT_HTML_H

#include "report/report.h"

/* What only the caller knows. NULL: not said. */
struct report_html {
	const char *file;   /* name of the results file */
	const char *sha256; /* of what is in it */
};

int report_set_html(const struct report_set *s, const struct report_html *h,
		    FILE *out) __must_check;

#endif
