/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <string.h>

#include "bzimage_builder.h"
#include "elf_builder.h"
#include "loader/loader.h"

#define MIB     (UINT64_C(1) << 20)
#define NOTE_AT 0x4800 /* behind what is loaded of the builder's file */

/* A note of the right name and type, with a description of up to 8 bytes. */
struct note {
	Elf64_Nhdr head;
	char name[4];
	uint64_t entry;
};

static struct load_image img;
static struct gmem_region ram[GMEM_LAYOUT_REGIONS];
static struct load_plan plan;
static struct err e;

static struct note note_of(uint64_t entry, uint32_t bytes)
{
	return (struct note){.head = {.n_namesz = 4, .n_descsz = bytes, .n_type = 18},
			     .name = "Xen",
			     .entry = entry};
}

static void open_elf(const struct note *n, uint64_t bytes)
{
	struct elf_builder b;

	elf_builder_init(&b);
	if (n) {
		b.ph[b.ph_count++] = (Elf64_Phdr){
			.p_type = PT_NOTE, .p_offset = NOTE_AT, .p_filesz = bytes, .p_align = 4};
		b.eh.e_phnum = (uint16_t)b.ph_count;
		b.bytes = n;
		b.bytes_at = NOTE_AT;
		b.bytes_len = bytes;
	}
	e = (struct err)ERR_INIT;
	assert_int_equal(load_image_probe(elf_builder_fd(&b), &img, &e), 0);
}

static int make(uint64_t memory, const struct load_part *parts, unsigned int count)
{
	struct load_request rq = {.ram = ram,
				  .cmdline = "console=ttyS0",
				  .parts = parts,
				  .part_count = count,
				  .rsdp_gpa = 0xe0000,
				  .pvh = true};

	assert_int_equal(gmem_layout(memory, ram, &rq.ram_count), 0);
	return load_plan_make(&img, &rq, &plan, &e);
}

static void the_start_info_says_where_things_are(void **state)
{
	const struct note n = note_of(ELF_BUILDER_TEXT_GPA + 0x40, 8);
	const struct load_part parts[] = {{.name = "initrd", .data = "x", .bytes = 5000}};
	const struct pvh_page *p = &plan.pvh_page;

	open_elf(&n, sizeof(n));
	assert_int_equal(img.pvh_entry, ELF_BUILDER_TEXT_GPA + 0x40);
	assert_int_equal(make(5120 * MIB, parts, 1), 0);
	assert_true(plan.pvh);
	assert_int_equal(p->info.magic, 0x336ec578);
	assert_int_equal(p->info.version, 1);
	assert_int_equal(p->info.flags, 0);
	assert_int_equal(p->info.cmdline_gpa, LOAD_CMDLINE_GPA);
	assert_int_equal(p->info.rsdp_gpa, 0xe0000);
	assert_int_equal(p->info.modules, 1);
	assert_int_equal(p->info.modules_gpa, LOAD_BOOT_PARAMS_GPA + 56);
	assert_int_equal(p->initrd.gpa, plan.initrd_gpa);
	assert_int_equal(p->initrd.bytes, 5000);
	assert_int_equal(p->info.memory_gpa, LOAD_BOOT_PARAMS_GPA + 56 + 32);
	assert_int_equal(p->info.memory_entries, 4);
	assert_int_equal(p->memory[0].bytes, LOAD_LOW_RAM_END);
	assert_int_equal(p->memory[0].type, 1);
	assert_int_equal(p->memory[1].type, 2);
	assert_int_equal(p->memory[2].gpa, MIB);
	assert_int_equal(p->memory[2].bytes, 3071 * MIB);
	assert_int_equal(p->memory[3].gpa, 4096 * MIB);
	assert_int_equal(p->memory[3].bytes, 2048 * MIB);
	load_image_close(&img);
}

static void without_an_initrd_there_is_no_module(void **state)
{
	const struct note n = note_of(ELF_BUILDER_TEXT_GPA, 4);

	open_elf(&n, sizeof(n) - 4);
	assert_int_equal(make(64 * MIB, NULL, 0), 0);
	assert_int_equal(plan.pvh_page.info.modules, 0);
	assert_int_equal(plan.pvh_page.info.modules_gpa, 0);
	load_image_close(&img);
}

static void refused(const struct note *n, uint64_t bytes, const char *text)
{
	open_elf(n, bytes);
	assert_int_equal(make(64 * MIB, NULL, 0), -ENOEXEC);
	assert_string_equal(e.text, text);
	load_image_close(&img);
}

static void a_note_of_another_size_is_named(void **state)
{
	struct note n = note_of(ELF_BUILDER_TEXT_GPA, 6);

	refused(&n, sizeof(n), "ELF: its PVH note has 6 bytes, expected 4 or 8");
}

static void an_entry_outside_of_what_is_loaded_is_named(void **state)
{
	struct note n = note_of(0x2000000, 8);

	refused(&n, sizeof(n),
		"ELF: its PVH entry 0x2000000 is in no PT_LOAD below 4 GiB; they are within "
		"0x1000000-0x1205000");
	n.entry = UINT64_MAX;
	refused(&n, sizeof(n),
		"ELF: its PVH entry 0xffffffffffffffff is in no PT_LOAD below 4 GiB; they are "
		"within 0x1000000-0x1205000");
}

/* Flipped, cut or of another name or type: as if it were not there. */
static void a_note_that_cannot_be_read_is_none(void **state)
{
	static const char none[] = "an ELF64 executable without a PVH note (Xen, type 18): it can "
				   "only be started by the 64-bit boot protocol";
	const struct note good = note_of(ELF_BUILDER_TEXT_GPA, 8);
	struct note n = good;

	refused(NULL, 0, none);
	refused(&good, sizeof(good) - 1, none);
	n.head.n_descsz = __builtin_bswap32(8);
	refused(&n, sizeof(n), none);
	n = good;
	n.head.n_namesz = UINT32_MAX;
	refused(&n, sizeof(n), none);
	n = good;
	n.head.n_type = 17;
	refused(&n, sizeof(n), none);
	n = good;
	n.name[2] = 'm';
	refused(&n, sizeof(n), none);
	n = good;
	n.head.n_descsz = 0;
	refused(&n, sizeof(n), none);
}

static void a_bzimage_has_none(void **state)
{
	struct bzimage_builder b;

	bzimage_builder_init(&b);
	e = (struct err)ERR_INIT;
	assert_int_equal(load_image_probe(bzimage_builder_fd(&b), &img, &e), 0);
	assert_int_equal(make(64 * MIB, NULL, 0), -ENOEXEC);
	assert_non_null(strstr(e.text, "a bzImage, protocol 2."));
	assert_non_null(strstr(e.text, " without a PVH note"));
	load_image_close(&img);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_start_info_says_where_things_are),
		cmocka_unit_test(without_an_initrd_there_is_no_module),
		cmocka_unit_test(a_note_of_another_size_is_named),
		cmocka_unit_test(an_entry_outside_of_what_is_loaded_is_named),
		cmocka_unit_test(a_note_that_cannot_be_read_is_none),
		cmocka_unit_test(a_bzimage_has_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
