/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A core of a guest that is made by hand: page tables in a memory file, registers in a table. */
#include "support.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/procfs.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/io.h"
#include "engine/core.h"
#include "engine/core_map.h"

#define PAGE      4096u
#define LOW_BYTES (16u << 20)
#define HIGH_GPA  (UINT64_C(4) << 30)
#define P         UINT64_C(1)    /* present */
#define LARGE     UINT64_C(0x81) /* present, a page */
#define IMAGE     UINT64_C(0xffffffff80000000)

static struct {
	struct backend base;
	int fd;
	struct backend_memory memory[2];
	size_t memory_count;
	struct backend_cpu_state cpus[2];
	size_t cpu_count;
} fake;

static uint64_t (*ram)[PAGE / 8]; /* the file, by pages */
static struct core_map map;
static struct err e;

static size_t fake_memory(struct backend *b, struct backend_memory *pieces, size_t max)
{
	memcpy(pieces, fake.memory, fake.memory_count * sizeof(*pieces));
	return fake.memory_count;
}

static int fake_read(struct backend *b, uint64_t gpa, void *buf, size_t len)
{
	if (gpa >= LOW_BYTES || len > LOW_BYTES - gpa) {
		return -EFAULT;
	}
	return io_pread_exact(fake.fd, buf, len, gpa);
}

static const struct backend_ops ops = {.memory = fake_memory, .read_gpa = fake_read};

/* 16 MiB of RAM, two pages behind 4 GiB, and a vCPU whose top table is page 1. */
static int make_guest(void **state)
{
	memset(&fake, 0, sizeof(fake));
	fake.base.ops = &ops;
	fake.fd = memfd_create("guest", MFD_CLOEXEC);
	if (fake.fd < 0 || ftruncate(fake.fd, LOW_BYTES + 2 * PAGE) < 0) {
		return -1;
	}
	ram = mmap(NULL, LOW_BYTES + 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fake.fd, 0);
	fake.memory[0] = (struct backend_memory){.fd = fake.fd, .bytes = LOW_BYTES};
	fake.memory[1] = (struct backend_memory){
		.fd = fake.fd, .offset = LOW_BYTES, .gpa = HIGH_GPA, .bytes = UINT64_C(2) * PAGE};
	fake.memory_count = 2;
	fake.cpus[0] = (struct backend_cpu_state){
		.regs = {.rip = IMAGE + 0x1234, .rbx = 77, .cs = 0x10, .gs_base = 0x5000},
		.cr0 = 0x80050033,
		.cr3 = PAGE,
		.cr4 = 0x6b0,
		.efer = 0xd01};
	fake.cpu_count = 1;
	map = (struct core_map){.ranges = NULL};
	e = (struct err)ERR_INIT;
	return ram == MAP_FAILED ? -1 : 0;
}

static int drop_guest(void **state)
{
	core_map_fini(&map);
	munmap(ram, LOW_BYTES + 2 * PAGE);
	close(fake.fd);
	return 0;
}

static void read_map(void)
{
	assert_int_equal(core_map_read(&map, &fake.base, fake.memory, fake.memory_count, fake.cpus,
				       fake.cpu_count, CORE_TABLES_MAX),
			 0);
}

static void expect_range(size_t i, uint64_t gva, uint64_t gpa, uint64_t bytes)
{
	assert_true(i < map.count);
	assert_int_equal(map.ranges[i].gva, gva);
	assert_int_equal(map.ranges[i].gpa, gpa);
	assert_int_equal(map.ranges[i].bytes, bytes);
}

/* The image: top 511, then 510, then pages of 2 MiB from entry 8 on, at 16 MiB less 4. */
static void map_image(void)
{
	ram[1][511] = 2 * PAGE | P;
	ram[2][510] = 3 * PAGE | P;
	ram[3][8] = (UINT64_C(12) << 20) | LARGE;
	ram[3][9] = (UINT64_C(14) << 20) | LARGE;
}

