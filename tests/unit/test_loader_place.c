/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "bzimage_builder.h"
#include "elf_builder.h"
#include "loader/loader.h"

#define MEMORY (UINT64_C(64) << 20)

struct fixture {
	uint8_t *ram;
	struct gmem g;
	struct load_image img;
	struct gmem_region layout[GMEM_LAYOUT_REGIONS];
	struct load_request rq;
	struct load_plan plan;
	struct load_placed placed;
	struct err e;
};

static void setup(struct fixture *f, int kernel_fd)
{
	memset(f, 0, sizeof(*f));
	f->ram = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(f->ram, MAP_FAILED);
	gmem_init(&f->g);
	assert_int_equal(gmem_add(&f->g, 0, MEMORY, f->ram), 0);
	assert_int_equal(load_image_probe(kernel_fd, &f->img, &f->e), 0);
	assert_int_equal(gmem_layout(MEMORY, f->layout, &f->rq.ram_count), 0);
	f->rq.ram = f->layout;
	f->rq.cmdline = "quiet panic=-1";
}

static int place(struct fixture *f)
{
	assert_int_equal(load_plan_make(&f->img, &f->rq, &f->plan, &f->e), 0);
	return load_plan_place(&f->plan, &f->g, &f->placed, &f->e);
}

static void teardown(struct fixture *f)
{
	load_image_close(&f->img);
	munmap(f->ram, MEMORY);
}

static void expect_file(const struct fixture *f, uint64_t gpa, uint64_t offset, uint64_t bytes)
{
	for (uint64_t i = 0; i < bytes; i++) {
		assert_int_equal(f->ram[gpa + i], elf_builder_byte(offset + i));
	}
}

static void expect_zeros(const struct fixture *f, uint64_t gpa, uint64_t bytes)
{
	for (uint64_t i = 0; i < bytes; i++) {
		assert_int_equal(f->ram[gpa + i], 0);
	}
}

static void only_whole_pages_that_lie_alike_can_be_mapped(void **state)
{
	struct load_range r;

	assert_true(load_mappable(0x100000, 0x3000, 0x2000, &r));
	assert_int_equal(r.gpa, 0x100000);
	assert_int_equal(r.bytes, 0x2000);
	assert_true(load_mappable(0x100800, 0x3800, 0x2900, &r));
	assert_int_equal(r.gpa, 0x101000);
	assert_int_equal(r.bytes, 0x2000);
	assert_false(load_mappable(0x100000, 0x3200, 0x20000, &r));
	assert_false(load_mappable(0x100000, 0x3000, 0xfff, &r));
	assert_false(load_mappable(0x100001, 0x3001, 0x1ffe, &r));
	assert_false(load_mappable(0x100000, 0x3000, 0, &r));
}

static void an_elf_is_mapped_where_pages_match_and_bss_stays_zero(void **state)
{
	struct fixture f;
	struct elf_builder b;

	elf_builder_init(&b);
	setup(&f, elf_builder_fd(&b));
	assert_int_equal(place(&f), 0);
	expect_file(&f, ELF_BUILDER_TEXT_GPA, 0x1000, 0x2000);
	expect_zeros(&f, ELF_BUILDER_TEXT_GPA + 0x2000, 0x1000);
	expect_file(&f, ELF_BUILDER_DATA_GPA, 0x3000, 0x1800);
	expect_zeros(&f, ELF_BUILDER_DATA_GPA + 0x1800, 0x3800);
	assert_int_equal(f.placed.mapped_bytes, 0x3000);
	assert_int_equal(f.placed.copied_bytes, 0x800);
	assert_string_equal((char *)f.ram + LOAD_CMDLINE_GPA, "quiet panic=-1");
	assert_memory_equal(f.ram + LOAD_BOOT_PARAMS_GPA, &f.plan.boot_params, 4096);
	/* The guest writes to its own copy. */
	f.ram[ELF_BUILDER_TEXT_GPA] ^= 0xff;
	{
		uint8_t byte;

		assert_int_equal(pread(f.img.fd, &byte, 1, 0x1000), 1);
		assert_int_equal(byte, elf_builder_byte(0x1000));
	}
	teardown(&f);
}

static void an_elf_whose_pages_do_not_match_is_copied(void **state)
{
	struct fixture f;
	struct elf_builder b;

	elf_builder_init(&b);
	b.ph[0].p_offset = 0x1234;
	b.ph[1].p_offset = 0x3800;
	b.ph[1].p_paddr = ELF_BUILDER_DATA_GPA + 0x800; /* matches, but begins within a page */
	setup(&f, elf_builder_fd(&b));
	assert_int_equal(place(&f), 0);
	expect_file(&f, ELF_BUILDER_TEXT_GPA, 0x1234, 0x2000);
	expect_zeros(&f, ELF_BUILDER_DATA_GPA, 0x800);
	expect_file(&f, ELF_BUILDER_DATA_GPA + 0x800, 0x3800, 0x1800);
	assert_int_equal(f.placed.mapped_bytes, 0x1000);
	assert_int_equal(f.placed.copied_bytes, 0x2800);
	teardown(&f);
}

static void nothing_is_mapped_over_memory_that_others_see_by_its_file(void **state)
{
	struct fixture f;
	struct elf_builder b;

	elf_builder_init(&b);
	setup(&f, elf_builder_fd(&b));
	f.rq.copy = true;
	assert_int_equal(place(&f), 0);
	expect_file(&f, ELF_BUILDER_TEXT_GPA, 0x1000, 0x2000);
	expect_file(&f, ELF_BUILDER_DATA_GPA, 0x3000, 0x1800);
	assert_int_equal(f.placed.mapped_bytes, 0);
	assert_int_equal(f.placed.copied_bytes, 0x3800);
	teardown(&f);
}

