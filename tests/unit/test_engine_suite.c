/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <string.h>

#include "engine/suite.h"

static struct err e;
static struct suite *suite;
static struct suite_plan plan;
static char folder[] = "/tmp/ringside-suite-XXXXXX";
static char path[64];

static int setup(void **state)
{
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/a.yaml", folder);
	return 0;
}

static int teardown(void **state)
{
	unlink(path);
	return rmdir(folder);
}

static int read_text(const char *text)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
	return suite_read(path, &suite, &e);
}

static void expand(const struct suite_select *sel)
{
	if (suite_expand(suite, sel, &plan, &e) < 0) {
		fail_msg("%s", e.text);
	}
}

static void end(void)
{
	suite_plan_fini(&plan);
	suite_destroy(suite);
	suite = NULL;
}

static void one_command_makes_a_case_for_each_kernel(void **state)
{
	char *argv[] = {"uname", "-r", NULL};
	const char *const kernels[] = {"base", "./vmlinux", NULL};
	struct suite_single s = {.kernels = kernels, .argv = argv, .cpus = 2};

	assert_int_equal(suite_single(&s, &suite, &e), 0);
	assert_null(suite_path(suite));
	assert_string_equal(suite_name(suite), "command");
	expand(&(struct suite_select){0});
	assert_int_equal(plan.count, 2);
	assert_string_equal(plan.cases[0].id, "command[kernel=base]");
	assert_string_equal(plan.cases[1].id, "command[kernel=./vmlinux]");
	assert_int_equal(plan.cases[0].cpus, 2);
	assert_int_equal(plan.cases[0].memory_bytes, SUITE_MEMORY_BYTES);
	assert_string_equal(plan.cases[0].test->argv[1], "-r");
	assert_null(plan.cases[0].test->argv[2]);
	end();
}

static void a_file_of_commands_makes_a_case_for_each_combination(void **state)
{
	assert_int_equal(read_text("matrix: {kernels: [base, nopti], cpus: [1, 2]}\n"
				   "tests:\n"
				   "  - {name: smoke, command: [uname, -r]}\n"
				   "  - {name: one, command: ['true'], matrix: {cpus: [4]}}\n"),
			 0);
	assert_string_equal(suite_path(suite), path);
	assert_string_equal(suite_name(suite), "a");
	expand(&(struct suite_select){0});
	assert_int_equal(plan.count, 6);
	assert_string_equal(plan.cases[0].id, "smoke[kernel=base,cpus=1]");
	assert_string_equal(plan.cases[3].id, "smoke[kernel=nopti,cpus=2]");
	assert_string_equal(plan.cases[5].id, "one[kernel=nopti]");
	assert_int_equal(plan.cases[5].cpus, 4);
	assert_string_equal(plan.cases[5].test->fail_on, SUITE_FAIL_ON);
	assert_int_equal(plan.cases[5].test->pos.line, 4);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_command_makes_a_case_for_each_kernel),
		cmocka_unit_test(a_file_of_commands_makes_a_case_for_each_combination),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
