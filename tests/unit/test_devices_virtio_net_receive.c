/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The network device: frames to the guest. */
#include "support.h"

#include "net_fixture.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>

/* Buffers that the driver adds at the moment in which the device has found none. */
static unsigned int late_rooms;

bool __real_virtq_listen(struct virtq *q);
bool __wrap_virtq_listen(struct virtq *q);

bool __wrap_virtq_listen(struct virtq *q)
{
	for (; q == &net.v.queues[0] && late_rooms > 0; late_rooms--) {
		net_give_room(late_rooms, 1500);
	}
	return __real_virtq_listen(q);
}

static void without_room_the_peer_is_not_read(void **state)
{
	net_make(0, MERGE);
	net_frames_to_come(1, HDR + FRAME);
	assert_int_equal(peer.polled & EPOLLIN, 0);
	assert_int_equal(peer.receives, 0);
	net_give_room(0, 2048);
	driver_notify(&drv, 0);
	net_assert_used(RX, 0, HDR + FRAME);
	assert_memory_equal(drv.ram.bytes + FRAME_AT(0) + HDR, peer.frame + HDR, FRAME);
	assert_int_equal(drv.ram.bytes[FRAME_AT(0) + 10], 1);
	/* That was the only one. */
	assert_int_equal(peer.polled & EPOLLIN, 0);
	net_give_room(0, 2048);
	driver_notify(&drv, 0);
	assert_true(peer.polled & EPOLLIN);
	assert_false(driver_rung(&drv));
}

static void without_room_the_peer_may_read_ahead(void **state)
{
	net_make(0, MERGE);
	assert_int_equal(peer.polled & EPOLLIN, 0);
	peer.can_read_ahead = true;
	driver_notify(&drv, 0);
	assert_true(peer.polled & EPOLLIN);
	virtio_net_poll(&net, EPOLLIN);
	assert_int_equal(peer.read_aheads, 1);
	assert_int_equal(peer.receives, 0);
	/* It is full. */
	peer.can_read_ahead = false;
	virtio_net_poll(&net, EPOLLIN);
	assert_int_equal(peer.polled & EPOLLIN, 0);
	/* With room it is asked for frames, and no more to read ahead. */
	peer.read_aheads = 0;
	net_frames_to_come(1, HDR + FRAME);
	net_give_room(0, 2048);
	net_give_room(1, 2048);
	driver_notify(&drv, 0);
	net_assert_used(RX, 0, HDR + FRAME);
	assert_true(peer.polled & EPOLLIN);
	virtio_net_poll(&net, EPOLLIN);
	assert_int_equal(peer.read_aheads, 0);
}

static void a_peer_that_is_gone_while_there_is_no_room_takes_the_link_down(void **state)
{
	net_make(0, MERGE);
	peer.can_read_ahead = true;
	driver_notify(&drv, 0);
	peer.read_ahead_result = -EPIPE;
	virtio_net_poll(&net, EPOLLIN);
	assert_int_equal(peer.gone, 1);
}

static void a_long_frame_fills_several_buffers_and_says_how_many(void **state)
{
	static const size_t sizes[] = {1000, 1001, 1999, 2000, 2001, 7999, 8000};

	net_make(0, MERGE);
	for (size_t k = 0; k < ARRAY_SIZE(sizes); k++) {
		unsigned int want = (unsigned int)((sizes[k] + 999) / 1000);
		size_t left = sizes[k];

		net_frames_to_come(1, sizes[k]);
		for (unsigned int i = 0; i < 8; i++) {
			net_give_room(i, 1000);
		}
		driver_notify(&drv, 0);
		virtio_net_poll(&net, EPOLLIN);
		for (unsigned int i = 0; i < want; i++) {
			uint32_t part = left < 1000 ? (uint32_t)left : 1000;

			net_assert_used(RX, i, part);
			if (i == 0) {
				assert_int_equal(drv.ram.bytes[FRAME_AT(0) + 10], want);
				assert_int_equal(drv.ram.bytes[FRAME_AT(0) + 11], 0);
			}
			assert_memory_equal(drv.ram.bytes + FRAME_AT(i) + (i ? 0 : HDR),
					    peer.frame + i * 1000 + (i ? 0 : HDR),
					    part - (i ? 0 : HDR));
			left -= part;
		}
		net_assert_none_used(RX);
		driver_start(&drv, &net.v, 2, MERGE);
	}
}

