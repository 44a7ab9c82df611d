/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is expected here are the bytes that Intel's compiler (iasl) makes of the same source, but
 * for the width of lengths. That the whole of it can be disassembled is test_arch_acpi's. */
#include "support.h"

#include <string.h>

#include "arch/x86/aml.h"

static uint8_t bytes[64];

static void expect(const struct aml *a, const void *want, size_t count)
{
	assert_false(a->full);
	assert_int_equal(a->used, count);
	assert_memory_equal(bytes, want, count);
}

static void numbers_take_as_few_bytes_as_they_can(void **state)
{
	struct aml a;

	aml_init(&a, bytes, sizeof(bytes));
	aml_integer(&a, 0);
	aml_integer(&a, 1);
	aml_integer(&a, 2);
	aml_integer(&a, 255);
	aml_integer(&a, 256);
	aml_integer(&a, 65535);
	aml_integer(&a, 65536);
	expect(&a, "\x00\x01\x0a\x02\x0a\xff\x0b\x00\x01\x0b\xff\xff\x0c\x00\x00\x01\x00", 17);
}

static void an_eisa_id_is_three_letters_and_four_digits_in_a_number(void **state)
{
	struct aml a;

	aml_init(&a, bytes, sizeof(bytes));
	aml_eisa_id(&a, "PNP0501");
	aml_eisa_id(&a, "PNP0B00");
	aml_eisa_id(&a, "ZZZFFFF");
	expect(&a, "\x0c\x41\xd0\x05\x01\x0c\x41\xd0\x0b\x00\x0c\x6b\x5a\xff\xff", 15);
}

static void a_device_counts_its_own_length(void **state)
{
	size_t scope, device;
	struct aml a;

	aml_init(&a, bytes, sizeof(bytes));
	scope = aml_scope_begin(&a, "_SB_");
	device = aml_device_begin(&a, "V000");
	aml_name(&a, "_HID");
	aml_string(&a, "AB");
	aml_end(&a, device);
	aml_end(&a, scope);
	/* The scope: 3 of its length, 5 of its name, 2 + 3 + 4 of the device and 5 + 4 in it. */
	expect(&a,
	       "\x10\x8a\x01\x00\\_SB_"
	       "\x5b\x82\x80\x01\x00V000"
	       "\x08_HID\x0d"
	       "AB",
	       27);
}

static void a_package_has_its_count_and_its_values(void **state)
{
	struct aml a;
	size_t begun;

	aml_init(&a, bytes, sizeof(bytes));
	begun = aml_package_begin(&a, 2);
	aml_integer(&a, 5);
	aml_integer(&a, 0);
	aml_end(&a, begun);
	expect(&a, "\x12\x87\x00\x00\x02\x0a\x05\x00", 8);
}

static void resources_are_a_buffer_with_an_end(void **state)
{
	struct aml a;
	size_t begun;

	aml_init(&a, bytes, sizeof(bytes));
	begun = aml_resources_begin(&a);
	aml_ports(&a, 0x3f8, 8);
	aml_isa_irq(&a, 4);
	aml_memory(&a, 0xfeb00000, 0x1000);
	aml_interrupt(&a, 23);
	aml_resources_end(&a, begun);
	expect(&a,
	       "\x11\x88\x02\x00\x0b\x22\x00"
	       "\x47\x01\xf8\x03\xf8\x03\x01\x08"
	       "\x22\x10\x00"
	       "\x86\x09\x00\x01\x00\x00\xb0\xfe\x00\x10\x00\x00"
	       "\x89\x06\x00\x03\x01\x17\x00\x00\x00"
	       "\x79\x00",
	       7 + 8 + 3 + 12 + 9 + 2);
}

static void a_long_device_has_its_length_in_all_three_bytes(void **state)
{
	static uint8_t large[8192];
	size_t device;
	struct aml a;

	aml_init(&a, large, sizeof(large));
	device = aml_device_begin(&a, "V000");
	for (unsigned int i = 0; i < 1000; i++) {
		aml_integer(&a, UINT32_MAX);
	}
	aml_end(&a, device);
	assert_int_equal(a.used, 2 + 3 + 4 + 5000);
	assert_int_equal((large[2] & 0xf) | large[3] << 4 | large[4] << 12, 5007);
	assert_int_equal(large[2] >> 4, 8);
}

static void what_does_not_fit_is_told_and_writes_nothing_past_the_end(void **state)
{
	for (size_t room = 0; room < 60; room++) {
		size_t scope, device, resources;
		struct aml a;

		memset(bytes, 0xaa, sizeof(bytes));
		aml_init(&a, bytes, room);
		scope = aml_scope_begin(&a, "_SB_");
		device = aml_device_begin(&a, "COM1");
		aml_name(&a, "_HID");
		aml_eisa_id(&a, "PNP0501");
		aml_name(&a, "_CRS");
		resources = aml_resources_begin(&a);
		aml_ports(&a, 0x3f8, 8);
		aml_interrupt(&a, 4);
		aml_resources_end(&a, resources);
		aml_end(&a, device);
		aml_end(&a, scope);
		assert_int_equal(a.full, room < 59);
		assert_true(a.used <= room);
		for (size_t i = room; i < sizeof(bytes); i++) {
			assert_int_equal(bytes[i], 0xaa);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_take_as_few_bytes_as_they_can),
		cmocka_unit_test(an_eisa_id_is_three_letters_and_four_digits_in_a_number),
		cmocka_unit_test(a_device_counts_its_own_length),
		cmocka_unit_test(a_package_has_its_count_and_its_values),
		cmocka_unit_test(resources_are_a_buffer_with_an_end),
		cmocka_unit_test(a_long_device_has_its_length_in_all_three_bytes),
		cmocka_unit_test(what_does_not_fit_is_told_and_writes_nothing_past_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
