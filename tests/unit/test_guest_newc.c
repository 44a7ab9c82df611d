/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/io.h"
#include "guest/newc.h"

static char scratch[] = "/tmp/test-newc-XXXXXX";

static struct newc *archive(void)
{
	struct newc *n;

	assert_int_equal(newc_create(&n), 0);
	return n;
}

static char *bytes_of(const struct newc *n)
{
	struct err e = ERR_INIT;
	char *data = calloc(1, newc_bytes(n) + 1);

	assert_int_equal(newc_copy(n, data, &e), 0);
	return data;
}

static void write_scratch(const char *name, const char *text)
{
	_cleanup_close_ int fd = -1;
	char path[64];

	snprintf(path, sizeof(path), "%s/%s", scratch, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(io_write_all(fd, text, strlen(text)), 0);
}

static const char *scratch_path(const char *name)
{
	static char path[64];

	snprintf(path, sizeof(path), "%s/%s", scratch, name);
	return path;
}

/* Every field of the format, written out by hand. */
/* clang-format off */
static const char golden[] =
	"070701"
	"00000001" "000041ed" "00000000" "00000000" "00000002" "00000000" "00000000" "00000000"
	"00000000" "00000000" "00000000" "00000004" "00000000"
	"dev\0" "\0\0"
	"070701"
	"00000002" "00002180" "00000000" "00000000" "00000001" "00000000" "00000000" "00000000"
	"00000000" "00000005" "00000001" "0000000c" "00000000"
	"dev/console\0" "\0\0"
	"070701"
	"00000003" "000081a4" "00000000" "00000000" "00000001" "00000000" "00000005" "00000000"
	"00000000" "00000000" "00000000" "00000006" "00000000"
	"hello\0"
	"world\0\0\0"
	"070701"
	"00000004" "0000a1ff" "00000000" "00000000" "00000001" "00000000" "00000005" "00000000"
	"00000000" "00000000" "00000000" "00000002" "00000000"
	"l\0"
	"hello\0\0\0"
	"070701"
	"00000000" "00000000" "00000000" "00000000" "00000001" "00000000" "00000000" "00000000"
	"00000000" "00000000" "00000000" "0000000b" "00000000"
	"TRAILER!!!\0" "\0\0\0";
/* clang-format on */

static void a_small_archive_is_exactly_these_bytes(void **state)
{
	_cleanup_(newc_destroy_p) struct newc *n = archive();
	_cleanup_free_ char *data = NULL;
	struct err e = ERR_INIT;

	assert_int_equal(newc_add_node(n, "dev/console", S_IFCHR | 0600, 5, 1, &e), 0);
	assert_int_equal(newc_add_data(n, "hello", 0644, "world", 5, &e), 0);
	assert_int_equal(newc_add_symlink(n, "l", "hello", &e), 0);
	assert_int_equal(newc_add_trailer(n, &e), 0);
	assert_int_equal(newc_bytes(n), sizeof(golden) - 1);
	data = bytes_of(n);
	assert_memory_equal(data, golden, sizeof(golden) - 1);
}

static void a_file_of_the_host_gives_the_same_bytes_as_a_buffer(void **state)
{
	_cleanup_(newc_destroy_p) struct newc *n = archive();
	_cleanup_free_ char *data = NULL;
	struct err e = ERR_INIT;

	write_scratch("w", "world");
	assert_int_equal(newc_add_node(n, "dev/console", S_IFCHR | 0600, 5, 1, &e), 0);
	assert_int_equal(newc_add_path(n, "hello", 0644, scratch_path("w"), &e), 0);
	assert_int_equal(newc_add_symlink(n, "l", "hello", &e), 0);
	assert_int_equal(newc_add_trailer(n, &e), 0);
	assert_int_equal(newc_bytes(n), sizeof(golden) - 1);
	data = bytes_of(n);
	assert_memory_equal(data, golden, sizeof(golden) - 1);
}

static void another_archive_follows_on_a_boundary_of_four(void **state)
{
	_cleanup_(newc_destroy_p) struct newc *n = archive();
	_cleanup_free_ char *data = NULL;
	struct err e = ERR_INIT;
	size_t own;

	write_scratch("a", "12345");
	write_scratch("b", "6");
	write_scratch("empty", "");
	assert_int_equal(newc_add_trailer(n, &e), 0);
	own = newc_bytes(n);
	assert_int_equal(own % 4, 0);
	assert_int_equal(newc_append_path(n, scratch_path("a"), &e), 0);
	assert_int_equal(newc_append_path(n, scratch_path("b"), &e), 0);
	assert_int_equal(newc_bytes(n), own + 12);
	data = bytes_of(n);
	assert_memory_equal(data + own,
			    "12345\0\0\0"
			    "6\0\0\0",
			    12);
	assert_int_equal(newc_append_path(n, scratch_path("empty"), &e), -ENODATA);
	assert_non_null(strstr(e.text, "empty, expected an initramfs archive"));
}

static void a_file_that_shrinks_meanwhile_is_an_error(void **state)
{
	_cleanup_(newc_destroy_p) struct newc *n = archive();
	_cleanup_free_ char *data = NULL;
	struct err e = ERR_INIT;

	write_scratch("s", "0123456789");
	assert_int_equal(newc_add_path(n, "f", 0644, scratch_path("s"), &e), 0);
	assert_int_equal(newc_add_trailer(n, &e), 0);
	write_scratch("s", "0123");
	data = calloc(1, newc_bytes(n));
	assert_int_equal(newc_copy(n, data, &e), -EIO);
}

static void names_that_cannot_be_are_refused(void **state)
{
	static const char *const bad[] = {"",   "/a",     "a/",         "a//b", ".",
					  "..", "a/../b", "TRAILER!!!", "./a"};
	char longest[NEWC_NAME_MAX + 2];
	struct err e = ERR_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		_cleanup_(newc_destroy_p) struct newc *n = archive();

		assert_int_equal(newc_add_dir(n, bad[i], 0755, &e), -EINVAL);
	}
	memset(longest, 'x', sizeof(longest));
	longest[NEWC_NAME_MAX] = '\0';
	{
		_cleanup_(newc_destroy_p) struct newc *n = archive();

		assert_int_equal(newc_add_dir(n, longest, 0755, &e), 0);
	}
	longest[NEWC_NAME_MAX] = 'x';
	longest[NEWC_NAME_MAX + 1] = '\0';
	{
		_cleanup_(newc_destroy_p) struct newc *n = archive();

		assert_int_equal(newc_add_dir(n, longest, 0755, &e), -ENAMETOOLONG);
		assert_string_equal(e.text,
				    "initramfs: a name of 4096 bytes, at most 4095 can be used");
	}
}

