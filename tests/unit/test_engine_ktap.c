/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * KTAP and TAP as they are and as they come broken. Each row is a text, and what has to be found in
 * it in one line: a mark a result ('+' ok, '-' failed, 's' skipped, 't' todo or xfail), its name
 * and reason; then "!" and each problem.
 */
#include "support.h"

#include <string.h>

#include "engine/ktap.h"

struct row {
	const char *text;
	const char *found;
};

static char *describe(const struct ktap *k)
{
	static char buf[8192];
	size_t n = 0;

	buf[0] = '\0';
	if (!k->found) {
		return strcpy(buf, "none");
	}
	if (k->skipped || k->bailed) {
		n += (size_t)sprintf(buf + n, "%s(%s) ", k->bailed ? "BAIL" : "SKIP",
				     k->say ? k->say : "");
	}
	for (size_t i = 0; i < k->count; i++) {
		const struct ktap_result *r = &k->results[i];
		char mark = ktap_result_failed(r)        ? '-'
			    : r->directive == KTAP_SKIP  ? 's'
			    : r->directive != KTAP_PLAIN ? 't'
							 : '+';

		n += (size_t)sprintf(buf + n, "%c%s", mark, r->name);
		n += (size_t)(r->reason ? sprintf(buf + n, "(%s)", r->reason) : 0);
		n += (size_t)(r->message ? sprintf(buf + n, "{%s}", r->message) : 0);
		n += (size_t)sprintf(buf + n, " ");
	}
	for (size_t i = 0; i < k->problem_count && i < KTAP_PROBLEMS_MAX; i++) {
		n += (size_t)sprintf(buf + n, "! %s ", k->problems[i]);
	}
	buf[n ? n - 1 : 0] = '\0';
	return buf;
}

/* In pieces of @step bytes, as a pipe may bring it. */
static char *read_as(enum ktap_begin begin, const char *text, size_t step)
{
	struct ktap_parser *p;
	size_t len = strlen(text);
	char *found;

	assert_int_equal(ktap_parser_create(&p), 0);
	ktap_parser_begin_at(p, begin);
	for (size_t i = 0; i < len; i += step) {
		ktap_parser_feed(p, text + i, len - i < step ? len - i : step);
	}
	found = describe(ktap_parser_finish(p));
	ktap_parser_destroy(p);
	return found;
}

/* A report behind output of any kind is found, however the pieces fall. */
static void output_before_a_report_is_passed_over(void **state)
{
	static const char *const before[] = {"y\ny\ny\n", "\n\n x\nnot ok 1 no\n1..4\n",
					     "say TAP version 13\nTAP version\n\n",
					     "aTAP version 13\n\nTAP version x\ny\n",
					     "TAP versio\nn 13\nBail out! no\n\r\n"};
	char text[256];

	for (size_t i = 0; i < ARRAY_SIZE(before); i++) {
		snprintf(text, sizeof(text), "hello\n%sTAP version 13\n1..2\nok 1 a\nnot ok 2 b\n",
			 before[i]);
		for (size_t step = 1; step <= strlen(text); step++) {
			char *found = read_as(KTAP_AT_PLAN, text, step);

			assert_string_equal(found, "+a -b");
		}
	}
}

static char *read_in_steps(const char *text, size_t step)
{
	return read_as(KTAP_AT_VERSION, text, step);
}

static void check(const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		assert_string_equal(read_in_steps(rows[i].text, 1), rows[i].found);
		assert_string_equal(read_in_steps(rows[i].text, 4096), rows[i].found);
	}
}

#define V1          "KTAP version 1\n"
#define T13         "TAP version 13\n"
#define CHECK(rows) check(rows, ARRAY_SIZE(rows))