static void neighbours_become_one_range_at_canonical_addresses(void **state)
{
	map_image();
	/* Two pages of 4 KiB of a process, apart in RAM. */
	ram[1][0] = 4 * PAGE | P;
	ram[4][0] = 5 * PAGE | P;
	ram[5][0] = 6 * PAGE | P;
	ram[6][7] = 100 * PAGE | P;
	ram[6][8] = 200 * PAGE | P;
	read_map();
	assert_int_equal(map.count, 3);
	expect_range(0, 7 * PAGE, 100 * PAGE, PAGE);
	expect_range(1, 8 * PAGE, 200 * PAGE, PAGE);
	expect_range(2, IMAGE + (16 << 20), 12 << 20, 4 << 20);
	assert_false(map.cut);
}

static void of_a_large_page_only_what_is_ram_counts(void **state)
{
	map_image();
	ram[1][256] = 4 * PAGE | P;
	ram[4][0] = LARGE;                        /* 1 GiB from 0 on */
	ram[4][4] = (UINT64_C(4) << 30) | LARGE;  /* and from 4 GiB on */
	ram[4][5] = (UINT64_C(64) << 30) | LARGE; /* a device */
	read_map();
	assert_int_equal(map.count, 3);
	expect_range(0, 0xffff800000000000, 0, LOW_BYTES);
	expect_range(1, 0xffff800000000000 + HIGH_GPA, HIGH_GPA, 2 * PAGE);
}

static void a_table_of_one_entry_over_and_over_is_passed_over(void **state)
{
	map_image();
	ram[1][300] = 4 * PAGE | P;
	for (size_t i = 0; i < 512; i++) {
		ram[4][i] = 4 * PAGE | P | (i % 2 ? UINT64_C(0x60) : 0);
	}
	read_map();
	assert_int_equal(map.count, 1);
	assert_int_equal(map.tables, 4);
}

static void tables_that_lead_to_themselves_meet_a_limit(void **state)
{
	for (size_t i = 0; i < 512; i++) {
		ram[1][i] = (1 + i % 2) * PAGE | P;
		ram[2][i] = (1 + i % 2) * PAGE | P;
	}
	ram[2][0] = 0;
	read_map();
	assert_true(map.cut);
	assert_true(map.count <= CORE_RANGES_MAX);
	assert_true(map.tables <= CORE_TABLES_MAX);
}

static void without_paging_memory_is_where_it_is(void **state)
{
	fake.cpus[0].cr0 = 0x11;
	read_map();
	assert_int_equal(map.count, 3);
	expect_range(0, 0, 0, LOW_BYTES);
	expect_range(1, HIGH_GPA, HIGH_GPA, 2 * PAGE);
	expect_range(2, IMAGE, 0, LOW_BYTES);
}

static void the_image_is_there_without_any_registers(void **state)
{
	fake.cpu_count = 0;
	read_map();
	assert_int_equal(map.count, 1);
	expect_range(0, IMAGE, 0, LOW_BYTES);
}

static void in_user_mode_the_kernels_own_table_is_taken(void **state)
{
	/* Page 4 is the kernel's, page 5, with the bit, user mode's. */
	ram[4][511] = 2 * PAGE | P;
	ram[2][510] = 3 * PAGE | P;
	ram[3][8] = (UINT64_C(12) << 20) | LARGE;
	ram[4][508] = ram[5][508] = 6 * PAGE | P;
	fake.cpus[0].cr3 = 5 * PAGE;
	fake.cpus[0].regs.cs = 0x33;
	read_map();
	assert_int_equal(map.count, 1);
	expect_range(0, IMAGE + (16 << 20), 12 << 20, 2 << 20);
	core_map_fini(&map);

	/* What only looks like it, without isolation, is left alone. */
	ram[4][508] = 7 * PAGE | P;
	read_map();
	assert_int_equal(map.count, 1);
	expect_range(0, IMAGE, 0, LOW_BYTES);
}

