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
		cmocka_unit_test(the_hypervisor_leaves_stay_as_kvm_gave_them),
		cmocka_unit_test(a_full_table_has_no_room_for_topology),
		cmocka_unit_test(a_cpu_outside_the_machine_is_refused),
		cmocka_unit_test(all_state_components_that_the_leaves_offer_are_found),
	};

	return cmocka_run_group_tests_name("arch_cpuid", tests, NULL, NULL);
}
