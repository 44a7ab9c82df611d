/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The network device: what it is, and frames from the guest. */
#include "support.h"

#include "net_fixture.h"

#include <errno.h>
#include <linux/virtio_ids.h>
#include <string.h>
#include <sys/epoll.h>

#include "devices/virtio/net_priv.h"

static void it_says_what_it_is_and_offers_what_the_peer_can(void **state)
{
	static const struct {
		unsigned int offloads;
		uint64_t bits;
	} rows[] = {
		{0, 0},
		{NET_CSUM, BIT(VIRTIO_NET_F_CSUM) | BIT(VIRTIO_NET_F_GUEST_CSUM)},
		{NET_TSO4, BIT(VIRTIO_NET_F_HOST_TSO4) | BIT(VIRTIO_NET_F_GUEST_TSO4)},
		{NET_TSO6, BIT(VIRTIO_NET_F_HOST_TSO6) | BIT(VIRTIO_NET_F_GUEST_TSO6)},
		{NET_TSO_ECN, BIT(VIRTIO_NET_F_HOST_ECN) | BIT(VIRTIO_NET_F_GUEST_ECN)},
		{NET_UFO, BIT(VIRTIO_NET_F_HOST_UFO) | BIT(VIRTIO_NET_F_GUEST_UFO)},
		{NET_USO, BIT(54) | BIT(55) | BIT(56)},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		net_make(rows[i].offloads, DRIVER_V1);
		assert_int_equal(driver_get(&drv, VIRTIO_MMIO_DEVICE_ID), VIRTIO_ID_NET);
		assert_int_equal(driver_offered(&drv) & ~(DRIVER_V1 | BIT(28) | BIT(29)),
				 rows[i].bits | BIT(VIRTIO_NET_F_MAC) | BIT(VIRTIO_NET_F_MTU) |
					 BIT(VIRTIO_NET_F_STATUS) | BIT(VIRTIO_NET_F_MRG_RXBUF));
		assert_int_equal(driver_get(&drv, 0x100), 0x12000002);
		assert_int_equal(driver_get(&drv, 0x104), 0x00015634); /* and the link is up */
		assert_int_equal(driver_get(&drv, 0x108) >> 16, 9000);
		if (i + 1 < ARRAY_SIZE(rows)) {
			net_teardown(state);
		}
	}
}

static void the_peer_is_told_once_what_the_driver_takes(void **state)
{
	static const unsigned int all = NET_CSUM | NET_TSO4 | NET_TSO6 | NET_USO;
	static const struct {
		uint64_t features;
		unsigned int taken;
	} rows[] = {
		{0, 0},
		{BIT(VIRTIO_NET_F_GUEST_CSUM), NET_CSUM},
		{BIT(VIRTIO_NET_F_GUEST_CSUM) | BIT(VIRTIO_NET_F_GUEST_TSO4), NET_CSUM | NET_TSO4},
		/* What needs the checksum is nothing without it, and half of USO is none. */
		{BIT(VIRTIO_NET_F_GUEST_TSO4), 0},
		{BIT(VIRTIO_NET_F_GUEST_CSUM) | BIT(54), NET_CSUM},
		{BIT(VIRTIO_NET_F_GUEST_CSUM) | BIT(54) | BIT(55), NET_CSUM | NET_USO},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		net_make(all, DRIVER_V1 | rows[i].features);
		driver_notify(&drv, 1);
		assert_int_equal(peer.offloads_set, 1);
		assert_int_equal(peer.offloads, rows[i].taken);
		if (i + 1 < ARRAY_SIZE(rows)) {
			net_teardown(state);
		}
	}
}

static void a_frame_is_sent_as_it_is_with_its_header(void **state)
{
	const struct virtio_net_hdr_v1 h = {.num_buffers = 7};

	net_make(0, DRIVER_V1);
	net_put_frame(0, &h, FRAME);
	driver_notify(&drv, 1);
	net_assert_used(TX, 0, 0);
	assert_int_equal(peer.sent_bytes, HDR + FRAME);
	assert_memory_equal(peer.sent, drv.ram.bytes + FRAME_AT(0), HDR + FRAME);
	assert_int_equal(net.sent, 1);
	assert_int_equal(driver_interrupts(&drv), 1);
}

