/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/run_files.h"

static struct err e;
static char dir[32];

static int setup(void **state)
{
	char command[256];

	strcpy(dir, "temp-XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(command, sizeof(command),
		 "cd %s && mkdir -p tree/inner && echo 1 >one && echo 2 >tree/two && "
		 "echo 3 >tree/inner/three && chmod 755 tree/two && ln -s two tree/link && "
		 "ln -s one named && cd .. && mkfifo %s/pipe",
		 dir, dir);
	assert_int_equal(system(command), 0);
	return 0;
}

static int teardown(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

static int find(const char *value, bool rooted, struct run_files *ret)
{
	char whole[128];
	struct opt_list values = {.count = 1, .items = {whole}};
	struct closure *closure;
	int r;

	snprintf(whole, sizeof(whole), "%s/%s", dir, value);
	e = (struct err)ERR_INIT;
	assert_int_equal(closure_create("", &closure), 0);
	r = run_files_find(&values, rooted, closure, ret, &e);
	closure_destroy(closure);
	return r;
}

static const struct initramfs_file *file_of(const struct run_files *f, const char *name)
{
	for (size_t i = 0; i < f->count; i++) {
		if (strcmp(f->files[i].name, name) == 0) {
			return &f->files[i];
		}
	}
	fail_msg("%s is not there", name);
	return NULL;
}

static void a_file_goes_where_it_is_told_or_to_tmp(void **state)
{
	struct run_files f;

	assert_int_equal(find("one", false, &f), 0);
	assert_int_equal(f.count, 1);
	assert_string_equal(f.files[0].name, "ringside/files/tmp/one");
	assert_null(f.files[0].target);
	run_files_fini(&f);
	assert_int_equal(find("one:/etc/other", false, &f), 0);
	assert_string_equal(f.files[0].name, "etc/other");
	run_files_fini(&f);
}

static void a_folder_is_all_that_is_in_it(void **state)
{
	struct run_files f;

	assert_int_equal(find("tree:/opt/t/", false, &f), 0);
	assert_int_equal(f.count, 3);
	assert_int_equal(file_of(&f, "opt/t/two")->perm, 0755);
	assert_non_null(file_of(&f, "opt/t/inner/three"));
	assert_string_equal(file_of(&f, "opt/t/link")->target, "two");
	run_files_fini(&f);
}

static void a_link_that_is_named_is_what_it_points_to(void **state)
{
	struct run_files f;

	assert_int_equal(find("named", false, &f), 0);
	assert_string_equal(f.files[0].name, "ringside/files/tmp/named");
	assert_null(f.files[0].target);
	run_files_fini(&f);
}

static void for_a_root_they_are_put_aside(void **state)
{
	struct run_files f;

	assert_int_equal(find("one:/etc/other", true, &f), 0);
	assert_string_equal(f.files[0].name, "ringside/files/etc/other");
	run_files_fini(&f);
}

static void what_is_wrong_is_named(void **state)
{
	struct run_files f;

	assert_int_equal(find("nothing", false, &f), -ENOENT);
	assert_non_null(strstr(e.text, "/nothing: No such file"));
	assert_int_equal(find("pipe", false, &f), -EINVAL);
	assert_non_null(strstr(e.text, "/pipe: neither a file nor a folder"));
	assert_int_equal(find("tree:/", false, &f), -EINVAL);
	assert_non_null(strstr(e.text, "expected FILE[:PLACE"));
}

static void a_program_brings_its_libraries_where_there_is_no_root(void **state)
{
	const struct opt_list values = {.count = 1, .items = {"/bin/cat:/opt/cat"}};
	struct closure *closure;
	struct run_files f;
	bool found = false;

	if (initramfs_program_kind("/bin/cat") != INITRAMFS_DYNAMIC) {
		skip();
	}
	assert_int_equal(closure_create("", &closure), 0);
	assert_int_equal(run_files_find(&values, false, closure, &f, &e), 0);
	assert_int_equal(f.count, 0);
	assert_true(closure_count(closure) > 1);
	for (size_t i = 0; i < closure_count(closure); i++) {
		found |= strcmp(closure_at(closure, i)->name, "/opt/cat") == 0;
	}
	assert_true(found);
	run_files_fini(&f);
	closure_destroy(closure);
	assert_int_equal(closure_create("", &closure), 0);
	assert_int_equal(run_files_find(&values, true, closure, &f, &e), 0);
	assert_int_equal(f.count, 1);
	assert_int_equal(closure_count(closure), 0);
	run_files_fini(&f);
	closure_destroy(closure);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_goes_where_it_is_told_or_to_tmp),
		cmocka_unit_test(a_folder_is_all_that_is_in_it),
		cmocka_unit_test(a_link_that_is_named_is_what_it_points_to),
		cmocka_unit_test(for_a_root_they_are_put_aside),
		cmocka_unit_test(what_is_wrong_is_named),
		cmocka_unit_test(a_program_brings_its_libraries_where_there_is_no_root),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
