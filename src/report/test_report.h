/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The report of a test run (samples/test_result.h) in the forms that people and CI read. Pure over
 * the results: nothing is looked up, so a results file renders the same anywhere. What guests wrote
 * is in it, any bytes; each renderer escapes what its form does not take.
 *
 *	struct test_report t = {.title = "smoke.yaml", .results = array, .count = n, ...};
 *	ret = test_report_text(&t, stdout, report_wants_colour(STDOUT_FILENO));
 *	ret = test_report_junit(&t, file);
 *	status = test_report_exit_status(&t);
 */
#ifndef REPORT_TEST_REPORT_H
#define REPORT_TEST_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "samples/test_result.h"

/* What there is to say of a result beside itself: what has changed since a baseline. */
struct test_note {
	const char *text; /* "newly fixed"; NULL: nothing */
	bool worse;       /* and that is no failure, but worth a warning */
};

/* All of it is the caller's. */
struct test_report {
	const char *title;            /* of the suite: its name, or its file */
	const char *ringside_version; /* that ran it */
	uint64_t seed;
	unsigned int shard, shards; /* 0 of 0, 1 of 1: not sharded */
	const struct test_result *const *results;
	size_t count;
	const char *const *missing; /* ids of cases that were to run and have no result */
	size_t missing_count;
	const char *dir;    /* that the cases' directories are relative to, or NULL */
	const char *filter; /* that chose among the suite's cases, or NULL */

	/* Of an extract by a baseline (test_baseline.h); else NULL. */
	const struct test_report *of;  /* the whole run */
	const char *since;             /* what it is an extract by, in one line */
	const struct test_note *notes; /* of each result */
	const char *const *gone;       /* ids of cases that there are no more */
	size_t gone_count;
};

struct test_counts {
	size_t by_verdict[TEST_VERDICT_COUNT]; /* of cases */
	size_t environment;  /* of those that are not ok: test_outcome_is_environment() */
	size_t known_but_ok; /* of those that are ok: test_result_is_known_but_ok() */
	size_t missing;
	uint64_t duration_ns; /* of all cases, added up */
};

void test_report_count(const struct test_report *t, struct test_counts *ret);
int test_report_exit_status(const struct test_report *t);

int test_report_text(const struct test_report *t, FILE *out, bool colour) __must_check;
int test_report_junit(const struct test_report *t, FILE *out) __must_check;
int test_report_tap(const struct test_report *t, FILE *out) __must_check;
int test_report_github(const struct test_report *t, FILE *out) __must_check;
int test_report_markdown(const struct test_report *t, FILE *out) __must_check;
int test_report_json(const struct test_report *t, FILE *out) __must_check;

#endif
