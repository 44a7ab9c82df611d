/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "guest_ram.h"

#include <errno.h>
#include <string.h>

#include "arch/x86/mptable.h"

#define RAM_BYTES 0x100000

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

static unsigned int sum(const unsigned char *p, size_t n)
{
	unsigned int s = 0;

	while (n--) {
		s += *p++;
	}
	return s & 0xff;
}

static unsigned int u16(const unsigned char *p)
{
	return p[0] | (unsigned int)p[1] << 8;
}

/* Walks the table as a kernel does; counts entries by type. */
static void walk(unsigned int *ret_counts)
{
	static const unsigned char sizes[] = {20, 8, 8, 8, 8};
	const unsigned char *pointer = ram.bytes + X86_MPTABLE;
	const unsigned char *table = pointer + 16;
	const unsigned char *entry = table + 44;

	assert_memory_equal(pointer, "_MP_\x10\xfc\x09\x00\x01\x04", 10);
	assert_int_equal(sum(pointer, 16), 0);
	assert_memory_equal(table, "PCMP", 4);
	assert_int_equal(sum(table, u16(table + 4)), 0);
	for (unsigned int i = 0; i < u16(table + 34); i++) {
		assert_in_range(entry[0], 0, 4);
		ret_counts[entry[0]]++;
		entry += sizes[entry[0]];
	}
	assert_ptr_equal(entry, table + u16(table + 4));
}

static void every_cpu_count_gives_a_table_whose_sums_are_right(void **state)
{
	for (unsigned int cpus = 1; cpus <= 254; cpus++) {
		unsigned int counts[5] = {0};

		assert_int_equal(x86_mptable_write(&ram.mem, cpus), 0);
		walk(counts);
		assert_int_equal(counts[0], cpus);
		assert_int_equal(counts[1], 1);
		assert_int_equal(counts[2], 1);
		assert_int_equal(counts[3], X86_IOAPIC_PINS);
		assert_int_equal(counts[4], 2);
	}
}

static void the_first_cpu_alone_boots_and_the_io_apic_has_an_id_of_its_own(void **state)
{
	const unsigned char *cpu = ram.bytes + X86_MPTABLE + 16 + 44;

	assert_int_equal(x86_mptable_write(&ram.mem, 2), 0);
	assert_int_equal(cpu[1], 0);
	assert_int_equal(cpu[3], 3);
	assert_int_equal(cpu[20 + 1], 1);
	assert_int_equal(cpu[20 + 3], 1);
	assert_int_equal(cpu[40 + 8], 2); /* after the bus: the I/O APIC */
	assert_int_equal(cpu[40 + 8 + 1], 2);
}

static void too_many_cpus_are_refused(void **state)
{
	assert_int_equal(x86_mptable_write(&ram.mem, 0), -EINVAL);
	assert_int_equal(x86_mptable_write(&ram.mem, 255), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_cpu_count_gives_a_table_whose_sums_are_right,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			the_first_cpu_alone_boots_and_the_io_apic_has_an_id_of_its_own, setup,
			teardown),
		cmocka_unit_test_setup_teardown(too_many_cpus_are_refused, setup, teardown),
	};

	return cmocka_run_group_tests_name("arch_mptable", tests, NULL, NULL);
}
