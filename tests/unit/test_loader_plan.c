/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <string.h>

#include "bzimage_builder.h"
#include "elf_builder.h"
#include "loader/loader.h"

#define MIB (UINT64_C(1) << 20)

struct fixture {
	struct load_image img;
	struct gmem_region ram[GMEM_LAYOUT_REGIONS];
	struct load_request rq;
	struct load_plan plan;
	struct err e;
};

static void memory(struct fixture *f, uint64_t bytes)
{
	assert_int_equal(gmem_layout(bytes, f->ram, &f->rq.ram_count), 0);
	f->rq.ram = f->ram;
}

static void setup_elf(struct fixture *f, uint64_t memory_bytes)
{
	struct elf_builder b;

	memset(f, 0, sizeof(*f));
	elf_builder_init(&b);
	assert_int_equal(load_image_probe(elf_builder_fd(&b), &f->img, &f->e), 0);
	memory(f, memory_bytes);
	f->rq.cmdline = "console=ttyS0";
}

static void setup_bzimage(struct fixture *f, uint64_t memory_bytes)
{
	struct bzimage_builder b;

	memset(f, 0, sizeof(*f));
	bzimage_builder_init(&b);
	assert_int_equal(load_image_probe(bzimage_builder_fd(&b), &f->img, &f->e), 0);
	memory(f, memory_bytes);
	f->rq.cmdline = "";
}

static int make(struct fixture *f)
{
	f->e = (struct err)ERR_INIT;
	return load_plan_make(&f->img, &f->rq, &f->plan, &f->e);
}

static void refused(struct fixture *f, int code, const char *text)
{
	assert_int_equal(make(f), code);
	assert_string_equal(f->e.text, text);
}

static void the_boot_parameters_say_where_things_are(void **state)
{
	struct load_part parts[] = {{.name = "agent", .data = "x", .bytes = 5000},
				    {.name = "user", .data = "y", .bytes = 1}};
	struct fixture f;
	const struct boot_params *bp = &f.plan.boot_params;

	setup_elf(&f, 64 * MIB);
	f.rq.parts = parts;
	f.rq.part_count = 2;
	f.rq.rsdp_gpa = 0xe0000;
	assert_int_equal(make(&f), 0);
	assert_int_equal(f.plan.initrd_gpa, 64 * MIB - 3 * 4096);
	assert_int_equal(f.plan.initrd_bytes, 8193); /* each part on a page of its own */
	assert_int_equal(f.plan.part_gpa[0], f.plan.initrd_gpa);
	assert_int_equal(f.plan.part_gpa[1], f.plan.initrd_gpa + 8192);
	assert_string_equal(f.plan.cmdline, "console=ttyS0");
	assert_int_equal(bp->hdr.type_of_loader, 0xff);
	assert_int_equal(bp->hdr.loadflags & LOADED_HIGH, LOADED_HIGH);
	assert_int_equal(bp->hdr.boot_flag, 0xaa55);
	assert_int_equal(bp->hdr.header, 0x53726448);
	assert_int_equal(bp->hdr.cmd_line_ptr, LOAD_CMDLINE_GPA);
	assert_int_equal(bp->hdr.ramdisk_image, f.plan.initrd_gpa);
	assert_int_equal(bp->hdr.ramdisk_size, 8193);
	assert_int_equal(bp->acpi_rsdp_addr, 0xe0000);
	assert_int_equal(bp->sentinel, 0);
	load_image_close(&f.img);
}

static void without_an_initrd_the_boot_parameters_name_none(void **state)
{
	struct fixture f;

	setup_bzimage(&f, 64 * MIB);
	assert_int_equal(make(&f), 0);
	assert_int_equal(f.plan.boot_params.hdr.ramdisk_image, 0);
	assert_int_equal(f.plan.boot_params.hdr.ramdisk_size, 0);
	/* The file's own header came along. */
	assert_int_equal(f.plan.boot_params.hdr.init_size, BZIMAGE_BUILDER_INIT_SIZE);
	assert_int_equal(f.plan.boot_params.hdr.setup_sects, 7);
	load_image_close(&f.img);
}

