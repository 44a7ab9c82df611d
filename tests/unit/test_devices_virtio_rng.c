/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include "virtio_driver.h"

#include <linux/virtio_ids.h>
#include <string.h>

#include "devices/virtio/rng.h"

static struct virtio_driver drv;
static struct virtio_rng rng;

static int setup(void **state)
{
	struct virtio_place place;

	driver_init(&drv);
	place = driver_place(&drv);
	assert_int_equal(virtio_rng_init(&rng, &place), 0);
	driver_start(&drv, &rng.v, 1, DRIVER_V1);
	return 0;
}

static int teardown(void **state)
{
	virtio_rng_fini(&rng);
	driver_fini(&drv);
	return 0;
}

static uint32_t ask(uint32_t bytes, uint16_t flags)
{
	uint32_t head, written = ~0u;

	vring_desc(&drv.queue[0], 0, VRING_HEAP, bytes, flags, 0);
	vring_offer(&drv.queue[0], 0);
	driver_notify(&drv, 0);
	assert_true(vring_take_used(&drv.queue[0], &head, &written));
	return written;
}

static void it_fills_what_it_is_given_with_other_bytes_each_time(void **state)
{
	static const uint8_t zeros[32];
	uint8_t first[32];

	assert_int_equal(driver_get(&drv, VIRTIO_MMIO_DEVICE_ID), VIRTIO_ID_RNG);
	assert_int_equal(ask(32, VRING_DESC_F_WRITE), 32);
	memcpy(first, drv.ram.bytes + VRING_HEAP, 32);
	assert_memory_not_equal(first, zeros, 32);
	assert_memory_equal(drv.ram.bytes + VRING_HEAP + 32, zeros, 32);
	assert_int_equal(ask(32, VRING_DESC_F_WRITE), 32);
	assert_memory_not_equal(first, drv.ram.bytes + VRING_HEAP, 32);
	assert_int_equal(driver_interrupts(&drv), 2);
}

static void a_large_request_gets_a_bounded_part(void **state)
{
	assert_int_equal(ask(0x10000, VRING_DESC_F_WRITE), VIRTIO_RNG_REQUEST_MAX);
	assert_int_equal(drv.ram.bytes[VRING_HEAP + VIRTIO_RNG_REQUEST_MAX], 0);
}

static void a_request_with_nothing_to_write_gets_nothing(void **state)
{
	assert_int_equal(ask(16, 0), 0);
	assert_int_equal(drv.ram.bytes[VRING_HEAP], 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(it_fills_what_it_is_given_with_other_bytes_each_time),
		T(a_large_request_gets_a_bounded_part),
		T(a_request_with_nothing_to_write_gets_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