/* Files. */

static void the_file_has_threads_and_memory_at_its_addresses(void **state)
{
	_cleanup_close_ int fd = memfd_create("core", MFD_CLOEXEC);
	Elf64_Ehdr eh;
	Elf64_Phdr ph[8];
	Elf64_Nhdr nh;
	struct elf_prstatus status;
	uint64_t found;
	struct stat st;

	map_image();
	fake.cpus[1] = fake.cpus[0];
	fake.cpus[1].regs.rip = 4242;
	fake.cpu_count = 2;
	ram[(12 << 20) / PAGE + 3][5] = 0x1122334455667788;
	ram[LOW_BYTES / PAGE + 1][0] = 99;
	assert_int_equal(
		core_write(fd, &fake.base, fake.cpus, fake.cpu_count, "/boot/vmlinux-6.12", &e), 0);

	assert_int_equal(io_pread_exact(fd, &eh, sizeof(eh), 0), 0);
	assert_int_equal(eh.e_type, ET_CORE);
	assert_int_equal(eh.e_phnum, 2);
	assert_int_equal(io_pread_exact(fd, ph, 2 * sizeof(*ph), eh.e_phoff), 0);
	assert_int_equal(ph[0].p_type, PT_NOTE);
	assert_int_equal(ph[1].p_vaddr, IMAGE + (16 << 20));
	assert_int_equal(ph[1].p_paddr, 12 << 20);
	assert_int_equal(
		io_pread_exact(fd, &found, sizeof(found), ph[1].p_offset + 3 * PAGE + 5 * 8), 0);
	assert_int_equal(found, 0x1122334455667788);

	/* The notes: the program's name, then a thread for each vCPU. */
	found = ph[0].p_offset + sizeof(nh) + 8 + sizeof(struct elf_prpsinfo);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(io_pread_exact(fd, &nh, sizeof(nh), found), 0);
		assert_int_equal(nh.n_type, NT_PRSTATUS);
		assert_int_equal(nh.n_descsz, sizeof(status));
		assert_int_equal(
			io_pread_exact(fd, &status, sizeof(status), found + sizeof(nh) + 8), 0);
		assert_int_equal(status.pr_pid, i + 1);
		assert_memory_equal(status.pr_reg, &fake.cpus[i].regs, sizeof(status.pr_reg));
		found += sizeof(nh) + 8 + sizeof(status);
	}
	assert_int_equal(found, ph[0].p_offset + ph[0].p_filesz);

	/* All of RAM has its place, and what is zero none on the disk. */
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, PAGE + LOW_BYTES + 2 * PAGE);
	assert_true(st.st_blocks * 512 <= 16 * PAGE);
	assert_int_equal(io_pread_exact(fd, &found, sizeof(found), PAGE + LOW_BYTES + PAGE), 0);
	assert_int_equal(found, 99);
}

static void a_file_that_cannot_grow_is_an_error(void **state)
{
	_cleanup_close_ int fd = memfd_create("core", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	map_image();
	assert_int_equal(ftruncate(fd, PAGE), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_GROW), 0);
	assert_int_equal(core_write(fd, &fake.base, fake.cpus, fake.cpu_count, "vmlinux", &e),
			 -EPERM);
	assert_string_equal(e.text, "writing it: Operation not permitted");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_guest, drop_guest)
		TEST(neighbours_become_one_range_at_canonical_addresses),
		TEST(of_a_large_page_only_what_is_ram_counts),
		TEST(a_table_of_one_entry_over_and_over_is_passed_over),
		TEST(tables_that_lead_to_themselves_meet_a_limit),
		TEST(without_paging_memory_is_where_it_is),
		TEST(the_image_is_there_without_any_registers),
		TEST(in_user_mode_the_kernels_own_table_is_taken),
		TEST(the_file_has_threads_and_memory_at_its_addresses),
		TEST(a_file_that_cannot_grow_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