static void a_frame_may_be_cut_into_buffers_anywhere(void **state)
{
	net_make(0, DRIVER_V1);
	for (unsigned int cut = 1; cut < HDR + FRAME; cut++) {
		net_put_frame(0, &(struct virtio_net_hdr_v1){0}, FRAME);
		vring_desc(TX, 0, FRAME_AT(0), cut, N, 1);
		vring_desc(TX, 1, FRAME_AT(0) + cut, HDR + FRAME - cut, 0, 0);
		memset(peer.sent, 0xee, sizeof(peer.sent));
		driver_notify(&drv, 1);
		net_assert_used(TX, 0, 0);
		assert_int_equal(peer.sent_bytes, HDR + FRAME);
		assert_memory_equal(peer.sent, drv.ram.bytes + FRAME_AT(0), HDR + FRAME);
	}
}

static void headers_that_were_not_agreed_on_are_not_sent(void **state)
{
	enum { CSUM = VIRTIO_NET_HDR_F_NEEDS_CSUM };
	static const struct {
		struct virtio_net_hdr_v1 h;
		uint64_t features;
		bool sent;
	} rows[] = {
		{{.flags = 0}, 0, true},
		{{.flags = VIRTIO_NET_HDR_F_DATA_VALID}, 0, true},
		{{.flags = CSUM, .csum_start = 34, .csum_offset = 16}, 0, false},
		{{.flags = CSUM, .csum_start = 34, .csum_offset = 16}, BIT(0), true},
		{{.flags = CSUM, .csum_start = 46, .csum_offset = 16}, BIT(0), true},
		{{.flags = CSUM, .csum_start = 47, .csum_offset = 16}, BIT(0), false},
		{{.flags = CSUM, .csum_start = 0xffff, .csum_offset = 0xffff}, BIT(0), false},
		{{.flags = CSUM, .gso_type = 1, .gso_size = 1448, .csum_start = 34}, BIT(0), false},
		{{.flags = CSUM, .gso_type = 1, .gso_size = 1448, .csum_start = 34},
		 BIT(0) | BIT(VIRTIO_NET_F_HOST_TSO4),
		 true},
		{{.flags = CSUM, .gso_type = 4, .gso_size = 1448, .csum_start = 34},
		 BIT(0) | BIT(VIRTIO_NET_F_HOST_TSO4),
		 false},
		{{.flags = CSUM, .gso_type = 4, .gso_size = 1448, .csum_start = 34},
		 BIT(0) | BIT(VIRTIO_NET_F_HOST_TSO6),
		 true},
		{{.flags = CSUM, .gso_type = 0x81, .gso_size = 1448, .csum_start = 34},
		 BIT(0) | BIT(VIRTIO_NET_F_HOST_TSO4),
		 false},
		{{.flags = CSUM, .gso_type = 0x81, .gso_size = 1448, .csum_start = 34},
		 BIT(0) | BIT(VIRTIO_NET_F_HOST_TSO4) | BIT(VIRTIO_NET_F_HOST_ECN),
		 true},
		{{.flags = CSUM, .gso_type = 3, .gso_size = 1448, .csum_start = 34},
		 BIT(0) | BIT(VIRTIO_NET_F_HOST_UFO),
		 true},
		{{.flags = CSUM, .gso_type = NET_GSO_UDP_L4, .gso_size = 1448, .csum_start = 34},
		 BIT(0) | BIT(56),
		 true},
		{{.flags = CSUM, .gso_type = NET_GSO_UDP_L4, .gso_size = 1448, .csum_start = 34},
		 BIT(0),
		 false},
		/* No size, no checksum, no such kind. */
		{{.flags = CSUM, .gso_type = 1, .csum_start = 34},
		 BIT(0) | BIT(VIRTIO_NET_F_HOST_TSO4),
		 false},
		{{.gso_type = 1, .gso_size = 1448}, BIT(0) | BIT(VIRTIO_NET_F_HOST_TSO4), false},
		{{.flags = CSUM, .gso_type = 2, .gso_size = 1448}, EVERY_HOST, false},
		{{.flags = CSUM, .gso_type = 0x80, .gso_size = 1448}, EVERY_HOST, false},
	};
	const unsigned int all = NET_CSUM | NET_TSO4 | NET_TSO6 | NET_TSO_ECN | NET_UFO | NET_USO;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		net_make(all, DRIVER_V1 | rows[i].features);
		net_put_frame(0, &rows[i].h, FRAME);
		driver_notify(&drv, 1);
		net_assert_used(TX, 0, 0);
		assert_int_equal(peer.sends, rows[i].sent);
		assert_int_equal(net.send_drops, !rows[i].sent);
		if (i + 1 < ARRAY_SIZE(rows)) {
			net_teardown(state);
		}
	}
}

