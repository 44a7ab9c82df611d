/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The registers of a virtio device, by virtio 1.2, 4.2, with a device that counts its requests. */
#include "support.h"

#include "virtio_driver.h"

#include <errno.h>
#include <linux/virtio_ids.h>
#include <string.h>

#include "base/rng.h"
#include "hw/bus.h"

#define FEATURE  5
#define QUEUES   2
#define ACCESSES 300000
#define SEED     77

struct counter {
	struct virtio_mmio v;
	unsigned int served, resets, rang;
};

static struct virtio_driver drv;
static struct counter dev;
static const uint8_t config[6] = {1, 2, 3, 4, 5, 6};

static uint32_t count(struct virtio_mmio *v, struct virtq *q, const struct virtq_chain *c)
{
	dev.served++;
	return c->in_bytes;
}

static bool serve(struct virtio_mmio *v)
{
	bool more = virtio_serve_queue(v, 0, count);

	dev.rang++;
	return virtio_serve_queue(v, 1, count) || more;
}

static void on_reset(struct virtio_mmio *v)
{
	dev.resets++;
}

static const struct virtio_ops ops = {
	.name = "counter", .id = VIRTIO_ID_RNG, .serve = serve, .reset = on_reset};

static int make(void)
{
	struct virtio_place place = driver_place(&drv);

	return virtio_init(&dev.v, &ops, &place, QUEUES, UINT64_C(1) << FEATURE, config,
			   sizeof(config));
}

static int setup(void **state)
{
	driver_init(&drv);
	memset(&dev, 0, sizeof(dev));
	drv.dev = &dev.v;
	return make();
}

static int teardown(void **state)
{
	virtio_fini(&dev.v);
	driver_fini(&drv);
	return 0;
}

static void add(unsigned int queue)
{
	vring_desc(&drv.queue[queue], 0, VRING_HEAP, 4, VRING_DESC_F_WRITE, 0);
	vring_offer(&drv.queue[queue], 0);
}

static void it_says_what_it_is(void **state)
{
	assert_int_equal(driver_get(&drv, VIRTIO_MMIO_MAGIC_VALUE), 0x74726976);
	assert_int_equal(driver_get(&drv, VIRTIO_MMIO_VERSION), 2);
	assert_int_equal(driver_get(&drv, VIRTIO_MMIO_DEVICE_ID), VIRTIO_ID_RNG);
	assert_true(driver_offered(&drv) ==
		    ((UINT64_C(1) << FEATURE) | DRIVER_V1 | UINT64_C(3) << 28));
	driver_set(&drv, VIRTIO_MMIO_DEVICE_FEATURES_SEL, 2);
	assert_int_equal(driver_get(&drv, VIRTIO_MMIO_DEVICE_FEATURES), 0);
	driver_set(&drv, VIRTIO_MMIO_QUEUE_SEL, QUEUES - 1);
	assert_int_equal(driver_get(&drv, VIRTIO_MMIO_QUEUE_NUM_MAX), VIRTQ_SIZE_MAX);
	driver_set(&drv, VIRTIO_MMIO_QUEUE_SEL, QUEUES);
	assert_int_equal(driver_get(&drv, VIRTIO_MMIO_QUEUE_NUM_MAX), 0);
	assert_int_equal(driver_get(&drv, VIRTIO_MMIO_SHM_LEN_LOW), UINT32_MAX);
	assert_int_equal(driver_get(&drv, VIRTIO_MMIO_CONFIG_GENERATION), 0);
}

static void it_is_tied_to_its_doorbell_and_its_line(void **state)
{
	assert_int_equal(drv.doorbell_fd, virtio_doorbell_fd(&dev.v));
	assert_int_equal(drv.doorbell_gpa, DRIVER_GPA + VIRTIO_MMIO_QUEUE_NOTIFY);
	assert_int_equal(drv.doorbell_bytes, 4);
	assert_int_equal(drv.irq_fd, dev.v.irq_fd);
	assert_int_equal(drv.gsi, DRIVER_GSI);
}

static void each_step_of_making_it_may_fail_and_leaves_nothing(void **state)
{
	virtio_fini(&dev.v);
	for (int n = 1; n <= 4; n++) {
		drv.calls = 0;
		drv.fail_at = n;
		assert_int_equal(make(), -EMFILE);
		assert_int_equal(drv.opened, 0);
	}
	drv.fail_at = 0;
	assert_int_equal(make(), 0);
}

