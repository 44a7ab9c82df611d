/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include "temp_file.h"

#include <errno.h>
#include <sys/stat.h>

#include "devices/virtio/disk.h"

#define S       DISK_SECTOR_BYTES
#define SECTORS 64
#define IMAGE   (SECTORS * S)

static struct temp_file file;
static struct disk disk;

static int setup(void **state)
{
	uint8_t sector[S];

	temp_file_init(&file, IMAGE);
	for (int i = 0; i < SECTORS; i++) {
		memset(sector, i, S);
		assert_int_equal(pwrite(file.fd, sector, S, i * S), S);
	}
	disk = (struct disk){.fd = -1};
	return 0;
}

static int teardown(void **state)
{
	disk_close(&disk);
	temp_file_fini(&file);
	return 0;
}

static int open_as(struct disk *d, bool read_only, bool direct, char *text)
{
	const struct disk_config cfg = {
		.path = file.path, .read_only = read_only, .direct = direct};
	struct err e = ERR_INIT;
	int r = disk_open(d, &cfg, &e);

	if (text) {
		strcpy(text, e.text);
	}
	return r;
}

static void assert_image(uint64_t offset, uint8_t byte, size_t bytes)
{
	uint8_t found;

	for (size_t i = 0; i < bytes; i++) {
		assert_int_equal(pread(file.fd, &found, 1, (off_t)(offset + i)), 1);
		assert_int_equal(found, byte);
	}
}

static void sectors_are_read_and_written_in_pieces(void **state)
{
	uint8_t a[S / 2], b[S], c[S / 2 + S];
	struct iovec in[] = {{a, sizeof(a)}, {b, sizeof(b)}, {c, sizeof(c)}};
	struct iovec out[] = {{b, 100}, {c, 412}};
	struct iovec none;

	assert_int_equal(open_as(&disk, false, false, NULL), 0);
	assert_int_equal(disk.sectors, SECTORS);
	assert_int_equal(disk.tail_bytes, 0);
	assert_int_equal(disk_read(&disk, 5, in, 3), 0);
	assert_int_equal(a[0], 5);
	assert_int_equal(b[S / 2 - 1], 5);
	assert_int_equal(b[S / 2], 6);
	assert_int_equal(c[sizeof(c) - 1], 7);
	memset(b, 0xbb, sizeof(b));
	memset(c, 0xcc, sizeof(c));
	assert_int_equal(disk_write(&disk, 63, out, 2), 0);
	assert_image(62 * S, 62, S);
	assert_image(63 * S, 0xbb, 100);
	assert_image(63 * S + 100, 0xcc, 412);
	assert_int_equal(disk_flush(&disk), 0);
	assert_int_equal(disk_read(&disk, SECTORS, &none, 0), 0);
}

static void nothing_is_read_or_written_past_the_end_or_in_part(void **state)
{
	static const struct {
		uint64_t sector;
		size_t bytes;
		int result;
	} rows[] = {
		{SECTORS - 1, S, 0},
		{SECTORS - 1, 2 * S, -ENOSPC},
		{SECTORS, S, -ENOSPC},
		{SECTORS + 1, 0, -ENOSPC},
		{UINT64_MAX, S, -ENOSPC},
		{UINT64_MAX / S + 1, S, -ENOSPC}, /* would wrap to 0 in bytes */
		{0, S - 1, -EINVAL},
		{0, 1, -EINVAL},
	};
	uint8_t buf[2 * S];
	struct stat st;

	assert_int_equal(open_as(&disk, false, false, NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		for (int write = 0; write < 2; write++) {
			struct iovec iov = {buf, rows[i].bytes};
			int r = write ? disk_write(&disk, rows[i].sector, &iov, 1)
				      : disk_read(&disk, rows[i].sector, &iov, 1);

			assert_int_equal(r, rows[i].result);
		}
	}
	assert_int_equal(disk_discard(&disk, SECTORS - 1, 2), -ENOSPC);
	assert_int_equal(disk_zero(&disk, UINT64_MAX, 1, false), -ENOSPC);
	assert_int_equal(fstat(file.fd, &st), 0);
	assert_int_equal(st.st_size, IMAGE);
}

static void a_read_only_disk_is_not_written_but_may_be_flushed(void **state)
{
	uint8_t buf[S] = {0xee};
	struct iovec iov = {buf, S};

	assert_int_equal(open_as(&disk, true, false, NULL), 0);
	assert_int_equal(disk_write(&disk, 1, &iov, 1), -EROFS);
	assert_int_equal(disk_discard(&disk, 1, 1), -EROFS);
	assert_int_equal(disk_zero(&disk, 1, 1, true), -EROFS);
	assert_int_equal(disk_flush(&disk), 0);
	assert_image(S, 1, S);
}

static void a_tail_of_less_than_a_sector_is_told_and_not_served(void **state)
{
	uint8_t buf[S];
	struct iovec iov = {buf, S};

	assert_int_equal(ftruncate(file.fd, IMAGE + 100), 0);
	assert_int_equal(open_as(&disk, false, false, NULL), 0);
	assert_int_equal(disk.sectors, SECTORS);
	assert_int_equal(disk.tail_bytes, 100);
	assert_int_equal(disk_read(&disk, SECTORS, &iov, 1), -ENOSPC);
}

static void a_file_that_shrinks_under_us_is_an_error_and_no_loop(void **state)
{
	uint8_t buf[S];
	struct iovec iov = {buf, S};

	assert_int_equal(open_as(&disk, false, false, NULL), 0);
	assert_int_equal(ftruncate(file.fd, S), 0);
	assert_int_equal(disk_read(&disk, 8, &iov, 1), -EIO);
}

static void zeroes_and_discards_change_their_sectors_alone(void **state)
{
	assert_int_equal(open_as(&disk, false, false, NULL), 0);
	assert_int_equal(disk_zero(&disk, 3, 2, false), 0);
	assert_int_equal(disk_zero(&disk, 10, 1, true), 0);
	assert_int_equal(disk_discard(&disk, 20, 0), 0);
	assert_int_equal(disk_discard(&disk, 24, 8), 0);
	assert_image(2 * S, 2, S);
	assert_image(3 * S, 0, 2 * S);
	assert_image(5 * S, 5, S);
	assert_image(10 * S, 0, S);
	assert_image(11 * S, 11, S);
	assert_image(20 * S, 20, S);
	assert_image(23 * S, 23, S);
	assert_image(32 * S, 32, S);
}

static void an_image_in_use_is_refused_by_name(void **state)
{
	static const struct {
		bool first_ro, second_ro;
		int result;
	} rows[] = {
		{false, false, -EBUSY},
		{false, true, -EBUSY},
		{true, false, -EBUSY},
		{true, true, 0},
	};
	struct disk other;
	char text[ERR_TEXT_MAX], expected[ERR_TEXT_MAX];

	snprintf(expected, sizeof(expected), "disk %s: in use by another machine", file.path);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(open_as(&disk, rows[i].first_ro, false, NULL), 0);
		assert_int_equal(open_as(&other, rows[i].second_ro, false, text), rows[i].result);
		if (rows[i].result < 0) {
			assert_string_equal(text, expected);
			assert_int_equal(other.fd, -1);
		}
		disk_close(&other);
		disk_close(&disk);
	}
	/* And free again. */
	assert_int_equal(open_as(&disk, false, false, NULL), 0);
}

