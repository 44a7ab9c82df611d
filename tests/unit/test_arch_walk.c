/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "guest_ram.h"

#include <errno.h>
#include <string.h>

#include "arch/x86/boot.h"
#include "arch/x86/regs_text.h"
#include "arch/x86/walk.h"

#define RAM_BYTES 0x8000
#define KERNEL    UINT64_C(0xffffffff81000000)

static struct guest_ram ram;
static struct kvm_sregs sregs;

/* Four levels for KERNEL: its first 4 KiB page lies at 0x5000, the next is not mapped. */
static int setup(void **state)
{
	guest_ram_init(&ram, RAM_BYTES);
	((uint64_t *)(ram.bytes + 0x1000))[511] = 0x2003;
	((uint64_t *)(ram.bytes + 0x2000))[510] = 0x3003;
	((uint64_t *)(ram.bytes + 0x3000))[8] = 0x4003;
	((uint64_t *)(ram.bytes + 0x4000))[0] = UINT64_C(0x8000000000005003);
	sregs = (struct kvm_sregs){.cr0 = X86_CR0_PG | X86_CR0_PE,
				   .cr3 = 0x1000,
				   .cr4 = X86_CR4_PAE,
				   .efer = X86_EFER_LMA | X86_EFER_LME};
	return 0;
}

static int teardown(void **state)
{
	guest_ram_fini(&ram);
	return 0;
}

static void a_kernel_address_is_followed_through_four_levels(void **state)
{
	uint64_t gpa;

	assert_int_equal(x86_walk(&ram.mem, &sregs, KERNEL + 0x123, &gpa), 0);
	assert_true(gpa == 0x5123);
	assert_int_equal(x86_walk(&ram.mem, &sregs, KERNEL + 0x1000, &gpa), -EFAULT);
}

static void a_large_page_ends_the_walk(void **state)
{
	uint64_t gpa;

	((uint64_t *)(ram.bytes + 0x3000))[8] = 0x200083;
	assert_int_equal(x86_walk(&ram.mem, &sregs, KERNEL + 0x12345, &gpa), 0);
	assert_true(gpa == 0x212345);
}

static void five_levels_are_followed_when_they_are_on(void **state)
{
	uint64_t gpa;

	sregs.cr4 |= X86_CR4_LA57;
	sregs.cr3 = 0x6000;
	((uint64_t *)(ram.bytes + 0x6000))[511] = 0x1003;
	assert_int_equal(x86_walk(&ram.mem, &sregs, KERNEL, &gpa), 0);
	assert_true(gpa == 0x5000);
}

static void an_address_that_is_not_canonical_is_not_mapped(void **state)
{
	uint64_t gpa;

	assert_int_equal(x86_walk(&ram.mem, &sregs, KERNEL & ~(UINT64_C(1) << 60), &gpa), -EFAULT);
	assert_int_equal(x86_walk(&ram.mem, &sregs, UINT64_C(1) << 47, &gpa), -EFAULT);
}

static void tables_outside_ram_end_the_walk(void **state)
{
	uint64_t gpa;

	((uint64_t *)(ram.bytes + 0x2000))[510] = UINT64_C(0x000ffffffffff003);
	assert_int_equal(x86_walk(&ram.mem, &sregs, KERNEL, &gpa), -EFAULT);
	sregs.cr3 = UINT64_C(0xfffffffff000);
	assert_int_equal(x86_walk(&ram.mem, &sregs, KERNEL, &gpa), -EFAULT);
}

static void without_paging_addresses_are_physical(void **state)
{
	uint64_t gpa;

	sregs.cr0 = X86_CR0_PE;
	assert_int_equal(x86_walk(&ram.mem, &sregs, 0x1234, &gpa), 0);
	assert_true(gpa == 0x1234);
	sregs.cr0 |= X86_CR0_PG;
	sregs.efer = 0;
	assert_int_equal(x86_walk(&ram.mem, &sregs, 0x1234, &gpa), -ENOTSUP);
}

static void a_virtual_read_stops_at_the_first_hole(void **state)
{
	unsigned char buf[32];

	memset(ram.bytes + 0x5ff8, 0x7e, 8);
	assert_int_equal(x86_read_virtual(&ram.mem, &sregs, KERNEL + 0xff8, buf, sizeof(buf)), 8);
	assert_int_equal(buf[7], 0x7e);
	assert_int_equal(x86_read_virtual(&ram.mem, &sregs, KERNEL + 0x1000, buf, sizeof(buf)), 0);
}

static void the_text_shows_registers_and_the_code_at_rip(void **state)
{
	const struct kvm_regs r = {.rip = KERNEL + 2, .rax = 0x1234, .r15 = 0xf00d};
	char text[X86_REGS_TEXT_MAX];

	memcpy(ram.bytes + 0x5000, "\x90\x90\xf4\xeb\xfd", 5);
	x86_regs_text(&r, &sregs, &ram.mem, text, sizeof(text));
	assert_non_null(strstr(text, "rip=ffffffff81000002 rflags=00000000 cpl=0\n"));
	assert_non_null(strstr(text, "rax=0000000000001234 "));
	assert_non_null(strstr(text, "r15=000000000000f00d\n"));
	assert_non_null(strstr(text, "cr3=1000 cr4=20 efer=500\n"));
	/* The page before is not mapped, so the bytes before RIP are left out. */
	assert_non_null(strstr(text, "code: <f4> eb fd 00"));
}

static void the_text_is_cut_to_its_buffer(void **state)
{
	const struct kvm_regs r = {.rip = UINT64_C(1) << 62};
	char text[64];

	memset(text, 'x', sizeof(text));
	assert_int_equal(x86_regs_text(&r, &sregs, &ram.mem, text, 40), 39);
	assert_int_equal(text[39], '\0');
	assert_int_equal(text[40], 'x');
}

static void the_longest_text_fits_its_limit(void **state)
{
	struct kvm_regs r;
	char text[X86_REGS_TEXT_MAX];

	memset(&r, 0xff, sizeof(r));
	memset(&sregs, 0xff, sizeof(sregs));
	assert_true(x86_regs_text(&r, &sregs, &ram.mem, text, sizeof(text)) < sizeof(text) - 128);
	assert_non_null(strstr(text, "code: (RIP is not mapped to RAM)\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_kernel_address_is_followed_through_four_levels,
						setup, teardown),
		cmocka_unit_test_setup_teardown(a_large_page_ends_the_walk, setup, teardown),
		cmocka_unit_test_setup_teardown(five_levels_are_followed_when_they_are_on, setup,
						teardown),
		cmocka_unit_test_setup_teardown(an_address_that_is_not_canonical_is_not_mapped,
						setup, teardown),
		cmocka_unit_test_setup_teardown(tables_outside_ram_end_the_walk, setup, teardown),
		cmocka_unit_test_setup_teardown(without_paging_addresses_are_physical, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_virtual_read_stops_at_the_first_hole, setup,
						teardown),
		cmocka_unit_test_setup_teardown(the_text_shows_registers_and_the_code_at_rip, setup,
						teardown),
		cmocka_unit_test_setup_teardown(the_text_is_cut_to_its_buffer, setup, teardown),
		cmocka_unit_test_setup_teardown(the_longest_text_fits_its_limit, setup, teardown),
	};

	return cmocka_run_group_tests_name("arch_walk", tests, NULL, NULL);
}