static void the_configuration_is_read_at_any_width_and_ends_in_zeros(void **state)
{
	const struct device_ops *o = dev.v.dev.ops;

	assert_int_equal(o->read(&dev.v.dev, VIRTIO_MMIO_CONFIG, 1), 1);
	assert_int_equal(o->read(&dev.v.dev, VIRTIO_MMIO_CONFIG + 1, 2), 0x0302);
	assert_int_equal(o->read(&dev.v.dev, VIRTIO_MMIO_CONFIG + 4, 4), 0x0605);
	assert_int_equal(o->read(&dev.v.dev, VIRTIO_MMIO_CONFIG + 6, 4), 0);
	assert_int_equal(o->read(&dev.v.dev, VIRTIO_MMIO_BYTES - 1, 1), 0);
	o->write(&dev.v.dev, VIRTIO_MMIO_CONFIG, 4, 0);
	assert_int_equal(o->read(&dev.v.dev, VIRTIO_MMIO_CONFIG, 1), 1);
}

static void registers_answer_to_aligned_words_alone(void **state)
{
	const struct device_ops *o = dev.v.dev.ops;

	assert_int_equal(o->read(&dev.v.dev, VIRTIO_MMIO_MAGIC_VALUE, 1), 0);
	assert_int_equal(o->read(&dev.v.dev, VIRTIO_MMIO_MAGIC_VALUE, 2), 0);
	assert_int_equal(o->read(&dev.v.dev, VIRTIO_MMIO_VERSION + 2, 4), 0);
	o->write(&dev.v.dev, VIRTIO_MMIO_STATUS, 1, VIRTIO_CONFIG_S_ACKNOWLEDGE);
	assert_int_equal(driver_get(&drv, VIRTIO_MMIO_STATUS), 0);
	driver_set(&drv, VIRTIO_MMIO_MAGIC_VALUE, 0);
	driver_set(&drv, VIRTIO_MMIO_INTERRUPT_STATUS, 3);
	assert_int_equal(driver_get(&drv, VIRTIO_MMIO_MAGIC_VALUE), 0x74726976);
	assert_int_equal(driver_get(&drv, VIRTIO_MMIO_INTERRUPT_STATUS), 0);
}

static void choose(uint64_t features)
{
	for (uint32_t i = 0; i < 2; i++) {
		driver_set(&drv, VIRTIO_MMIO_DRIVER_FEATURES_SEL, i);
		driver_set(&drv, VIRTIO_MMIO_DRIVER_FEATURES, (uint32_t)(features >> (32 * i)));
	}
}

static void features_that_were_not_offered_or_without_version_1_are_refused(void **state)
{
	static const uint64_t refused[] = {
		0, UINT64_C(1) << FEATURE, DRIVER_V1 | 1, DRIVER_V1 | UINT64_C(1) << 40, UINT64_MAX,
	};
	const uint32_t before = VIRTIO_CONFIG_S_ACKNOWLEDGE | VIRTIO_CONFIG_S_DRIVER;

	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		driver_set(&drv, VIRTIO_MMIO_STATUS, 0);
		choose(refused[i]);
		driver_set(&drv, VIRTIO_MMIO_STATUS, before | VIRTIO_CONFIG_S_FEATURES_OK);
		assert_int_equal(driver_get(&drv, VIRTIO_MMIO_STATUS), before);
		/* And no driver may go on without them. */
		driver_set(&drv, VIRTIO_MMIO_STATUS, before | VIRTIO_CONFIG_S_DRIVER_OK);
		assert_int_equal(driver_get(&drv, VIRTIO_MMIO_STATUS), before);
	}
	choose(DRIVER_V1 | UINT64_C(1) << FEATURE);
	driver_set(&drv, VIRTIO_MMIO_STATUS, before | VIRTIO_CONFIG_S_FEATURES_OK);
	assert_int_equal(driver_get(&drv, VIRTIO_MMIO_STATUS),
			 before | VIRTIO_CONFIG_S_FEATURES_OK);
	/* From here on they are what they are. */
	choose(0);
	assert_true(virtio_accepted(&dev.v, FEATURE));
}

static void status_bits_are_only_taken_back_by_a_reset(void **state)
{
	driver_start(&drv, &dev.v, QUEUES, DRIVER_V1);
	driver_set(&drv, VIRTIO_MMIO_STATUS, VIRTIO_CONFIG_S_ACKNOWLEDGE);
	assert_int_equal(driver_get(&drv, VIRTIO_MMIO_STATUS), 15);
	driver_set(&drv, VIRTIO_MMIO_STATUS, 0xff & ~VIRTIO_CONFIG_S_FAILED);
	assert_int_equal(driver_get(&drv, VIRTIO_MMIO_STATUS), 15); /* NEEDS_RESET is ours */
	driver_set(&drv, VIRTIO_MMIO_STATUS, 0);
	assert_int_equal(driver_get(&drv, VIRTIO_MMIO_STATUS), 0);
	driver_set(&drv, VIRTIO_MMIO_QUEUE_SEL, 1);
	assert_int_equal(driver_get(&drv, VIRTIO_MMIO_QUEUE_READY), 0);
	assert_int_equal(dev.resets, 2);
}

