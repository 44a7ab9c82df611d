/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What attempts of all kinds count as: rows for each way, and every combination of the signals. */
#include "support.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "engine/test_judge.h"

#define TODAY   "2026-12-01"
#define V1      "KTAP version 1\n"
#define GOOD    V1 "1..2\nok 1 a\nok 2 b\n"
#define FAILED  V1 "1..2\nok 1 a\nnot ok 2 b\n"
#define PARTLY  V1 "1..2\nok 1 a\n"
#define BAIL    V1 "1..2\nok 1 a\nBail out! no memory\n"
#define NONE    V1 "1..0 # SKIP no device\n"
#define SKIPS   V1 "1..2\nok 1 a # SKIP no a\nok 2 b # SKIP no b\n"
#define HALF    V1 "1..2\nok 1 a\nok 2 b # SKIP no b\n"
#define EXPECTS V1 "1..2\nnot ok 1 a # TODO later\nok 2 b # XFAIL always\n"
#define PANIC   "[    1.0] Kernel panic - not syncing: why\n"
#define ANSWER  "[    1.0] Kernel panic - not syncing: NMI: Not continuing\n"
#define WARN    "[    1.0] WARNING: CPU: 0 PID: 1 at mm/x.c:1 f+0x1/0x2\n"
#define KASAN   "[    1.0] BUG: KASAN: use-after-free in f+0x1/0x2\n"

/* What is not given is that of a command that passed. */
struct row {
	enum suite_kind kind;
	int status;
	const char *record_kind; /* NULL: what belongs to the status; "": no record at all */
	int record_status;       /* 0: the same */
	enum spawn_end end;
	const char *idle, *said, *console, *out;
	const char *fail_on, *allow;
	enum suite_expect expect;
	const char *known, *until;

	enum test_outcome outcome;
	enum test_verdict verdict;
	const char *message; /* all of it */
	const char *warning; /* the first; NULL: none */
};

static char console_path[] = "/tmp/ringside-judge-console-XXXXXX";
static char out_path[] = "/tmp/ringside-judge-out-XXXXXX";
static struct err e;

static int make_files(void **state)
{
	int a = mkostemp(console_path, O_CLOEXEC), b = mkostemp(out_path, O_CLOEXEC);

	close(a);
	close(b);
	return a < 0 || b < 0;
}

static int remove_files(void **state)
{
	unlink(console_path);
	unlink(out_path);
	return 0;
}

/* Files are slow: only what is new is written. */
static void put(const char *path, const char *text)
{
	static const char *there[2];
	const char **last = &there[path == out_path];
	FILE *f;

	if (text && *last == text) {
		return;
	}
	*last = text;
	f = fopen(path, "we");

	assert_non_null(f);
	fputs(text ? text : "", f);
	fclose(f);
}

static const char *kind_of(int status)
{
	static const char *const kinds[] = {"panic",    "oops",     "boot",  "hang",     "timeout",
					    "nostatus", "kvmerror", "nokvm", "internal", "usage"};

	return status < 240 ? "exit" : kinds[status - 240];
}

static struct test_result *judge(const struct row *row)
{
	struct suite_allow allow = {.pattern = (char *)row->allow, .reason = (char *)"old"};
	struct suite_test t = {
		.kind = row->kind,
		.fail_on = (char *)(row->fail_on ? row->fail_on : SUITE_FAIL_ON),
		.allows = &allow,
		.allow_count = row->allow ? 1 : 0,
		.expect = row->expect,
		.known = (char *)row->known,
		.known_until = (char *)row->until,
	};
	const struct suite_case c = {.test = &t};
	struct spawn_result spawn = {.end = row->end, .status = row->status};
	const struct test_attempt a = {.spawn = &spawn,
				       .ended = row->idle,
				       .silent = row->idle != NULL,
				       .stdout_path = out_path,
				       .stderr_path = "/nonexistent",
				       .console_path = console_path,
				       .wall_ns = 1500000000};
	struct test_result *r = calloc(1, sizeof(*r));
	const char *kind = row->record_kind ? row->record_kind : kind_of(row->status);
	char record[512];

