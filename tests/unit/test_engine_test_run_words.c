/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What each kind of test becomes: the words of "ringside run", and its guest's job. */
#include "support.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/test_run_priv.h"

static struct err e;
static char dir[32];
static struct suite *suite;
static struct suite_plan plan;
static struct test_words words;
static char *job;
static bool cores;

static struct test_run_boot on_boot(void *ctx, const struct suite_case *c)
{
	return (struct test_run_boot){.kernel = "/k", .backend = "kvm", .force = true};
}

/* Makes words and job of the one case of a test. */
static void make(const char *test)
{
	static const char *const programs[] = {"a", "b", "kunit.ko", "list-test.ko"};
	const struct suite_select all = {.shard = 1, .shards = 1};
	const struct test_run_config cfg = {.runner = "/our/runner",
					    .icount = TEST_RUN_NO_ICOUNT,
					    .boot = on_boot,
					    .cores = cores};
	struct test_dir d = {.files = {[TEST_FILE_CONSOLE] = "/out/console"}, .core = "/out/core"};
	char path[64];
	size_t len;
	FILE *f;

	strcpy(dir, "temp-XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/tests", dir);
	assert_int_equal(mkdir(path, 0755), 0);
	snprintf(path, sizeof(path), "%s/tests/settings", dir);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs("# a comment\ntimeout=7\n", f);
	fclose(f);
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		snprintf(path, sizeof(path), "%s/tests/%s", dir, programs[i]);
		f = fopen(path, "w");
		assert_non_null(f);
		fclose(f);
		assert_int_equal(chmod(path, 0755), 0);
	}
	snprintf(path, sizeof(path), "%s/suite.yaml", dir);
	f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "tests: [{name: one, %s}]\n", test);
	fclose(f);
	if (suite_read(path, &suite, &e) < 0 || suite_expand(suite, &all, &plan, &e) < 0 ||
	    test_words_make(&cfg, &plan.cases[0], &d, &words, &e) < 0 ||
	    test_job_make(&plan.cases[0], &job, &len, &e) < 0) {
		fail_msg("%s", e.text);
	}
}

static void clean(void)
{
	char command[64];

	free(job);
	test_words_fini(&words);
	suite_plan_fini(&plan);
	suite_destroy(suite);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	assert_int_equal(system(command), 0);
}

/* The value of an option, the n-th time that it stands there; NULL: it does not. */
static const char *value(const char *option, size_t n)
{
	for (size_t i = 0; i + 1 < words.count; i++) {
		if (strcmp(words.v[i], option) == 0 && n-- == 0) {
			return words.v[i + 1];
		}
	}
	return NULL;
}

static bool ends_in(const char *s, const char *end)
{
	return s && strlen(s) > strlen(end) && strcmp(s + strlen(s) - strlen(end), end) == 0;
}

static void a_command_is_the_jobs(void **state)
{
	make("command: [sh, -c, 'exit 3'], env: [A=1], artifacts: [/out], "
	     "allow: [{pattern: 'odd.*', reason: known}]");
	assert_non_null(strstr(job, "\"command\":[\"sh\",\"-c\",\"exit 3\"]"));
	assert_non_null(strstr(job, "\"env\":{\"A\":\"1\"}"));
	assert_non_null(strstr(job, "\"artifacts\":[\"/out\"]"));
	assert_string_equal(value("--job", 0), "/proc/self/fd/4");
	assert_string_equal(value("--allow", 0), "odd.*");
	assert_string_equal(value("--backend", 0), "kvm");
	assert_string_equal(words.v[4], "--force");
	assert_null(value("--file", 0));
	clean();
}

static void a_script_is_copied_and_given_to_sh(void **state)
{
	make("script: tests/settings, files: [tests/settings:/etc/x]");
	assert_non_null(strstr(job, "\"command\":[\"sh\",\"/ringside/script\"]"));
	assert_true(ends_in(value("--file", 0), "/tests/settings:/etc/x"));
	assert_true(ends_in(value("--file", 1), "/tests/settings:/ringside/script"));
	assert_null(value("--file", 2));
	clean();
}

static void self_tests_are_run_by_the_runner_with_their_settings(void **state)
{
	make("kselftest: tests, only: [b, a]");
	assert_non_null(strstr(job, "\"command\":[\"/ringside/runner\",\"--skip\",\"4\","
				    "\"--timeout\",\"7\",\"/ringside/tests\",\"b\",\"a\"]"));
	assert_true(ends_in(value("--file", 0), "/tests:/ringside/tests"));
	assert_string_equal(value("--file", 1), "/our/runner:/ringside/runner");
	clean();
}

static void scripts_skip_as_ltp_does_and_have_no_time_of_their_own(void **state)
{
	make("scripts: tests");
	assert_non_null(strstr(job, "\"command\":[\"/ringside/runner\",\"--skip\",\"32\","
				    "\"/ringside/tests\"]"));
	clean();
}

static void kunit_that_is_built_in_needs_the_kernel_alone(void **state)
{
	make("kunit: builtin, only: ['list*']");
	assert_non_null(strstr(job, "\"command\":[\"true\"]"));
	assert_string_equal(value("--append", 0), "loglevel=7 kunit.enable=1");
	assert_string_equal(value("--append", 1), "kunit.filter_glob=list*");
	assert_null(value("--file", 0));
	clean();
}

static void kunit_modules_are_loaded_in_their_order(void **state)
{
	make("kunit: tests, only: [kunit.ko, list-test.ko]");
	assert_non_null(strstr(job, "\"command\":[\"/ringside/runner\",\"--insmod\","
				    "\"/ringside/tests\",\"kunit.ko\",\"list-test.ko\"]"));
	assert_string_equal(value("--append", 0), "loglevel=7 kunit.enable=1");
	assert_null(value("--append", 1));
	clean();
}

static void a_payload_has_no_job_and_nothing_to_wait_for(void **state)
{
	make("firmware: tests/settings");
	assert_null(job);
	assert_null(value("--job", 0));
	assert_null(value("--boot-timeout", 0));
	assert_null(value("--hang-timeout", 0));
	for (size_t i = 0; i < words.count; i++) {
		assert_string_not_equal(words.v[i], "--nmi");
	}
	assert_null(value("--file", 0));
	assert_string_equal(value("--console", 0), "/out/console");
	clean();
}

static void a_core_is_asked_for_where_no_failure_is_expected(void **state)
{
	make("command: [x]");
	assert_null(value("--core", 0));
	clean();
	cores = true;
	make("command: [x]");
	assert_string_equal(value("--core", 0), "/out/core");
	clean();
	make("command: [x], expect: panic");
	assert_null(value("--core", 0));
	clean();
	cores = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_command_is_the_jobs),
		cmocka_unit_test(a_script_is_copied_and_given_to_sh),
		cmocka_unit_test(self_tests_are_run_by_the_runner_with_their_settings),
		cmocka_unit_test(scripts_skip_as_ltp_does_and_have_no_time_of_their_own),
		cmocka_unit_test(kunit_that_is_built_in_needs_the_kernel_alone),
		cmocka_unit_test(kunit_modules_are_loaded_in_their_order),
		cmocka_unit_test(a_payload_has_no_job_and_nothing_to_wait_for),
		cmocka_unit_test(a_core_is_asked_for_where_no_failure_is_expected),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