static void requests_are_served_with_one_interrupt_for_all(void **state)
{
	uint32_t head, bytes;

	driver_start(&drv, &dev.v, QUEUES, DRIVER_V1);
	driver_notify(&drv, 0);
	assert_int_equal(driver_interrupts(&drv), 0);
	add(0);
	add(0);
	driver_notify(&drv, 0);
	assert_int_equal(dev.served, 2);
	assert_int_equal(driver_interrupts(&drv), 1);
	assert_int_equal(driver_get(&drv, VIRTIO_MMIO_INTERRUPT_STATUS), 1);
	assert_true(vring_take_used(&drv.queue[0], &head, &bytes));
	assert_int_equal(bytes, 4);
	driver_set(&drv, VIRTIO_MMIO_INTERRUPT_ACK, 1);
	assert_int_equal(driver_get(&drv, VIRTIO_MMIO_INTERRUPT_STATUS), 0);
	add(1);
	driver_notify(&drv, 1);
	assert_int_equal(dev.served, 3);
	assert_int_equal(driver_interrupts(&drv), 1);
}

static void requests_before_driver_ok_wait_for_it(void **state)
{
	const uint32_t ready =
		VIRTIO_CONFIG_S_ACKNOWLEDGE | VIRTIO_CONFIG_S_DRIVER | VIRTIO_CONFIG_S_FEATURES_OK;

	driver_start(&drv, &dev.v, QUEUES, DRIVER_V1);
	dev.v.status = ready;
	while (driver_rung(&drv)) {
		driver_turn(&drv);
	}
	add(0);
	driver_notify(&drv, 0);
	assert_int_equal(dev.served, 0);
	driver_set(&drv, VIRTIO_MMIO_STATUS, ready | VIRTIO_CONFIG_S_DRIVER_OK);
	assert_true(driver_rung(&drv));
	driver_turn(&drv);
	assert_int_equal(dev.served, 1);
}

static void a_driver_without_end_gets_a_bounded_turn_and_another(void **state)
{
	driver_start(&drv, &dev.v, QUEUES, DRIVER_V1);
	/* As many as fit, and a driver that refills: the budget is larger than the queue. */
	dev.v.queues[0].size = VIRTQ_SIZE_MAX;
	dev.v.queues[0].avail = VRING_HEAP;
	dev.v.queues[0].used = VRING_HEAP + 0x1000;
	drv.queue[0].size = VIRTQ_SIZE_MAX;
	drv.queue[0].avail = VRING_HEAP;
	drv.queue[0].used = VRING_HEAP + 0x1000;
	for (unsigned int i = 0; i < VIRTQ_SIZE_MAX; i++) {
		add(0);
	}
	driver_turn(&drv);
	assert_in_range(dev.served, VIRTIO_BUDGET / 2, VIRTIO_BUDGET);
	assert_int_equal(driver_interrupts(&drv), 1);
	while (driver_rung(&drv)) {
		driver_turn(&drv);
	}
	assert_int_equal(dev.served, VIRTQ_SIZE_MAX);
	assert_int_equal(vring_used_flags(&drv.queue[0]), 0);
}

static void a_broken_ring_latches_needs_reset_and_tells_so(void **state)
{
	driver_start(&drv, &dev.v, QUEUES, DRIVER_V1);
	add(1);
	vring_set_avail_idx(&drv.queue[0], DRIVER_SIZE + 1);
	driver_notify(&drv, 0);
	assert_int_equal(driver_get(&drv, VIRTIO_MMIO_STATUS), 15 | VIRTIO_CONFIG_S_NEEDS_RESET);
	assert_true(driver_get(&drv, VIRTIO_MMIO_INTERRUPT_STATUS) & VIRTIO_MMIO_INT_CONFIG);
	assert_true(driver_interrupts(&drv) >= 1);
	dev.served = 0;
	vring_set_avail_idx(&drv.queue[0], 1);
	add(1);
	driver_notify(&drv, 0);
	assert_int_equal(dev.served, 0);
	assert_int_equal(driver_interrupts(&drv), 0);
	/* After which it works. */
	driver_start(&drv, &dev.v, QUEUES, DRIVER_V1);
	assert_int_equal(driver_get(&drv, VIRTIO_MMIO_INTERRUPT_STATUS), 0);
	add(0);
	driver_notify(&drv, 0);
	assert_int_equal(dev.served, 1);
}

