/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <string.h>

#include "bzimage_builder.h"
#include "loader/loader.h"

static int probe(const struct bzimage_builder *b, struct load_image *img, struct err *e)
{
	int fd = bzimage_builder_fd(b);
	int r = load_image_probe(fd, img, e);

	if (r < 0) {
		close(fd);
	}
	return r;
}

static void refused(const struct bzimage_builder *b, const char *text)
{
	struct load_image img;
	struct err e = ERR_INIT;

	assert_int_equal(probe(b, &img, &e), -ENOEXEC);
	assert_string_equal(e.text, text);
}

static void a_good_bzimage_starts_at_its_64_bit_entry(void **state)
{
	char version[LOAD_VERSION_MAX];
	struct load_image img;
	struct err e = ERR_INIT;
	struct bzimage_builder b;

	bzimage_builder_init(&b);
	assert_int_equal(probe(&b, &img, &e), 0);
	assert_int_equal(img.format, LOAD_FORMAT_BZIMAGE);
	assert_string_equal(img.what, "a bzImage, protocol 2.15, zstd payload");
	assert_int_equal(img.entry, BZIMAGE_BUILDER_PREF + 0x200);
	assert_int_equal(img.start, BZIMAGE_BUILDER_PREF);
	assert_int_equal(img.end, BZIMAGE_BUILDER_PREF + BZIMAGE_BUILDER_INIT_SIZE);
	assert_int_equal(img.segment_count, 1);
	assert_int_equal(img.segments[0].file_offset, BZIMAGE_BUILDER_SETUP_BYTES);
	assert_int_equal(img.segments[0].file_bytes, BZIMAGE_BUILDER_CODE_BYTES);
	assert_int_equal(img.segments[0].mem_bytes, BZIMAGE_BUILDER_INIT_SIZE);
	assert_int_equal(img.header.initrd_addr_max, 0x7fffffff);
	assert_int_equal(load_image_version(&img, version), 0);
	assert_string_equal(version, BZIMAGE_BUILDER_VERSION);
	load_image_close(&img);
}

