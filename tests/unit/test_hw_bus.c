/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <string.h>

#include "base/rng.h"
#include "hw/bus.h"

/* Remembers its bytes, and the widest access it was given. */
struct ram_device {
	struct device dev;
	uint8_t bytes[16];
	unsigned int widest;
	unsigned int resets;
};

static uint64_t ram_read(struct device *d, uint64_t offset, unsigned int size)
{
	struct ram_device *ram = (struct ram_device *)d;
	uint64_t v = UINT64_MAX; /* the bus must cut it */

	assert_true(offset + size <= sizeof(ram->bytes));
	memcpy(&v, ram->bytes + offset, size);
	ram->widest = size > ram->widest ? size : ram->widest;
	return v;
}

static void ram_write(struct device *d, uint64_t offset, unsigned int size, uint64_t value)
{
	struct ram_device *ram = (struct ram_device *)d;

	assert_true(offset + size <= sizeof(ram->bytes));
	memcpy(ram->bytes + offset, &value, size);
	ram->widest = size > ram->widest ? size : ram->widest;
}

static void ram_reset(struct device *d)
{
	((struct ram_device *)d)->resets++;
}

static const struct device_ops ram1_ops = {"ram1", 1, ram_read, ram_write, ram_reset};
static const struct device_ops ram4_ops = {"ram4", 4, ram_read, ram_write, NULL};

static void an_access_reaches_the_device_at_its_address(void **state)
{
	struct ram_device a = {.dev.ops = &ram1_ops};
	struct ram_device c = {.dev.ops = &ram4_ops};
	struct bus b;

	bus_init(&b, "port");
	assert_int_equal(bus_add(&b, 0x3f8, 8, &c.dev, 0), 0);
	assert_int_equal(bus_add(&b, 0x60, 1, &a.dev, 0), 0);
	assert_int_equal(bus_add(&b, 0x64, 1, &a.dev, 4), 0);
	bus_write(&b, 0x3fc, 4, UINT64_C(0xffffffff12345678));
	assert_int_equal(bus_read(&b, 0x3fc, 4), 0x12345678);
	assert_int_equal(bus_read(&b, 0x3fd, 1), 0x56);
	assert_int_equal(c.bytes[4], 0x78);
	bus_write(&b, 0x64, 1, 0x99);
	assert_int_equal(a.bytes[4], 0x99);
	assert_string_equal(bus_device_name(&b, 0x64), "ram1");
	assert_null(bus_device_name(&b, 0x61));
	assert_int_equal(bus_unclaimed(&b), 0);
	bus_reset(&b);
	assert_int_equal(a.resets, 2);
}

static void an_access_wider_than_the_device_takes_is_split(void **state)
{
	struct ram_device a = {.dev.ops = &ram1_ops};
	struct bus b;

	bus_init(&b, "port");
	assert_int_equal(bus_add(&b, 0x100, 16, &a.dev, 0), 0);
	bus_write(&b, 0x101, 8, UINT64_C(0x1122334455667788));
	assert_int_equal(bus_read(&b, 0x101, 8), UINT64_C(0x1122334455667788));
	assert_int_equal(a.bytes[1], 0x88);
	assert_int_equal(a.bytes[8], 0x11);
	assert_int_equal(a.widest, 1);
}

static void an_access_over_a_devices_end_reads_ones_there(void **state)
{
	struct ram_device a = {.dev.ops = &ram4_ops};
	struct bus b;

	bus_init(&b, "mmio");
	assert_int_equal(bus_add(&b, 0x1000, 6, &a.dev, 0), 0);
	bus_write(&b, 0x1004, 4, 0xaabbccdd);
	assert_int_equal(a.bytes[4], 0xdd);
	assert_int_equal(a.bytes[5], 0xcc);
	assert_int_equal(a.bytes[6], 0);
	assert_int_equal(bus_read(&b, 0x1004, 4), 0xffffccdd);
	assert_int_equal(bus_read(&b, 0xffe, 4), 0x0000ffff);
	assert_int_equal(bus_unclaimed(&b), 3);
}

