/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <string.h>

#include "elf_builder.h"
#include "loader/loader.h"

static int probe(const struct elf_builder *b, struct load_image *img, struct err *e)
{
	int fd = elf_builder_fd(b);
	int r = load_image_probe(fd, img, e);

	if (r < 0) {
		close(fd);
	}
	return r;
}

static void refused(const struct elf_builder *b, const char *text)
{
	struct load_image img;
	struct err e = ERR_INIT;

	assert_int_equal(probe(b, &img, &e), -ENOEXEC);
	assert_string_equal(e.text, text);
}

static void a_good_elf_says_where_it_goes_and_where_it_starts(void **state)
{
	struct load_image img;
	struct err e = ERR_INIT;
	struct elf_builder b;

	elf_builder_init(&b);
	assert_int_equal(probe(&b, &img, &e), 0);
	assert_int_equal(img.format, LOAD_FORMAT_ELF);
	assert_int_equal(img.entry, ELF_BUILDER_TEXT_GPA + 0x10);
	assert_int_equal(img.start, ELF_BUILDER_TEXT_GPA);
	assert_int_equal(img.end, ELF_BUILDER_END);
	assert_int_equal(img.segment_count, 2);
	assert_int_equal(img.segments[1].gpa, ELF_BUILDER_DATA_GPA);
	assert_int_equal(img.segments[1].mem_bytes, 0x5000);
	assert_int_equal(img.segments[1].file_offset, 0x3000);
	assert_int_equal(img.segments[1].file_bytes, 0x1800);
	assert_int_equal(img.header.boot_flag, 0xaa55);
	assert_string_equal(img.what, "an ELF64 executable");
	assert_string_equal(img.build_id, "");
	load_image_close(&img);
}

static void unsorted_segments_are_fine_and_the_highest_end_counts(void **state)
{
	struct load_image img;
	struct err e = ERR_INIT;
	struct elf_builder b;
	Elf64_Phdr first;

	elf_builder_init(&b);
	first = b.ph[0];
	b.ph[0] = b.ph[1];
	b.ph[1] = first;
	assert_int_equal(probe(&b, &img, &e), 0);
	assert_int_equal(img.segments[0].gpa, ELF_BUILDER_TEXT_GPA);
	assert_int_equal(img.start, ELF_BUILDER_TEXT_GPA);
	assert_int_equal(img.end, ELF_BUILDER_END);
	load_image_close(&img);
}

static void a_virtual_entry_within_a_segment_is_made_physical(void **state)
{
	struct load_image img;
	struct err e = ERR_INIT;
	struct elf_builder b;

	elf_builder_init(&b);
	b.eh.e_entry = ELF_BUILDER_TEXT_VADDR + 0x200020;
	assert_int_equal(probe(&b, &img, &e), 0);
	assert_int_equal(img.entry, ELF_BUILDER_DATA_GPA + 0x20);
	load_image_close(&img);
}

static void a_firmware_payload_at_one_megabyte_is_loaded_and_below_is_refused(void **state)
{
	struct load_image img;
	struct err e = ERR_INIT;
	struct elf_builder b;

	elf_builder_init(&b);
	b.eh.e_phnum = 1;
	b.ph[0].p_vaddr = b.ph[0].p_paddr = 0x100000;
	b.eh.e_entry = 0x100000;
	assert_int_equal(probe(&b, &img, &e), 0);
	assert_int_equal(img.entry, 0x100000);
	load_image_close(&img);
	b.ph[0].p_paddr = 0xff000;
	refused(&b,
		"ELF: program header 0: p_paddr 0xff000 is below 0x100000, where the boot data goes");
}

static void elf_of_another_class_byte_order_machine_or_type_is_refused(void **state)
{
	struct elf_builder b;

	elf_builder_init(&b);
	b.eh.e_ident[EI_CLASS] = ELFCLASS32;
	refused(&b, "ELF: EI_CLASS is 1 (32-bit), expected 2 (64-bit)");
	elf_builder_init(&b);
	b.eh.e_ident[EI_CLASS] = 7;
	refused(&b, "ELF: EI_CLASS is 7, expected 2 (64-bit)");
	elf_builder_init(&b);
	b.eh.e_ident[EI_DATA] = ELFDATA2MSB;
	refused(&b, "ELF: EI_DATA is 2 (big-endian), expected 1 (little-endian)");
	elf_builder_init(&b);
	b.eh.e_machine = EM_AARCH64;
	refused(&b, "ELF: e_machine is 183, expected 62 (x86-64)");
	elf_builder_init(&b);
	b.eh.e_type = ET_REL;
	refused(&b, "ELF: e_type is 1 (a relocatable object), expected 2 (an executable)");
	b.eh.e_type = ET_DYN;
	refused(&b, "ELF: e_type is 3 (a shared object), expected 2 (an executable)");
	b.eh.e_type = 0xfe00;
	refused(&b, "ELF: e_type is 65024 (unknown), expected 2 (an executable)");
}