static void a_frame_waits_for_buffers_that_come_later(void **state)
{
	net_make(0, MERGE);
	net_frames_to_come(1, 3000);
	net_give_room(0, 1000);
	driver_notify(&drv, 0);
	assert_int_equal(peer.receives, 1);
	net_assert_none_used(RX);
	assert_int_equal(peer.polled & EPOLLIN, 0);
	net_give_room(1, 1500);
	driver_notify(&drv, 0);
	net_assert_none_used(RX);
	net_give_room(2, 1500);
	driver_notify(&drv, 0);
	net_assert_used(RX, 0, 1000);
	net_assert_used(RX, 1, 1500);
	net_assert_used(RX, 2, 500);
	assert_memory_equal(drv.ram.bytes + FRAME_AT(1), peer.frame + 1000, 1500);
	assert_memory_equal(drv.ram.bytes + FRAME_AT(2), peer.frame + 2500, 500);
	assert_int_equal(net.received, 1);
}

static void buffers_that_come_while_the_device_looks_are_not_waited_for(void **state)
{
	const struct virtio_net_hdr_v1 none = {.flags = 0};

	/* As many at a time as the device looks at, in the turn of a frame that was sent and in one
	 * of its own. */
	for (unsigned int own = 0; own < 2; own++) {
		net_make(0, MERGE);
		net_give_room(0, 1000);
		driver_notify(&drv, 0);
		assert_true(peer.polled & EPOLLIN);
		net_frames_to_come(1, 3000);
		late_rooms = 2;
		if (own) {
			virtio_net_poll(&net, EPOLLIN);
		} else {
			net_put_frame(4, &none, FRAME);
		}
		driver_notify(&drv, 1);
		net_assert_used(RX, 0, 1000);
		net_assert_used(RX, 2, 1500);
		net_assert_used(RX, 1, 500);
		if (!own) {
			net_teardown(state);
		}
	}
}

static void a_frame_that_no_queue_can_hold_is_lost_and_the_next_one_comes(void **state)
{
	net_make(0, MERGE);
	net_frames_to_come(1, 10000);
	for (unsigned int i = 0; i < DRIVER_SIZE; i++) {
		net_give_room(i, 100);
	}
	driver_notify(&drv, 0);
	virtio_net_poll(&net, EPOLLIN);
	net_assert_none_used(RX);
	assert_int_equal(net.receive_drops, 1);
	net_frames_to_come(1, 150);
	virtio_net_poll(&net, EPOLLIN);
	net_assert_used(RX, 0, 100);
	net_assert_used(RX, 1, 50);
}

static void without_merging_a_frame_is_in_one_buffer_or_lost(void **state)
{
	net_make(0, DRIVER_V1);
	net_frames_to_come(1, 1001);
	net_give_room(0, 1000);
	net_give_room(1, 2000);
	driver_notify(&drv, 0);
	net_assert_none_used(RX);
	assert_int_equal(net.receive_drops, 1);
	net_frames_to_come(1, 1000);
	virtio_net_poll(&net, EPOLLIN);
	net_assert_used(RX, 0, 1000);
	assert_int_equal(drv.ram.bytes[FRAME_AT(0) + 10], 1); /* 5.1.6.4.1 */
}