static void what_nobody_claims_reads_all_ones_and_is_counted(void **state)
{
	struct bus b;

	bus_init(&b, "port");
	assert_int_equal(bus_read(&b, 0xcf8, 1), 0xff);
	assert_int_equal(bus_read(&b, 0xcf8, 2), 0xffff);
	assert_int_equal(bus_read(&b, 0xcf8, 4), 0xffffffff);
	assert_int_equal(bus_read(&b, UINT64_MAX, 8), UINT64_MAX);
	bus_write(&b, 0, 4, 1);
	assert_int_equal(bus_unclaimed(&b), 5);
}

static void ranges_that_overlap_wrap_or_are_empty_are_refused(void **state)
{
	struct ram_device a = {.dev.ops = &ram1_ops};
	struct bus b;

	bus_init(&b, "port");
	assert_int_equal(bus_add(&b, 0x100, 8, &a.dev, 0), 0);
	assert_int_equal(bus_add(&b, 0x107, 1, &a.dev, 0), -EEXIST);
	assert_int_equal(bus_add(&b, 0xff, 2, &a.dev, 0), -EEXIST);
	assert_int_equal(bus_add(&b, 0x100, 8, &a.dev, 0), -EEXIST);
	assert_int_equal(bus_add(&b, 0x200, 0, &a.dev, 0), -EINVAL);
	assert_int_equal(bus_add(&b, UINT64_MAX, 2, &a.dev, 0), -EINVAL);
	assert_int_equal(bus_add(&b, 0x108, 1, &a.dev, 0), 0);
	assert_int_equal(bus_add(&b, 0xff, 1, &a.dev, 0), 0);
}

static void one_range_more_than_the_limit_is_refused(void **state)
{
	struct ram_device a = {.dev.ops = &ram1_ops};
	struct bus b;

	bus_init(&b, "port");
	for (uint64_t i = 0; i < BUS_RANGES_MAX; i++) {
		assert_int_equal(bus_add(&b, 2 * i, 1, &a.dev, 0), 0);
	}
	assert_int_equal(bus_add(&b, 0x1000, 1, &a.dev, 0), -ENOSPC);
}

static void every_address_finds_the_range_a_plain_search_finds(void **state)
{
	struct ram_device devs[BUS_RANGES_MAX];
	int16_t owner[256];
	struct rng rng;
	struct bus b;

	rng_init(&rng, 7);
	bus_init(&b, "port");
	memset(owner, -1, sizeof(owner));
	memset(devs, 0, sizeof(devs));
	for (int i = 0; i < 200 && b.count < BUS_RANGES_MAX; i++) {
		uint64_t base = rng_below(&rng, 250);
		uint64_t len = 1 + rng_below(&rng, 6);
		struct ram_device *d = &devs[b.count];
		bool taken = false;

		d->dev.ops = &ram1_ops;
		for (uint64_t j = base; j < base + len; j++) {
			taken |= owner[j] >= 0;
		}
		assert_int_equal(bus_add(&b, base, len, &d->dev, 0), taken ? -EEXIST : 0);
		for (uint64_t j = base; !taken && j < base + len; j++) {
			owner[j] = (int16_t)(d - devs);
			d->bytes[j - base] = (uint8_t)j;
		}
	}
	for (uint64_t j = 0; j < 256; j++) {
		assert_int_equal(bus_read(&b, j, 1), owner[j] < 0 ? 0xff : j);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_access_reaches_the_device_at_its_address),
		cmocka_unit_test(an_access_wider_than_the_device_takes_is_split),
		cmocka_unit_test(an_access_over_a_devices_end_reads_ones_there),
		cmocka_unit_test(what_nobody_claims_reads_all_ones_and_is_counted),
		cmocka_unit_test(ranges_that_overlap_wrap_or_are_empty_are_refused),
		cmocka_unit_test(one_range_more_than_the_limit_is_refused),
		cmocka_unit_test(every_address_finds_the_range_a_plain_search_finds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
