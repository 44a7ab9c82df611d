/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/io.h"
#include "guest/initramfs.h"

static const char *const command[] = {"true", NULL};
static const struct job job = {.command = (const char **)command};

static bool holds(const char *data, size_t len, const char *text)
{
	return memmem(data, len, text, strlen(text) + 1) != NULL;
}

static void it_has_the_agent_as_init_the_job_and_what_was_asked_for(void **state)
{
	const struct initramfs_file files[] = {
		{.name = "data/passwd", .path = "/etc/passwd", .perm = 0600}};
	const struct initramfs_spec spec = {.agent_path = "/etc/hostname",
					    .bench_path = "/etc/passwd",
					    .busybox_path = "/etc/hostname",
					    .job = &job,
					    .files = files,
					    .n_files = 1};
	_cleanup_(initramfs_destroy_p) struct initramfs *i = NULL;
	_cleanup_free_ char *data = NULL;
	struct err e = ERR_INIT;
	size_t len;

	assert_int_equal(initramfs_create(&spec, &i, &e), 0);
	len = initramfs_bytes(i);
	data = malloc(len);
	assert_int_equal(initramfs_copy(i, data, &e), 0);
	assert_true(holds(data, len, "init"));
	assert_true(holds(data, len, "ringside/job.json"));
	assert_true(holds(data, len, "ringside/bench"));
	assert_true(holds(data, len, "dev/port"));
	assert_true(holds(data, len, "bin/busybox"));
	assert_true(holds(data, len, "bin/sh"));
	assert_true(holds(data, len, "bin/poweroff"));
	assert_true(holds(data, len, "data/passwd"));
	assert_true(holds(data, len, "TRAILER!!!"));
	assert_non_null(memmem(data, len, "{\"version\":1,\"command\":[\"true\"]", 31));
}

static void programs_come_with_what_they_need(void **state)
{
	_cleanup_(initramfs_destroy_p) struct initramfs *i = NULL;
	_cleanup_(closure_destroy_p) struct closure *c = NULL;
	struct initramfs_spec spec = {.agent_path = "/etc/passwd", .job = &job};
	_cleanup_free_ char *data = NULL;
	struct err e = ERR_INIT;

	assert_int_equal(closure_create("", &c), 0);
	assert_int_equal(closure_add(c, "/proc/self/exe", "/tools/this", &e), 0);
	spec.closure = c;
	assert_int_equal(initramfs_create(&spec, &i, &e), 0);
	data = malloc(initramfs_bytes(i));
	assert_int_equal(initramfs_copy(i, data, &e), 0);
	assert_true(holds(data, initramfs_bytes(i), "tools/this"));
	assert_true(holds(data, initramfs_bytes(i), "lib64/ld-linux-x86-64.so.2"));
}

static void it_is_the_same_bytes_every_time_and_written_as_copied(void **state)
{
	const struct initramfs_spec spec = {.agent_path = "/etc/passwd", .job = &job};
	_cleanup_close_ int fd = memfd_create("test", MFD_CLOEXEC);
	_cleanup_free_ char *data[2] = {NULL};
	_cleanup_free_ char *written = NULL;
	struct err e = ERR_INIT;
	size_t len[2];

	for (int round = 0; round < 2; round++) {
		_cleanup_(initramfs_destroy_p) struct initramfs *i = NULL;

		assert_int_equal(initramfs_create(&spec, &i, &e), 0);
		len[round] = initramfs_bytes(i);
		data[round] = malloc(len[round]);
		assert_int_equal(initramfs_copy(i, data[round], &e), 0);
		if (round == 1) {
			assert_int_equal(initramfs_write(i, fd, &e), 0);
		}
	}
	assert_int_equal(len[0], len[1]);
	assert_memory_equal(data[0], data[1], len[0]);
	written = malloc(len[0]);
	assert_int_equal(io_pread_exact(fd, written, len[0], 0), 0);
	assert_memory_equal(data[0], written, len[0]);
	free(data[1]);
}

static void a_missing_part_is_named(void **state)
{
	const char *const initrds[] = {"/nonexistent/initrd", NULL};
	const struct initramfs_spec no_agent = {.agent_path = "/nonexistent/agent", .job = &job};
	const struct initramfs_spec no_initrd = {
		.agent_path = "/etc/passwd", .job = &job, .appended = initrds};
	struct initramfs *i = NULL;
	struct err e = ERR_INIT;

	assert_int_equal(initramfs_create(&no_agent, &i, &e), -ENOENT);
	assert_string_equal(e.text, "/nonexistent/agent: No such file or directory");
	assert_int_equal(initramfs_create(&no_initrd, &i, &e), -ENOENT);
	assert_string_equal(e.text, "/nonexistent/initrd: No such file or directory");
	assert_null(i);
}

static void the_busybox_that_is_found_is_static_or_its_package_is_named(void **state)
{
	const char *path = NULL;
	struct err e = ERR_INIT;

	if (initramfs_find_busybox(&path, &e) == 0) {
		assert_non_null(strstr(path, "/busybox"));
	} else {
		assert_non_null(strstr(e.text, "install the package busybox-static"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_has_the_agent_as_init_the_job_and_what_was_asked_for),
		cmocka_unit_test(programs_come_with_what_they_need),
		cmocka_unit_test(it_is_the_same_bytes_every_time_and_written_as_copied),
		cmocka_unit_test(a_missing_part_is_named),
		cmocka_unit_test(the_busybox_that_is_found_is_static_or_its_package_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
