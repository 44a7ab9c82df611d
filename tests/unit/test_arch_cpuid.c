/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <string.h>

#include "arch/x86/cpuid.h"

static struct kvm_cpuid_table table;

static void offer(const struct kvm_cpuid_entry2 *leaves, uint32_t count)
{
	memset(&table, 0, sizeof(table));
	table.head.nent = count;
	memcpy(table.entries, leaves, count * sizeof(*leaves));
}

static const struct kvm_cpuid_entry2 *leaf(uint32_t function, uint32_t index)
{
	for (uint32_t i = 0; i < table.head.nent; i++) {
		if (table.entries[i].function == function && table.entries[i].index == index) {
			return &table.entries[i];
		}
	}
	fail_msg("no leaf 0x%x.%u", function, index);
	return NULL;
}

static void the_features_leaf_names_this_cpu_and_a_hypervisor(void **state)
{
	const struct kvm_cpuid_entry2 leaves[] = {
		{.function = 1, .ebx = 0xff100855, .ecx = 1, .edx = 1u << 28 | 7}};
	const struct x86_cpu cpu = {.apic_id = 2, .cpus = 3, .tsc_deadline = true};
	const struct x86_cpu alone = {.apic_id = 0, .cpus = 1, .tsc_deadline = false};

	offer(leaves, 1);
	assert_int_equal(x86_cpuid_for(&table, &cpu), 0);
	assert_int_equal(leaf(1, 0)->ebx, 0x02040855);
	assert_int_equal(leaf(1, 0)->ecx, 1u | 1u << 21 | 1u << 24 | 1u << 31);
	assert_int_equal(leaf(1, 0)->edx, 1u << 28 | 7);
	assert_int_equal(x86_cpuid_for(&table, &alone), 0);
	assert_int_equal(leaf(1, 0)->ebx, 0x00010855);
	assert_int_equal(leaf(1, 0)->ecx, 1u | 1u << 21 | 1u << 31);
	assert_int_equal(leaf(1, 0)->edx, 7);
}

static void topology_is_one_package_of_single_thread_cores(void **state)
{
	const struct kvm_cpuid_entry2 leaves[] = {
		{.function = 0xb, .index = 0, .eax = 9, .ebx = 9, .ecx = 9, .edx = 9},
		{.function = 0xb, .index = 7, .eax = 9},
		{.function = 0x80000008, .eax = 0x3030, .ecx = 0xf0ff},
	};
	const struct x86_cpu cpu = {.apic_id = 4, .cpus = 5};

	offer(leaves, 3);
	assert_int_equal(x86_cpuid_for(&table, &cpu), 0);
	assert_int_equal(table.head.nent, 4);
	assert_int_equal(leaf(0xb, 0)->eax, 0);
	assert_int_equal(leaf(0xb, 0)->ebx, 1);
	assert_int_equal(leaf(0xb, 0)->ecx, 0x100);
	assert_int_equal(leaf(0xb, 0)->edx, 4);
	assert_int_equal(leaf(0xb, 1)->eax, 3);
	assert_int_equal(leaf(0xb, 1)->ebx, 5);
	assert_int_equal(leaf(0xb, 1)->ecx, 0x201);
	assert_int_equal(leaf(0xb, 2)->ebx, 0);
	assert_int_equal(leaf(0xb, 2)->ecx, 2);
	assert_int_equal(leaf(0x80000008, 0)->ecx, 0x3004);
	assert_int_equal(leaf(0x80000008, 0)->eax, 0x3030);
}

static void only_the_last_cache_level_is_shared(void **state)
{
	const struct kvm_cpuid_entry2 leaves[] = {
		{.function = 4, .index = 0, .eax = 0xfc1fc021},
		{.function = 4, .index = 3, .eax = 0xfc1fc063},
		{.function = 4, .index = 4, .eax = 0},
		{.function = 0x8000001d, .index = 3, .eax = 0x0001c163},
	};
	const struct x86_cpu cpu = {.apic_id = 0, .cpus = 4};

	offer(leaves, 4);
	assert_int_equal(x86_cpuid_for(&table, &cpu), 0);
	assert_int_equal(leaf(4, 0)->eax, 0x0c000021);
	assert_int_equal(leaf(4, 3)->eax, 0x0c00c063);
	assert_int_equal(leaf(4, 4)->eax, 0);
	assert_int_equal(leaf(0x8000001d, 3)->eax, 0x0000c163);
}