	put(console_path, row->console);
	put(out_path, row->out);
	snprintf(spawn.said, sizeof(spawn.said), "%s", row->said ? row->said : "");
	if (*kind && row->end == SPAWN_EXITED) {
		snprintf(record, sizeof(record),
			 "{\"type\":\"boot\",\"schema_version\":1,\"outcome\":{\"status\":%d,"
			 "\"kind\":\"%s\",\"text\":\"told so\"},\"phases_ns\":{\"user_mark\":7},"
			 "\"backtrace\":[\"vCPU 0\",\" f+0x1\"],"
			 "\"provenance\":{\"backend\":\"qemu\",\"class\":\"tcg\",\"kernel\":"
			 "{\"sha256\":\"ab\"}}}",
			 row->record_status ? row->record_status : row->status, kind);
		spawn.record = record;
		spawn.record_len = strlen(record);
	}
	assert_int_equal(test_judge(&c, &a, TODAY, r, &e), 0);
	return r;
}

static void check(const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct test_result *r = judge(&rows[i]);

		if (r->outcome != rows[i].outcome || r->verdict != rows[i].verdict) {
			print_error("row %zu: %s, %s: %s\n", i, test_outcome_name(r->outcome),
				    test_verdict_name(r->verdict), r->message);
		}
		assert_int_equal(r->outcome, rows[i].outcome);
		assert_int_equal(r->verdict, rows[i].verdict);
		assert_string_equal(r->message, rows[i].message ? rows[i].message : "");
		assert_int_equal(r->warning_count, rows[i].warning ? 1 : 0);
		if (rows[i].warning) {
			assert_string_equal(r->warnings[0], rows[i].warning);
		}
		test_result_destroy(r);
	}
}

#define CHECK(rows) check(rows, ARRAY_SIZE(rows))
#define BAD         .verdict = TEST_NOT_OK
#define TOLD        .message = "told so"
#define PANIC_WORDS "the guest kernel panicked: Kernel panic - not syncing: "
#define PANICKED    .outcome = TEST_PANIC, BAD, .message = PANIC_WORDS "why"

static void each_way_in_which_a_run_ends_is_an_outcome(void **state)
{
	static const struct row rows[] = {
		{.outcome = TEST_PASS},
		{.status = 1, .outcome = TEST_FAIL, BAD, TOLD},
		{.status = 4, .outcome = TEST_FAIL, BAD, TOLD},
		{.status = 239, .outcome = TEST_FAIL, BAD, TOLD},
		{.status = 240, .outcome = TEST_PANIC, BAD, TOLD},
		{.status = 241, .outcome = TEST_OOPS, BAD, TOLD},
		{.status = 242, .outcome = TEST_BOOT, BAD, TOLD},
		{.status = 243, .outcome = TEST_HANG, BAD, TOLD},
		{.status = 244, .outcome = TEST_TIMEOUT, BAD, TOLD},
		{.status = 245, .outcome = TEST_NO_STATUS, BAD, TOLD},
		{.status = 246, .outcome = TEST_KVM_ERROR, BAD, TOLD},
		{.status = 247, .outcome = TEST_NO_KVM, BAD, TOLD},
		{.status = 248, .outcome = TEST_VMM_FAULT, BAD, TOLD},
		{.status = 249, .outcome = TEST_USAGE, BAD, TOLD},
		{.status = 249, .record_kind = "output", .outcome = TEST_USAGE, BAD, TOLD},
		{.status = 249,
		 .record_kind = "",
		 .said = "a\nringside: error: --kernel x: no\n",
		 .outcome = TEST_USAGE,
		 BAD,
		 .message = "--kernel x: no"},
		{.end = SPAWN_KILLED,
		 .status = 9,
		 .outcome = TEST_VMM_FAULT,
		 BAD,
		 .message = "the run was ended by signal 9 (Killed)"},
		{.end = SPAWN_TIMED_OUT,
		 .outcome = TEST_TIMEOUT,
		 BAD,
		 .message = "the run had not ended after 1.5 s, and was killed (--timeout)"},
		{.end = SPAWN_TOO_LONG,
		 .outcome = TEST_VMM_FAULT,
		 BAD,
		 .message = "the run's record had no end, and it was killed"},
		{.end = SPAWN_KILLED,
		 .status = 15,
		 .idle = "silent for 9 s",
		 .outcome = TEST_TIMEOUT,
		 BAD,
		 .message = "silent for 9 s"},
	};

	CHECK(rows);
}

