/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <string.h>

#include "cli/run_devices.h"

static void a_disk_is_a_file_and_words_behind_it(void **state)
{
	const struct opt_list values = {.count = 6,
					.items = {"a.img", "/b,ro", "c,direct,ro", "d,ro,direct",
						  "e,rw", "x,y,ro"}};
	static const struct backend_disk expected[] = {
		{"a.img", false, false}, {"/b", true, false},    {"c", true, true},
		{"d", true, true},       {"e,rw", false, false}, {"x,y", true, false},
	};
	struct run_disks d;
	struct err e = ERR_INIT;

	assert_int_equal(run_disks_parse(&values, &d, &e), 0);
	assert_int_equal(d.count, ARRAY_SIZE(expected));
	for (size_t i = 0; i < d.count; i++) {
		assert_string_equal(d.disk[i].path, expected[i].path);
		assert_int_equal(d.disk[i].read_only, expected[i].read_only);
		assert_int_equal(d.disk[i].direct, expected[i].direct);
	}
	run_disks_fini(&d);
	assert_int_equal(d.count, 0);
}

static void a_disk_without_a_file_is_refused(void **state)
{
	static const char *const bad[] = {"", ",ro", ",ro,direct", ",x"};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		const struct opt_list values = {.count = 2, .items = {"good", bad[i]}};
		char expected[128];
		struct run_disks d;
		struct err e = ERR_INIT;

		snprintf(expected, sizeof(expected),
			 "--disk: expected FILE[,ro][,direct], got '%s'", bad[i]);
		assert_int_equal(run_disks_parse(&values, &d, &e), -EINVAL);
		assert_string_equal(e.text, expected);
		run_disks_fini(&d);
	}
}

static void more_disks_than_there_is_room_for_are_refused(void **state)
{
	struct opt_list values = {.count = BACKEND_DISKS_MAX + 1};
	struct run_disks d;
	struct err e = ERR_INIT;

	for (size_t i = 0; i < values.count; i++) {
		values.items[i] = "disk";
	}
	assert_int_equal(run_disks_parse(&values, &d, &e), -E2BIG);
	assert_string_equal(e.text, "--disk: 9 disks, at most 8 can be given");
	values.count--;
	assert_int_equal(run_disks_parse(&values, &d, &e), 0);
	run_disks_fini(&d);
}

static void a_socket_device_is_a_path_and_an_address(void **state)
{
	static const struct {
		const char *value, *path;
		uint32_t cid;
	} rows[] = {
		{NULL, NULL, 0},     {"/tmp/v", "/tmp/v", 0},
		{"v,cid=3", "v", 3}, {"v,cid=4294967295", "v", UINT32_MAX},
		{"a,b", "a,b", 0},   {"a,cid=x,cid=9", "a,cid=x", 9},
	};
	static const char *const bad[] = {"",         ",cid=3",   "v,cid=",          "v,cid=0",
					  "v,cid=-1", "v,cid=3x", "v,cid=4294967296"};
	struct run_vsock v;
	struct err e = ERR_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(run_vsock_parse(rows[i].value, &v, &e), 0);
		if (rows[i].path) {
			assert_string_equal(v.path, rows[i].path);
		} else {
			assert_null(v.path);
		}
		assert_int_equal(v.cid, rows[i].cid);
		run_vsock_fini(&v);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(run_vsock_parse(bad[i], &v, &e), -EINVAL);
		run_vsock_fini(&v);
	}
	assert_string_equal(e.text, "--vsock: expected PATH[,cid=N] with a number from 3, got "
				    "'v,cid=4294967296'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_disk_is_a_file_and_words_behind_it),
		cmocka_unit_test(a_disk_without_a_file_is_refused),
		cmocka_unit_test(a_socket_device_is_a_path_and_an_address),
		cmocka_unit_test(more_disks_than_there_is_room_for_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