/* Leaves of a processor with 64 cores of two threads, as a KVM might offer them. */
#define COMMON                                                                                \
	{.function = 1, .ebx = 0x37800800, .edx = 1u << 28},                                  \
		{.function = 0xb, .index = 0, .eax = 1, .ebx = 2, .ecx = 0x100, .edx = 0x37}, \
	{                                                                                     \
		.function = 0xb, .index = 1, .eax = 7, .ebx = 128, .ecx = 0x201, .edx = 0x37  \
	}
static const struct kvm_cpuid_entry2 intel[] = {
	{.function = 0, .eax = 0x1f, .ebx = 0x756e6547, .ecx = 0x6c65746e, .edx = 0x49656e69},
	COMMON,
	{.function = 4, .index = 0, .eax = 0xfc004121},
	{.function = 4, .index = 2, .eax = 0xfc004143},
	{.function = 4, .index = 3, .eax = 0xfc1fc163},
	{.function = 0x1f, .index = 0, .eax = 1, .ebx = 2, .ecx = 0x100},
	{.function = 0x80000001, .ecx = 1},
};
static const struct kvm_cpuid_entry2 amd[] = {
	{.function = 0, .eax = 0x10, .ebx = 0x68747541, .ecx = 0x444d4163, .edx = 0x69746e65},
	COMMON,
	{.function = 0x80000001, .ecx = 1u << 22 | 1},
	{.function = 0x80000008, .ecx = 0x707f},
	{.function = 0x8000001d, .index = 0, .eax = 0x4121},
	{.function = 0x8000001d, .index = 3, .eax = 0x3c163},
	{.function = 0x8000001e, .eax = 0x37, .ebx = 0x11b, .ecx = 0x301},
	{.function = 0x80000026, .index = 0, .eax = 1, .ebx = 2, .ecx = 0x100},
	{.function = 0x80000026, .index = 1, .eax = 7, .ebx = 128, .ecx = 0x401},
};

static unsigned int order(unsigned int count)
{
	unsigned int bits = 0;

	while ((1u << bits) < count) {
		bits++;
	}
	return bits;
}

/* Threads of a core and ids of a package, as Linux works them out of leaf 0xb or 0x1f. */
static void check_levels(uint32_t function, uint32_t apic_id, uint32_t cpus)
{
	assert_int_equal(leaf(function, 0)->ecx, 0x100);
	assert_int_equal(leaf(function, 0)->eax, 0);
	assert_int_equal(leaf(function, 0)->ebx, 1);
	assert_int_equal(leaf(function, 1)->ecx, 0x201);
	assert_int_equal(leaf(function, 1)->eax, order(cpus));
	assert_int_equal(leaf(function, 1)->ebx, cpus);
	assert_int_equal(leaf(function, 2)->ecx & 0xff00, 0);
	for (uint32_t level = 0; level < 3; level++) {
		assert_int_equal(leaf(function, level)->edx, apic_id);
	}
}

static void check_intel(uint32_t apic_id, uint32_t cpus)
{
	check_levels(0xb, apic_id, cpus);
	check_levels(0x1f, apic_id, cpus);
	/* Without those leaves: ids of a package by leaf 1, of them cores by leaf 4, where six
	 * bits are all there are. */
	assert_int_equal(order(leaf(1, 0)->ebx >> 16 & 0xff), order(cpus));
	assert_int_equal((leaf(4, 0)->eax >> 26) + 1, cpus < 64 ? cpus : 64);
	assert_int_equal(leaf(4, 0)->eax >> 14 & 0xfff, 0);
	assert_int_equal(leaf(4, 2)->eax >> 14 & 0xfff, 0);
	assert_int_equal((leaf(4, 3)->eax >> 14 & 0xfff) + 1, cpus);
	assert_int_equal(leaf(0x80000001, 0)->ecx, 1);
}

static void check_amd(uint32_t apic_id, uint32_t cpus)
{
	check_levels(0xb, apic_id, cpus);
	assert_int_equal(leaf(0x80000001, 0)->ecx, 1u << 22 | 1 | (cpus > 1 ? 2 : 0));
	assert_int_equal((leaf(0x80000008, 0)->ecx & 0xff) + 1, cpus);
	assert_int_equal(leaf(0x80000008, 0)->ecx >> 12 & 0xf, order(cpus));
	assert_int_equal(leaf(0x8000001d, 0)->eax >> 14 & 0xfff, 0);
	assert_int_equal((leaf(0x8000001d, 3)->eax >> 14 & 0xfff) + 1, cpus);
	assert_int_equal(leaf(0x8000001e, 0)->eax, apic_id);
	assert_int_equal(leaf(0x8000001e, 0)->ebx, apic_id); /* and one thread in a core */
	assert_int_equal(leaf(0x8000001e, 0)->ecx, 0);       /* node 0 of one */
	for (uint32_t i = 0; i < table.head.nent; i++) {
		assert_int_not_equal(table.entries[i].function, 0x80000026);
	}
}

