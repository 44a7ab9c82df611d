/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "suite_fixture.h"

#include <sys/stat.h>

#include "temp_folder.h"

struct err suite_error;
struct suite *suite;
struct suite_plan suite_plan;
const char *suite_folder;
static struct temp_folder folder;

static const char *const folders[] = {"kst", "mods", "none"};
static const char *const files[] = {"data",   "a:b",     "a.sh",    "payload",
				    "a.yaml", "kst/one", "kst/two", "mods/x.ko"};

int suite_setup(void **state)
{
	temp_folder_init(&folder);
	suite_folder = folder.path;
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		assert_int_equal(mkdir(temp_folder_name(&folder, folders[i]), 0700), 0);
	}
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		temp_folder_put(&folder, files[i], "");
	}
	assert_int_equal(chmod(temp_folder_name(&folder, "kst/one"), 0755), 0);
	return 0;
}

int suite_teardown(void **state)
{
	return temp_folder_fini(&folder);
}

const char *suite_file_name(void)
{
	return temp_folder_name(&folder, "a.yaml");
}

int suite_read_text(const char *text)
{
	temp_folder_put(&folder, "a.yaml", text);
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
