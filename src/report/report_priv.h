/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the renderers share: how numbers and verdicts are put into words. */
#ifndef REPORT_REPORT_PRIV_H
#define REPORT_REPORT_PRIV_H

#include "report/report.h"

#define REPORT_NUMBER_MAX   32
#define REPORT_SENTENCE_MAX 768

struct report_number {
	char text[REPORT_NUMBER_MAX];
};

struct report_number report_number(double x, int decimals);
struct report_number report_number_signed(double x, int decimals);
struct report_number report_p(double p);
int report_decimals(double resolution, int least, int most);
int report_bench_decimals(const struct report_bench *b);
double report_percent_of_a(const struct report_bench *b, double x);
size_t report_family(const struct report *r);
size_t report_boots(const struct report_bench *b);
void report_sentence(const struct report *r, const struct report_bench *b, char *ret, size_t len);

#endif
