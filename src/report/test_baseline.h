/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What has changed between two runs of a suite. Repetitions of a case ("#2" behind its id) are one
 * case here: it is broken where any of them is not ok or has no result. Where a case is broken in
 * both runs, the results inside it that fail only now are newly broken. Slower is said only where
 * it is beyond the noise that both runs show themselves: each has at least TEST_BASELINE_RUNS times
 * of a plain pass, the shortest of the new ones is longer than the longest of the old ones, and the
 * median has grown by more than TEST_BASELINE_PERCENT. Were nothing slower, chance alone would part
 * two times three so once in twenty cases, two times five once in 252.
 */
#ifndef REPORT_TEST_BASELINE_H
#define REPORT_TEST_BASELINE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "report/test_report.h"

#define TEST_CHANGES_SCHEMA_VERSION 1

#define TEST_BASELINE_RUNS          3
#define TEST_BASELINE_PERCENT       20

enum test_change_kind {
	TEST_CHANGE_BROKEN,   /* not as expected now (not ok, not run, known), and was before */
	TEST_CHANGE_FLAKY,    /* passed in a later try only, and before in the first */
	TEST_CHANGE_SKIPPED,  /* is skipped now, and ran before */
	TEST_CHANGE_SLOWER,   /* beyond its noise */
	TEST_CHANGE_FIXED,    /* was not as expected, and is */
	TEST_CHANGE_NEW,      /* was not there; not broken */
	TEST_CHANGE_VANISHED, /* is not there any more */
	TEST_CHANGE_NONE,     /* none: not ok, and was so before */
	TEST_CHANGE_COUNT
};

struct test_times {
	size_t n;
	uint64_t low_ns, median_ns, high_ns;
};

struct test_change {
	enum test_change_kind kind;
	char *id;                        /* without its repetition */
	const struct test_result *now;   /* the worst of its results, or NULL: it has none */
	const struct test_sub *sub;      /* of it, in a case that was broken before; or NULL */
	struct test_times before, after; /* of TEST_CHANGE_SLOWER */
};

struct test_baseline {
	struct test_change *changes; /* by kind, then by id */
	size_t count, room;
	size_t by_kind[TEST_CHANGE_COUNT];
	bool then_is_part, now_is_part; /* of the suite, by a filter or as a shard */
	size_t not_run;                 /* that a filter or another shard left out */
};

/* What has changed as a report, for the forms that have none of their own for it. */
struct test_extract {
	struct test_report report;
	size_t copy_count, sub_count, text_count;
	struct test_result *copies; /* of results that are shown otherwise than they are: shallow */
	struct test_sub *subs;      /* of those; shallow */
	const struct test_result **results;
	struct test_note *notes;
	const char **missing, **gone;
	char **texts; /* of notes */
	char *since;
};

int test_baseline_create(const struct test_report *then, const struct test_report *now,
			 struct test_baseline **ret, struct err *e) __must_check;
void test_baseline_destroy(struct test_baseline *b);
DEFINE_CLEANUP(struct test_baseline *, test_baseline_destroy)

int test_extract_create(const struct test_baseline *b, const struct test_report *now,
			struct test_extract **ret, struct err *e) __must_check;
void test_extract_destroy(struct test_extract *x);
DEFINE_CLEANUP(struct test_extract *, test_extract_destroy)

const char *test_change_name(enum test_change_kind k);
int test_baseline_text(const struct test_baseline *b, const struct test_report *now, FILE *out,
		       bool colour) __must_check;
int test_baseline_json(const struct test_baseline *b, const struct test_report *now,
		       FILE *out) __must_check;

#endif