static void every_way_to_work_the_topology_out_gives_the_same_for_any_number_of_cpus(void **state)
{
	static const uint32_t counts[] = {1,  2,  3,  4,  5,  6,  7,  8,   9,   10,
					  11, 12, 13, 14, 15, 16, 64, 128, 129, 254};

	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		for (uint32_t id = 0; id < counts[i]; id++) {
			const struct x86_cpu cpu = {.apic_id = id, .cpus = counts[i]};

			offer(intel, ARRAY_SIZE(intel));
			assert_int_equal(x86_cpuid_for(&table, &cpu), 0);
			assert_int_equal(leaf(1, 0)->ebx >> 24, id);
			check_intel(id, counts[i]);
			offer(amd, ARRAY_SIZE(amd));
			assert_int_equal(x86_cpuid_for(&table, &cpu), 0);
			assert_int_equal(leaf(1, 0)->ebx >> 24, id);
			assert_int_equal(!(leaf(1, 0)->edx & 1u << 28), counts[i] == 1);
			check_amd(id, counts[i]);
		}
	}
}

static void the_hypervisor_leaves_stay_as_kvm_gave_them(void **state)
{
	const struct kvm_cpuid_entry2 leaves[] = {
		{.function = 0x40000000, .eax = 0x40000001, .ebx = 0x4b4d564b},
		{.function = 0x40000001, .eax = 0x0100000b}};
	const struct x86_cpu cpu = {.cpus = 1};

	offer(leaves, 2);
	assert_int_equal(x86_cpuid_for(&table, &cpu), 0);
	assert_memory_equal(table.entries, leaves, sizeof(leaves));
}

static void a_full_table_has_no_room_for_topology(void **state)
{
	const struct x86_cpu cpu = {.cpus = 1};

	memset(&table, 0, sizeof(table));
	table.head.nent = KVM_CPUID_MAX;
	table.entries[0].function = 0xb;
	assert_int_equal(x86_cpuid_for(&table, &cpu), -E2BIG);
	memset(&table, 0, sizeof(table));
	table.head.nent = KVM_CPUID_MAX - 2;
	table.entries[0].function = 0xb;
	assert_int_equal(x86_cpuid_for(&table, &cpu), 0);
	assert_int_equal(table.head.nent, KVM_CPUID_MAX);
}

static void a_cpu_outside_the_machine_is_refused(void **state)
{
	const struct x86_cpu none = {.cpus = 0};
	const struct x86_cpu past = {.apic_id = 2, .cpus = 2};

	assert_int_equal(x86_cpuid_for(&table, &none), -EINVAL);
	assert_int_equal(x86_cpuid_for(&table, &past), -EINVAL);
}

static void all_state_components_that_the_leaves_offer_are_found(void **state)
{
	const struct kvm_cpuid_entry2 leaves[] = {
		{.function = 1, .eax = 1},
		{.function = 0xd, .index = 1, .eax = 0xf},
		{.function = 0xd, .index = 0, .eax = 0x207, .edx = 0x40000000},
	};

	offer(leaves, 3);
	assert_int_equal(x86_cpuid_xcr0(&table), 0x4000000000000207);
	offer(leaves, 2);
	assert_int_equal(x86_cpuid_xcr0(&table), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_features_leaf_names_this_cpu_and_a_hypervisor),
		cmocka_unit_test(topology_is_one_package_of_single_thread_cores),
		cmocka_unit_test(only_the_last_cache_level_is_shared),
		cmocka_unit_test(
			every_way_to_work_the_topology_out_gives_the_same_for_any_number_of_cpus),
		cmocka_unit_test(the_hypervisor_leaves_stay_as_kvm_gave_them),
		cmocka_unit_test(a_full_table_has_no_room_for_topology),
		cmocka_unit_test(a_cpu_outside_the_machine_is_refused),
		cmocka_unit_test(all_state_components_that_the_leaves_offer_are_found),
	};

	return cmocka_run_group_tests_name("arch_cpuid", tests, NULL, NULL);
}