static void whole_reports_are_read(void **state)
{
	static const struct row rows[] = {
		{"", "none"},
		{"ok 1 a\n1..1\n", "none"},
		{V1 "1..1\nok 1 a\n", "+a"},
		{T13 "1..2\nok 1 - a b\nnot ok 2 c\n", "+a b -c"},
		{"TAP version 14\n1..1\r\nok 1 a\r\n", "+a"},
		{T13 "ok 1 a\nok 2 b\n1..2\n", "+a +b"},
		{T13 "1..2\nok\nnot ok c\n", "+1 -c"},
		{"booting\n" V1 "1..1\nnoise\nok 1 a\nbye\n", "+a"},
		{V1 "1..1\nok 1 a\n" V1 "1..1\nnot ok 1 b\n", "+a -b"},
		{V1 "1..1\nok 1 what\\# it # is\n", "+what\\# it # is"},
		{V1 "1..1\nok 1 a\nokay then\nnothing\n", "+a"},
		{V1 "1..1\n# first\n#second\nnot ok 1 a\n", "-a{first\nsecond}"},
		{V1 "1..2\n# of a\nok 1 a\nnot ok 2 b\n", "+a -b"},
		{T13 "1..1\nnot ok 1 a\n  ---\n  ok 2 in yaml\n  ...\n", "-a"},
	};

	CHECK(rows);
}