static void two_segments_that_share_a_page_both_arrive(void **state)
{
	struct fixture f;
	struct elf_builder b;

	elf_builder_init(&b);
	b.ph[0].p_filesz = b.ph[0].p_memsz = 0x1800;
	b.ph[1] = b.ph[0];
	b.ph[1].p_offset = 0x2800;
	b.ph[1].p_paddr = ELF_BUILDER_TEXT_GPA + 0x1800;
	setup(&f, elf_builder_fd(&b));
	assert_int_equal(place(&f), 0);
	expect_file(&f, ELF_BUILDER_TEXT_GPA, 0x1000, 0x3000);
	teardown(&f);
}

static void a_bzimage_goes_to_its_preferred_address(void **state)
{
	struct fixture f;
	struct bzimage_builder b;

	bzimage_builder_init(&b);
	setup(&f, bzimage_builder_fd(&b));
	assert_int_equal(place(&f), 0);
	for (uint64_t i = 0; i < 0x400; i++) {
		assert_int_equal(f.ram[BZIMAGE_BUILDER_PREF + i],
				 bzimage_builder_byte(BZIMAGE_BUILDER_SETUP_BYTES + i));
	}
	assert_int_equal(f.placed.mapped_bytes, BZIMAGE_BUILDER_CODE_BYTES);
	expect_zeros(&f, BZIMAGE_BUILDER_PREF + BZIMAGE_BUILDER_CODE_BYTES, 0x1000);
	teardown(&f);
}

static void the_parts_of_an_initrd_stand_behind_each_other_with_zeros_between(void **state)
{
	static uint8_t file[0x3100];
	struct load_part parts[2];
	struct fixture f;
	struct elf_builder b;

	for (size_t i = 0; i < sizeof(file); i++) {
		file[i] = elf_builder_byte(i);
	}
	parts[0] = (struct load_part){.name = "agent", .data = "agent archive", .bytes = 13};
	parts[1] = (struct load_part){
		.name = "user", .fd = memfd_of(file, sizeof(file)), .bytes = sizeof(file)};
	elf_builder_init(&b);
	setup(&f, elf_builder_fd(&b));
	f.rq.parts = parts;
	f.rq.part_count = 2;
	assert_int_equal(place(&f), 0);
	assert_int_equal(f.plan.initrd_gpa, MEMORY - 0x5000);
	assert_memory_equal(f.ram + f.plan.initrd_gpa, "agent archive", 13);
	expect_zeros(&f, f.plan.initrd_gpa + 13, 0x1000 - 13);
	expect_file(&f, f.plan.initrd_gpa + 0x1000, 0, sizeof(file));
	expect_zeros(&f, f.plan.initrd_gpa + 0x1000 + sizeof(file), 0x1000 - 0x100);
	assert_int_equal(f.placed.mapped_bytes, 0x3000 + 0x3000);
	load_part_close(&parts[1]);
	teardown(&f);
}

static void a_file_that_got_shorter_since_it_was_opened_is_an_error(void **state)
{
	struct load_part part = {.name = "user.img", .bytes = 0x1800};
	struct fixture f;
	struct elf_builder b;

	elf_builder_init(&b);
	setup(&f, elf_builder_fd(&b));
	assert_int_equal(ftruncate(f.img.fd, 0x2000), 0);
	assert_int_equal(place(&f), -EIO);
	assert_string_equal(
		f.e.text, "kernel: the file ended before 0x3000: it got shorter while it was read");
	assert_int_equal(ftruncate(f.img.fd, 0x47ff), 0);
	assert_int_equal(place(&f), -EIO);
	assert_string_equal(f.e.text,
			    "kernel: the file ended before 0x4800: it got shorter while it "
			    "was read, or the disk failed");
	assert_int_equal(ftruncate(f.img.fd, 0x5000), 0);
	part.fd = memfd_of("short", 5);
	f.rq.parts = &part;
	f.rq.part_count = 1;
	assert_int_equal(place(&f), -EIO);
	assert_string_equal(
		f.e.text, "initrd user.img: the file ended before 0x1800: it got shorter while it "
			  "was read, or the disk failed");
	close(part.fd);
	teardown(&f);
}

static void ram_that_is_not_the_plans_is_an_error(void **state)
{
	struct fixture f;
	struct elf_builder b;

	elf_builder_init(&b);
	setup(&f, elf_builder_fd(&b));
	gmem_init(&f.g);
	assert_int_equal(gmem_add(&f.g, 0, ELF_BUILDER_DATA_GPA, f.ram), 0);
	assert_int_equal(place(&f), -EFAULT);
	assert_string_equal(f.e.text, "kernel: 0x1200000-0x1201800 is not guest memory");
	teardown(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_whole_pages_that_lie_alike_can_be_mapped),
		cmocka_unit_test(an_elf_is_mapped_where_pages_match_and_bss_stays_zero),
		cmocka_unit_test(an_elf_whose_pages_do_not_match_is_copied),
		cmocka_unit_test(nothing_is_mapped_over_memory_that_others_see_by_its_file),
		cmocka_unit_test(two_segments_that_share_a_page_both_arrive),
		cmocka_unit_test(a_bzimage_goes_to_its_preferred_address),
		cmocka_unit_test(the_parts_of_an_initrd_stand_behind_each_other_with_zeros_between),
		cmocka_unit_test(a_file_that_got_shorter_since_it_was_opened_is_an_error),
		cmocka_unit_test(ram_that_is_not_the_plans_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
