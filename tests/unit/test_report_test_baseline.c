/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What has changed between two runs of a suite. */
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "report/test_baseline.h"

#define RUNS 24

struct run {
	struct test_result results[RUNS];
	const struct test_result *list[RUNS];
	const char *missing[4];
	struct test_report report;
};

static struct run then, now;
static struct err e;

static struct test_result *add(struct run *r, const char *id, enum test_verdict v)
{
	struct test_result *one = &r->results[r->report.count];

	*one = (struct test_result){
		.id = (char *)(uintptr_t)id,
		.test = "t",
		.kernel = "",
		.backend = "kvm",
		.verdict = v,
		.outcome = v == TEST_OK ? TEST_PASS : TEST_FAIL,
		.attempts = 1,
		.duration_ns = 1000000000,
	};
	r->list[r->report.count++] = one;
	return one;
}

static void add_missing(struct run *r, const char *id)
{
	r->missing[r->report.missing_count++] = id;
}

static int setup(void **state)
{
	then = (struct run){.report = {.results = then.list, .missing = then.missing}};
	now = (struct run){.report = {.results = now.list, .missing = now.missing}};
	return 0;
}

/* "newly broken a, vanished b": what is found. */
static void assert_changes(const char *wanted)
{
	_cleanup_(test_baseline_destroy_p) struct test_baseline *b = NULL;
	char found[512] = "";

	assert_int_equal(test_baseline_create(&then.report, &now.report, &b, &e), 0);
	for (size_t i = 0; i < b->count && b->changes[i].kind != TEST_CHANGE_NONE; i++) {
		strcat(found, i ? ", " : "");
		strcat(found, test_change_name(b->changes[i].kind));
		strcat(found, " ");
		strcat(found, b->changes[i].id);
	}
	assert_string_equal(found, wanted);
}

static void a_run_has_not_changed_since_itself(void **state)
{
	for (int v = 0; v < TEST_VERDICT_COUNT; v++) {
		add(&then, test_verdict_name((enum test_verdict)v), (enum test_verdict)v);
		add(&now, test_verdict_name((enum test_verdict)v), (enum test_verdict)v);
	}
	add_missing(&then, "gone");
	add_missing(&now, "gone");
	assert_changes("");
}

static void each_change_has_its_word(void **state)
{
	static const struct {
		enum test_verdict then, now;
		const char *wanted;
	} rows[] = {
		{TEST_OK, TEST_NOT_OK, "newly broken a"},
		{TEST_SKIPPED, TEST_NOT_OK, "newly broken a"},
		{TEST_FLAKY, TEST_NOT_OK, "newly broken a"},
		{TEST_KNOWN, TEST_NOT_OK, "newly broken a"},
		{TEST_OK, TEST_KNOWN, "newly broken a"},
		{TEST_NOT_OK, TEST_KNOWN, ""},
		{TEST_NOT_OK, TEST_OK, "newly fixed a"},
		{TEST_KNOWN, TEST_OK, "newly fixed a"},
		{TEST_NOT_OK, TEST_SKIPPED, "newly skipped a"},
		{TEST_OK, TEST_SKIPPED, "newly skipped a"},
		{TEST_OK, TEST_FLAKY, "newly flaky a"},
		{TEST_NOT_OK, TEST_FLAKY, ""},
		{TEST_FLAKY, TEST_OK, ""},
		{TEST_SKIPPED, TEST_OK, ""},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		setup(NULL);
		add(&then, "a", rows[i].then);
		add(&now, "a", rows[i].now);
		assert_changes(rows[i].wanted);
	}
}

static void cases_come_and_go(void **state)
{
	add(&then, "b", TEST_OK);
	add(&then, "old", TEST_NOT_OK);
	add(&now, "new", TEST_OK);
	add(&now, "bad", TEST_NOT_OK);
	add(&now, "b", TEST_OK);
	assert_changes("newly broken bad, new new, vanished old");
}

static void a_case_without_a_result_is_broken(void **state)
{
	_cleanup_(test_baseline_destroy_p) struct test_baseline *b = NULL;

	add(&then, "a", TEST_OK);
	add_missing(&now, "a");
	assert_int_equal(test_baseline_create(&then.report, &now.report, &b, &e), 0);
	assert_int_equal(b->count, 1);
	assert_int_equal(b->changes[0].kind, TEST_CHANGE_BROKEN);
	assert_null(b->changes[0].now);
}

static void repetitions_are_one_case(void **state)
{
	_cleanup_(test_baseline_destroy_p) struct test_baseline *b = NULL;

	add(&then, "a[c=1]", TEST_OK);
	add(&now, "a[c=1]", TEST_OK);
	add(&now, "a[c=1]#2", TEST_NOT_OK);
	add(&now, "a[c=1]#3", TEST_OK);
	add(&now, "a[c=1]#2#2", TEST_OK);
	assert_changes("newly broken a[c=1]");
	assert_int_equal(test_baseline_create(&then.report, &now.report, &b, &e), 0);
	assert_string_equal(b->changes[0].now->id, "a[c=1]#2");
}

