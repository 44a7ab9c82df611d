/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "suite_fixture.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct err suite_error;
struct suite *suite;
struct suite_plan suite_plan;
char suite_folder[] = "/tmp/ringside-suite-XXXXXX";
static char path[128];

static const char *const folders[] = {"kst", "mods"};
static const char *const files[] = {"data",   "a:b",     "a.sh",    "payload",
				    "a.yaml", "kst/one", "kst/two", "mods/x.ko"};

static const char *in_folder(const char *name)
{
	snprintf(path, sizeof(path), "%s/%s", suite_folder, name);
	return path;
}

static void put(const char *name, const char *text)
{
	FILE *f = fopen(in_folder(name), "we");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

int suite_setup(void **state)
{
	assert_non_null(mkdtemp(suite_folder));
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		assert_int_equal(mkdir(in_folder(folders[i]), 0700), 0);
	}
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		put(files[i], "");
	}
	return 0;
}

int suite_teardown(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		unlink(in_folder(files[i]));
	}
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		rmdir(in_folder(folders[i]));
	}
	return rmdir(suite_folder);
}

const char *suite_file_name(void)
{
	return in_folder("a.yaml");
}

int suite_read_text(const char *text)
{
	put("a.yaml", text);
	return suite_read(suite_file_name(), &suite, &suite_error);
}

void suite_must_read(const char *text)
{
	if (suite_read_text(text) < 0) {
		fail_msg("%s", suite_error.text);
	}
}

void suite_must_expand(const struct suite_select *sel)
{
	if (suite_expand(suite, sel, &suite_plan, &suite_error) < 0) {
		fail_msg("%s", suite_error.text);
	}
}

void suite_end(void)
{
	suite_plan_fini(&suite_plan);
	suite_destroy(suite);
	suite = NULL;
}