static void a_status_that_the_record_does_not_bear_out_is_broken(void **state)
{
	static const struct row rows[] = {
		{.record_kind = "",
		 .outcome = TEST_VMM_FAULT,
		 BAD,
		 .message = "the run ended with status 0, but it left no record"},
		{.record_status = 1,
		 .outcome = TEST_BROKEN,
		 BAD,
		 .message = "the run ended with status 0, but its record says 1"},
		{.record_kind = "panic",
		 .outcome = TEST_BROKEN,
		 BAD,
		 .message = "the run ended with status 0, but its record says 'panic'"},
		{.status = 240,
		 .record_kind = "exit",
		 .outcome = TEST_BROKEN,
		 BAD,
		 .message = "the run ended with status 240, but its record says 'exit'"},
		{.record_kind = "\\\"",
		 .outcome = TEST_BROKEN,
		 BAD,
		 .message = "the run ended with status 0, but its record says '\"'"},
		{.status = 250,
		 .record_kind = "exit",
		 .outcome = TEST_BROKEN,
		 BAD,
		 .message = "the run ended with status 250, but its record says 'exit'"},
	};

	CHECK(rows);
}

static void the_console_can_only_make_it_worse(void **state)
{
	static const struct row rows[] = {
		{.console = PANIC, PANICKED},
		{.console = KASAN,
		 .outcome = TEST_OOPS,
		 BAD,
		 .message = "the guest kernel said: BUG: KASAN: use-after-free in f+0x1/0x2"},
		{.console = KASAN, .status = 244, .outcome = TEST_TIMEOUT, BAD, TOLD},
		{.console = PANIC, .status = 244, PANICKED},
		{.console = ANSWER, .status = 243, .outcome = TEST_HANG, BAD, TOLD},
		{.console = ANSWER, .status = 244, .outcome = TEST_TIMEOUT, BAD, TOLD},
		{.console = ANSWER,
		 .outcome = TEST_PANIC,
		 BAD,
		 .message = PANIC_WORDS "NMI: Not continuing"},
		{.console = PANIC ANSWER, .status = 244, PANICKED},
		{.console = PANIC, .status = 242, .outcome = TEST_BOOT, BAD, TOLD},
		{.console = PANIC, .status = 248, .outcome = TEST_VMM_FAULT, BAD, TOLD},
		{.console = WARN,
		 .outcome = TEST_PASS,
		 .warning = "WARNING: CPU: 0 PID: 1 at mm/x.c:1 f+0x1/0x2 (no failure by fail_on)"},
		{.console = WARN WARN,
		 .fail_on = "warn",
		 .allow = "at mm/x\\.c",
		 .outcome = TEST_PASS,
		 .warning = "WARNING: CPU: 0 PID: 1 at mm/x.c:1 f+0x1/0x2 (allowed: old)"},
		{.console = WARN KASAN,
		 .fail_on = "warn,kasan",
		 .allow = "^WARNING",
		 .outcome = TEST_OOPS,
		 BAD,
		 .message = "the guest kernel said: BUG: KASAN: use-after-free in f+0x1/0x2",
		 .warning = "WARNING: CPU: 0 PID: 1 at mm/x.c:1 f+0x1/0x2 (allowed: old)"},
		{.console = PANIC, .allow = "panic", PANICKED},
		{.console = "[    3.0] " PANIC, PANICKED},
		{.console = "Kernel panic - not syncing: no end of line",
		 .outcome = TEST_PANIC,
		 BAD,
		 .message = "the guest kernel panicked: Kernel panic - not syncing: no end of "
			    "line"},
	};

	CHECK(rows);
}