static void elf_with_wrong_phentsize_is_refused(void **state)
{
	struct elf_builder b;

	elf_builder_init(&b);
	b.eh.e_phentsize = 55;
	refused(&b, "ELF: e_phentsize is 55, expected 56");
	b.eh.e_phentsize = 0;
	refused(&b, "ELF: e_phentsize is 0, expected 56");
}

static void elf_with_program_headers_past_the_file_is_refused(void **state)
{
	struct elf_builder b;

	elf_builder_init(&b);
	b.eh.e_phoff = 0x4fa0;
	refused(&b, "ELF: e_phoff 0x4fa0 + e_phnum 2 * 56 is past the file's end at 0x5000");
	b.eh.e_phoff = UINT64_MAX - 0x10;
	refused(&b,
		"ELF: e_phoff 0xffffffffffffffef + e_phnum 2 * 56 is past the file's end at 0x5000");
	elf_builder_init(&b);
	b.file_bytes = 0x100;
	b.eh.e_phnum = 9;
	refused(&b, "ELF: e_phoff 0x40 + e_phnum 9 * 56 is past the file's end at 0x100");
}

static void the_number_of_program_headers_has_a_limit(void **state)
{
	struct load_image img;
	struct err e = ERR_INIT;
	struct elf_builder b;

	elf_builder_init(&b);
	b.eh.e_phoff = 0x40;
	b.ph_count = LOAD_PHDRS_MAX;
	b.eh.e_phnum = LOAD_PHDRS_MAX;
	b.ph[0].p_offset = b.ph[1].p_offset = 0;
	b.file_bytes = 0x3000;
	assert_int_equal(probe(&b, &img, &e), 0);
	load_image_close(&img);
	b.eh.e_phnum = LOAD_PHDRS_MAX + 1;
	refused(&b, "ELF: e_phnum is 129, accepted are at most 128");
	b.eh.e_phnum = 0xffff;
	refused(&b, "ELF: e_phnum is 65535, accepted are at most 128");
}

static void the_number_of_segments_has_a_limit(void **state)
{
	struct load_image img;
	struct err e = ERR_INIT;
	struct elf_builder b;

	elf_builder_init(&b);
	b.file_bytes = 0x8000;
	for (unsigned int i = 0; i <= LOAD_SEGMENTS_MAX; i++) {
		b.ph[i] = b.ph[0];
		/* Downwards, so that each goes before all others. */
		b.ph[i].p_paddr = ELF_BUILDER_TEXT_GPA + (LOAD_SEGMENTS_MAX - i) * 0x2000;
	}
	b.ph_count = LOAD_SEGMENTS_MAX + 1;
	b.eh.e_phnum = LOAD_SEGMENTS_MAX;
	b.eh.e_entry = ELF_BUILDER_TEXT_GPA + 0x2000;
	assert_int_equal(probe(&b, &img, &e), 0);
	assert_int_equal(img.segment_count, LOAD_SEGMENTS_MAX);
	for (unsigned int i = 0; i < LOAD_SEGMENTS_MAX; i++) {
		assert_int_equal(img.segments[i].gpa, ELF_BUILDER_TEXT_GPA + (i + 1) * 0x2000);
	}
	load_image_close(&img);
	b.eh.e_phnum = LOAD_SEGMENTS_MAX + 1;
	refused(&b, "ELF: more than 32 PT_LOAD");
}

static void elf_without_a_segment_is_refused(void **state)
{
	struct elf_builder b;

	elf_builder_init(&b);
	b.eh.e_phnum = 0;
	refused(&b, "ELF: none of the 0 program headers is a PT_LOAD with anything in it");
	elf_builder_init(&b);
	b.ph[0].p_type = PT_NULL;
	b.ph[1].p_memsz = b.ph[1].p_filesz = 0;
	refused(&b, "ELF: none of the 2 program headers is a PT_LOAD with anything in it");
}

