/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <fcntl.h>

#include "elf_builder.h"
#include "loader/symbols.h"

static void builder(struct elf_builder *b)
{
	const struct elf_builder_sym syms[] = {
		{"later", ELF_BUILDER_TEXT_VADDR + 0x100, STT_FUNC},
		{"label", ELF_BUILDER_TEXT_VADDR + 0x40, STT_NOTYPE},
		{"func", ELF_BUILDER_TEXT_VADDR + 0x40, STT_FUNC},
		{"data", ELF_BUILDER_TEXT_VADDR + 0x50, STT_OBJECT},
		{"percpu", 0, STT_NOTYPE},
		{"_text", ELF_BUILDER_TEXT_VADDR, STT_NOTYPE},
	};

	elf_builder_init(b);
	for (size_t i = 0; i < ARRAY_SIZE(syms); i++) {
		b->syms[b->sym_count++] = syms[i];
	}
}

static void expect(struct symbols *s, uint64_t addr, const char *want, uint64_t want_offset)
{
	const char *name;
	uint64_t offset;

	assert_int_equal(symbols_find(s, addr, &name, &offset), 0);
	assert_string_equal(name, want);
	assert_int_equal(offset, want_offset);
}

static void an_address_is_named_by_the_function_it_is_in(void **state)
{
	struct symbols *s;
	struct elf_builder b;
	const char *name;
	uint64_t offset;
	int fd;

	builder(&b);
	fd = elf_builder_fd(&b);
	assert_int_equal(symbols_open(fd, &s), 0);
	close(fd); /* it has its own */
	expect(s, ELF_BUILDER_TEXT_VADDR, "_text", 0);
	expect(s, ELF_BUILDER_TEXT_VADDR + 0x3f, "_text", 0x3f);
	expect(s, ELF_BUILDER_TEXT_VADDR + 0x40, "func", 0);
	expect(s, ELF_BUILDER_TEXT_VADDR + 0x5f, "func", 0x1f);
	expect(s, ELF_BUILDER_TEXT_VADDR + 0x101, "later", 1);
	/* Physical addresses, as before the kernel's own paging. */
	expect(s, ELF_BUILDER_TEXT_GPA + 0x44, "func", 4);
	/* User space, and past the image. */
	assert_int_equal(symbols_find(s, 0x401000, &name, &offset), -ENOENT);
	assert_int_equal(symbols_find(s, ELF_BUILDER_TEXT_VADDR + 0x900000, &name, &offset),
			 -ENOENT);
	assert_int_equal(symbols_find(s, UINT64_MAX, &name, &offset), -ENOENT);
	symbols_close(s);
}

static void a_file_without_symbols_names_nothing(void **state)
{
	struct symbols *s;
	struct elf_builder b;
	const char *name;
	uint64_t offset;
	int fd;

	elf_builder_init(&b);
	fd = elf_builder_fd(&b);
	assert_int_equal(symbols_open(fd, &s), 0);
	assert_int_equal(symbols_find(s, ELF_BUILDER_TEXT_VADDR, &name, &offset), -ENOENT);
	symbols_close(s);
	close(fd);
	fd = memfd_of("not an ELF file at all", 22);
	assert_int_equal(symbols_open(fd, &s), 0);
	assert_int_equal(symbols_find(s, 0, &name, &offset), -ENOENT);
	symbols_close(s);
	close(fd);
	assert_int_equal(symbols_open(-1, &s), -EBADF);
	symbols_close(NULL);
}

static void spoilt_tables_are_survived(void **state)
{
	struct elf_builder b;
	off_t size;
	int good;

	builder(&b);
	good = elf_builder_fd(&b);
	size = lseek(good, 0, SEEK_END);
	/* The section headers are last in the file: each byte of them spoilt in turn. */
	for (off_t at = size - 4 * (off_t)sizeof(Elf64_Shdr); at < size; at++) {
		const char *name;
		struct symbols *s;
		uint64_t offset;
		uint8_t byte;
		uint8_t bad;

		assert_int_equal(pread(good, &byte, 1, at), 1);
		bad = byte ^ 0xff;
		assert_int_equal(pwrite(good, &bad, 1, at), 1);
		assert_int_equal(symbols_open(good, &s), 0);
		if (symbols_find(s, ELF_BUILDER_TEXT_VADDR + 0x44, &name, &offset) == 0) {
			assert_non_null(name);
		}
		symbols_close(s);
		assert_int_equal(pwrite(good, &byte, 1, at), 1);
	}
	close(good);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_is_named_by_the_function_it_is_in),
		cmocka_unit_test(a_file_without_symbols_names_nothing),
		cmocka_unit_test(spoilt_tables_are_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
