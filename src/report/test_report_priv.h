/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the renderers of a test run share. */
#ifndef REPORT_TEST_REPORT_PRIV_H
#define REPORT_TEST_REPORT_PRIV_H

#include <jansson.h>

#include "report/test_baseline.h"
#include "report/test_report.h"

#define TEST_TITLE_MAX 1024       /* bytes of a sentence where a form wants a short one */
#define TEST_BLOCK_MAX (64 << 10) /* bytes of a text of many lines */

/* Why a case is not there. */
#define TEST_GONE "vanished: it was there in the baseline"

/* Writes one character of a text, which is no UTF-8 where it is TEXT_BAD_BYTE (base/text.h). */
typedef void (*test_put_fn)(FILE *out, uint32_t c, unsigned char byte);

void test_put(FILE *out, const char *s, size_t max, test_put_fn put);
void test_put_plain(FILE *out, const char *s, size_t max);
void test_put_escape(FILE *out, uint32_t c, unsigned char byte);
void test_put_data(FILE *out, uint32_t c, unsigned char byte);
void test_put_property(FILE *out, uint32_t c, unsigned char byte);

void test_put_head(FILE *out, const struct test_report *t, size_t max, test_put_fn put);
void test_put_dir(FILE *out, const struct test_report *t, const struct test_result *r,
		  test_put_fn put);
void test_put_result(FILE *out, const struct test_report *t, const struct test_result *r,
		     bool colour);
void test_put_sub(FILE *out, const struct test_result *r, const struct test_sub *s, bool colour);
void test_put_since(FILE *out, const struct test_baseline *b);
void test_put_slower(FILE *out, const struct test_change *c);
int test_put_json(FILE *out, json_t *take) __must_check;
const struct test_note *test_note_of(const struct test_report *t, size_t i);
const char *test_by_environment(const struct test_result *r);
const char *test_why(const struct test_result *r);
enum test_verdict test_sub_counts_as(const struct test_result *r, const struct test_sub *s);
int test_finish(FILE *out) __must_check;

#endif
