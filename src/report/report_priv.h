/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the renderers share: how numbers and verdicts are put into words. */
#ifndef REPORT_REPORT_PRIV_H
#define REPORT_REPORT_PRIV_H

#include "report/report.h"

#define REPORT_COLUMNS      80 /* of a text */
#define REPORT_NUMBER_MAX   32
#define REPORT_SENTENCE_MAX 768
#define REPORT_INTERVAL_MAX (2 * REPORT_NUMBER_MAX + 8)

struct report_number {
	char text[REPORT_NUMBER_MAX];
};

#define REPORT_CELL_MAX 1536

/* A text of several sentences that grows. What does not fit is cut. */
struct report_cell {
	char text[REPORT_CELL_MAX];
	size_t len;
};

/* The quantiles of a probe's samples that are told of. */
#define REPORT_SPREADS 3

struct report_spread {
	double q;
	const char *label, *key;
};

extern const struct report_spread report_spreads[REPORT_SPREADS];

bool report_claim_is_rate(const struct claim *c);
void report_claim_words(struct report_cell *c, const struct claim *claim);
void report_measured_words(struct report_cell *c, const struct report_claim *row);
void report_floor_words(struct report_cell *c, const struct report_floor *f);

struct report_number report_number(double x, int decimals);
struct report_number report_number_signed(double x, int decimals);
struct report_number report_p(double p);
int report_decimals(double resolution, int least, int most);
int report_bench_decimals(const struct report_bench *b);
double report_percent_of_a(const struct report_bench *b, double x);
const char *report_reading(enum exec_class class);
char report_letter(const struct report *r, int side);
size_t report_boots(const struct report_bench *b);
const char *report_interval(const struct stats_comparison *c, int decimals, char *buf, size_t len);
void report_margin_words(const struct report *r, double units, double share, char *ret, size_t len);
void report_exact_where(const struct report_bench *b, char *ret, size_t len);

void report_incomplete_words(const struct report *r, char *ret, size_t len);
bool report_noise_words(const struct report_bench *b, int decimals, char *ret, size_t len);
bool report_knows_noise(const struct report *r);

int report_warn(const struct report *r, struct report_bench *b) __must_check;

bool report_set_has_one_margin(const struct report_set *s);
bool report_set_begins_group(const struct report_set *s, size_t i);

void report_put_clean(FILE *out, const char *s, size_t len);

/* Pieces of the text that several pages are made of. */
void report_wrap(FILE *out, size_t at, size_t indent, const char *text);
void report_line(FILE *out, const char *label, const char *text);
void report_put_arm(FILE *out, const struct report *r, int arm);
void report_put_machine(FILE *out, const struct report *r);
void report_put_sizing(FILE *out, const struct report *r);
void report_put_margin(FILE *out, const struct report *r);
void report_put_bench(FILE *out, const struct report *r, const struct report_bench *b, bool colour);
void report_put_table(FILE *out, const struct report *r, bool colour);
void report_sentence(const struct report *r, const struct report_bench *b, char *ret, size_t len);

#endif