static void frames_of_no_possible_length_are_thrown_away(void **state)
{
	static const struct {
		uint32_t bytes; /* with the header */
		bool sent;
	} rows[] = {
		{1, false},
		{HDR - 1, false},
		{HDR, false},
		{HDR + NET_ETH_BYTES - 1, false},
		{HDR + NET_ETH_BYTES, true},
		{HDR + NET_FRAME_MAX, true},
		{HDR + NET_FRAME_MAX + 1, false},
		{0x20000, false},
	};

	net_make(0, DRIVER_V1);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		peer.sends = 0;
		memset(drv.ram.bytes + DATA, 0, HDR);
		vring_desc(TX, 0, DATA, rows[i].bytes, 0, 0);
		vring_offer(TX, 0);
		driver_notify(&drv, 1);
		net_assert_used(TX, 0, 0);
		assert_int_equal(peer.sends, rows[i].sent);
	}
	/* Nothing to read at all. */
	vring_desc(TX, 0, DATA, 100, W, 0);
	vring_offer(TX, 0);
	driver_notify(&drv, 1);
	net_assert_used(TX, 0, 0);
}

static void a_full_peer_stops_the_queue_until_it_has_room(void **state)
{
	net_make(0, DRIVER_V1);
	peer.send_result = -EAGAIN;
	for (unsigned int i = 0; i < 3; i++) {
		net_put_frame(i, &(struct virtio_net_hdr_v1){0}, FRAME);
	}
	driver_notify(&drv, 1);
	assert_int_equal(peer.sends, 1);
	net_assert_none_used(TX);
	assert_true(peer.polled & EPOLLOUT);
	assert_false(driver_rung(&drv)); /* nobody spins */
	peer.send_result = 0;
	virtio_net_poll(&net, EPOLLOUT);
	for (unsigned int i = 0; i < 3; i++) {
		net_assert_used(TX, i, 0);
	}
	assert_int_equal(peer.flushes, 1);
	assert_false(peer.polled & EPOLLOUT);
}

static void a_reset_takes_back_what_waits(void **state)
{
	net_make(0, DRIVER_V1);
	peer.send_result = -EAGAIN;
	net_put_frame(0, &(struct virtio_net_hdr_v1){0}, FRAME);
	net_give_room(0, 2048);
	driver_notify(&drv, 1);
	assert_int_equal(net.room_count, 1);
	driver_start(&drv, &net.v, 2, DRIVER_V1);
	assert_int_equal(net.room_count, 0);
	driver_notify(&drv, 0);
	assert_int_equal(peer.polled, 0);
	peer.send_result = 0;
	net_put_frame(1, &(struct virtio_net_hdr_v1){0}, FRAME);
	driver_notify(&drv, 1);
	net_assert_used(TX, 1, 0);
	assert_int_equal(peer.offloads_set, 2);
}

static void a_frame_that_the_peer_refuses_is_lost_and_the_next_one_goes(void **state)
{
	net_make(0, DRIVER_V1);
	peer.send_result = -EIO;
	net_put_frame(0, &(struct virtio_net_hdr_v1){0}, FRAME);
	driver_notify(&drv, 1);
	net_assert_used(TX, 0, 0);
	assert_int_equal(net.send_drops, 1);
	peer.send_result = 0;
	net_put_frame(1, &(struct virtio_net_hdr_v1){0}, FRAME);
	driver_notify(&drv, 1);
	net_assert_used(TX, 1, 0);
	assert_int_equal(net.sent, 1);
}

static void more_frames_than_a_turn_takes_are_sent_in_several(void **state)
{
	net_make(0, DRIVER_V1);
	for (unsigned int i = 0; i < 5 * DRIVER_SIZE; i++) {
		net_put_frame(i % DRIVER_SIZE, &(struct virtio_net_hdr_v1){0}, FRAME);
		if (i % DRIVER_SIZE == DRIVER_SIZE - 1) {
			driver_notify(&drv, 1);
		}
	}
	assert_int_equal(net.sent, 5 * DRIVER_SIZE);
}

