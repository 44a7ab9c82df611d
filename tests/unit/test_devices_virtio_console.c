/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The console's ports, as Linux's driver uses them and as one gone mad would. */
#include "support.h"

#include "virtio_driver.h"

#include <linux/virtio_ids.h>
#include <string.h>

#include "base/rng.h"
#include "devices/virtio/console.h"

#define W         VRING_DESC_F_WRITE
#define MULTIPORT (DRIVER_V1 | UINT64_C(1) << VIRTIO_CONSOLE_F_MULTIPORT)
#define QUEUES    8
#define TO_DRIVER 2
#define TO_DEVICE 3
#define DATA      VRING_HEAP
#define SEEN_MAX  65536

static struct virtio_driver drv;
static struct virtio_console con;

static struct {
	char bytes[3][SEEN_MAX];
	size_t count[3];
	unsigned int rooms;
	bool pause_at_once;
} seen;

static void on_output(void *ctx, unsigned int port, const void *data, size_t bytes)
{
	assert_true(seen.count[port] + bytes <= SEEN_MAX);
	memcpy(seen.bytes[port] + seen.count[port], data, bytes);
	seen.count[port] += bytes;
	if (seen.pause_at_once) {
		virtio_console_pause(&con, port, true);
	}
}

static void on_room(void *ctx, unsigned int port)
{
	seen.rooms++;
}

static const struct virtio_console_events events = {.output = on_output, .room = on_room};

static void make(const char *first, uint64_t features)
{
	const struct virtio_console_kind kinds[] = {
		{first, true}, {"two", false}, {"three", false}};
	struct virtio_place place;

	memset(&seen, 0, sizeof(seen));
	driver_init(&drv);
	place = driver_place(&drv);
	assert_int_equal(virtio_console_init(&con, &place, kinds, 3, &events, NULL), 0);
	driver_start(&drv, &con.v, QUEUES, features);
}

static void unmake(void)
{
	virtio_console_fini(&con);
	driver_fini(&drv);
}

static int setup(void **state)
{
	make("one", MULTIPORT);
	return 0;
}

static int teardown(void **state)
{
	unmake();
	return 0;
}

static void write_to(unsigned int queue, const void *data, uint32_t bytes)
{
	memcpy(drv.ram.bytes + DATA, data, bytes);
	vring_desc(&drv.queue[queue], 0, DATA, bytes, 0, 0);
	vring_offer(&drv.queue[queue], 0);
	driver_notify(&drv, queue);
}

static void message(uint32_t id, uint16_t event, uint16_t value)
{
	const struct virtio_console_control m = {id, event, value};

	write_to(TO_DEVICE, &m, sizeof(m));
}

static void give_buffer(unsigned int queue, unsigned int i, uint32_t bytes)
{
	vring_desc(&drv.queue[queue], i, DATA + 0x1000 + i * 0x100, bytes, W, 0);
	vring_offer(&drv.queue[queue], (uint16_t)i);
}

/* The next message to the driver is this one; a name may follow it. */
static void assert_message(uint32_t id, uint16_t event, const char *name)
{
	struct virtio_console_control m;
	uint32_t head = 0, bytes = 0;
	const uint8_t *at;

	assert_true(vring_take_used(&drv.queue[TO_DRIVER], &head, &bytes));
	assert_int_equal(bytes, sizeof(m) + strlen(name));
	at = drv.ram.bytes + DATA + 0x1000 + head * 0x100;
	memcpy(&m, at, sizeof(m));
	assert_int_equal(m.id, id);
	assert_int_equal(m.event, event);
	assert_int_equal(m.value, 1);
	assert_memory_equal(at + sizeof(m), name, strlen(name));
}

static void assert_no_message(void)
{
	uint32_t head, bytes;

	assert_false(vring_take_used(&drv.queue[TO_DRIVER], &head, &bytes));
}

