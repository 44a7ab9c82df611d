/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "bzimage_builder.h"
#include "elf_builder.h"
#include "loader/loader.h"

#define ACCEPTED "accepted are an uncompressed ELF64 vmlinux and a bzImage, both for x86-64"

static void refused(const void *bytes, size_t at, size_t len, int code, const char *text)
{
	uint8_t file[4096] = {0};
	struct load_image img;
	struct err e = ERR_INIT;
	int fd;

	memcpy(file + at, bytes, len);
	fd = memfd_of(file, sizeof(file));
	assert_int_equal(load_image_probe(fd, &img, &e), code);
	assert_string_equal(e.text, text);
	close(fd);
}

static void a_file_of_another_kind_is_named_and_what_is_accepted_is_said(void **state)
{
	refused("MZ\x90\0", 0, 4, -ENOEXEC,
		"this is a PE program for DOS, Windows or EFI; " ACCEPTED);
	refused("ARM\x64", 0x38, 4, -ENOEXEC, "this is a Linux Image for arm64; " ACCEPTED);
	refused("\x18\x28\x6f\x01", 0x24, 4, -ENOEXEC,
		"this is a Linux zImage for 32-bit ARM; " ACCEPTED);
	refused("070701", 0, 6, -ENOEXEC,
		"this is a cpio archive, which would be an initrd; " ACCEPTED);
	refused("#!/bin/sh\n", 0, 10, -ENOEXEC, "this is a script; " ACCEPTED);
	refused("\x1f\x8b\x08", 0, 3, -ENOEXEC,
		"this is gzip data; unpack it first if there is a kernel in it (" ACCEPTED ")");
	refused("\x28\xb5\x2f\xfd", 0, 4, -ENOEXEC,
		"this is zstd data; unpack it first if there is a kernel in it (" ACCEPTED ")");
	refused("\xde\xad\xbe\xef", 0, 4, -ENOEXEC,
		"not a kernel: it begins with the bytes de ad be ef; " ACCEPTED);
}

static void a_malformed_file_gets_the_error_of_the_format_it_claims(void **state)
{
	/* An EFI stub begins like a PE program, and an ELF may hold anything at the other places.
	 */
	refused("\x7f"
		"ELF",
		0, 4, -ENOEXEC, "ELF: EI_CLASS is 0, expected 2 (64-bit)");
	refused("HdrS\x0f\x02", 0x202, 6, -ENOEXEC,
		"bzImage: boot_flag is 0x0000, expected 0xaa55");
	refused("\x55\xaa", 0x1fe, 2, -ENOEXEC,
		"boot sector without a Linux header: at 0x202 is 0x00000000, expected 0x53726448 "
		"(\"HdrS\"); a disk image is not a kernel");
}

static void a_very_short_file_is_no_kernel(void **state)
{
	struct load_image img;
	struct err e = ERR_INIT;
	int fd = memfd_of("x", 1);

	assert_int_equal(load_image_probe(fd, &img, &e), -ENOEXEC);
	assert_string_equal(e.text,
			    "not a kernel: it begins with the bytes 78 00 00 00; " ACCEPTED);
	close(fd);
}

static void what_is_no_regular_file_or_empty_or_not_there_is_refused(void **state)
{
	char dir[] = "/tmp/loader-test-XXXXXX";
	char path[64];
	char text[256];
	struct load_image img;
	struct load_part part;
	struct err e = ERR_INIT;

	assert_non_null(mkdtemp(dir));
	assert_int_equal(load_image_open(dir, &img, &e), -EINVAL);
	snprintf(text, sizeof(text), "kernel %s: this is a directory, expected a regular file",
		 dir);
	assert_string_equal(e.text, text);
	assert_int_equal(load_part_open(dir, &part, &e), -EINVAL);
	snprintf(text, sizeof(text), "initrd %s: this is a directory, expected a regular file",
		 dir);
	assert_string_equal(e.text, text);

	snprintf(path, sizeof(path), "%s/pipe", dir);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(load_image_open(path, &img, &e), -EINVAL); /* and does not wait */
	snprintf(text, sizeof(text), "kernel %s: this is a pipe, expected a regular file", path);
	assert_string_equal(e.text, text);
	unlink(path);

	snprintf(path, sizeof(path), "%s/empty", dir);
	close(open(path, O_CREAT | O_WRONLY, 0600));
	assert_int_equal(load_image_open(path, &img, &e), -EINVAL);
	snprintf(text, sizeof(text), "kernel %s: the file is empty", path);
	assert_string_equal(e.text, text);
	assert_int_equal(load_part_open(path, &part, &e), -EINVAL);
	snprintf(text, sizeof(text), "initrd %s: the file is empty", path);
	assert_string_equal(e.text, text);
	unlink(path);

	assert_int_equal(load_image_open(path, &img, &e), -ENOENT);
	snprintf(text, sizeof(text), "kernel %s: No such file or directory", path);
	assert_string_equal(e.text, text);
	assert_int_equal(load_image_open("/dev/null", &img, &e), -EINVAL);
	assert_string_equal(e.text, "kernel /dev/null: this is a device, expected a regular file");
	rmdir(dir);
}

static void an_unreadable_file_is_refused(void **state)
{
	char path[] = "/tmp/loader-test-XXXXXX";
	char text[256];
	struct load_image img;
	struct err e = ERR_INIT;
	int fd = mkstemp(path);
	int r;

	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(chmod(path, 0), 0);
	/* Root reads everything. */
	if (geteuid() == 0) {
		assert_int_equal(seteuid(65534), 0);
	}
	r = load_image_open(path, &img, &e);
	if (getuid() == 0) {
		assert_int_equal(seteuid(0), 0);
	}
	unlink(path);
	assert_int_equal(r, -EACCES);
	snprintf(text, sizeof(text), "kernel %s: Permission denied", path);
	assert_string_equal(e.text, text);
}

static void a_descriptor_that_cannot_be_read_is_an_error(void **state)
{
	struct load_image img;
	struct err e = ERR_INIT;

	assert_int_equal(load_image_probe(-1, &img, &e), -EBADF);
	assert_string_equal(e.text, "cannot be examined: Bad file descriptor");
}

static void a_failed_open_leaks_no_descriptor(void **state)
{
	char path[64];
	struct load_image img;
	struct err e = ERR_INIT;
	int fd = memfd_of("junk", 4);
	int next;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_int_equal(load_image_open(path, &img, &e), -ENOEXEC);
	next = dup(fd);
	assert_int_equal(next, fd + 1);
	close(next);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_of_another_kind_is_named_and_what_is_accepted_is_said),
		cmocka_unit_test(a_malformed_file_gets_the_error_of_the_format_it_claims),
		cmocka_unit_test(a_very_short_file_is_no_kernel),
		cmocka_unit_test(what_is_no_regular_file_or_empty_or_not_there_is_refused),
		cmocka_unit_test(an_unreadable_file_is_refused),
		cmocka_unit_test(a_descriptor_that_cannot_be_read_is_an_error),
		cmocka_unit_test(a_failed_open_leaks_no_descriptor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
