/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "engine/test_run.h"

#define RESULTS_MAX 64

static const char *fake_boot; /* the program that stands in for ringside */
static struct err e;

/* One run of the scheduler over a suite, in a folder of its own. */
struct fixture {
	char dir[32];
	struct suite *suite;
	struct suite_plan plan;
	struct test_run_config cfg;
	struct test_run_end end;
	struct test_result *results[RESULTS_MAX];
	size_t count;
	size_t stop_after; /* results, then done() fails */
	const char *skip;  /* the test that this machine lacks something for */
	int signal_at_begun;
	size_t begun;
};

static struct test_run_boot on_boot(void *ctx, const struct suite_case *c)
{
	return (struct test_run_boot){.kernel = "/a/kernel", .sha256 = "12ab", .backend = "qemu"};
}

static bool on_skip(void *ctx, const struct suite_case *c, char *ret_why, size_t len)
{
	const struct fixture *f = ctx;

	snprintf(ret_why, len, "no such thing here");
	return f->skip && strcmp(f->skip, c->test->name) == 0;
}

static int on_done(void *ctx, const struct test_result *r, struct err *err)
{
	struct fixture *f = ctx;
	json_t *copy = test_result_to_json(r);

	assert_true(f->count < RESULTS_MAX);
	assert_int_equal(test_result_from_json(copy, &f->results[f->count++], err), 0);
	json_decref(copy);
	return f->count == f->stop_after ? err_set(err, -ENOSPC, "the disk is full") : 0;
}

static void on_begun(void *ctx, const char *id, unsigned int attempt)
{
	struct fixture *f = ctx;

	if (++f->begun == 2 && f->signal_at_begun) {
		raise(f->signal_at_begun);
	}
}

static void fixture_init(struct fixture *f, const char *yaml)
{
	const struct suite_select all = {.shard = 1, .shards = 1};
	char path[64];
	FILE *out;

	*f = (struct fixture){.dir = "temp-XXXXXX"};
	assert_non_null(mkdtemp(f->dir));
	snprintf(path, sizeof(path), "%s/suite.yaml", f->dir);
	out = fopen(path, "w");
	assert_non_null(out);
	fputs(yaml, out);
	fclose(out);
	if (suite_read(path, &f->suite, &e) < 0) {
		fail_msg("%s", e.text);
	}
	assert_int_equal(suite_expand(f->suite, &all, &f->plan, &e), 0);
	f->cfg = (struct test_run_config){
		.plan = &f->plan,
		.suite = "suite.yaml",
		.program = fake_boot,
		.dir = f->dir,
		.icount = TEST_RUN_NO_ICOUNT,
		.jobs = 1,
		.boot = on_boot,
		.skip = on_skip,
		.done = on_done,
		.begun = on_begun,
		.ctx = f,
	};
}

static void run(struct fixture *f)
{
	if (test_run(&f->cfg, &f->end, &e) < 0) {
		fail_msg("%s", e.text);
	}
}

static void fixture_fini(struct fixture *f)
{
	char command[64];

	for (size_t i = 0; i < f->count; i++) {
		test_result_destroy(f->results[i]);
	}
	suite_plan_fini(&f->plan);
	suite_destroy(f->suite);
	snprintf(command, sizeof(command), "rm -rf %s", f->dir);
	assert_int_equal(system(command), 0);
}

/* A file in the folder of the run, as text that lives until the next call. */
static const char *text_of(const struct fixture *f, const char *name)
{
	static char *text;
	char path[256];
	size_t len;

	free(text);
	text = NULL;
	snprintf(path, sizeof(path), "%s/%s", f->dir, name);
	return io_read_file(path, 1 << 20, &text, &len, &e) == 0 ? text : NULL;
}