static void queues_are_as_long_as_their_use_asks_for(void **state)
{
	static const uint32_t sizes[QUEUES] = {16, 64, 16, 16, 2, 64, 2, 64};

	assert_int_equal(driver_get(&drv, VIRTIO_MMIO_DEVICE_ID), VIRTIO_ID_CONSOLE);
	assert_int_equal(driver_get(&drv, VIRTIO_MMIO_CONFIG + 4), 3);
	for (uint32_t i = 0; i < QUEUES; i++) {
		driver_set(&drv, VIRTIO_MMIO_QUEUE_SEL, i);
		assert_int_equal(driver_get(&drv, VIRTIO_MMIO_QUEUE_NUM_MAX), sizes[i]);
	}
	driver_set(&drv, VIRTIO_MMIO_QUEUE_SEL, QUEUES);
	assert_int_equal(driver_get(&drv, VIRTIO_MMIO_QUEUE_NUM_MAX), 0);
}

static void ports_are_added_then_named_and_opened_when_the_driver_is_ready(void **state)
{
	for (unsigned int i = 0; i < 8; i++) {
		give_buffer(TO_DRIVER, i, 64);
	}
	driver_notify(&drv, TO_DRIVER);
	assert_no_message();
	message(~0u, VIRTIO_CONSOLE_DEVICE_READY, 1);
	assert_message(0, VIRTIO_CONSOLE_PORT_ADD, "");
	assert_message(1, VIRTIO_CONSOLE_PORT_ADD, "");
	assert_message(2, VIRTIO_CONSOLE_PORT_ADD, "");
	message(1, VIRTIO_CONSOLE_PORT_READY, 1);
	assert_message(1, VIRTIO_CONSOLE_PORT_NAME, "two");
	assert_message(1, VIRTIO_CONSOLE_PORT_OPEN, "");
	message(0, VIRTIO_CONSOLE_PORT_READY, 1);
	assert_message(0, VIRTIO_CONSOLE_CONSOLE_PORT, "");
	assert_message(0, VIRTIO_CONSOLE_PORT_NAME, "one");
	assert_message(0, VIRTIO_CONSOLE_PORT_OPEN, "");
	assert_no_message();
}

static void messages_wait_for_buffers_and_keep_their_order(void **state)
{
	message(~0u, VIRTIO_CONSOLE_DEVICE_READY, 1);
	assert_no_message();
	give_buffer(TO_DRIVER, 0, 64);
	driver_notify(&drv, TO_DRIVER);
	assert_message(0, VIRTIO_CONSOLE_PORT_ADD, "");
	assert_no_message();
	give_buffer(TO_DRIVER, 1, 64);
	give_buffer(TO_DRIVER, 2, 64);
	driver_notify(&drv, TO_DRIVER);
	assert_message(1, VIRTIO_CONSOLE_PORT_ADD, "");
	assert_message(2, VIRTIO_CONSOLE_PORT_ADD, "");
	assert_no_message();
}

static void a_first_port_without_a_name_is_not_there(void **state)
{
	unmake();
	make(NULL, MULTIPORT);
	for (unsigned int i = 0; i < 4; i++) {
		give_buffer(TO_DRIVER, i, 64);
	}
	message(~0u, VIRTIO_CONSOLE_DEVICE_READY, 1);
	assert_message(1, VIRTIO_CONSOLE_PORT_ADD, "");
	assert_message(2, VIRTIO_CONSOLE_PORT_ADD, "");
	assert_no_message();
}

static void messages_that_mean_nothing_do_nothing(void **state)
{
	give_buffer(TO_DRIVER, 0, 64);
	message(0, VIRTIO_CONSOLE_DEVICE_READY, 0);
	message(3, VIRTIO_CONSOLE_PORT_READY, 1);
	message(~0u, VIRTIO_CONSOLE_PORT_READY, 1);
	message(1, VIRTIO_CONSOLE_PORT_READY, 0);
	message(1, 0xffff, 1);
	write_to(TO_DEVICE, "short", 5);
	assert_no_message();
	assert_int_equal(driver_get(&drv, VIRTIO_MMIO_STATUS), 15);
}

