/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What test_signals.c (reads what an attempt left) and test_judge.c (decides) share. */
#ifndef ENGINE_TEST_JUDGE_PRIV_H
#define ENGINE_TEST_JUDGE_PRIV_H

#include "engine/console_allow.h"
#include "engine/ktap.h"
#include "engine/test_judge.h"
#include "samples/boot_record.h"

#define TEST_LINE_MAX     512 /* bytes of a console line in a message */
#define TEST_TAIL_LINES   40  /* of the console, that a result keeps */
#define TEST_WARNINGS_MAX 32  /* that a result keeps; further ones are one line */

/* All that an attempt says of itself, each by its own way. */
struct test_signals {
	struct boot_record *record; /* NULL: none, or none that can be read */
	char record_error[TEST_LINE_MAX];
	char panic[TEST_LINE_MAX]; /* the console's line; empty: there is none */
	char bad[TEST_LINE_MAX];   /* the first one that fail_on names and nothing allows */
	struct ktap_parser *parser;
	const struct ktap *ktap; /* never NULL once read */
	size_t warnings_left_out;
	char *console_tail; /* the last lines, joined by newlines; NULL: there are none */
};

int test_signals_read(const struct suite_case *c, const struct test_attempt *a,
		      struct test_signals *s, struct test_result *r, struct err *e) __must_check;
void test_signals_fini(struct test_signals *s);

#endif