static void elf_with_more_bytes_in_the_file_than_in_memory_is_refused(void **state)
{
	struct elf_builder b;

	elf_builder_init(&b);
	b.ph[1].p_memsz = 0x17ff;
	refused(&b, "ELF: program header 1: p_filesz 0x1800 is more than p_memsz 0x17ff");
}

static void elf_with_a_segment_past_the_file_is_refused(void **state)
{
	struct elf_builder b;

	elf_builder_init(&b);
	b.ph[1].p_offset = 0x4000;
	refused(&b,
		"ELF: program header 1: p_offset 0x4000 + p_filesz 0x1800 is past the file's end at 0x5000");
	b.ph[1].p_offset = UINT64_MAX - 0x100;
	refused(&b,
		"ELF: program header 1: p_offset 0xfffffffffffffeff + p_filesz 0x1800 is past the file's end at 0x5000");
}

static void elf_with_a_segment_past_the_address_space_is_refused(void **state)
{
	struct elf_builder b;

	elf_builder_init(&b);
	b.ph[1].p_paddr = UINT64_MAX - 0x1000;
	refused(&b,
		"ELF: program header 1: p_paddr 0xffffffffffffefff + p_memsz 0x5000 is past the end of the address space");
}

static void elf_with_overlapping_segments_is_refused(void **state)
{
	struct elf_builder b;

	elf_builder_init(&b);
	b.ph[1].p_paddr = ELF_BUILDER_TEXT_GPA + 0x1fff;
	refused(&b, "ELF: two PT_LOAD overlap: 0x1000000-0x1002000 and 0x1001fff-0x1006fff");
	b.ph[1].p_paddr = ELF_BUILDER_TEXT_GPA;
	refused(&b, "ELF: two PT_LOAD overlap: 0x1000000-0x1002000 and 0x1000000-0x1005000");
}

static void elf_with_an_entry_outside_every_segment_is_refused(void **state)
{
	struct elf_builder b;

	elf_builder_init(&b);
	b.eh.e_entry = ELF_BUILDER_TEXT_GPA + 0x2000;
	refused(&b, "ELF: e_entry 0x1002000 is in no PT_LOAD; they are within 0x1000000-0x1205000");
	b.eh.e_entry = 0;
	refused(&b, "ELF: e_entry 0x0 is in no PT_LOAD; they are within 0x1000000-0x1205000");
}

static void a_truncated_elf_header_is_refused(void **state)
{
	struct load_image img;
	struct err e = ERR_INIT;
	struct elf_builder b;
	int fd;

	elf_builder_init(&b);
	fd = memfd_of(&b.eh, 8);
	assert_int_equal(load_image_probe(fd, &img, &e), -ENOEXEC);
	assert_string_equal(e.text, "ELF: the file has 8 bytes, its header 64");
	close(fd);
	fd = memfd_of(&b.eh, 63);
	assert_int_equal(load_image_probe(fd, &img, &e), -ENOEXEC);
	assert_string_equal(e.text, "ELF: the file has 63 bytes, its header 64");
	close(fd);
}

static void the_build_id_is_found_among_notes_and_spoilt_notes_do_no_harm(void **state)
{
	/* "Xen" with 4 padded bytes, then "GNU" type 3. */
	uint8_t notes[] = {4, 0, 0, 0, 2, 0, 0, 0, 18, 0, 0, 0, 'X', 'e', 'n', 0, 1,    2, 0,   0,
			   4, 0, 0, 0, 3, 0, 0, 0, 3,  0, 0, 0, 'G', 'N', 'U', 0, 0xab, 1, 0xff};
	struct load_image img;
	struct err e = ERR_INIT;
	struct elf_builder b;

	elf_builder_init(&b);
	b.ph[2] = (Elf64_Phdr){.p_type = PT_NOTE, .p_offset = 0x4900, .p_filesz = sizeof(notes)};
	b.ph_count = b.eh.e_phnum = 3;
	b.bytes = notes;
	b.bytes_at = 0x4900;
	b.bytes_len = sizeof(notes);
	assert_int_equal(probe(&b, &img, &e), 0);
	assert_string_equal(img.build_id, "ab01ff");
	load_image_close(&img);
	/* Every single bit flipped: never more than a missing build id. */
	for (size_t i = 0; i < 8 * sizeof(notes); i++) {
		notes[i / 8] ^= (uint8_t)(1 << (i % 8));
		assert_int_equal(probe(&b, &img, &e), 0);
		load_image_close(&img);
		notes[i / 8] ^= (uint8_t)(1 << (i % 8));
	}
	b.ph[2].p_offset = UINT64_MAX - 3;
	assert_int_equal(probe(&b, &img, &e), 0);
	assert_string_equal(img.build_id, "");
	load_image_close(&img);
	b.ph[2].p_filesz = UINT64_MAX;
	assert_int_equal(probe(&b, &img, &e), 0);
	load_image_close(&img);
}

