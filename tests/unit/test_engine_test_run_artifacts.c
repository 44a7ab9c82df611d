/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that a guest gives back: it may name them as it likes. */
#include "support.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "engine/test_run_priv.h"

static struct err e;
static char dir[32];
static struct test_dir d;
static char *missing;

static int setup(void **state)
{
	strcpy(dir, "temp-XXXXXX");
	assert_non_null(mkdtemp(dir));
	assert_int_equal(test_dir_create(dir, "case", &d, &e), 0);
	return 0;
}

static int teardown(void **state)
{
	char command[64];

	test_dir_fini(&d);
	free(TAKE_PTR(missing));
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

/* The record of a guest that said these lines; what is left of it. */
static char *take(const char *lines)
{
	struct spawn_result s = {.end = SPAWN_EXITED};

	assert_true(asprintf(&s.record, "{\"type\":\"boot\",\"guest\":[%s]}", lines) > 0);
	s.record_len = strlen(s.record);
	free(missing);
	assert_int_equal(test_artifacts_take(&d, &s, &missing, &e), 0);
	assert_int_equal(s.record_len, strlen(s.record));
	return s.record;
}

static void assert_file(const char *name, const char *content)
{
	_cleanup_free_ char *path = NULL, *text = NULL;
	size_t len;

	assert_true(asprintf(&path, "%s/artifacts%s", d.path, name) > 0);
	assert_int_equal(io_read_file(path, 1 << 20, &text, &len, &e), 0);
	assert_int_equal(len, strlen(content));
	assert_memory_equal(text, content, len);
}

static void pieces_make_files_and_leave_the_record(void **state)
{
	_cleanup_free_ char *left =
		take("{\"type\":\"artifact\",\"path\":\"/out/in/a\",\"data\":\"Zm9v\"},"
		     "{\"type\":\"exit\",\"status\":0},"
		     "{\"type\":\"artifact\",\"path\":\"/out/in/a\",\"data\":\"YmFy\"},"
		     "{\"type\":\"artifact\",\"path\":\"/out/b\",\"data\":\"\"},"
		     "{\"type\":\"artifact\",\"path\":\"/no\",\"error\":\"No such file\"}");

	assert_string_equal(left, "{\"type\":\"boot\",\"guest\":[{\"type\":\"exit\",\"status\":0},"
				  "{\"type\":\"artifact\",\"path\":\"/no\","
				  "\"error\":\"No such file\"}]}");
	assert_file("/out/in/a", "foobar");
	assert_file("/out/b", "");
	assert_string_equal(missing, "artifact /no did not come back: No such file\n");
}

static void no_name_leads_out_of_the_folder(void **state)
{
	_cleanup_free_ char *command = NULL;
	free(take("{\"type\":\"artifact\",\"path\":\"/ok\",\"data\":\"Zm9v\"},"
		  "{\"type\":\"artifact\",\"path\":\"../out1\",\"data\":\"Zm9v\"},"
		  "{\"type\":\"artifact\",\"path\":\"/a/../../out2\",\"data\":\"Zm9v\"},"
		  "{\"type\":\"artifact\",\"path\":\"/a/..\",\"data\":\"Zm9v\"},"
		  "{\"type\":\"artifact\",\"path\":\"/\",\"data\":\"Zm9v\"},"
		  "{\"type\":\"artifact\",\"path\":\"\",\"data\":\"Zm9v\"},"
		  "{\"type\":\"artifact\",\"path\":\"/ok/under/a/file\",\"data\":\"Zm9v\"},"
		  "{\"type\":\"artifact\",\"path\":7,\"data\":\"Zm9v\"},"
		  "{\"type\":\"artifact\",\"path\":\"/bad\",\"data\":\"Zm9\"},"
		  "{\"type\":\"artifact\",\"data\":\"Zm9v\"}"));
	assert_file("/ok", "foo");
	assert_non_null(strstr(missing, "artifact /a/.. cannot be kept: Invalid argument\n"));
	assert_non_null(strstr(missing, "artifact /ok/under/a/file cannot be kept: Not a dir"));
	assert_non_null(strstr(missing, "artifact /bad cannot be kept: Bad message\n"));
	/* Nothing beside it, and nothing above. */
	assert_true(asprintf(&command, "test \"$(find %s -type f | wc -l)\" = 1 && test ! -e out2",
			     dir) > 0);
	assert_int_equal(system(command), 0);
}

static void of_many_that_are_missing_some_are_named_and_all_counted(void **state)
{
	char *lines = NULL;
	size_t len = 0, count = 0;
	FILE *f = open_memstream(&lines, &len);

	for (int i = 0; i < 1000; i++) {
		fprintf(f, "%s{\"type\":\"artifact\",\"path\":\"/a%d\",\"error\":\"gone\"}",
			i ? "," : "", i);
	}
	fclose(f);
	free(take(lines));
	free(lines);
	for (const char *p = missing; *p; p = strchr(p, '\n') + 1) {
		count++;
	}
	assert_int_equal(count, 21);
	assert_non_null(strstr(missing, "artifact /a0 did not come back: gone\n"));
	assert_non_null(strstr(missing, "980 more artifacts did not come back\n"));
}

static void a_link_that_is_there_is_not_followed(void **state)
{
	_cleanup_free_ char *path = NULL, *folder = NULL;
	struct stat st;

	assert_true(asprintf(&folder, "%s/artifacts", d.path) > 0);
	assert_true(asprintf(&path, "%s/way", folder) > 0);
	(void)!mkdir(folder, 0755);
	assert_int_equal(symlink("../..", path), 0);
	free(take("{\"type\":\"artifact\",\"path\":\"/way/out3\",\"data\":\"Zm9v\"}"));
	free(path);
	assert_true(asprintf(&path, "%s/out3", dir) > 0);
	assert_int_equal(stat(path, &st), -1);
}

static void a_record_that_is_none_is_left_as_it_is(void **state)
{
	struct spawn_result s = {.record = strdup("{\"type\":\"artifact\""), .record_len = 18};

	free(missing);
	assert_int_equal(test_artifacts_take(&d, &s, &missing, &e), 0);
	assert_null(missing);
	assert_string_equal(s.record, "{\"type\":\"artifact\"");
	free(s.record);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(pieces_make_files_and_leave_the_record, setup,
						teardown),
		cmocka_unit_test_setup_teardown(no_name_leads_out_of_the_folder, setup, teardown),
		cmocka_unit_test_setup_teardown(
			of_many_that_are_missing_some_are_named_and_all_counted, setup, teardown),
		cmocka_unit_test_setup_teardown(a_link_that_is_there_is_not_followed, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_record_that_is_none_is_left_as_it_is, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