static void what_is_no_disk_is_refused_by_name(void **state)
{
	static const struct {
		const char *path, *text;
		int result;
	} rows[] = {
		{"/nowhere/disk", "disk /nowhere/disk: No such file or directory", -ENOENT},
		{"/dev/null", "disk /dev/null: neither a file nor a block device", -EINVAL},
		{"/", "disk /: neither a file nor a block device", -EINVAL},
		{"/proc/version", "disk /proc/version: 0 bytes are less than one sector", -EINVAL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct disk_config cfg = {.path = rows[i].path, .read_only = true};
		struct err e = ERR_INIT;

		assert_int_equal(disk_open(&disk, &cfg, &e), rows[i].result);
		assert_string_equal(e.text, rows[i].text);
		assert_int_equal(disk.fd, -1);
	}
}

/* Buffers at every odd place, through the one that is aligned. */
static void direct_io_serves_buffers_of_any_alignment(void **state)
{
	static uint8_t buf[IMAGE + 64];
	char text[ERR_TEXT_MAX];
	struct iovec iov[2];
	int r = open_as(&disk, false, true, text);

	if (r == -EINVAL && strstr(text, "Invalid argument")) {
		print_message("skipped: no direct I/O on this file system\n");
		skip();
	}
	assert_int_equal(r, 0);
	assert_int_equal(disk.align, DISK_ALIGN_MAX);
	iov[0] = (struct iovec){buf + 1, 3 * S};
	iov[1] = (struct iovec){buf + 1 + 3 * S, 2 * S};
	assert_int_equal(disk_read(&disk, 7, iov, 2), 0);
	for (unsigned int i = 0; i < 5 * S; i++) {
		assert_int_equal(buf[1 + i], 7 + i / S);
	}
	memset(buf, 0xdd, sizeof(buf));
	iov[0] = (struct iovec){buf + 3, 100};
	iov[1] = (struct iovec){buf + 777, 3 * S - 100};
	assert_int_equal(disk_write(&disk, 30, iov, 2), 0);
	assert_image(29 * S, 29, S);
	assert_image(30 * S, 0xdd, 3 * S);
	assert_image(33 * S, 33, S);
	assert_int_equal(disk_zero(&disk, 40, 1, false), 0);
	assert_image(39 * S, 39, S);
	assert_image(40 * S, 0, S);
	assert_image(41 * S, 41, S);
	iov[0] = (struct iovec){buf + 5, IMAGE};
	assert_int_equal(disk_read(&disk, 0, iov, 1), 0);
	assert_int_equal(buf[5 + IMAGE - 1], SECTORS - 1);
}

static void direct_io_wants_a_size_of_whole_blocks(void **state)
{
	char text[ERR_TEXT_MAX];
	int r;

	assert_int_equal(ftruncate(file.fd, IMAGE - S), 0);
	r = open_as(&disk, false, true, text);
	if (r == -EINVAL && strstr(text, "Invalid argument")) {
		print_message("skipped: no direct I/O on this file system\n");
		skip();
	}
	assert_int_equal(r, -EINVAL);
	assert_non_null(strstr(text, "a multiple of 4096 bytes"));
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(sectors_are_read_and_written_in_pieces),
		T(nothing_is_read_or_written_past_the_end_or_in_part),
		T(a_read_only_disk_is_not_written_but_may_be_flushed),
		T(a_tail_of_less_than_a_sector_is_told_and_not_served),
		T(a_file_that_shrinks_under_us_is_an_error_and_no_loop),
		T(zeroes_and_discards_change_their_sectors_alone),
		T(an_image_in_use_is_refused_by_name),
		T(what_is_no_disk_is_refused_by_name),
		T(direct_io_serves_buffers_of_any_alignment),
		T(direct_io_wants_a_size_of_whole_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