static void a_case_leaves_its_result_and_its_files(void **state)
{
	struct fixture f;
	struct stat st;
	char path[64];

	fixture_init(&f, "tests:\n"
			 "- {name: one, command: [say=hello, scratch, exit=0], tags: [a, b]}\n");
	run(&f);
	assert_int_equal(f.count, 1);
	assert_string_equal(f.results[0]->id, "one");
	assert_int_equal(f.results[0]->verdict, TEST_OK);
	assert_int_equal(f.results[0]->status, 0);
	assert_int_equal(f.results[0]->attempts, 1);
	assert_int_equal(f.results[0]->line, 2);
	assert_int_equal(f.results[0]->tag_count, 2);
	assert_string_equal(f.results[0]->dir, "one");
	assert_true(f.results[0]->duration_ns > 0);
	assert_int_equal(f.end.by_verdict[TEST_OK], 1);
	assert_int_equal(f.end.not_run, 0);
	assert_string_equal(text_of(&f, "one/stdout"), "hello\n");
	assert_string_equal(text_of(&f, "one/stderr"), "");
	assert_non_null(strstr(text_of(&f, "one/console"), "Linux version"));
	assert_non_null(strstr(text_of(&f, "one/record.json"), "\"schema_version\""));
	snprintf(path, sizeof(path), "%s/one/tmp", f.dir);
	assert_int_equal(stat(path, &st), -1);
	fixture_fini(&f);
}

static void the_words_are_those_of_the_case(void **state)
{
	struct fixture f;
	const char *words;

	fixture_init(&f, "matrix: {cpu: [-avx], cpus: [3], memory: [96M], append: [quiet more]}\n"
			 "tests:\n"
			 "- {name: one, command: [argv], timeouts: {boot: 2s, whole: 3500ms}, "
			 "fail_on: warn}\n");
	f.cfg.icount = 3;
	run(&f);
	words = text_of(&f, "one/stdout");
	assert_non_null(strstr(words, "run\n--backend\nqemu\n--icount\n3\n--kernel\n/a/kernel\n"
				      "--kernel-sha256\n12ab\n--cpu\n-avx\n--append\nquiet more\n"
				      "--cpus\n3\n--memory\n98304K\n--timeout\n3500ms\n"
				      "--fail-on\nwarn\n--console\n"));
	assert_non_null(strstr(words, "\n--boot-timeout\n2000ms\n"));
	fixture_fini(&f);
}

static void what_is_not_ok_is_told_and_the_rest_runs(void **state)
{
	struct fixture f;

	fixture_init(&f, "tests:\n"
			 "- {name: bad, command: [exit=3]}\n"
			 "- {name: dead, command: [crash]}\n"
			 "- {name: good, command: [exit=0]}\n");
	run(&f);
	assert_int_equal(f.end.by_verdict[TEST_NOT_OK], 2);
	assert_int_equal(f.end.by_verdict[TEST_OK], 1);
	assert_int_equal(f.results[0]->outcome, TEST_FAIL);
	assert_int_equal(f.results[0]->status, 3);
	assert_int_equal(f.results[1]->outcome, TEST_VMM_FAULT);
	fixture_fini(&f);
}

static void output_is_a_report_as_its_format_says(void **state)
{
	struct fixture f;

	fixture_init(&f, "tests:\n"
			 "- {name: plan, command: ['say=1..1', 'say=not ok 1 a']}\n"
			 "- {name: words, command: ['say=not ok 1 a', 'say=1..1']}\n"
			 "- {name: told, command: ['say=not ok 1 a', 'say=1..1'], format: tap}\n"
			 "- {name: due, command: ['say=hello'], format: tap}\n"
			 "- {name: none, command: ['say=1..1', 'say=not ok 1 a'], format: none}\n");
	run(&f);
	assert_int_equal(f.results[0]->outcome, TEST_FAIL);
	assert_int_equal(f.results[1]->outcome, TEST_PASS);
	assert_string_equal(f.results[2]->message, "1 of 1 results failed: a");
	assert_string_equal(f.results[3]->message,
			    "there is no report of results, though one is due");
	assert_int_equal(f.results[4]->verdict, TEST_OK);
	fixture_fini(&f);
}