static void the_payload_is_named_by_its_magic(void **state)
{
	static const struct {
		const char *magic;
		const char *what;
	} rows[] = {
		{"\x1f\x8b\x08\0\0\0", "a bzImage, protocol 2.15, gzip payload"},
		{"\xfd"
		 "7zXZ\0",
		 "a bzImage, protocol 2.15, xz payload"},
		{"BZh91A", "a bzImage, protocol 2.15, bzip2 payload"},
		{"\x02\x21\x4c\x18\0\0", "a bzImage, protocol 2.15, lz4 payload"},
		{"\x5d\0\0\0\0\0", "a bzImage, protocol 2.15, lzma payload"},
		{"\x89LZO\0\r", "a bzImage, protocol 2.15, lzo payload"},
		{"\x7f"
		 "ELF\2\1",
		 "a bzImage, protocol 2.15, uncompressed payload"},
		{"abcdef", "a bzImage, protocol 2.15, unknown payload"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct load_image img;
		struct err e = ERR_INIT;
		struct bzimage_builder b;

		bzimage_builder_init(&b);
		b.payload = rows[i].magic;
		assert_int_equal(probe(&b, &img, &e), 0);
		assert_string_equal(img.what, rows[i].what);
		load_image_close(&img);
	}
}

static void zero_setup_sectors_mean_four(void **state)
{
	struct load_image img;
	struct err e = ERR_INIT;
	struct bzimage_builder b;

	bzimage_builder_init(&b);
	b.header.setup_sects = 0;
	b.setup_bytes = 5 * 512;
	assert_int_equal(probe(&b, &img, &e), 0);
	assert_int_equal(img.segments[0].file_offset, 5 * 512);
	load_image_close(&img);
}

static void a_bad_magic_is_named(void **state)
{
	struct bzimage_builder b;

	bzimage_builder_init(&b);
	b.header.header = 0x12345678;
	refused(&b,
		"boot sector without a Linux header: at 0x202 is 0x12345678, expected 0x53726448 "
		"(\"HdrS\"); a disk image is not a kernel");
	bzimage_builder_init(&b);
	b.header.boot_flag = 0x55aa;
	refused(&b, "bzImage: boot_flag is 0x55aa, expected 0xaa55");
}

static void an_old_protocol_is_refused(void **state)
{
	struct bzimage_builder b;

	bzimage_builder_init(&b);
	b.header.version = 0x20b;
	refused(&b, "this is a bzImage, protocol 2.11; accepted is 2.12 or newer");
	b.header.version = 0x200;
	b.header_end = 0x10;
	refused(&b, "this is a bzImage, protocol 2.00; accepted is 2.12 or newer");
	bzimage_builder_init(&b);
	b.header.loadflags = 0;
	refused(&b, "this is a zImage (loadflags 0x00), expected a bzImage (bit 0 set)");
}

static void a_kernel_without_a_64_bit_entry_is_refused(void **state)
{
	struct bzimage_builder b;

	bzimage_builder_init(&b);
	b.header.xloadflags = 0x22;
	refused(&b, "this is a bzImage, protocol 2.15, zstd payload, without a 64-bit entry "
		    "(xloadflags 0x0022, bit 0 clear)");
}

static void sizes_past_the_files_end_are_refused(void **state)
{
	struct bzimage_builder b;

	bzimage_builder_init(&b);
	b.header.syssize++;
	refused(&b,
		"bzImage: setup 0x1000 (setup_sects 7) + syssize 0x4010 is past the file's end at 0x5000");
	b.header.syssize = UINT32_MAX;
	refused(&b,
		"bzImage: setup 0x1000 (setup_sects 7) + syssize 0xffffffff0 is past the file's end at 0x5000");
	bzimage_builder_init(&b);
	b.header.setup_sects = 64;
	refused(&b,
		"bzImage: setup 0x8200 (setup_sects 64) + syssize 0x4000 is past the file's end at 0x5000");
	bzimage_builder_init(&b);
	b.code_bytes = 0x2400; /* cut off in the payload */
	refused(&b,
		"bzImage: setup 0x1000 (setup_sects 7) + syssize 0x4000 is past the file's end at 0x3400");
	bzimage_builder_init(&b);
	b.header.syssize = 0x20;
	refused(&b, "bzImage: syssize 0x200 ends before the 64-bit entry at 0x200");
}

static void a_payload_that_is_not_all_there_is_refused(void **state)
{
	struct bzimage_builder b;

	bzimage_builder_init(&b);
	b.header.payload_length = 0x3c01;
	refused(&b, "bzImage: payload_offset 0x400 + payload_length 0x3c01 is past syssize 0x4000");
	b.header.payload_offset = UINT32_MAX;
	b.header.payload_length = UINT32_MAX;
	refused(&b,
		"bzImage: payload_offset 0xffffffff + payload_length 0xffffffff is past syssize 0x4000");
}

static void memory_needs_that_make_no_sense_are_refused(void **state)
{
	struct bzimage_builder b;

	bzimage_builder_init(&b);
	b.header.init_size = 0x3fff;
	refused(&b, "bzImage: init_size 0x3fff is less than syssize 0x4000");
	bzimage_builder_init(&b);
	b.header.pref_address = 0x90000;
	refused(&b,
		"bzImage: pref_address 0x90000 with init_size 0x100000 is not between 0x100000 and "
		"the end of the address space");
	b.header.pref_address = UINT64_MAX - 0xfffff;
	refused(&b,
		"bzImage: pref_address 0xfffffffffff00000 with init_size 0x100000 is not between "
		"0x100000 and the end of the address space");
}

static void a_bzimage_without_a_version_says_so(void **state)
{
	char version[LOAD_VERSION_MAX];
	struct load_image img;
	struct err e = ERR_INIT;
	struct bzimage_builder b;

	bzimage_builder_init(&b);
	b.header.kernel_version = 0;
	assert_int_equal(probe(&b, &img, &e), 0);
	assert_int_equal(load_image_version(&img, version), -ENOENT);
	load_image_close(&img);
	b.header.kernel_version = 0xffff;
	assert_int_equal(probe(&b, &img, &e), 0);
	assert_int_equal(load_image_version(&img, version), -ENOENT);
	load_image_close(&img);
}

static void any_single_spoilt_byte_of_the_header_is_survived(void **state)
{
	for (size_t i = 0; i < sizeof(struct setup_header); i++) {
		struct load_image img;
		struct err e = ERR_INIT;
		struct bzimage_builder b;
		int fd;

		bzimage_builder_init(&b);
		((uint8_t *)&b.header)[i] ^= 0xff;
		fd = bzimage_builder_fd(&b);
		if (load_image_probe(fd, &img, &e) < 0) {
			assert_true(e.text[0] != '\0');
		} else {
			assert_int_equal(img.end - img.start, img.segments[0].mem_bytes);
			assert_true(img.segments[0].file_bytes <= img.segments[0].mem_bytes);
		}
		close(fd);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_good_bzimage_starts_at_its_64_bit_entry),
		cmocka_unit_test(the_payload_is_named_by_its_magic),
		cmocka_unit_test(zero_setup_sectors_mean_four),
		cmocka_unit_test(a_bad_magic_is_named),
		cmocka_unit_test(an_old_protocol_is_refused),
		cmocka_unit_test(a_kernel_without_a_64_bit_entry_is_refused),
		cmocka_unit_test(sizes_past_the_files_end_are_refused),
		cmocka_unit_test(a_payload_that_is_not_all_there_is_refused),
		cmocka_unit_test(memory_needs_that_make_no_sense_are_refused),
		cmocka_unit_test(a_bzimage_without_a_version_says_so),
		cmocka_unit_test(any_single_spoilt_byte_of_the_header_is_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