static void e820_is_ram_but_for_the_bios_area_and_the_hole(void **state)
{
	static const uint64_t sizes[] = {1073 * MIB, 3071 * MIB,        3072 * MIB,
					 3073 * MIB, 4096 * MIB - 4096, 4096 * MIB + 4096};
	struct fixture f;

	setup_elf(&f, 64 * MIB);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		const struct boot_params *bp = &f.plan.boot_params;
		const struct boot_e820_entry *t = bp->e820_table;
		uint64_t low = sizes[i] < GMEM_HOLE ? sizes[i] : GMEM_HOLE;

		memory(&f, sizes[i]);
		assert_int_equal(make(&f), 0);
		assert_int_equal(bp->e820_entries, sizes[i] > GMEM_HOLE ? 4 : 3);
		assert_int_equal(t[0].addr, 0);
		assert_int_equal(t[0].size, LOAD_LOW_RAM_END);
		assert_int_equal(t[0].type, 1);
		assert_int_equal(t[1].addr, LOAD_LOW_RAM_END);
		assert_int_equal(t[1].size, MIB - LOAD_LOW_RAM_END);
		assert_int_equal(t[1].type, 2);
		assert_int_equal(t[2].addr, MIB);
		assert_int_equal(t[2].size, low - MIB);
		assert_int_equal(t[2].type, 1);
		if (sizes[i] > GMEM_HOLE) {
			assert_int_equal(t[3].addr, GMEM_HIGH);
			assert_int_equal(t[3].size, sizes[i] - GMEM_HOLE);
			assert_int_equal(t[3].type, 1);
		}
	}
	load_image_close(&f.img);
}

static void memory_too_small_for_the_kernel_is_refused_with_the_minimum(void **state)
{
	struct load_part part = {.name = "i", .data = "x", .bytes = 3 * MIB};
	struct fixture f;

	setup_elf(&f, MIB);
	refused(&f, -EINVAL,
		"memory: 0x100000 bytes are too few; kernel and initrd need at least 19 MiB");
	memory(&f, 4096);
	refused(&f, -EINVAL,
		"memory: 0x1000 bytes are too few; kernel and initrd need at least 19 MiB");
	memory(&f, 16 * MIB);
	refused(&f, -ENOSPC,
		"kernel: it needs 0x1000000-0x1002000, memory is 0x0-0x1000000; kernel and "
		"initrd need at least 19 MiB");
	memory(&f, ELF_BUILDER_END - 4096);
	refused(&f, -ENOSPC,
		"kernel: it needs 0x1200000-0x1205000, memory is 0x0-0x1204000; kernel and "
		"initrd need at least 19 MiB");
	memory(&f, ELF_BUILDER_END);
	assert_int_equal(make(&f), 0);
	f.rq.parts = &part;
	f.rq.part_count = 1;
	memory(&f, 16 * MIB);
	refused(&f, -ENOSPC,
		"kernel: it needs 0x1000000-0x1002000, memory is 0x0-0x1000000; kernel and "
		"initrd need at least 22 MiB");
	memory(&f, load_minimum_bytes(&f.img, &part, 1));
	assert_int_equal(make(&f), 0);
	load_image_close(&f.img);
}

static void a_bzimage_needs_its_init_size_in_memory(void **state)
{
	struct fixture f;

	setup_bzimage(&f, 17 * MIB - 4096);
	refused(&f, -ENOSPC,
		"kernel: it needs 0x1000000-0x1100000, memory is 0x0-0x10ff000; kernel and "
		"initrd need at least 17 MiB");
	memory(&f, 17 * MIB);
	assert_int_equal(make(&f), 0);
	load_image_close(&f.img);
}

static void a_kernel_in_the_hole_fits_into_no_memory(void **state)
{
	struct fixture f;

	setup_bzimage(&f, 8192 * MIB);
	f.img.start = GMEM_HOLE - MIB / 2;
	f.img.segments[0].gpa = f.img.start;
	f.img.end = f.img.start + BZIMAGE_BUILDER_INIT_SIZE;
	refused(&f, -ENOSPC,
		"kernel: it needs 0xbff80000-0xc0080000, which is not in RAM "
		"(0x0-0xc0000000), whatever its size");
	load_image_close(&f.img);
}