static void a_buffer_too_small_for_a_message_gets_none(void **state)
{
	uint32_t head, bytes = ~0u;

	give_buffer(TO_DRIVER, 0, 7);
	give_buffer(TO_DRIVER, 1, 8);
	message(~0u, VIRTIO_CONSOLE_DEVICE_READY, 1);
	assert_true(vring_take_used(&drv.queue[TO_DRIVER], &head, &bytes));
	assert_int_equal(bytes, 0);
	assert_message(1, VIRTIO_CONSOLE_PORT_ADD, "");
}

static void what_the_guest_writes_comes_out_on_its_port(void **state)
{
	uint32_t head, bytes;

	write_to(1, "console", 7);
	write_to(5, "second", 6);
	write_to(5, " port", 5);
	write_to(7, "\0\377", 2);
	assert_int_equal(seen.count[0], 7);
	assert_memory_equal(seen.bytes[0], "console", 7);
	assert_int_equal(seen.count[1], 11);
	assert_memory_equal(seen.bytes[1], "second port", 11);
	assert_int_equal(seen.count[2], 2);
	assert_memory_equal(seen.bytes[2], "\0\377", 2);
	assert_true(vring_take_used(&drv.queue[5], &head, &bytes));
	assert_true(vring_take_used(&drv.queue[5], &head, &bytes));
	assert_int_equal(bytes, 0);
	assert_false(virtio_console_has_output(&con));
}

static void a_driver_without_multiport_has_port_0_alone(void **state)
{
	unmake();
	make("one", DRIVER_V1);
	write_to(1, "plain", 5);
	assert_int_equal(seen.count[0], 5);
}

static void a_paused_port_keeps_its_bytes_in_the_guest(void **state)
{
	uint32_t head, bytes;

	virtio_console_pause(&con, 1, true);
	write_to(5, "kept", 4);
	assert_int_equal(seen.count[1], 0);
	assert_false(vring_take_used(&drv.queue[5], &head, &bytes));
	assert_true(virtio_console_has_output(&con));
	write_to(7, "other", 5);
	assert_int_equal(seen.count[2], 5);
	virtio_console_pause(&con, 1, false);
	assert_int_equal(seen.count[1], 0); /* not from inside the call */
	assert_true(driver_rung(&drv));
	driver_turn(&drv);
	assert_int_equal(seen.count[1], 4);
	assert_false(virtio_console_has_output(&con));
}

static void a_long_write_may_be_paused_in_its_middle(void **state)
{
	struct vring_driver *q = &drv.queue[5];
	uint32_t head, bytes;

	seen.pause_at_once = true;
	for (unsigned int i = 0; i < 0x8000; i++) {
		drv.ram.bytes[DATA + i] = (uint8_t)(i * 7 >> 3);
	}
	vring_desc(q, 0, DATA, 1, VRING_DESC_F_NEXT, 1);
	vring_desc(q, 1, DATA + 1, 0x8000 - 1, 0, 0);
	vring_offer(q, 0);
	driver_notify(&drv, 5);
	assert_in_range(seen.count[1], 1, 0x7fff);
	assert_false(vring_take_used(q, &head, &bytes));
	assert_true(virtio_console_has_output(&con));
	while (virtio_console_has_output(&con)) {
		virtio_console_pause(&con, 1, false);
		driver_turn(&drv);
	}
	assert_int_equal(seen.count[1], 0x8000);
	assert_memory_equal(seen.bytes[1], drv.ram.bytes + DATA, 0x8000);
	assert_true(vring_take_used(q, &head, &bytes));
}

static void a_reset_in_the_middle_of_a_write_ends_it(void **state)
{
	seen.pause_at_once = true;
	vring_desc(&drv.queue[5], 0, DATA, 0x8000, 0, 0);
	vring_offer(&drv.queue[5], 0);
	driver_notify(&drv, 5);
	driver_start(&drv, &con.v, QUEUES, MULTIPORT);
	assert_false(virtio_console_has_output(&con));
	seen.pause_at_once = false;
	virtio_console_pause(&con, 1, false);
	seen.count[1] = 0;
	write_to(5, "anew", 4);
	assert_int_equal(seen.count[1], 4);
}