static void a_peer_that_is_gone_takes_the_link_down(void **state)
{
	net_make(0, MERGE | BIT(VIRTIO_NET_F_STATUS));
	net_give_room(0, 500);
	driver_notify(&drv, 0);
	driver_interrupts(&drv);
	peer.end = -EPIPE;
	virtio_net_poll(&net, EPOLLIN | EPOLLHUP);
	assert_int_equal(peer.gone, 1);
	assert_int_equal(driver_get(&drv, 0x104) >> 16, 0);
	assert_int_equal(driver_get(&drv, VIRTIO_MMIO_INTERRUPT_STATUS), VIRTIO_MMIO_INT_CONFIG);
	assert_int_equal(driver_get(&drv, VIRTIO_MMIO_CONFIG_GENERATION), 1);
	assert_int_equal(driver_interrupts(&drv), 1);
	/* What is sent is thrown away, and nobody is asked any more. */
	net_put_frame(0, &(struct virtio_net_hdr_v1){0}, FRAME);
	driver_notify(&drv, 1);
	net_assert_used(TX, 0, 0);
	assert_int_equal(peer.sends, 0);
	virtio_net_poll(&net, EPOLLIN | EPOLLHUP);
	assert_int_equal(peer.gone, 1);
}

static void a_peer_that_hangs_up_on_a_guest_without_room_is_seen(void **state)
{
	net_make(0, MERGE);
	virtio_net_poll(&net, EPOLLHUP);
	assert_int_equal(peer.gone, 1);
	net_teardown(state);
	net_make(0, MERGE);
	peer.send_result = -EPIPE;
	net_put_frame(0, &(struct virtio_net_hdr_v1){0}, FRAME);
	driver_notify(&drv, 1);
	net_assert_used(TX, 0, 0);
	assert_int_equal(peer.gone, 1);
}

static void broken_chains_fail_alone_and_a_broken_ring_stops_the_device(void **state)
{
	for (unsigned int q = 0; q < 2; q++) {
		struct vring_driver *v;

		net_make(0, MERGE);
		v = &drv.queue[q];
		net_frames_to_come(1, HDR + FRAME);
		vring_desc(v, 0, DATA, 100, (q == 0 ? W : 0) | N, 0); /* a loop */
		vring_desc(v, 1, UINT64_C(1) << 40, 100, q == 0 ? W : 0, 0);
		vring_desc(v, 2, DATA, 0, q == 0 ? W : 0, 0);
		for (uint16_t i = 0; i < 3; i++) {
			vring_offer(v, i);
		}
		driver_notify(&drv, q);
		for (unsigned int i = 0; i < 3; i++) {
			net_assert_used(v, i, 0);
		}
		vring_set_avail_idx(v, (uint16_t)(v->avail_idx + DRIVER_SIZE + 1));
		driver_notify(&drv, q);
		assert_true(driver_get(&drv, VIRTIO_MMIO_STATUS) & VIRTIO_CONFIG_S_NEEDS_RESET);
		virtio_net_poll(&net, EPOLLIN | EPOLLOUT);
		assert_int_equal(net.sent + net.received, 0);
		if (q == 0) {
			net_teardown(state);
		}
	}
}

static void nothing_is_made_when_the_machine_refuses(void **state)
{
	for (int at = 1; at <= 4; at++) {
		struct virtio_place place;

		memset(&peer, 0, sizeof(peer));
		peer.peer = (struct net_peer){.ops = &net_fixture_ops, .fd = -1};
		driver_init(&drv);
		drv.fail_at = at;
		place = driver_place(&drv);
		assert_int_equal(virtio_net_init(&net, &place, &peer.peer, net_mac,
						 &net_fixture_events, NULL),
				 -EMFILE);
		driver_fini(&drv);
	}
}

int main(void)
{
#define T(name) cmocka_unit_test_teardown(name, net_teardown)
	const struct CMUnitTest tests[] = {
		T(it_says_what_it_is_and_offers_what_the_peer_can),
		T(the_peer_is_told_once_what_the_driver_takes),
		T(a_frame_is_sent_as_it_is_with_its_header),
		T(a_frame_may_be_cut_into_buffers_anywhere),
		T(headers_that_were_not_agreed_on_are_not_sent),
		T(frames_of_no_possible_length_are_thrown_away),
		T(a_full_peer_stops_the_queue_until_it_has_room),
		T(a_reset_takes_back_what_waits),
		T(a_frame_that_the_peer_refuses_is_lost_and_the_next_one_goes),
		T(more_frames_than_a_turn_takes_are_sent_in_several),
		T(a_peer_that_is_gone_takes_the_link_down),
		T(a_peer_that_hangs_up_on_a_guest_without_room_is_seen),
		T(broken_chains_fail_alone_and_a_broken_ring_stops_the_device),
		cmocka_unit_test(nothing_is_made_when_the_machine_refuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