static void a_command_line_over_the_limit_is_refused_with_both_lengths(void **state)
{
	char line[LOAD_CMDLINE_MAX + 2];
	struct fixture f;

	setup_elf(&f, 64 * MIB);
	memset(line, 'x', sizeof(line));
	line[LOAD_CMDLINE_MAX] = '\0';
	f.rq.cmdline = line;
	assert_int_equal(make(&f), 0);
	assert_string_equal(f.plan.cmdline, line);
	line[LOAD_CMDLINE_MAX] = 'x';
	line[LOAD_CMDLINE_MAX + 1] = '\0';
	refused(&f, -E2BIG,
		"command line: 2048 bytes, the kernel takes at most 2047; nothing is cut");
	f.img.header.cmdline_size = 255;
	line[256] = '\0';
	refused(&f, -E2BIG,
		"command line: 256 bytes, the kernel takes at most 255; nothing is cut");
	load_image_close(&f.img);
}

static void an_initrd_goes_below_the_hole_and_below_the_kernels_limit(void **state)
{
	struct load_part part = {.name = "i", .data = "x", .bytes = 1};
	struct fixture f;

	setup_elf(&f, 8192 * MIB);
	f.rq.parts = &part;
	f.rq.part_count = 1;
	assert_int_equal(make(&f), 0);
	assert_int_equal(f.plan.initrd_gpa, 0x80000000 - 4096); /* initrd_addr_max 0x7fffffff */
	f.img.header.initrd_addr_max = UINT32_MAX;
	assert_int_equal(make(&f), 0);
	assert_int_equal(f.plan.initrd_gpa, GMEM_HOLE - 4096);
	f.img.header.initrd_addr_max = 0x37ffff1;
	assert_int_equal(make(&f), 0);
	assert_int_equal(f.plan.initrd_gpa, 0x37fe000);
	load_image_close(&f.img);
}

static void an_initrd_without_room_is_refused_with_both_ranges(void **state)
{
	struct load_part part = {.name = "i", .data = "x", .bytes = 47 * MIB};
	struct fixture f;

	setup_bzimage(&f, 64 * MIB);
	f.rq.parts = &part;
	f.rq.part_count = 1;
	assert_int_equal(make(&f), 0); /* exactly what is left above init_size */
	assert_int_equal(f.plan.initrd_gpa, f.img.end);
	part.bytes++;
	refused(&f, -ENOSPC,
		"initrd: 0x2f00001 bytes below 0x4000000 (the end of memory) would overlap "
		"the kernel at 0x1000000-0x1100000; together they need at least 65 MiB");
	part.bytes = 1;
	f.img.header.initrd_addr_max = 0x10fffff;
	refused(&f, -ENOSPC,
		"initrd: 0x1 bytes below 0x1100000 (initrd_addr_max) would overlap the "
		"kernel at 0x1000000-0x1100000; together they need at least 18 MiB");
	load_image_close(&f.img);
}

static void an_initrd_empty_or_beyond_every_limit_is_refused(void **state)
{
	struct load_part parts[LOAD_PARTS_MAX + 1];
	struct fixture f;

	setup_elf(&f, 64 * MIB);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		parts[i] = (struct load_part){.name = "p", .data = "x", .bytes = 1};
	}
	f.rq.parts = parts;
	f.rq.part_count = LOAD_PARTS_MAX;
	assert_int_equal(make(&f), 0);
	f.rq.part_count = LOAD_PARTS_MAX + 1;
	refused(&f, -E2BIG, "initrd: 9 parts, accepted are at most 8");
	f.rq.part_count = 2;
	parts[1].bytes = 0;
	refused(&f, -EINVAL, "initrd p: it is empty");
	parts[1].bytes = UINT64_MAX - 4095;
	refused(&f, -E2BIG, "initrd: longer than the 4 GiB that a kernel takes");
	load_image_close(&f.img);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_boot_parameters_say_where_things_are),
		cmocka_unit_test(without_an_initrd_the_boot_parameters_name_none),
		cmocka_unit_test(e820_is_ram_but_for_the_bios_area_and_the_hole),
		cmocka_unit_test(memory_too_small_for_the_kernel_is_refused_with_the_minimum),
		cmocka_unit_test(a_bzimage_needs_its_init_size_in_memory),
		cmocka_unit_test(a_kernel_in_the_hole_fits_into_no_memory),
		cmocka_unit_test(a_command_line_over_the_limit_is_refused_with_both_lengths),
		cmocka_unit_test(an_initrd_goes_below_the_hole_and_below_the_kernels_limit),
		cmocka_unit_test(an_initrd_without_room_is_refused_with_both_ranges),
		cmocka_unit_test(an_initrd_empty_or_beyond_every_limit_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
