/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/run_shares.h"
#include "temp_file.h"

/* A place with the directories a, "b:c", "d,rw" and the file f; the test works in it. */
static char place[PATH_MAX];

static int setup(void **state)
{
	char template[] = "/tmp/ringside-test-XXXXXX";
	FILE *f;

	assert_non_null(realpath(mkdtemp(template), place));
	assert_int_equal(chdir(place), 0);
	assert_int_equal(mkdir("a", 0755) | mkdir("b:c", 0755) | mkdir("d,rw", 0755), 0);
	f = fopen("f", "w");
	assert_non_null(f);
	fclose(f);
	return 0;
}

static int teardown(void **state)
{
	char command[PATH_MAX + 16];

	snprintf(command, sizeof(command), "rm -r %s", place);
	return system(command);
}

static void a_share_is_a_directory_a_place_and_whether_it_may_be_written(void **state)
{
	static const struct {
		const char *value, *dir, *at;
		bool read_only;
	} cases[] = {
		{"a", "/a", "/mnt/a", true},
		{"a,rw", "/a", "/mnt/a", false},
		{"./a/../a:/x/y", "/a", "/x/y", true},
		{"a:/x,rw", "/a", "/x", false},
		{"b:c", "/b:c", "/mnt/b:c", true},
		{"b:c:/x:/y", NULL, NULL, false},
		{"b:c:/x", "/b:c", "/x", true},
		{"d,rw", NULL, NULL, false},
		{"d,rw,rw", "/d,rw", "/mnt/d,rw", false},
		{"d,rw:/d", "/d,rw", "/d", true},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct opt_list values = {.count = 1, .items = {cases[i].value}};
		char dir[PATH_MAX + 16];
		struct run_shares s;
		struct err e = ERR_INIT;
		int r = run_shares_parse(&values, &s, &e);

		assert_int_equal(r, cases[i].dir ? 0 : -ENOENT);
		if (r == 0) {
			snprintf(dir, sizeof(dir), "%s%s", place, cases[i].dir);
			assert_string_equal(s.share[0].path, dir);
			assert_int_equal(s.share[0].read_only, cases[i].read_only);
			assert_string_equal(s.at[0].at, cases[i].at);
			assert_string_equal(s.at[0].tag, "share0");
			assert_int_equal(s.at[0].read_only, cases[i].read_only);
		}
		run_shares_fini(&s);
	}
}

static void assert_refused(const struct opt_list *values, int code, const char *text)
{
	struct run_shares s;
	struct err e = ERR_INIT;

	assert_int_equal(run_shares_parse(values, &s, &e), code);
	assert_string_equal(e.text, text);
	run_shares_fini(&s);
}

static void what_is_no_directory_is_refused(void **state)
{
	const struct opt_list file = {.count = 2, .items = {"a", "f"}};
	const struct opt_list missing = {.count = 1, .items = {"g,rw"}};
	const struct opt_list none = {.count = 1, .items = {""}};
	const struct opt_list ro = {.count = 1, .items = {"a:/x,ro"}};
	const struct opt_list only_rw = {.count = 1, .items = {",rw"}};

	assert_refused(&file, -ENOTDIR, "--share f: no directory");
	assert_refused(&missing, -ENOENT, "--share g: No such file or directory");
	assert_refused(&none, -EINVAL, "--share: expected DIR[:MOUNT][,rw], got ''");
	assert_refused(&ro, -EINVAL,
		       "--share a:/x,ro: a comma in the guest's place: only ',rw' may stand behind "
		       "it; without it, it is for reading only");
	assert_refused(&only_rw, -EINVAL, "--share: expected DIR[:MOUNT][,rw], got ',rw'");
}

static void two_shares_at_one_place_are_refused(void **state)
{
	const struct opt_list values = {.count = 2, .items = {"a", "b:c:/mnt/a"}};

	assert_refused(&values, -EEXIST,
		       "--share: two directories at /mnt/a; give one of them another place, "
		       "DIR:MOUNT");
}

static void more_shares_than_there_is_room_for_are_refused(void **state)
{
	static char text[BACKEND_SHARES_MAX + 1][16];
	struct opt_list values = {.count = BACKEND_SHARES_MAX + 1};

	for (size_t i = 0; i < values.count; i++) {
		snprintf(text[i], sizeof(text[i]), "a:/%zu", i);
		values.items[i] = text[i];
	}
	assert_refused(&values, -E2BIG, "--share a: more than 8 directories, the root among them");
}