static void a_queue_that_is_ready_is_not_moved(void **state)
{
	driver_start(&drv, &dev.v, QUEUES, DRIVER_V1);
	driver_set(&drv, VIRTIO_MMIO_QUEUE_SEL, 0);
	driver_set(&drv, VIRTIO_MMIO_QUEUE_NUM, 2);
	driver_set(&drv, VIRTIO_MMIO_QUEUE_DESC_LOW, 0x20000);
	driver_set(&drv, VIRTIO_MMIO_QUEUE_USED_HIGH, 1);
	assert_int_equal(dev.v.queues[0].size, DRIVER_SIZE);
	assert_int_equal(dev.v.queues[0].desc, DRIVER_RINGS);
	assert_int_equal(dev.v.queues[0].used, DRIVER_RINGS + 0x200);
	driver_set(&drv, VIRTIO_MMIO_QUEUE_READY, 0);
	driver_set(&drv, VIRTIO_MMIO_QUEUE_DESC_HIGH, 1);
	assert_true(dev.v.queues[0].desc == ((UINT64_C(1) << 32) | DRIVER_RINGS));
	driver_set(&drv, VIRTIO_MMIO_QUEUE_READY, 1);
	assert_int_equal(driver_get(&drv, VIRTIO_MMIO_QUEUE_READY), 0);
	driver_set(&drv, VIRTIO_MMIO_QUEUE_NUM, 0x10010); /* not 16 */
	assert_int_equal(dev.v.queues[0].size, 0);
}

static void a_doorbell_that_came_as_an_exit_rings_too(void **state)
{
	driver_start(&drv, &dev.v, QUEUES, DRIVER_V1);
	driver_turn(&drv);
	assert_false(driver_rung(&drv));
	driver_set(&drv, VIRTIO_MMIO_QUEUE_NOTIFY, 0);
	assert_true(driver_rung(&drv));
}

static void any_access_of_any_width_and_offset_is_survived(void **state)
{
	struct rng rng;
	struct bus b;

	rng_init(&rng, SEED);
	bus_init(&b, "mmio");
	assert_int_equal(bus_add(&b, DRIVER_GPA, VIRTIO_MMIO_BYTES, &dev.v.dev, 0), 0);
	for (unsigned int i = 0; i < ACCESSES; i++) {
		unsigned int size = 1 + (unsigned int)rng_below(&rng, BUS_ACCESS_BYTES_MAX);
		uint64_t reg = rng_below(&rng, 8) ? rng_below(&rng, 0x44) * 4
						  : rng_below(&rng, VIRTIO_MMIO_BYTES + 8);
		/* Small numbers are the ones that mean something. */
		uint64_t value = rng_next(&rng) >> (rng_below(&rng, 8) * 8);

		size = rng_below(&rng, 4) ? 4 : size;
		if (rng_below(&rng, 4)) {
			bus_write(&b, DRIVER_GPA + reg, size, value);
		} else {
			uint64_t v = bus_read(&b, DRIVER_GPA + reg, size);

			assert_true(size == 8 || v >> (8 * size) == 0);
		}
		if (rng_below(&rng, 16) == 0) {
			driver_turn(&drv);
		}
		/* Most of the time, a driver that goes on. */
		if (rng_below(&rng, 500) == 0) {
			driver_start(&drv, &dev.v, QUEUES, DRIVER_V1);
		}
	}
	assert_true(dev.resets > 100);
	assert_true(dev.rang > 100);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(it_says_what_it_is),
		T(it_is_tied_to_its_doorbell_and_its_line),
		T(each_step_of_making_it_may_fail_and_leaves_nothing),
		T(the_configuration_is_read_at_any_width_and_ends_in_zeros),
		T(registers_answer_to_aligned_words_alone),
		T(features_that_were_not_offered_or_without_version_1_are_refused),
		T(status_bits_are_only_taken_back_by_a_reset),
		T(requests_are_served_with_one_interrupt_for_all),
		T(requests_before_driver_ok_wait_for_it),
		T(a_driver_without_end_gets_a_bounded_turn_and_another),
		T(a_broken_ring_latches_needs_reset_and_tells_so),
		T(a_queue_that_is_ready_is_not_moved),
		T(a_doorbell_that_came_as_an_exit_rings_too),
		T(any_access_of_any_width_and_offset_is_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