static void reports_are_held_against_the_status(void **state)
{
	static const struct row rows[] = {
		{.out = GOOD, .outcome = TEST_PASS},
		{.out = EXPECTS, .outcome = TEST_PASS},
		{.out = HALF, .outcome = TEST_PASS},
		{.out = GOOD,
		 .status = 1,
		 .outcome = TEST_FAIL,
		 BAD,
		 .message = "it ended with status 1, though none of 2 results failed"},
		{.out = FAILED, .outcome = TEST_FAIL, BAD, .message = "1 of 2 results failed: b"},
		{.out = FAILED,
		 .status = 1,
		 .outcome = TEST_FAIL,
		 BAD,
		 .message = "1 of 2 results failed: b"},
		{.out = PARTLY,
		 .outcome = TEST_BROKEN,
		 BAD,
		 .message = "the report cannot be believed: the report: 1 of 2 planned results are "
			    "missing: 2"},
		{.out = V1 "1..3\nnot ok 1 a\n",
		 .status = 1,
		 .outcome = TEST_BROKEN,
		 BAD,
		 .message = "the report cannot be believed: the report: 2 of 3 planned results are "
			    "missing: 2, 3; 1 of 1 results failed: a"},
		{.out = BAIL,
		 .status = 1,
		 .outcome = TEST_FAIL,
		 BAD,
		 .message = "the tests gave up: no memory"},
		{.out = BAIL, .outcome = TEST_FAIL, BAD, .message = "the tests gave up: no memory"},
		{.out = NONE,
		 .status = 4,
		 .outcome = TEST_SKIP,
		 .verdict = TEST_SKIPPED,
		 .message = "no device"},
		{.out = NONE,
		 .outcome = TEST_SKIP,
		 .verdict = TEST_SKIPPED,
		 .message = "no device"},
		{.out = NONE,
		 .status = 1,
		 .outcome = TEST_FAIL,
		 BAD,
		 .message = "it ended with status 1, though none of 0 results failed"},
		{.out = SKIPS, .outcome = TEST_SKIP, .verdict = TEST_SKIPPED, .message = "no a"},
		{.out = HALF,
		 .status = 4,
		 .outcome = TEST_FAIL,
		 BAD,
		 .message = "it ended with status 4, though none of 2 results failed"},
		{.kind = SUITE_KSELFTEST,
		 .out = HALF,
		 .status = 4,
		 .outcome = TEST_SKIP,
		 .verdict = TEST_SKIPPED,
		 .message = "it ended with status 4, which is a kselftest's for a skip"},
		{.kind = SUITE_KSELFTEST,
		 .out = "nothing\n",
		 .status = 4,
		 .outcome = TEST_SKIP,
		 .verdict = TEST_SKIPPED,
		 .message = "it ended with status 4, which is a kselftest's for a skip"},
		{.kind = SUITE_KSELFTEST,
		 .out = "all is well\n",
		 .outcome = TEST_BROKEN,
		 BAD,
		 .message = "there is no report of results, though one is due"},
		{.kind = SUITE_SCRIPTS,
		 .outcome = TEST_BROKEN,
		 BAD,
		 .message = "there is no report of results, though one is due"},
		{.kind = SUITE_SCRIPTS, .status = 2, .outcome = TEST_FAIL, BAD, TOLD},
		{.kind = SUITE_SCRIPT, .out = "all is well\n", .outcome = TEST_PASS},
		{.kind = SUITE_KUNIT,
		 .out = GOOD,
		 .outcome = TEST_BROKEN,
		 BAD,
		 .message =
			 "there is no report of results, though one is due: has the kernel KUNIT "
			 "and a suite built in, and does 'only' name it?"},
		{.kind = SUITE_KUNIT, .console = GOOD, .outcome = TEST_PASS},
		{.kind = SUITE_KUNIT,
		 .out = GOOD,
		 .console =
			 "[    1.1] [    0.2] KTAP version 1\n[    1.1] [    0.2] 1..1\n"
			 "[    1.1] [    0.2]     KTAP version 1\n"
			 "[    1.1] [    0.2]     # Subtest: list\n[    1.1] [    0.2]     1..1\n"
			 "[    1.1] [    0.2]     not ok 1 add\n[    1.2] [    0.3] not ok 1 "
			 "list\n",
		 .outcome = TEST_FAIL,
		 BAD,
		 .message = "1 of 1 results failed: list/add"},
		{.kind = SUITE_FIRMWARE,
		 .console = FAILED,
		 .outcome = TEST_FAIL,
		 BAD,
		 .message = "1 of 2 results failed: b"},
		{.kind = SUITE_FIRMWARE, .outcome = TEST_PASS},
		{.console = FAILED, .outcome = TEST_PASS},
		{.out = PARTLY, .console = PANIC, .status = 240, .outcome = TEST_PANIC, BAD, TOLD},
		{.out = PARTLY, .status = 244, .outcome = TEST_TIMEOUT, BAD, TOLD},
	};

	CHECK(rows);
}