static void a_later_try_that_is_ok_makes_a_case_flaky(void **state)
{
	struct fixture f;

	unlink("temp-once");
	fixture_init(&f,
		     "tests:\n- {name: one, command: [say=hello, once=temp-once], retries: 2}\n");
	run(&f);
	unlink("temp-once");
	assert_int_equal(f.count, 1);
	assert_int_equal(f.results[0]->verdict, TEST_FLAKY);
	assert_int_equal(f.results[0]->attempts, 2);
	assert_non_null(strstr(f.results[0]->message, "ok in try 2 only; the first one: "));
	assert_string_equal(text_of(&f, "one/try-1/stdout"), "hello\n");
	assert_string_equal(text_of(&f, "one/stdout"), "hello\n");
	fixture_fini(&f);
}

static void tries_have_an_end(void **state)
{
	struct fixture f;

	fixture_init(&f, "tests:\n- {name: one, command: [exit=1], retries: 2}\n");
	run(&f);
	assert_int_equal(f.count, 1);
	assert_int_equal(f.results[0]->verdict, TEST_NOT_OK);
	assert_int_equal(f.results[0]->attempts, 3);
	fixture_fini(&f);
}

static void a_timeout_is_outlived_by_less_than_a_second(void **state)
{
	uint64_t least = UINT64_MAX;

	/* A machine that lets us wait can only make it longer. */
	for (int i = 0; i < 10 && least >= 1400 * NS_PER_MSEC; i++) {
		uint64_t took;
		struct fixture f;

		fixture_init(&f, "tests:\n- {name: one, command: [deaf, sleep=100], "
				 "timeouts: {whole: 400ms}}\n");
		took = clock_now_ns(&clock_monotonic);
		run(&f);
		took = clock_now_ns(&clock_monotonic) - took;
		assert_true(took >= 400 * NS_PER_MSEC);
		least = took < least ? took : least;
		assert_int_equal(f.results[0]->outcome, TEST_TIMEOUT);
		assert_int_equal(f.results[0]->verdict, TEST_NOT_OK);
		fixture_fini(&f);
	}
	assert_true(least < 1400 * NS_PER_MSEC);
}

static void silence_has_an_end_and_talk_has_none(void **state)
{
	struct fixture f;

	fixture_init(&f, "defaults: {timeouts: {idle: 1500ms, whole: 20s}}\n"
			 "tests:\n"
			 "- {name: silent, command: [sleep=100]}\n"
			 "- {name: talks, command: [talk=3]}\n");
	run(&f);
	assert_int_equal(f.results[0]->verdict, TEST_NOT_OK);
	assert_non_null(strstr(f.results[0]->message, "nothing came out of the guest for 1."));
	assert_in_range(f.results[0]->duration_ns, 1500 * NS_PER_MSEC, 10 * NS_PER_SEC);
	assert_int_equal(f.results[1]->verdict, TEST_OK);
	fixture_fini(&f);
}

/* The most that ran at one time, by the log of the fakes. */
static size_t most_at_once(const char *log)
{
	size_t now = 0, most = 0;

	for (const char *p = log; *p; p += strcspn(p, "\n"), p += *p == '\n') {
		now += strncmp(p, "begin", 5) == 0;
		now -= strncmp(p, "end", 3) == 0;
		most = now > most ? now : most;
	}
	return most;
}

/* Each waits until as many have begun as should run together, and a little for one too many. */
static size_t run_five(unsigned int jobs, uint64_t cpus, uint64_t memory_bytes, int together)
{
	struct fixture f;
	char log[64], text[512];
	size_t most;
	int n;

	n = snprintf(text, sizeof(text),
		     "matrix: {cpus: [2], memory: [448M]}\n"
		     "defaults: {timeouts: {whole: 20s}}\n"
		     "tests:\n");
	for (char name = 'a'; name <= 'e'; name++) {
		n += snprintf(text + n, sizeof(text) - (size_t)n,
			      "- {name: %c, command: [begun=%d, sleep=0.2]}\n", name, together);
	}
	fixture_init(&f, text);
	f.cfg.jobs = jobs;
	f.cfg.cpus = cpus;
	f.cfg.memory_bytes = memory_bytes;
	snprintf(log, sizeof(log), "%s/log", f.dir);
	setenv("FAKE_BOOT_LOG", log, 1);
	run(&f);
	unsetenv("FAKE_BOOT_LOG");
	assert_int_equal(f.end.by_verdict[TEST_OK], 5);
	most = most_at_once(text_of(&f, "log"));
	fixture_fini(&f);
	return most;
}

