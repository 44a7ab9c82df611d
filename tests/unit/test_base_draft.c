/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/draft.h"
#include "base/io.h"

static char dir[] = "/tmp/test_draft.XXXXXX", path[64];
static struct err e;

static int make_dir(void **state)
{
	strcpy(dir + sizeof(dir) - 7, "XXXXXX");
	e = (struct err)ERR_INIT;
	if (!mkdtemp(dir)) {
		return -1;
	}
	snprintf(path, sizeof(path), "%s/core", dir);
	return 0;
}

static int remove_dir(void **state)
{
	unlink(path);
	rmdir(path);
	return rmdir(dir); /* fails when anything else was left in it */
}

static void write_text(const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void expect_text(const char *text)
{
	_cleanup_free_ char *found = NULL;

	assert_int_equal(io_read_file(path, 100, &found, NULL, NULL), 0);
	assert_string_equal(found, text);
}

static void a_file_has_no_name_until_it_is_published(void **state)
{
	struct draft d;
	struct stat st;

	assert_int_equal(draft_open(&d, "--core", path, &e), 0);
	assert_int_equal(io_write_all(d.fd, "all", 3), 0);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(draft_publish(&d), 0);
	draft_close(&d);
	draft_close(&d);
	expect_text("all");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

static void what_is_not_published_leaves_nothing_and_what_stood_there_stays(void **state)
{
	struct draft d;

	write_text("before");
	assert_int_equal(draft_open(&d, "--core", path, &e), 0);
	assert_int_equal(io_write_all(d.fd, "half", 4), 0);
	draft_close(&d);
	expect_text("before");
}

static void what_stood_there_is_replaced_and_not_written_into(void **state)
{
	struct draft d;
	_cleanup_close_ int before = -1;
	char buf[8] = "";

	write_text("before");
	before = open(path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(draft_open(&d, "--core", path, &e), 0);
	assert_int_equal(io_write_all(d.fd, "after", 5), 0);
	assert_int_equal(draft_publish(&d), 0);
	draft_close(&d);
	expect_text("after");
	assert_int_equal(read(before, buf, sizeof(buf)), 6);
	assert_memory_equal(buf, "before", 6);
}

static void a_link_that_comes_meanwhile_is_replaced_and_not_followed(void **state)
{
	struct draft d;
	struct stat st;

	assert_int_equal(draft_open(&d, "--core", path, &e), 0);
	assert_int_equal(symlink("/nonexistent/file", path), 0);
	assert_int_equal(draft_publish(&d), 0);
	draft_close(&d);
	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISREG(st.st_mode));
}

static void a_link_a_folder_and_no_folder_are_refused(void **state)
{
	struct draft d;
	char text[128];

	assert_int_equal(symlink("elsewhere", path), 0);
	assert_int_equal(draft_open(&d, "--core", path, &e), -ELOOP);
	draft_close(&d);
	snprintf(text, sizeof(text), "--core %s: is a symbolic link, and none is followed", path);
	assert_string_equal(e.text, text);
	unlink(path);

	assert_int_equal(mkdir(path, 0700), 0);
	e = (struct err)ERR_INIT;
	assert_int_equal(draft_open(&d, "--core", path, &e), -EISDIR);
	draft_close(&d);
	rmdir(path);

	e = (struct err)ERR_INIT;
	assert_int_equal(draft_open(&d, "--core", "/dev/null", &e), -EEXIST);
	draft_close(&d);
	e = (struct err)ERR_INIT;
	assert_int_equal(draft_open(&d, "--core", "/nonexistent/core", &e), -ENOENT);
	draft_close(&d);
	e = (struct err)ERR_INIT;
	assert_int_equal(draft_open(&d, "--core", "/tmp/", &e), -EISDIR);
	draft_close(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_file_has_no_name_until_it_is_published, make_dir,
						remove_dir),
		cmocka_unit_test_setup_teardown(
			what_is_not_published_leaves_nothing_and_what_stood_there_stays, make_dir,
			remove_dir),
		cmocka_unit_test_setup_teardown(what_stood_there_is_replaced_and_not_written_into,
						make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(
			a_link_that_comes_meanwhile_is_replaced_and_not_followed, make_dir,
			remove_dir),
		cmocka_unit_test_setup_teardown(a_link_a_folder_and_no_folder_are_refused, make_dir,
						remove_dir),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