static void what_is_expected_is_ok_and_nothing_else_is(void **state)
{
	static const struct row rows[] = {
		{.expect = SUITE_EXPECT_FAIL, .status = 1, .outcome = TEST_FAIL, TOLD},
		{.expect = SUITE_EXPECT_FAIL,
		 .outcome = TEST_PASS,
		 BAD,
		 .message = "pass, expected fail"},
		{.expect = SUITE_EXPECT_FAIL,
		 .status = 240,
		 .outcome = TEST_PANIC,
		 BAD,
		 .message = "panic, expected fail: told so"},
		{.expect = SUITE_EXPECT_FAIL,
		 .out = PARTLY,
		 .outcome = TEST_BROKEN,
		 BAD,
		 .message =
			 "broken, expected fail: the report cannot be believed: the report: 1 of "
			 "2 planned results are missing: 2"},
		{.expect = SUITE_EXPECT_PANIC, .status = 240, .outcome = TEST_PANIC, TOLD},
		{.expect = SUITE_EXPECT_PANIC,
		 .status = 244,
		 .outcome = TEST_TIMEOUT,
		 BAD,
		 .message = "timeout, expected panic: told so"},
		{.expect = SUITE_EXPECT_SKIP,
		 .out = NONE,
		 .outcome = TEST_SKIP,
		 .verdict = TEST_SKIPPED,
		 .message = "no device"},
		{.expect = SUITE_EXPECT_SKIP,
		 .outcome = TEST_PASS,
		 BAD,
		 .message = "pass, expected skip"},
		{.expect = SUITE_EXPECT_PANIC,
		 .out = NONE,
		 .outcome = TEST_SKIP,
		 .verdict = TEST_SKIPPED,
		 .message = "no device"},
	};

	CHECK(rows);
}

static void a_known_failure_is_known_until_its_day_is_over(void **state)
{
	static const struct row rows[] = {
		{.known = "bug 1", .status = 1, .outcome = TEST_FAIL, .verdict = TEST_KNOWN, TOLD},
		{.known = "bug 1",
		 .until = TODAY,
		 .status = 240,
		 .outcome = TEST_PANIC,
		 .verdict = TEST_KNOWN,
		 TOLD},
		{.known = "bug 1",
		 .until = "2026-11-30",
		 .status = 1,
		 .outcome = TEST_FAIL,
		 BAD,
		 .message = "told so (was known until 2026-11-30, which is over: bug 1)"},
		{.known = "bug 1",
		 .outcome = TEST_PASS,
		 .message = "as expected, though 'known' says that it is not: bug 1"},
		{.known = "bug 1",
		 .out = NONE,
		 .outcome = TEST_SKIP,
		 .verdict = TEST_SKIPPED,
		 .message = "no device"},
		{.known = "bug 1", .status = 249, .outcome = TEST_USAGE, BAD, TOLD},
		{.known = "bug 1", .status = 247, .outcome = TEST_NO_KVM, BAD, TOLD},
		{.known = "bug 1", .status = 248, .outcome = TEST_VMM_FAULT, BAD, TOLD},
	};

	CHECK(rows);
}

/* Not what it is in each case, but that nothing is green that has a reason not to be. */
static void no_combination_is_green_that_should_not_be(void **state)
{
	static const char *const outs[] = {"",     GOOD, HALF, EXPECTS, FAILED,
					   PARTLY, BAIL, NONE, SKIPS};
	static const char *const consoles[] = {"", WARN, KASAN, PANIC, GOOD, FAILED, PARTLY};
	static const int statuses[] = {0,   1,   4,   239, 240, 241, 242,
				       243, 244, 245, 246, 247, 248, 249};
	static const char *const kinds[] = {NULL, "", "exit", "panic"};
	size_t green = 0, all = 0;

	for (size_t i = 0; i < ARRAY_SIZE(outs) * ARRAY_SIZE(consoles); i++) {
		size_t o = i % ARRAY_SIZE(outs), c = i / ARRAY_SIZE(outs);

		for (size_t j = 0; j < ARRAY_SIZE(statuses) * ARRAY_SIZE(kinds) * 6; j++) {
			struct row row = {
				.status = statuses[j % ARRAY_SIZE(statuses)],
				.record_kind = kinds[j / ARRAY_SIZE(statuses) % ARRAY_SIZE(kinds)],
				.kind = (enum suite_kind)(j / ARRAY_SIZE(statuses) /
							  ARRAY_SIZE(kinds)),
				.out = outs[o],
				.console = consoles[c],
			};
			struct test_result *r = judge(&row);
			bool on_console =
				row.kind == SUITE_KUNIT || (row.kind == SUITE_FIRMWARE && o == 0);
			bool due = row.kind == SUITE_KUNIT || row.kind == SUITE_KSELFTEST ||
				   row.kind == SUITE_SCRIPTS;
			bool good = on_console ? c == 4 : o >= 1 && o <= 3;
			bool none = on_console ? c < 4 : o == 0;

			all++;
			green += r->verdict == TEST_OK;
			assert_true((r->verdict == TEST_OK) == (r->outcome == TEST_PASS));
			assert_true((r->verdict == TEST_SKIPPED) == (r->outcome == TEST_SKIP));
			assert_true((r->outcome == TEST_PASS) ==
				    (row.status == 0 && j / ARRAY_SIZE(statuses) % 2 == 0 &&
				     c != 2 && c != 3 && (good || (none && !due))));
			assert_true(r->outcome == TEST_PASS || r->message[0]);
			assert_true(r->sub_count == 0 || !none);
			test_result_destroy(r);
		}
	}
	assert_true(green > 0 && green < all / 20);
}