static void no_more_run_at_once_than_may(void **state)
{
	assert_int_equal(run_five(3, 0, 0, 3), 3);
	assert_int_equal(run_five(5, 4, 0, 2), 2);
	assert_int_equal(run_five(5, 0, UINT64_C(1100) << 20, 2), 2);
	/* One that is too large for this machine runs alone. */
	assert_int_equal(run_five(5, 1, 1, 1), 1);
}

static void fail_fast_begins_nothing_more(void **state)
{
	struct fixture f;

	fixture_init(&f, "tests:\n"
			 "- {name: a, command: [exit=0]}\n- {name: b, command: [exit=1]}\n"
			 "- {name: c, command: [exit=0]}\n- {name: d, command: [exit=0]}\n");
	f.cfg.fail_fast = true;
	run(&f);
	assert_int_equal(f.count, 2);
	assert_int_equal(f.end.not_run, 2);
	fixture_fini(&f);
}

static void until_failure_goes_on_round_by_round(void **state)
{
	struct fixture f;

	fixture_init(&f, "tests:\n"
			 "- {name: a, command: [say=1]}\n- {name: b, command: [say=2]}\n");
	f.cfg.until_failure = true;
	f.stop_after = 5;
	assert_int_equal(test_run(&f.cfg, &f.end, &e), -ENOSPC);
	assert_string_equal(f.results[0]->id, "a");
	assert_string_equal(f.results[1]->id, "b");
	assert_string_equal(f.results[2]->id, "a#2");
	assert_string_equal(f.results[4]->id, "a#3");
	assert_string_equal(f.results[4]->dir, "a#3");
	fixture_fini(&f);
}

static void until_failure_ends_with_the_first_that_is_not_ok(void **state)
{
	struct fixture f;

	fixture_init(&f, "tests:\n"
			 "- {name: a, command: [exit=0]}\n- {name: b, command: [exit=1]}\n"
			 "- {name: c, command: [exit=0]}\n");
	f.cfg.until_failure = true;
	run(&f);
	assert_int_equal(f.count, 2);
	assert_int_equal(f.end.by_verdict[TEST_NOT_OK], 1);
	fixture_fini(&f);
}

static void what_the_machine_lacks_skips_a_case_and_says_why(void **state)
{
	struct fixture f;

	fixture_init(&f, "tests:\n"
			 "- {name: a, command: [exit=0]}\n- {name: b, command: [exit=1]}\n");
	f.skip = "b";
	run(&f);
	assert_int_equal(f.end.by_verdict[TEST_SKIPPED], 1);
	assert_int_equal(f.results[1]->outcome, TEST_SKIP);
	assert_string_equal(f.results[1]->message, "no such thing here");
	assert_int_equal(f.results[1]->status, -1);
	assert_string_equal(f.results[1]->dir, "");
	/* Again and again would be for ever. */
	f.cfg.until_failure = true;
	f.plan.cases++;
	f.plan.count--;
	run(&f);
	assert_int_equal(f.end.by_verdict[TEST_SKIPPED], 1);
	f.plan.cases--;
	f.plan.count++;
	fixture_fini(&f);
}

static void a_signal_to_us_ends_what_runs_and_counts_the_rest(void **state)
{
	struct fixture f;

	fixture_init(&f, "tests:\n"
			 "- {name: a, command: [exit=0]}\n- {name: b, command: [sleep=100]}\n"
			 "- {name: c, command: [exit=0]}\n");
	f.signal_at_begun = SIGTERM;
	run(&f);
	assert_int_equal(f.end.signal, SIGTERM);
	assert_int_equal(f.count, 1);
	assert_int_equal(f.end.not_run, 2);
	fixture_fini(&f);
}