static void what_only_looks_like_a_repetition_is_none(void **state)
{
	add(&then, "#2", TEST_OK);
	add(&then, "a#", TEST_OK);
	add(&then, "a2", TEST_OK);
	add(&now, "#2", TEST_OK);
	add(&now, "a#", TEST_OK);
	add(&now, "a2", TEST_OK);
	assert_changes("");
	setup(NULL);
	add(&then, "a", TEST_OK);
	add(&now, "a#", TEST_OK);
	assert_changes("new a#, vanished a");
}

static void in_a_case_that_stays_broken_new_failures_are_seen(void **state)
{
	static struct test_sub before[] = {
		{.name = "x", .verdict = TEST_NOT_OK},
		{.name = "y", .verdict = TEST_OK},
	};
	static struct test_sub after[] = {
		{.name = "x", .verdict = TEST_NOT_OK},
		{.name = "y", .verdict = TEST_NOT_OK},
		{.name = "z", .verdict = TEST_NOT_OK},
	};
	_cleanup_(test_baseline_destroy_p) struct test_baseline *b = NULL;
	struct test_result *r = add(&then, "a", TEST_NOT_OK);

	r->subs = before;
	r->sub_count = ARRAY_SIZE(before);
	r = add(&now, "a", TEST_NOT_OK);
	r->subs = after;
	r->sub_count = ARRAY_SIZE(after);
	assert_int_equal(test_baseline_create(&then.report, &now.report, &b, &e), 0);
	assert_int_equal(b->count, 3);
	assert_int_equal(b->by_kind[TEST_CHANGE_BROKEN], 2);
	assert_string_equal(b->changes[0].sub->name, "y");
	assert_string_equal(b->changes[1].sub->name, "z");
	assert_int_equal(b->by_kind[TEST_CHANGE_NONE], 1);
	then.results[0].sub_count = 0;
	assert_changes("");
}

static const char *const repeated[] = {"a", "a#2", "a#3"};

static void add_times(struct run *r, size_t n, const uint64_t ms[3])
{
	for (size_t i = 0; i < n; i++) {
		add(r, repeated[i], TEST_OK)->duration_ns = ms[i] * 1000000;
	}
}

static void slower_is_beyond_both_runs_spread_and_a_fifth(void **state)
{
	static const struct {
		size_t n_then, n_now;
		uint64_t then[3], now[3];
		const char *wanted;
	} rows[] = {
		{3, 3, {1000, 1100, 1050}, {1300, 1400, 1310}, "slower a"},
		{3, 3, {1300, 1400, 1310}, {1000, 1100, 1050}, ""}, /* faster */
		{3, 3, {1000, 1310, 1050}, {1300, 1400, 1350}, ""}, /* they overlap */
		{3, 3, {1000, 1010, 1020}, {1190, 1200, 1212}, ""}, /* less than a fifth */
		{3, 3, {1000, 1010, 1020}, {1190, 1213, 1220}, "slower a"},
		{3, 2, {1000, 1100, 1050}, {9000, 9000, 9000}, ""}, /* no spread to speak of */
		{1, 1, {1000, 0, 0}, {9000, 0, 0}, ""},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		setup(NULL);
		add_times(&then, rows[i].n_then, rows[i].then);
		add_times(&now, rows[i].n_now, rows[i].now);
		assert_changes(rows[i].wanted);
	}
}

static void times_of_other_machines_or_of_retries_do_not_count(void **state)
{
	const uint64_t fast[3] = {1000, 1100, 1050}, slow[3] = {3000, 3000, 3000};

	add_times(&then, 3, fast);
	add_times(&now, 3, slow);
	for (size_t i = 0; i < 3; i++) {
		now.results[i].backend = "qemu";
	}
	assert_changes("");
	for (size_t i = 0; i < 3; i++) {
		now.results[i].backend = "kvm";
		now.results[i].has_class = true;
		now.results[i].exec_class = EXEC_NESTED;
	}
	assert_changes("");
	for (size_t i = 0; i < 3; i++) {
		now.results[i].has_class = false;
	}
	assert_changes("slower a");
	now.results[1].attempts = 2;
	assert_changes("");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_run_has_not_changed_since_itself, setup),
		cmocka_unit_test_setup(each_change_has_its_word, setup),
		cmocka_unit_test_setup(cases_come_and_go, setup),
		cmocka_unit_test_setup(a_case_without_a_result_is_broken, setup),
		cmocka_unit_test_setup(repetitions_are_one_case, setup),
		cmocka_unit_test_setup(what_only_looks_like_a_repetition_is_none, setup),
		cmocka_unit_test_setup(in_a_case_that_stays_broken_new_failures_are_seen, setup),
		cmocka_unit_test_setup(slower_is_beyond_both_runs_spread_and_a_fifth, setup),
		cmocka_unit_test_setup(times_of_other_machines_or_of_retries_do_not_count, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