static void the_result_has_what_the_record_and_the_report_say(void **state)
{
	const struct row row = {.out = V1 "1..4\n# why\nnot ok 1 a\nok 2 b # SKIP no b\n"
					  "not ok 3 c # TODO later\nok 4 d # XFAIL\n"};
	struct test_result *r = judge(&row);

	assert_int_equal(r->status, 0);
	assert_int_equal(r->boot_ns, 7);
	assert_true(r->has_class);
	assert_int_equal(r->exec_class, EXEC_TCG);
	assert_string_equal(r->backend, "qemu");
	assert_string_equal(r->kernel_sha256, "ab");
	assert_int_equal(r->sub_count, 4);
	assert_string_equal(r->subs[0].name, "a");
	assert_string_equal(r->subs[0].message, "why");
	assert_null(r->subs[0].directive);
	assert_int_equal(r->subs[0].verdict, TEST_NOT_OK);
	assert_string_equal(r->subs[1].directive, "SKIP no b");
	assert_int_equal(r->subs[1].verdict, TEST_SKIPPED);
	assert_int_equal(r->subs[2].verdict, TEST_KNOWN);
	assert_string_equal(r->subs[3].directive, "XFAIL");
	assert_int_equal(r->subs[3].verdict, TEST_KNOWN);
	test_result_destroy(r);
}

static void what_is_not_as_expected_has_its_backtrace_and_the_consoles_tail(void **state)
{
	static char console[64 * 100];
	const struct row bad = {.status = 240, .console = console}, good = {.console = console};
	struct test_result *r;

	for (int i = 0; i < 100; i++) {
		sprintf(console + strlen(console), "line %d\n", i);
	}
	r = judge(&bad);
	assert_string_equal(r->backtrace, "vCPU 0\n f+0x1");
	assert_int_equal(strncmp(r->console_tail, "line 60\nline 61\n", 16), 0);
	assert_string_equal(strstr(r->console_tail, "line 98"), "line 98\nline 99\n");
	test_result_destroy(r);
	r = judge(&good);
	assert_true(!r->backtrace && !r->console_tail);
	test_result_destroy(r);
}

static void warnings_are_bounded(void **state)
{
	static char console[8192];
	size_t n = 0;
	const struct row row = {.console = console};
	struct test_result *r;

	for (int i = 0; i < 100; i++) {
		n += (size_t)sprintf(console + n, "WARNING: number %d\n", i);
	}
	r = judge(&row);
	assert_int_equal(r->outcome, TEST_PASS);
	assert_int_equal(r->warning_count, 33);
	assert_string_equal(r->warnings[32], "68 more");
	test_result_destroy(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_way_in_which_a_run_ends_is_an_outcome),
		cmocka_unit_test(a_status_that_the_record_does_not_bear_out_is_broken),
		cmocka_unit_test(the_console_can_only_make_it_worse),
		cmocka_unit_test(reports_are_held_against_the_status),
		cmocka_unit_test(what_is_expected_is_ok_and_nothing_else_is),
		cmocka_unit_test(a_known_failure_is_known_until_its_day_is_over),
		cmocka_unit_test(no_combination_is_green_that_should_not_be),
		cmocka_unit_test(the_result_has_what_the_record_and_the_report_say),
		cmocka_unit_test(what_is_not_as_expected_has_its_backtrace_and_the_consoles_tail),
		cmocka_unit_test(warnings_are_bounded),
	};

	return cmocka_run_group_tests(tests, make_files, remove_files);
}