static void what_cannot_be_kept_ends_the_run_and_all_that_runs(void **state)
{
	struct fixture f;
	char log[64];
	int pid;

	fixture_init(
		&f, "tests:\n"
		    "- {name: a, command: [sleep=0.2]}\n- {name: b, command: [deaf, sleep=100]}\n");
	f.cfg.jobs = 2;
	f.stop_after = 1;
	snprintf(log, sizeof(log), "%s/log", f.dir);
	setenv("FAKE_BOOT_LOG", log, 1);
	assert_int_equal(test_run(&f.cfg, &f.end, &e), -ENOSPC);
	unsetenv("FAKE_BOOT_LOG");
	for (const char *p = text_of(&f, "log"); p && *p; p += strcspn(p, "\n"), p += *p == '\n') {
		if (sscanf(p, "begin %d", &pid) == 1) {
			assert_int_equal(kill(pid, 0), -1);
		}
	}
	fixture_fini(&f);
}

static void what_a_boot_leaves_behind_is_ended_with_it(void **state)
{
	struct fixture f;
	const char *at;
	char log[64];
	int pid = 0;

	fixture_init(&f, "tests:\n- {name: a, command: [orphan, exit=0]}\n");
	snprintf(log, sizeof(log), "%s/log", f.dir);
	setenv("FAKE_BOOT_LOG", log, 1);
	run(&f);
	unsetenv("FAKE_BOOT_LOG");
	at = strstr(text_of(&f, "log"), "orphan ");
	assert_non_null(at);
	assert_int_equal(sscanf(at, "orphan %d", &pid), 1);
	for (int i = 0; i < 250 && kill(pid, 0) == 0; i++) {
		const struct timespec pause = {.tv_nsec = 20 * (long)NS_PER_MSEC};

		waitpid(pid, NULL, WNOHANG);
		nanosleep(&pause, NULL);
	}
	assert_int_equal(kill(pid, 0), -1);
	fixture_fini(&f);
}

static void ids_that_make_one_name_get_two_directories(void **state)
{
	struct fixture f;

	fixture_init(&f, "matrix: {append: ['a b', 'a/b', '..']}\n"
			 "tests:\n- {name: one, command: [exit=0]}\n");
	run(&f);
	assert_int_equal(f.end.by_verdict[TEST_OK], 3);
	assert_string_equal(f.results[0]->dir, "one-append=a_b");
	assert_string_not_equal(f.results[0]->dir, f.results[1]->dir);
	assert_null(strchr(f.results[1]->dir, '/'));
	fixture_fini(&f);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_case_leaves_its_result_and_its_files),
		cmocka_unit_test(the_words_are_those_of_the_case),
		cmocka_unit_test(what_is_not_ok_is_told_and_the_rest_runs),
		cmocka_unit_test(output_is_a_report_as_its_format_says),
		cmocka_unit_test(a_later_try_that_is_ok_makes_a_case_flaky),
		cmocka_unit_test(tries_have_an_end),
		cmocka_unit_test(a_timeout_is_outlived_by_less_than_a_second),
		cmocka_unit_test(silence_has_an_end_and_talk_has_none),
		cmocka_unit_test(no_more_run_at_once_than_may),
		cmocka_unit_test(fail_fast_begins_nothing_more),
		cmocka_unit_test(until_failure_goes_on_round_by_round),
		cmocka_unit_test(until_failure_ends_with_the_first_that_is_not_ok),
		cmocka_unit_test(what_the_machine_lacks_skips_a_case_and_says_why),
		cmocka_unit_test(a_signal_to_us_ends_what_runs_and_counts_the_rest),
		cmocka_unit_test(what_cannot_be_kept_ends_the_run_and_all_that_runs),
		cmocka_unit_test(what_a_boot_leaves_behind_is_ended_with_it),
		cmocka_unit_test(ids_that_make_one_name_get_two_directories),
	};

	fake_boot = argc > 1 ? argv[1] : "tests/fake_boot";
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	signal(SIGCHLD, SIG_DFL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
