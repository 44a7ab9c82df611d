/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the HTML report share. */
#ifndef REPORT_HTML_PRIV_H
#define REPORT_HTML_PRIV_H

#include "report/html.h"
#include "report/report_priv.h"

extern const char report_html_style[];

void report_html_text(FILE *out, const char *s);

void report_html_boots(FILE *out, const struct report *r, const struct report_bench *b);
void report_html_batches(FILE *out, const struct report *r, const struct report_bench *b);
void report_html_samples(FILE *out, const struct report *r, const struct report_bench *b);
void report_html_differences(FILE *out, const struct report *r, const struct report_bench *b);
void report_html_shift(FILE *out, const struct report *r, const struct report_bench *b);
void report_html_claim(FILE *out, const struct report_claim *row);

#endif