static void any_single_spoilt_byte_of_the_headers_is_survived(void **state)
{
	struct elf_builder b;

	for (size_t i = SELFMAG; i < sizeof(b.eh) + 2 * sizeof(b.ph[0]); i++) {
		struct load_image img;
		struct err e = ERR_INIT;
		int fd;

		elf_builder_init(&b);
		((uint8_t *)&b)[i] ^= 0xff;
		fd = elf_builder_fd(&b);
		if (load_image_probe(fd, &img, &e) < 0) {
			assert_true(e.text[0] != '\0');
		} else {
			assert_true(img.entry >= LOAD_KERNEL_GPA_MIN && img.end > img.start);
		}
		close(fd);
	}
}

static void the_version_is_read_from_the_banner(void **state)
{
	char version[LOAD_VERSION_MAX];
	struct load_image img;
	struct err e = ERR_INIT;
	struct elf_builder b;
	char *rodata;

	elf_builder_init(&b);
	b.rodata = "%s version %s\nLinux version 6.12.34-x (a@b) (gcc) #1 SMP\n";
	assert_int_equal(probe(&b, &img, &e), 0);
	assert_int_equal(load_image_version(&img, version), 0);
	assert_string_equal(version, "6.12.34-x");
	load_image_close(&img);
	/* Across any border of the pieces that are searched. */
	for (size_t at = 65536 - 150; at < 65536 + 20; at += 7) {
		rodata = malloc(at + 200);
		memset(rodata, '.', at);
		strcpy(rodata + at, "Linux version 6.12.99-border #1");
		b.rodata = rodata;
		assert_int_equal(probe(&b, &img, &e), 0);
		assert_int_equal(load_image_version(&img, version), 0);
		assert_string_equal(version, "6.12.99-border");
		load_image_close(&img);
		free(rodata);
	}
	b.rodata = "no banner";
	assert_int_equal(probe(&b, &img, &e), 0);
	assert_int_equal(load_image_version(&img, version), -ENOENT);
	load_image_close(&img);
	b.rodata = NULL;
	assert_int_equal(probe(&b, &img, &e), 0);
	assert_int_equal(load_image_version(&img, version), -ENOENT);
	load_image_close(&img);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_good_elf_says_where_it_goes_and_where_it_starts),
		cmocka_unit_test(unsorted_segments_are_fine_and_the_highest_end_counts),
		cmocka_unit_test(a_virtual_entry_within_a_segment_is_made_physical),
		cmocka_unit_test(a_firmware_payload_at_one_megabyte_is_loaded_and_below_is_refused),
		cmocka_unit_test(elf_of_another_class_byte_order_machine_or_type_is_refused),
		cmocka_unit_test(elf_with_wrong_phentsize_is_refused),
		cmocka_unit_test(elf_with_program_headers_past_the_file_is_refused),
		cmocka_unit_test(the_number_of_program_headers_has_a_limit),
		cmocka_unit_test(the_number_of_segments_has_a_limit),
		cmocka_unit_test(elf_without_a_segment_is_refused),
		cmocka_unit_test(elf_with_more_bytes_in_the_file_than_in_memory_is_refused),
		cmocka_unit_test(elf_with_a_segment_past_the_file_is_refused),
		cmocka_unit_test(elf_with_a_segment_past_the_address_space_is_refused),
		cmocka_unit_test(elf_with_overlapping_segments_is_refused),
		cmocka_unit_test(elf_with_an_entry_outside_every_segment_is_refused),
		cmocka_unit_test(a_truncated_elf_header_is_refused),
		cmocka_unit_test(the_build_id_is_found_among_notes_and_spoilt_notes_do_no_harm),
		cmocka_unit_test(any_single_spoilt_byte_of_the_headers_is_survived),
		cmocka_unit_test(the_version_is_read_from_the_banner),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