static void the_largest_frame_comes_and_a_larger_one_is_lost(void **state)
{
	net_make(0, MERGE);
	net_frames_to_come(1, HDR + NET_FRAME_MAX + 1);
	vring_desc(RX, 0, DATA, 0x20000, W, 0);
	vring_offer(RX, 0);
	driver_notify(&drv, 0);
	net_assert_none_used(RX);
	assert_int_equal(net.receive_drops, 1);
	net_frames_to_come(1, HDR + NET_FRAME_MAX);
	virtio_net_poll(&net, EPOLLIN);
	net_assert_used(RX, 0, HDR + NET_FRAME_MAX);
	net_frames_to_come(1, HDR + NET_ETH_BYTES - 1);
	vring_offer(RX, 0);
	driver_notify(&drv, 0);
	net_assert_none_used(RX);
	assert_int_equal(net.receive_drops, 2);
}

static void buffers_that_cannot_hold_a_header_go_back(void **state)
{
	net_make(0, MERGE);
	net_frames_to_come(1, HDR + FRAME);
	net_give_room(0, HDR - 1);
	vring_desc(RX, 1, DATA, 100, 0, 0); /* nothing to write into */
	vring_offer(RX, 1);
	net_give_room(2, 500);
	driver_notify(&drv, 0);
	net_assert_used(RX, 0, 0);
	net_assert_used(RX, 1, 0);
	net_assert_used(RX, 2, HDR + FRAME);
}

static void a_header_may_lie_in_buffers_of_one_byte(void **state)
{
	net_make(0, MERGE);
	net_frames_to_come(1, HDR + NET_ETH_BYTES);
	memset(drv.ram.bytes + DATA, 0xff, 100);
	for (unsigned int i = 0; i < HDR; i++) {
		vring_desc(RX, i, DATA + 2 * i, 1, W | N, (uint16_t)(i + 1));
	}
	vring_desc(RX, HDR, DATA + 50, 100, W, 0);
	vring_offer(RX, 0);
	driver_notify(&drv, 0);
	net_assert_used(RX, 0, HDR + NET_ETH_BYTES);
	assert_int_equal(drv.ram.bytes[DATA + 20], 1);
	assert_int_equal(drv.ram.bytes[DATA + 22], 0);
	assert_int_equal(drv.ram.bytes[DATA + 19], 0xff);
	assert_memory_equal(drv.ram.bytes + DATA + 50, peer.frame + HDR, NET_ETH_BYTES);
}

static void a_peer_with_more_than_a_turn_takes_is_asked_again(void **state)
{
	net_make(0, MERGE);
	net_frames_to_come(FRAMES, HDR + FRAME);
	for (unsigned int done = 0; done < FRAMES; done += DRIVER_SIZE) {
		for (unsigned int i = 0; i < DRIVER_SIZE; i++) {
			net_give_room(i, 500);
		}
		driver_notify(&drv, 0);
		for (unsigned int i = 0; i < DRIVER_SIZE; i++) {
			net_assert_used(RX, i, HDR + FRAME);
		}
	}
	assert_int_equal(net.received, FRAMES);
	assert_int_equal(driver_interrupts(&drv), FRAMES / DRIVER_SIZE);
}

int main(void)
{
#define T(name) cmocka_unit_test_teardown(name, net_teardown)
	const struct CMUnitTest tests[] = {
		T(without_room_the_peer_is_not_read),
		T(without_room_the_peer_may_read_ahead),
		T(a_peer_that_is_gone_while_there_is_no_room_takes_the_link_down),
		T(a_long_frame_fills_several_buffers_and_says_how_many),
		T(a_frame_waits_for_buffers_that_come_later),
		T(buffers_that_come_while_the_device_looks_are_not_waited_for),
		T(a_frame_that_no_queue_can_hold_is_lost_and_the_next_one_comes),
		T(without_merging_a_frame_is_in_one_buffer_or_lost),
		T(the_largest_frame_comes_and_a_larger_one_is_lost),
		T(buffers_that_cannot_hold_a_header_go_back),
		T(a_header_may_lie_in_buffers_of_one_byte),
		T(a_peer_with_more_than_a_turn_takes_is_asked_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
