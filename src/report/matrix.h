/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Each arm of a group against each other one: a table of effects for each benchmark. */
#ifndef REPORT_MATRIX_H
#define REPORT_MATRIX_H

#include <jansson.h>
#include <stdio.h>

#include "report/report.h"

void report_matrix_text(const struct report_set *s, FILE *out);
void report_matrix_markdown(const struct report_set *s, FILE *out);
void report_matrix_html(const struct report_set *s, FILE *out);
json_t *report_matrix_json(const struct report_set *s);

#endif