/* The record has it so; P stands for the place. */
static void assert_recorded(const struct run_shares *s, const struct run_disks *disks,
			    const char *expected)
{
	json_t *o = run_shares_to_json(s, disks);
	_cleanup_free_ char *text = json_dumps(o, JSON_COMPACT | JSON_SORT_KEYS);
	char *at;

	assert_non_null(text);
	while ((at = strstr(text, place))) {
		*at = 'P';
		memmove(at + 1, at + strlen(place), strlen(at + strlen(place)) + 1);
	}
	assert_string_equal(text, expected);
	json_decref(o);
}

static void a_directory_as_root_is_a_share_and_an_image_a_disk(void **state)
{
	const struct opt_list values = {.count = 1, .items = {"b:c"}};
	struct run_disks disks = {.count = 2, .disk = {{strdup("x")}, {strdup("y")}}};
	struct run_shares s;
	struct err e = ERR_INIT;

	assert_int_equal(run_shares_parse(&values, &s, &e), 0);
	assert_int_equal(run_root_parse(NULL, false, &s, &disks, &e), 0);
	assert_null(s.root.share);
	assert_null(s.root.disk);
	assert_int_equal(run_root_parse("a,rw", true, &s, &disks, &e), 0);
	assert_string_equal(s.root.share, "share1");
	assert_false(s.root.read_only);
	assert_true(s.root.init);
	assert_false(s.share[1].read_only);
	assert_int_equal(s.at_count, 1);
	assert_recorded(&s, &disks,
			"{\"root\":{\"from\":\"P/a\",\"init\":true,\"ro\":false},"
			"\"shares\":[{\"at\":\"/mnt/b:c\",\"dir\":\"P/b:c\",\"ro\":true}]}");
	run_shares_fini(&s);

	assert_int_equal(run_shares_parse(&values, &s, &e), 0);
	assert_int_equal(run_root_parse("f", false, &s, &disks, &e), 0);
	assert_string_equal(s.root.disk, "ringside-disk2");
	assert_true(s.root.read_only);
	assert_int_equal(disks.count, 3);
	assert_string_equal(disks.disk[2].path, "f");
	assert_true(disks.disk[2].read_only);
	assert_recorded(&s, &disks,
			"{\"root\":{\"from\":\"f\",\"init\":false,\"ro\":true},"
			"\"shares\":[{\"at\":\"/mnt/b:c\",\"dir\":\"P/b:c\",\"ro\":true}]}");
	run_shares_fini(&s);
	run_disks_fini(&disks);
}

static void a_command_goes_on_in_its_directory_when_the_root_has_it(void **state)
{
	const struct opt_list none = {.count = 0};
	struct run_disks disks = {.count = 0};
	struct run_shares s;
	struct err e = ERR_INIT;

	assert_int_equal(run_shares_parse(&none, &s, &e), 0);
	assert_int_equal(run_root_parse("/", false, &s, &disks, &e), 0);
	assert_string_equal(s.cwd, place);
	run_shares_fini(&s);
	assert_int_equal(run_shares_parse(&none, &s, &e), 0);
	assert_int_equal(run_root_parse("..", false, &s, &disks, &e), 0);
	assert_string_equal(s.cwd, strrchr(place, '/'));
	run_shares_fini(&s);
	assert_int_equal(run_shares_parse(&none, &s, &e), 0);
	assert_int_equal(run_root_parse("a", false, &s, &disks, &e), 0);
	assert_null(s.cwd);
	run_shares_fini(&s);
}

static void a_root_that_is_not_there_is_refused(void **state)
{
	struct run_disks disks = {.count = 0};
	struct run_shares s = {.count = 0};
	struct err e = ERR_INIT;

	assert_int_equal(run_root_parse("g,rw", false, &s, &disks, &e), -ENOENT);
	assert_string_equal(e.text, "--root g: No such file or directory");
	assert_int_equal(run_root_parse(",rw", false, &s, &disks, &e), -EINVAL);
	assert_string_equal(e.text, "--root: expected DIR|IMAGE[,rw], got ',rw'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_share_is_a_directory_a_place_and_whether_it_may_be_written),
		cmocka_unit_test(what_is_no_directory_is_refused),
		cmocka_unit_test(two_shares_at_one_place_are_refused),
		cmocka_unit_test(more_shares_than_there_is_room_for_are_refused),
		cmocka_unit_test(a_directory_as_root_is_a_share_and_an_image_a_disk),
		cmocka_unit_test(a_command_goes_on_in_its_directory_when_the_root_has_it),
		cmocka_unit_test(a_root_that_is_not_there_is_refused),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