static void writes_that_are_too_long_or_empty_give_nothing(void **state)
{
	struct vring_driver *q = &drv.queue[5];
	uint32_t head, bytes;

	/* The same 192 KiB, six times over: more than VIRTIO_CONSOLE_WRITE_MAX. */
	for (uint16_t i = 0; i < 6; i++) {
		vring_desc(q, i, DATA, 0x30000, i < 5 ? VRING_DESC_F_NEXT : 0, (uint16_t)(i + 1));
	}
	vring_offer(q, 0);
	vring_desc(q, 8, DATA, 16, W, 0);
	vring_offer(q, 8);
	driver_notify(&drv, 5);
	assert_int_equal(seen.count[1], 0);
	assert_true(vring_take_used(q, &head, &bytes));
	assert_true(vring_take_used(q, &head, &bytes));
	assert_false(virtio_console_has_output(&con));
}

static void input_goes_into_the_buffers_there_are_and_then_waits(void **state)
{
	uint32_t head, bytes;

	assert_int_equal(virtio_console_input(&con, 0, "abcdef", 6), 0);
	give_buffer(0, 0, 4);
	driver_notify(&drv, 0);
	assert_int_equal(seen.rooms, 1);
	assert_int_equal(virtio_console_input(&con, 0, "abcdef", 6), 4);
	assert_true(vring_take_used(&drv.queue[0], &head, &bytes));
	assert_int_equal(bytes, 4);
	assert_memory_equal(drv.ram.bytes + DATA + 0x1000, "abcd", 4);
	give_buffer(0, 1, 4);
	driver_notify(&drv, 0);
	assert_int_equal(seen.rooms, 2);
	assert_int_equal(virtio_console_input(&con, 0, "ef", 2), 2);
	give_buffer(0, 2, 4);
	driver_notify(&drv, 0);
	assert_int_equal(seen.rooms, 2); /* nobody waits */
}

static void a_mad_driver_hurts_nobody_but_itself(void **state)
{
	struct rng rng;

	rng_init(&rng, 5);
	for (unsigned int i = 0; i < 20000; i++) {
		unsigned int queue = (unsigned int)rng_below(&rng, QUEUES);
		struct vring_driver *q = &drv.queue[queue];

		for (unsigned int d = 0; d < q->size; d++) {
			vring_desc(q, d, DATA + rng_below(&rng, 0x38000),
				   (uint32_t)rng_below(&rng, 0x200), (uint16_t)rng_below(&rng, 4),
				   (uint16_t)rng_below(&rng, q->size + 1));
		}
		vring_offer(q, (uint16_t)rng_below(&rng, q->size));
		driver_set(&drv, VIRTIO_MMIO_QUEUE_NOTIFY, queue);
		for (unsigned int turns = 0; driver_rung(&drv) && turns < 4; turns++) {
			driver_turn(&drv);
		}
		virtio_console_input(&con, 0, "input", rng_below(&rng, 6));
		memset(seen.count, 0, sizeof(seen.count));
		if (driver_get(&drv, VIRTIO_MMIO_STATUS) != 15 || rng_below(&rng, 100) == 0) {
			driver_start(&drv, &con.v, QUEUES, MULTIPORT);
		}
	}
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(queues_are_as_long_as_their_use_asks_for),
		T(ports_are_added_then_named_and_opened_when_the_driver_is_ready),
		T(messages_wait_for_buffers_and_keep_their_order),
		T(a_first_port_without_a_name_is_not_there),
		T(messages_that_mean_nothing_do_nothing),
		T(a_buffer_too_small_for_a_message_gets_none),
		T(what_the_guest_writes_comes_out_on_its_port),
		T(a_driver_without_multiport_has_port_0_alone),
		T(a_paused_port_keeps_its_bytes_in_the_guest),
		T(a_long_write_may_be_paused_in_its_middle),
		T(a_reset_in_the_middle_of_a_write_ends_it),
		T(writes_that_are_too_long_or_empty_give_nothing),
		T(input_goes_into_the_buffers_there_are_and_then_waits),
		T(a_mad_driver_hurts_nobody_but_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