/* By a plan that comes first; by anything; never by words that ordinary output has, too. */
static void a_report_may_begin_without_a_version(void **state)
{
	static const struct {
		const char *text, *at_plan, *at_any;
	} rows[] = {
		{"1..2\nok 1 a\nok 2 b\n", "+a +b", "+a +b"},
		{"\n# bats\n1..1\nnoise\nnot ok 1 a\n", "-a", "-a"},
		{"1..0 # SKIP no perl\n", "SKIP(no perl)", "SKIP(no perl)"},
		{"1..2\nok 1 a\n", "+a ! the report: 1 of 2 planned results are missing: 2",
		 "+a ! the report: 1 of 2 planned results are missing: 2"},
		{"1..1\nBail out! broke\n", "BAIL(broke)", "BAIL(broke)"},
		{"1..1\n1..1\nok 1 a\n", "+a ! the report: a second plan",
		 "+a ! the report: a second plan"},
		/* Perl's done_testing() plans at the end: only where it is known to be TAP. */
		{"ok 1 - a\n1..1\n", "none", "+a"},
		{"ok\nnot ok\n", "none", "+1 -2 ! the report: there is no plan"},
		{"hello\n1..1\nok 1 a\n", "none", "+a"},
		{"1..3 times\nok\n", "none",
		 "+1 ! the report: 2 of 3 planned results are missing: 2, 3"},
		{" 1..1\n ok 1 a\n", "none", "none"},
		{"[    1.0] 1..1\nok 1 a\n", "none", "+a ! the report: there is no plan"},
		{"not ok 1 a\nall fine\n", "none", "-a ! the report: there is no plan"},
		{"hello\n", "none", "none"},
		{"", "none", "none"},
		{T13 "1..1\nok 1 a\n", "+a", "+a"},
		{"hello\n" T13 "1..1\nok 1 a\n", "+a", "+a"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_string_equal(read_as(KTAP_AT_PLAN, rows[i].text, 3), rows[i].at_plan);
		assert_string_equal(read_as(KTAP_AT_ANY, rows[i].text, 3), rows[i].at_any);
	}
	assert_string_equal(read_in_steps("1..1\nok 1 a\n", 1), "none");
}

static void directives_are_read(void **state)
{
	static const struct row rows[] = {
		{V1 "1..1\nok 1 a # SKIP no device\n", "sa(no device)"},
		{V1 "1..1\nnot ok 1 a # skip\n", "sa"},
		{V1 "1..1\nok 1 # SKIP the name\n", "sthe name(the name)"},
		{V1 "1..1\nok 1 a # SKIPPED: why\n", "sa(why)"},
		{V1 "1..2\nnot ok 1 a # TODO later\nok 2 b # TODO done\n", "ta(later) tb(done)"},
		{V1 "1..1\nok 1 a # XFAIL known\n", "ta(known)"},
		{V1 "1..2\nnot ok 1 a # TIMEOUT 45 seconds\nok 2 b # ERROR\n", "-a(45 seconds) -b"},
		{V1 "1..1\nnot ok 1 a # TODOS are many\n", "-a # TODOS are many"},
		{V1 "1..1\nnot ok 1 issue #skip\n", "sissue"},
		{V1 "1..1\nnot ok 1 issue#skip\n", "-issue#skip"},
		{V1 "1..0 # SKIP no KVM here\n", "SKIP(no KVM here)"},
		{T13 "1..0 # skip\n", "SKIP()"},
		{T13 "1..3\nok 1 a\nBail out! no memory\nok 2 b\n", "BAIL(no memory) +a"},
		{T13 "Bail out!\n", "BAIL() ! the report: there is no plan"},
	};

	CHECK(rows);
}

static void reports_in_reports_are_read(void **state)
{
	static const struct row rows[] = {
		/* KTAP: two spaces; KUnit: four, a subtest's name, and the kernel's stamps */
		{V1 "1..2\n  " V1 "  1..2\n  ok 1 x\n  ok 2 y\nok 1 a\nok 2 b\n", "+a/x +a/y +b"},
		{"[    0.100000] " V1 "[    0.100001] 1..1\n[    0.2]     " V1
		 "[    0.2]     # Subtest: list\n[    0.2]     # module: lib\n[    0.2]     1..2\n"
		 "[    0.3]     ok 1 add\n[    0.3] random: crng init done\n"
		 "[    0.3]     # del: EXPECTATION FAILED at lib/list.c:12\n"
		 "[    0.3]     Expected a == b\n[    0.3]     not ok 2 del\n"
		 "[    0.4] # Totals: pass:1 fail:1\n[    0.4] not ok 1 list\n",
		 "+list/add -list/del{del: EXPECTATION FAILED at lib/list.c:12\nExpected a == b}"},
		{"[    0.1][    T1] " V1 "<6>[    0.1][    T1] 1..1\n[    0.1][   T1] ok 1 a\n",
		 "+a"},
		/* parameters have no plan there */
		{V1 "1..1\n    " V1 "    # Subtest: s\n    1..1\n        " V1
		    "        # Subtest: p\n        ok 1 x\n        ok 2 y\n    ok 1 p\nok 1 s\n",
		 "+s/p/x +s/p/y"},
		/* kselftest's runner */
		{T13 "1..2\n# selftests: x86: a\n# " T13 "# 1..1\n# # note\n# not ok 1 x\n"
		     "not ok 1 selftests: x86: a # exit=1\n# selftests: x86: b\n# just text\n"
		     "ok 2 selftests: x86: b\n",
		 "-selftests: x86: a # exit=1/x{note} +selftests: x86: b"},
		/* TAP 14: no version line inside */
		{"TAP version 14\n1..1\n    # Subtest: s\n    1..1\n    ok 1 x\nok 1 - s\n",
		 "+s/x"},
		{"TAP version 14\n1..1\n    1..1\n    not ok 1 x\nnot ok 1 - s\n", "-s/x"},
		/* a parent is never better than what is in it, and may be worse */
		{V1 "1..1\n  " V1 "  1..1\n  not ok 1 x\nok 1 a\n", "-a/x"},
		{V1 "1..1\n  " V1 "  1..1\n  ok 1 x\nnot ok 1 a\n", "+a/x -a"},
		{V1 "1..1\n  " V1 "  1..0 # SKIP none\nok 1 a # SKIP none\n", "sa(none)"},
		{V1 "1..1\n  " V1 "  1..1\n    " V1 "    1..1\n    ok 1 x\nok 1 a\n",
		 "+a/x ! a nested report: a nested report without a result behind it ! a nested "
		 "report: 1 of 1 planned results are missing: 1"},
	};

	CHECK(rows);
}

static void what_cannot_be_believed_is_a_problem(void **state)
{
	static const struct row rows[] = {
		{V1, "! the report: there is no plan"},
		{V1 "1..0\n", "! the report: no tests are planned, and no reason is given"},
		{V1 "ok 1 a\n", "+a ! the report: there is no plan"},
		{V1 "1..3\nok 1 a\n", "+a ! the report: 2 of 3 planned results are missing: 2, 3"},
		{V1 "1..9\n", "! the report: 9 of 9 planned results are missing: 1, 2, 3, 4, ..."},
		{V1 "1..2\nok 1 a\nok 1 b\n",
		 "+a +b ! the report: result 1 comes twice ! the report: 1 of 2 planned results "
		 "are missing: 2"},
		{V1 "1..2\nok 2 b\nok 1 a\n",
		 "+b +a ! the report: result 2 where 1 is due ! the report: result 1 where 3 is due"},
		{V1 "1..1\nok 1 a\nok 2 b\n", "+a +b ! the report: result 2 of 1 planned"},
		{V1 "ok 1 a\nok 2 b\n1..1\n", "+a +b ! the report: result 2 of 1 planned"},
		{V1 "1..1\n1..2\nok 1 a\n", "+a ! the report: a second plan"},
		{V1 "1..1\nok 0 a\n",
		 "+a ! the report: a result with the number 0 ! the report: 1 of 1 planned results "
		 "are missing: 1"},
		{V1 "1..2\nok 1 a\nok 2 b", "+a +b ! the report: cut off in the middle of a line"},
		{V1 "1..2\nok 1 a\nok 2 b\ntrailing", "+a +b"},
		{V1 "1..1\n  " V1 "  1..2\n  ok 1 x\nok 1 a\n",
		 "+a/x ! a nested report: 1 of 2 planned results are missing: 2"},
		{V1 "1..1\n    " V1 "    # Subtest: s\n    1..2\n    ok 1 x\n",
		 "+s/x ! s: 1 of 2 planned results are missing: 2 ! the report: a nested report "
		 "without a result behind it ! the report: 1 of 1 planned results are missing: 1"},
		{V1 "1..1\n  " V1 "  1..1\n  ok 1 x\n  " V1 "  1..1\n  ok 1 y\nok 1 a\n",
		 "+a/y ! a second nested report before the result of the first one"},
		{V1 "1..1\n    # Subtest: s\n    ok 1 x\nok 1 s\n", "+s"},
		{V1 "1..99999999999999999999999\nok 99999999999999999999 a\n",
		 "+a ! the report: a result with the number"},
	};

	/* The last two are not to be taken to the letter. */
	check(rows, ARRAY_SIZE(rows) - 3);
	assert_non_null(strstr(read_in_steps(rows[ARRAY_SIZE(rows) - 1].text, 7),
			       rows[ARRAY_SIZE(rows) - 1].found));
}

static void what_a_hostile_guest_writes_is_bounded(void **state)
{
	struct ktap_parser *p;
	const struct ktap *k;
	char line[64];

	assert_int_equal(ktap_parser_create(&p), 0);
	ktap_parser_feed(p, V1, strlen(V1));
	for (unsigned int i = 1; i <= 3 * KTAP_RESULTS_MAX; i++) {
		ktap_parser_feed(p, line, (size_t)sprintf(line, "ok %u a\nok %u b\n", i, i));
	}
	for (unsigned int i = 0; i < 200; i++) {
		ktap_parser_feed(p, line, (size_t)sprintf(line, "%*s" V1, (int)i % 40, ""));
	}
	for (unsigned int i = 0; i < 100000; i++) {
		ktap_parser_feed(p, "x\0", 2);
	}
	k = ktap_parser_finish(p);
	assert_int_equal(k->count, KTAP_RESULTS_MAX);
	assert_true(k->problem_count > KTAP_PROBLEMS_MAX);
	ktap_parser_destroy(p);
}

static void a_report_is_read_as_far_as_a_million_lines(void **state)
{
	static const char report[] = V1 "1..1\nok 1 a\n";

	for (unsigned int more = 0; more < 2; more++) {
		struct ktap_parser *p;
		const struct ktap *k;

		assert_int_equal(ktap_parser_create(&p), 0);
		ktap_parser_feed(p, report, strlen(report));
		for (unsigned int i = 2; i < KTAP_LINES_MAX + more; i++) {
			ktap_parser_feed(p, "y\n", 2);
		}
		if (more) {
			ktap_parser_feed(p, "ok 2 b\n", 7);
		}
		k = ktap_parser_finish(p);
		assert_int_equal(k->count, 1);
		assert_int_equal(k->problem_count, more);
		if (more) {
			assert_string_equal(k->problems[0], "more than 1000000 lines");
		}
		ktap_parser_destroy(p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_reports_are_read),
		cmocka_unit_test(a_report_may_begin_without_a_version),
		cmocka_unit_test(output_before_a_report_is_passed_over),
		cmocka_unit_test(directives_are_read),
		cmocka_unit_test(reports_in_reports_are_read),
		cmocka_unit_test(what_cannot_be_believed_is_a_problem),
		cmocka_unit_test(what_a_hostile_guest_writes_is_bounded),
		cmocka_unit_test(a_report_is_read_as_far_as_a_million_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
