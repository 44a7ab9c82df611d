/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "guest_ram.h"

#include <errno.h>
#include <string.h>

#include "arch/x86/boot.h"
#include "arch/x86/walk.h"

#define RAM_BYTES 0x10000

static struct guest_ram ram;

static int setup(void **state)
{
	guest_ram_init(&ram, RAM_BYTES);
	return 0;
}

static int teardown(void **state)
{
	guest_ram_fini(&ram);
	return 0;
}

static void the_first_four_gib_are_mapped_one_to_one(void **state)
{
	const uint64_t mapped[] = {0, 0xfff, 0x1000, 0x100000, 0x3fffffff, 0x40000000, 0xffffffff};
	struct kvm_sregs s = {0};
	uint64_t gpa;

	assert_int_equal(x86_boot_write_tables(&ram.mem, X86_RING_0), 0);
	x86_boot_sregs(&s, X86_RING_0);
	for (size_t i = 0; i < ARRAY_SIZE(mapped); i++) {
		assert_int_equal(x86_walk(&ram.mem, &s, mapped[i], &gpa), 0);
		assert_true(gpa == mapped[i]);
	}
	assert_int_equal(x86_walk(&ram.mem, &s, UINT64_C(1) << 32, &gpa), -EFAULT);
}

static void ring_3_pages_are_open_to_user_mode_on_every_level(void **state)
{
	uint64_t entry;

	for (int ring = X86_RING_0; ring <= X86_RING_3; ring++) {
		assert_int_equal(x86_boot_write_tables(&ram.mem, (enum x86_ring)ring), 0);
		for (unsigned int page = 0; page < X86_BOOT_TABLE_PAGES; page++) {
			assert_int_equal(gmem_read(&ram.mem,
						   X86_BOOT_TABLES + page * GMEM_PAGE_BYTES, &entry,
						   sizeof(entry)),
					 0);
			assert_int_equal(entry & 7, ring == X86_RING_3 ? 7 : 3);
		}
	}
}

static void linux_finds_its_selectors(void **state)
{
	struct kvm_sregs s = {.apic_base = 0xfee00900};
	struct kvm_regs r;
	uint64_t descriptor;

	assert_int_equal(x86_boot_write_tables(&ram.mem, X86_RING_0), 0);
	x86_boot_sregs(&s, X86_RING_0);
	x86_boot_regs(&r, 0x1000000, 0x7000, X86_RING_0);
	assert_int_equal(s.cs.selector, 0x10);
	assert_int_equal(s.ds.selector, 0x18);
	assert_int_equal(s.es.selector, 0x18);
	assert_int_equal(s.ss.selector, 0x18);
	assert_true(s.cs.l && !s.cs.db);
	assert_true(s.apic_base == 0xfee00900);
	assert_int_equal(gmem_read(&ram.mem, s.gdt.base + 0x10, &descriptor, 8), 0);
	assert_true(descriptor == UINT64_C(0x00af9b000000ffff));
	assert_int_equal(gmem_read(&ram.mem, s.gdt.base + 0x18, &descriptor, 8), 0);
	assert_true(descriptor == UINT64_C(0x00cf93000000ffff));
	assert_true(r.rip == 0x1000000 && r.rsi == 0x7000 && r.rflags == 2);
}

static void a_payload_in_ring_3_may_reach_ports(void **state)
{
	struct kvm_sregs s = {0};
	struct kvm_regs r;

	x86_boot_sregs(&s, X86_RING_3);
	x86_boot_regs(&r, 0x101000, 0, X86_RING_3);
	assert_int_equal(s.cs.selector & 3, 3);
	assert_int_equal(s.cs.dpl, 3);
	assert_int_equal(s.ss.selector & 3, 3);
	assert_int_equal(s.ss.dpl, 3);
	assert_int_equal(r.rflags, 0x3002);
}

static void a_task_segment_forbids_ring_3_no_port(void **state)
{
	static const uint8_t open[0x2000];
	struct kvm_sregs s = {0};
	uint8_t map[sizeof(open) + 1];
	uint16_t base;

	memset(ram.bytes, 0xee, RAM_BYTES);
	assert_int_equal(x86_boot_write_tables(&ram.mem, X86_RING_3), 0);
	x86_boot_sregs(&s, X86_RING_3);
	assert_int_equal(gmem_read(&ram.mem, s.tr.base + 0x66, &base, sizeof(base)), 0);
	assert_int_equal(gmem_read(&ram.mem, s.tr.base + base, map, sizeof(map)), 0);
	assert_memory_equal(map, open, sizeof(open));
	assert_int_equal(map[sizeof(open)], 0xff);
	assert_true(s.tr.limit >= base + sizeof(map) - 1);
}

static void pvh_starts_in_flat_protected_mode_without_paging(void **state)
{
	struct kvm_sregs s = {.apic_base = 0xfee00900};
	struct kvm_regs r;

	x86_boot_sregs(&s, X86_RING_0); /* nothing of another state stays */
	x86_boot_pvh_sregs(&s);
	x86_boot_pvh_regs(&r, 0x1000850, 0x7000);
	assert_int_equal(s.cr0, 0x11);
	assert_int_equal(s.cr3 | s.cr4 | s.efer, 0);
	assert_int_equal(s.apic_base, 0xfee00900);
	assert_true(s.cs.present && s.cs.db && !s.cs.l && s.cs.type == 11 && s.cs.s);
	assert_true(s.ds.present && s.ds.db && s.ds.type == 3 && s.ds.s);
	assert_int_equal(s.cs.base | s.ds.base | s.es.base | s.ss.base, 0);
	assert_int_equal(s.cs.limit & s.ds.limit & s.es.limit & s.ss.limit, 0xffffffff);
	assert_int_equal(s.tr.limit, 0x67);
	assert_int_equal(s.tr.type, 11);
	assert_int_equal(r.rip, 0x1000850);
	assert_int_equal(r.rbx, 0x7000);
	assert_int_equal(r.rflags, 2);
}

static void ram_too_small_for_the_tables_is_an_error(void **state)
{
	struct gmem small;

	gmem_init(&small);
	assert_int_equal(gmem_add(&small, 0, 0xe000, ram.bytes), 0);
	assert_true(x86_boot_write_tables(&small, X86_RING_0) < 0);
	gmem_fini(&small);
}

static void the_pins_are_wired_as_on_a_pc(void **state)
{
	struct kvm_lapic_state l = {{0}};
	uint32_t lvt;

	memset(l.regs + 0x350, 0xff, 4);
	x86_boot_lapic(&l);
	memcpy(&lvt, l.regs + 0x350, 4);
	assert_int_equal(lvt & 0x10700, 0x700);
	memcpy(&lvt, l.regs + 0x360, 4);
	assert_int_equal(lvt, 0x400);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_first_four_gib_are_mapped_one_to_one, setup,
						teardown),
		cmocka_unit_test_setup_teardown(ring_3_pages_are_open_to_user_mode_on_every_level,
						setup, teardown),
		cmocka_unit_test_setup_teardown(linux_finds_its_selectors, setup, teardown),
		cmocka_unit_test_setup_teardown(a_task_segment_forbids_ring_3_no_port, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_payload_in_ring_3_may_reach_ports, setup,
						teardown),
		cmocka_unit_test(pvh_starts_in_flat_protected_mode_without_paging),
		cmocka_unit_test_setup_teardown(ram_too_small_for_the_tables_is_an_error, setup,
						teardown),
		cmocka_unit_test_setup_teardown(the_pins_are_wired_as_on_a_pc, setup, teardown),
	};

	return cmocka_run_group_tests_name("arch_boot", tests, NULL, NULL);
}