static void a_name_twice_and_a_file_as_parent_are_refused(void **state)
{
	_cleanup_(newc_destroy_p) struct newc *n = archive();
	struct err e = ERR_INIT;

	assert_int_equal(newc_add_data(n, "a/b", 0644, "", 0, &e), 0);
	assert_int_equal(newc_add_data(n, "a/b", 0644, "", 0, &e), -EEXIST);
	assert_string_equal(e.text, "initramfs: 'a/b' is there twice");
	assert_int_equal(newc_add_dir(n, "a", 0755, &e), -EEXIST);
	assert_int_equal(newc_add_data(n, "a/b/c", 0644, "", 0, &e), -ENOTDIR);
	assert_string_equal(e.text, "initramfs: 'a/b/c': 'a/b' is not a directory");
	assert_int_equal(newc_add_path(n, "d", 0644, "/nonexistent", &e), -ENOENT);
	assert_string_equal(e.text, "/nonexistent: No such file or directory");
	assert_int_equal(newc_add_path(n, "d", 0644, "/tmp", &e), -EINVAL);
	assert_string_equal(e.text, "/tmp: not a regular file");
}

static void cpio_unpacks_what_was_written(void **state)
{
	_cleanup_(newc_destroy_p) struct newc *n = archive();
	_cleanup_free_ char *data = NULL;
	_cleanup_free_ char *listing = NULL;
	struct err e = ERR_INIT;
	char command[512];
	struct stat st;
	char path[64];
	int fd;

	if (system("command -v cpio >/dev/null 2>&1") != 0) {
		print_message("skipped: cpio is not installed\n");
		skip();
	}
	assert_int_equal(newc_add_dir(n, "d", 0750, &e), 0);
	assert_int_equal(newc_add_data(n, "d/e/seven", 0640, "1234567", 7, &e), 0);
	assert_int_equal(newc_add_data(n, "d/nothing", 0600, "", 0, &e), 0);
	assert_int_equal(newc_add_symlink(n, "d/link", "e/seven", &e), 0);
	assert_int_equal(newc_add_trailer(n, &e), 0);
	data = bytes_of(n);
	snprintf(path, sizeof(path), "%s/archive", scratch);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_int_equal(io_write_all(fd, data, newc_bytes(n)), 0);
	close(fd);

	snprintf(command, sizeof(command),
		 "cd %s && cpio -it <archive >list 2>err && mkdir x && cd x && "
		 "cpio -i --no-preserve-owner <../archive 2>>../err && test ! -s ../err || "
		 "{ grep -v ' block' ../err; test $? = 1; }",
		 scratch);
	assert_int_equal(system(command), 0);
	assert_int_equal(io_read_file(scratch_path("list"), 4096, &listing, NULL, &e), 0);
	assert_string_equal(listing, "d\nd/e\nd/e/seven\nd/nothing\nd/link\n");
	free(TAKE_PTR(listing));
	assert_int_equal(io_read_file(scratch_path("x/d/link"), 4096, &listing, NULL, &e), 0);
	assert_string_equal(listing, "1234567");
	assert_int_equal(stat(scratch_path("x/d/e/seven"), &st), 0);
	assert_int_equal(st.st_mode, S_IFREG | 0640);
	assert_int_equal(stat(scratch_path("x/d"), &st), 0);
	assert_int_equal(st.st_mode, S_IFDIR | 0750);
	assert_int_equal(stat(scratch_path("x/d/nothing"), &st), 0);
	assert_int_equal(st.st_size, 0);
}

static int make_scratch(void **state)
{
	return mkdtemp(scratch) ? 0 : -1;
}

static int remove_scratch(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", scratch);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_small_archive_is_exactly_these_bytes),
		cmocka_unit_test(a_file_of_the_host_gives_the_same_bytes_as_a_buffer),
		cmocka_unit_test(another_archive_follows_on_a_boundary_of_four),
		cmocka_unit_test(a_file_that_shrinks_meanwhile_is_an_error),
		cmocka_unit_test(names_that_cannot_be_are_refused),
		cmocka_unit_test(a_name_twice_and_a_file_as_parent_are_refused),
		cmocka_unit_test(cpio_unpacks_what_was_written),
	};

	return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
