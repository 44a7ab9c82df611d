/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "guest/runner/runner.h"

static char dir[32];

static int setup(void **state)
{
	strcpy(dir, "temp-XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

static void put(const char *name, mode_t mode, const char *text)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	assert_int_equal(chmod(path, mode), 0);
}

/* What the document is, until the next call. */
static const char *run(int expected, unsigned int timeout_s, char **names)
{
	static char *text;
	static char *none[] = {NULL};
	const struct runner_options o = {
		.dir = dir,
		.names = names ? names : none,
		.timeout_s = timeout_s,
		.skips = {4},
		.skip_count = 1,
	};
	size_t len;
	FILE *out;

	free(text);
	out = open_memstream(&text, &len);
	assert_int_equal(runner_run(&o, out), expected);
	fclose(out);
	return text;
}

static void programs_run_by_name_and_their_status_counts(void **state)
{
	put("b", 0755, "#!/bin/sh\necho out; echo err >&2; exit 3\n");
	put("a", 0755, "#!/bin/sh\nexit 0\n");
	put("c", 0755, "#!/bin/sh\nexit 4\n");
	put("d.so", 0755, "no program");
	put("settings", 0644, "timeout=1\n");
	assert_string_equal(run(1, 0, NULL), "KTAP version 1\n1..3\n"
					     "ok 1 a\n"
					     "# out\n# err\n# exit status 3\nnot ok 2 b\n"
					     "ok 3 c # SKIP exit status 4\n");
}

static void a_script_that_has_lost_its_mode_fails_and_is_not_passed_over(void **state)
{
	put("data", 0644, "of some test\n");
	put("lost", 0644, "#!/bin/sh\nexit 0\n");
	assert_non_null(strstr(run(1, 0, NULL),
			       "# ./lost: Permission denied\n# exit status 126\nnot ok 4 lost\n"));
	put("lost", 0644, "no script any more\n");
}

static void names_choose_and_order_them(void **state)
{
	char *names[] = {"c", "a", NULL};
	char *missing[] = {"nothing", NULL};

	assert_string_equal(run(0, 0, names), "KTAP version 1\n1..2\n"
					      "ok 1 c # SKIP exit status 4\nok 2 a\n");
	assert_string_equal(run(1, 0, missing), "KTAP version 1\n1..1\n"
						"# ./nothing: No such file or directory\n"
						"# exit status 127\nnot ok 1 nothing\n");
}

static void a_document_of_a_program_stands_in_ours(void **state)
{
	char *names[] = {"ktap", NULL};

	put("ktap", 0755, "#!/bin/sh\nprintf 'hello\\nTAP version 13\\n1..1\\n# note\\nok 1 x'\n");
	assert_string_equal(run(0, 0, names), "KTAP version 1\n1..1\n# hello\n  TAP version 13\n"
					      "  1..1\n  # note\n  ok 1 x\nok 1 ktap\n");
}

static void what_a_program_says_cannot_break_the_document(void **state)
{
	char *names[] = {"liar", NULL};

	put("liar", 0755, "#!/bin/sh\nprintf 'not ok 1 x\\n1..7\\nok 2 y'; exit 0\n");
	assert_string_equal(run(0, 0, names),
			    "KTAP version 1\n1..1\n# not ok 1 x\n# 1..7\n# ok 2 y\n"
			    "ok 1 liar\n");
}

static void one_that_hangs_is_ended_with_what_it_started(void **state)
{
	char *names[] = {"slow", NULL};
	time_t before = time(NULL);

	put("slow", 0755, "#!/bin/sh\necho begun\nsleep 60 &\nsleep 60\n");
	assert_string_equal(run(1, 1, names), "KTAP version 1\n1..1\n# begun\n"
					      "not ok 1 slow # TIMEOUT 1 seconds\n");
	assert_true(time(NULL) - before < 30);
}

static void a_child_that_stays_does_not_hold_it_up(void **state)
{
	char *names[] = {"leaves", NULL};
	time_t before = time(NULL);

	put("leaves", 0755, "#!/bin/sh\nsleep 60 &\necho left\n");
	assert_string_equal(run(0, 0, names), "KTAP version 1\n1..1\n# left\nok 1 leaves\n");
	assert_true(time(NULL) - before < 30);
}

static void a_signal_is_told_by_name(void **state)
{
	char *names[] = {"dies", NULL};

	put("dies", 0755, "#!/bin/sh\nkill -SEGV $$\n");
	assert_string_equal(run(1, 0, names),
			    "KTAP version 1\n1..1\n"
			    "# ended by signal 11 (Segmentation fault)\nnot ok 1 dies\n");
}

static void a_long_line_stays_one_line(void **state)
{
	char *names[] = {"long", NULL};
	const char *text;

	put("long", 0755, "#!/bin/sh\nhead -c 10000 /dev/zero | tr '\\0' x; echo\n");
	text = run(0, 0, names);
	text = strchr(strstr(text, "1..1\n") + 4, '#');
	assert_int_equal(strspn(text + 2, "x"), 10000);
	assert_string_equal(text + 10002, "\nok 1 long\n");
}

static void an_empty_folder_is_no_pass(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -f %s/*", dir);
	assert_int_equal(system(command), 0);
	assert_string_equal(run(2, 0, NULL), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_run_by_name_and_their_status_counts),
		cmocka_unit_test(a_script_that_has_lost_its_mode_fails_and_is_not_passed_over),
		cmocka_unit_test(names_choose_and_order_them),
		cmocka_unit_test(a_document_of_a_program_stands_in_ours),
		cmocka_unit_test(what_a_program_says_cannot_break_the_document),
		cmocka_unit_test(one_that_hangs_is_ended_with_what_it_started),
		cmocka_unit_test(a_child_that_stays_does_not_hold_it_up),
		cmocka_unit_test(a_signal_is_told_by_name),
		cmocka_unit_test(a_long_line_stays_one_line),
		cmocka_unit_test(an_empty_folder_is_no_pass),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
