/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The network device against a driver, plugged into a peer that does as it is told. */
#include "support.h"

#include "virtio_driver.h"

#include <errno.h>
#include <linux/virtio_ids.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/rng.h"
#include "devices/virtio/net.h"
#include "devices/virtio/net_priv.h"

#define W      VRING_DESC_F_WRITE
#define N      VRING_DESC_F_NEXT
#define BIT(n) (UINT64_C(1) << (n))
#define RX     (&drv.queue[0])
#define TX     (&drv.queue[1])
#define DATA   VRING_HEAP
#define MERGE  (DRIVER_V1 | BIT(VIRTIO_NET_F_MRG_RXBUF))
#define HDR    NET_HDR_BYTES
#define FRAME  64
#define FRAMES 80
#define EVERY_HOST                                                                            \
	(BIT(VIRTIO_NET_F_CSUM) | BIT(VIRTIO_NET_F_HOST_TSO4) | BIT(VIRTIO_NET_F_HOST_TSO6) | \
	 BIT(VIRTIO_NET_F_HOST_ECN) | BIT(VIRTIO_NET_F_HOST_UFO) | BIT(56))
#define FRAME_AT(i) (DATA + (uint64_t)(i)*0x1000)

static const uint8_t mac[6] = {2, 0, 0, 0x12, 0x34, 0x56};
static struct virtio_driver drv;
static struct virtio_net net;

/* What the peer was given, what it gives, and how it fails. */
static struct {
	struct net_peer peer;
	uint8_t sent[HDR + NET_FRAME_MAX];
	size_t sent_bytes;
	unsigned int sends, receives, flushes;
	int send_result;
	const uint8_t *frame; /* of those to come */
	size_t frame_bytes;
	unsigned int frames;
	int end; /* when there are no more */
	unsigned int offloads, offloads_set;
	uint32_t polled;
	unsigned int polls, gone;
} peer;

static int peer_send(struct net_peer *p, const struct iovec *iov, unsigned int count)
{
	peer.sends++;
	if (peer.send_result < 0) {
		return peer.send_result;
	}
	peer.sent_bytes = 0;
	for (unsigned int i = 0; i < count; i++) {
		assert_true(peer.sent_bytes + iov[i].iov_len <= sizeof(peer.sent));
		memcpy(peer.sent + peer.sent_bytes, iov[i].iov_base, iov[i].iov_len);
		peer.sent_bytes += iov[i].iov_len;
	}
	return 0;
}

static int peer_receive(struct net_peer *p, const struct iovec *iov, unsigned int count,
			size_t *ret_bytes)
{
	size_t at = 0;

	peer.receives++;
	if (peer.frames == 0) {
		return peer.end;
	}
	peer.frames--;
	for (unsigned int i = 0; i < count && at < peer.frame_bytes; i++) {
		size_t n = peer.frame_bytes - at;

		n = n < iov[i].iov_len ? n : iov[i].iov_len;
		memcpy(iov[i].iov_base, peer.frame + at, n);
		at += n;
	}
	*ret_bytes = at;
	return 0;
}

static int peer_set_offloads(struct net_peer *p, unsigned int offloads)
{
	peer.offloads = offloads;
	peer.offloads_set++;
	return 0;
}

static int peer_flush(struct net_peer *p)
{
	peer.flushes++;
	return 0;
}

static const struct net_peer_ops peer_ops = {.name = "fake",
					     .send = peer_send,
					     .receive = peer_receive,
					     .set_offloads = peer_set_offloads,
					     .flush = peer_flush};

static void on_poll(void *ctx, uint32_t events)
{
	peer.polled = events;
	peer.polls++;
}

static void on_gone(void *ctx)
{
	peer.gone++;
}

static const struct virtio_net_events events = {.poll = on_poll, .gone = on_gone};

static void make(unsigned int offloads, uint64_t features)
{
	struct virtio_place place;

	memset(&peer, 0, sizeof(peer));
	peer.peer =
		(struct net_peer){.ops = &peer_ops, .fd = -1, .offloads = offloads, .mtu = 9000};
	peer.end = -EAGAIN;
	driver_init(&drv);
	place = driver_place(&drv);
	assert_int_equal(virtio_net_init(&net, &place, &peer.peer, mac, &events, NULL), 0);
	driver_start(&drv, &net.v, 2, features);
	driver_notify(&drv, 0);
}

static int teardown(void **state)
{
	virtio_net_fini(&net);
	driver_fini(&drv);
	return 0;
}

/* A frame behind its header, in one buffer. */
static void put_frame(unsigned int i, const struct virtio_net_hdr_v1 *h, uint32_t bytes)
{
	uint8_t *at = drv.ram.bytes + FRAME_AT(i);

	memcpy(at, h, HDR);
	for (uint32_t n = 0; n < bytes; n++) {
		at[HDR + n] = (uint8_t)(n + i);
	}
	vring_desc(TX, i, FRAME_AT(i), HDR + bytes, 0, 0);
	vring_offer(TX, (uint16_t)i);
}

static void give_room(unsigned int i, uint32_t bytes)
{
	vring_desc(RX, i, FRAME_AT(i), bytes, W, 0);
	vring_offer(RX, (uint16_t)i);
}

static const uint8_t *some_frame(size_t bytes)
{
	static uint8_t frame[HDR + NET_FRAME_MAX + 1];

	memset(frame, 0, HDR);
	for (size_t i = HDR; i < bytes; i++) {
		frame[i] = (uint8_t)(i * 7 + i / 251);
	}
	return frame;
}

static void frames_to_come(unsigned int count, size_t bytes)
{
	peer.frame = some_frame(bytes);
	peer.frame_bytes = bytes;
	peer.frames = count;
}

static void assert_used(struct vring_driver *q, uint32_t head, uint32_t bytes)
{
	uint32_t h, n;

	assert_true(vring_take_used(q, &h, &n));
	assert_int_equal(h, head);
	assert_int_equal(n, bytes);
}

static void assert_none_used(struct vring_driver *q)
{
	uint32_t h, n;

	assert_false(vring_take_used(q, &h, &n));
}

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
		make(rows[i].offloads, DRIVER_V1);
		assert_int_equal(driver_get(&drv, VIRTIO_MMIO_DEVICE_ID), VIRTIO_ID_NET);
		assert_int_equal(driver_offered(&drv) & ~(DRIVER_V1 | BIT(28) | BIT(29)),
				 rows[i].bits | BIT(VIRTIO_NET_F_MAC) | BIT(VIRTIO_NET_F_MTU) |
					 BIT(VIRTIO_NET_F_STATUS) | BIT(VIRTIO_NET_F_MRG_RXBUF));
		assert_int_equal(driver_get(&drv, 0x100), 0x12000002);
		assert_int_equal(driver_get(&drv, 0x104), 0x00015634); /* and the link is up */
		assert_int_equal(driver_get(&drv, 0x108) >> 16, 9000);
		if (i + 1 < ARRAY_SIZE(rows)) {
			teardown(state);
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
		make(all, DRIVER_V1 | rows[i].features);
		driver_notify(&drv, 1);
		assert_int_equal(peer.offloads_set, 1);
		assert_int_equal(peer.offloads, rows[i].taken);
		if (i + 1 < ARRAY_SIZE(rows)) {
			teardown(state);
		}
	}
}

static void a_frame_is_sent_as_it_is_with_its_header(void **state)
{
	const struct virtio_net_hdr_v1 h = {.num_buffers = 7};

	make(0, DRIVER_V1);
	put_frame(0, &h, FRAME);
	driver_notify(&drv, 1);
	assert_used(TX, 0, 0);
	assert_int_equal(peer.sent_bytes, HDR + FRAME);
	assert_memory_equal(peer.sent, drv.ram.bytes + FRAME_AT(0), HDR + FRAME);
	assert_int_equal(net.sent, 1);
	assert_int_equal(driver_interrupts(&drv), 1);
}

static void a_frame_may_be_cut_into_buffers_anywhere(void **state)
{
	make(0, DRIVER_V1);
	for (unsigned int cut = 1; cut < HDR + FRAME; cut++) {
		put_frame(0, &(struct virtio_net_hdr_v1){0}, FRAME);
		vring_desc(TX, 0, FRAME_AT(0), cut, N, 1);
		vring_desc(TX, 1, FRAME_AT(0) + cut, HDR + FRAME - cut, 0, 0);
		memset(peer.sent, 0xee, sizeof(peer.sent));
		driver_notify(&drv, 1);
		assert_used(TX, 0, 0);
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
		make(all, DRIVER_V1 | rows[i].features);
		put_frame(0, &rows[i].h, FRAME);
		driver_notify(&drv, 1);
		assert_used(TX, 0, 0);
		assert_int_equal(peer.sends, rows[i].sent);
		assert_int_equal(net.send_drops, !rows[i].sent);
		if (i + 1 < ARRAY_SIZE(rows)) {
			teardown(state);
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

	make(0, DRIVER_V1);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		peer.sends = 0;
		memset(drv.ram.bytes + DATA, 0, HDR);
		vring_desc(TX, 0, DATA, rows[i].bytes, 0, 0);
		vring_offer(TX, 0);
		driver_notify(&drv, 1);
		assert_used(TX, 0, 0);
		assert_int_equal(peer.sends, rows[i].sent);
	}
	/* Nothing to read at all. */
	vring_desc(TX, 0, DATA, 100, W, 0);
	vring_offer(TX, 0);
	driver_notify(&drv, 1);
	assert_used(TX, 0, 0);
}

static void a_full_peer_stops_the_queue_until_it_has_room(void **state)
{
	make(0, DRIVER_V1);
	peer.send_result = -EAGAIN;
	for (unsigned int i = 0; i < 3; i++) {
		put_frame(i, &(struct virtio_net_hdr_v1){0}, FRAME);
	}
	driver_notify(&drv, 1);
	assert_int_equal(peer.sends, 1);
	assert_none_used(TX);
	assert_true(peer.polled & EPOLLOUT);
	assert_false(driver_rung(&drv)); /* nobody spins */
	peer.send_result = 0;
	virtio_net_poll(&net, EPOLLOUT);
	for (unsigned int i = 0; i < 3; i++) {
		assert_used(TX, i, 0);
	}
	assert_int_equal(peer.flushes, 1);
	assert_false(peer.polled & EPOLLOUT);
}

static void a_reset_takes_back_what_waits(void **state)
{
	make(0, DRIVER_V1);
	peer.send_result = -EAGAIN;
	put_frame(0, &(struct virtio_net_hdr_v1){0}, FRAME);
	give_room(0, 2048);
	driver_notify(&drv, 1);
	assert_int_equal(net.room_count, 1);
	driver_start(&drv, &net.v, 2, DRIVER_V1);
	assert_int_equal(net.room_count, 0);
	driver_notify(&drv, 0);
	assert_int_equal(peer.polled, 0);
	peer.send_result = 0;
	put_frame(1, &(struct virtio_net_hdr_v1){0}, FRAME);
	driver_notify(&drv, 1);
	assert_used(TX, 1, 0);
	assert_int_equal(peer.offloads_set, 2);
}

static void a_frame_that_the_peer_refuses_is_lost_and_the_next_one_goes(void **state)
{
	make(0, DRIVER_V1);
	peer.send_result = -EIO;
	put_frame(0, &(struct virtio_net_hdr_v1){0}, FRAME);
	driver_notify(&drv, 1);
	assert_used(TX, 0, 0);
	assert_int_equal(net.send_drops, 1);
	peer.send_result = 0;
	put_frame(1, &(struct virtio_net_hdr_v1){0}, FRAME);
	driver_notify(&drv, 1);
	assert_used(TX, 1, 0);
	assert_int_equal(net.sent, 1);
}

static void more_frames_than_a_turn_takes_are_sent_in_several(void **state)
{
	make(0, DRIVER_V1);
	for (unsigned int i = 0; i < 5 * DRIVER_SIZE; i++) {
		put_frame(i % DRIVER_SIZE, &(struct virtio_net_hdr_v1){0}, FRAME);
		if (i % DRIVER_SIZE == DRIVER_SIZE - 1) {
			driver_notify(&drv, 1);
		}
	}
	assert_int_equal(net.sent, 5 * DRIVER_SIZE);
}

static void without_room_the_peer_is_not_read(void **state)
{
	make(0, MERGE);
	frames_to_come(1, HDR + FRAME);
	assert_int_equal(peer.polled & EPOLLIN, 0);
	assert_int_equal(peer.receives, 0);
	give_room(0, 2048);
	driver_notify(&drv, 0);
	assert_used(RX, 0, HDR + FRAME);
	assert_memory_equal(drv.ram.bytes + FRAME_AT(0) + HDR, peer.frame + HDR, FRAME);
	assert_int_equal(drv.ram.bytes[FRAME_AT(0) + 10], 1);
	/* That was the only one. */
	assert_int_equal(peer.polled & EPOLLIN, 0);
	give_room(0, 2048);
	driver_notify(&drv, 0);
	assert_true(peer.polled & EPOLLIN);
	assert_false(driver_rung(&drv));
}

static void a_long_frame_fills_several_buffers_and_says_how_many(void **state)
{
	static const size_t sizes[] = {1000, 1001, 1999, 2000, 2001, 7999, 8000};

	make(0, MERGE);
	for (size_t k = 0; k < ARRAY_SIZE(sizes); k++) {
		unsigned int want = (unsigned int)((sizes[k] + 999) / 1000);
		size_t left = sizes[k];

		frames_to_come(1, sizes[k]);
		for (unsigned int i = 0; i < 8; i++) {
			give_room(i, 1000);
		}
		driver_notify(&drv, 0);
		virtio_net_poll(&net, EPOLLIN);
		for (unsigned int i = 0; i < want; i++) {
			uint32_t part = left < 1000 ? (uint32_t)left : 1000;

			assert_used(RX, i, part);
			if (i == 0) {
				assert_int_equal(drv.ram.bytes[FRAME_AT(0) + 10], want);
				assert_int_equal(drv.ram.bytes[FRAME_AT(0) + 11], 0);
			}
			assert_memory_equal(drv.ram.bytes + FRAME_AT(i) + (i ? 0 : HDR),
					    peer.frame + i * 1000 + (i ? 0 : HDR),
					    part - (i ? 0 : HDR));
			left -= part;
		}
		assert_none_used(RX);
		driver_start(&drv, &net.v, 2, MERGE);
	}
}

static void a_frame_waits_for_buffers_that_come_later(void **state)
{
	make(0, MERGE);
	frames_to_come(1, 3000);
	give_room(0, 1000);
	driver_notify(&drv, 0);
	assert_int_equal(peer.receives, 1);
	assert_none_used(RX);
	assert_int_equal(peer.polled & EPOLLIN, 0);
	give_room(1, 1500);
	driver_notify(&drv, 0);
	assert_none_used(RX);
	give_room(2, 1500);
	driver_notify(&drv, 0);
	assert_used(RX, 0, 1000);
	assert_used(RX, 1, 1500);
	assert_used(RX, 2, 500);
	assert_memory_equal(drv.ram.bytes + FRAME_AT(1), peer.frame + 1000, 1500);
	assert_memory_equal(drv.ram.bytes + FRAME_AT(2), peer.frame + 2500, 500);
	assert_int_equal(net.received, 1);
}

static void a_frame_that_no_queue_can_hold_is_lost_and_the_next_one_comes(void **state)
{
	make(0, MERGE);
	frames_to_come(1, 10000);
	for (unsigned int i = 0; i < DRIVER_SIZE; i++) {
		give_room(i, 100);
	}
	driver_notify(&drv, 0);
	virtio_net_poll(&net, EPOLLIN);
	assert_none_used(RX);
	assert_int_equal(net.receive_drops, 1);
	frames_to_come(1, 150);
	virtio_net_poll(&net, EPOLLIN);
	assert_used(RX, 0, 100);
	assert_used(RX, 1, 50);
}

static void without_merging_a_frame_is_in_one_buffer_or_lost(void **state)
{
	make(0, DRIVER_V1);
	frames_to_come(1, 1001);
	give_room(0, 1000);
	give_room(1, 2000);
	driver_notify(&drv, 0);
	assert_none_used(RX);
	assert_int_equal(net.receive_drops, 1);
	frames_to_come(1, 1000);
	virtio_net_poll(&net, EPOLLIN);
	assert_used(RX, 0, 1000);
	assert_int_equal(drv.ram.bytes[FRAME_AT(0) + 10], 1); /* 5.1.6.4.1 */
}

static void the_largest_frame_comes_and_a_larger_one_is_lost(void **state)
{
	make(0, MERGE);
	frames_to_come(1, HDR + NET_FRAME_MAX + 1);
	vring_desc(RX, 0, DATA, 0x20000, W, 0);
	vring_offer(RX, 0);
	driver_notify(&drv, 0);
	assert_none_used(RX);
	assert_int_equal(net.receive_drops, 1);
	frames_to_come(1, HDR + NET_FRAME_MAX);
	virtio_net_poll(&net, EPOLLIN);
	assert_used(RX, 0, HDR + NET_FRAME_MAX);
	frames_to_come(1, HDR + NET_ETH_BYTES - 1);
	vring_offer(RX, 0);
	driver_notify(&drv, 0);
	assert_none_used(RX);
	assert_int_equal(net.receive_drops, 2);
}

static void buffers_that_cannot_hold_a_header_go_back(void **state)
{
	make(0, MERGE);
	frames_to_come(1, HDR + FRAME);
	give_room(0, HDR - 1);
	vring_desc(RX, 1, DATA, 100, 0, 0); /* nothing to write into */
	vring_offer(RX, 1);
	give_room(2, 500);
	driver_notify(&drv, 0);
	assert_used(RX, 0, 0);
	assert_used(RX, 1, 0);
	assert_used(RX, 2, HDR + FRAME);
}

static void a_header_may_lie_in_buffers_of_one_byte(void **state)
{
	make(0, MERGE);
	frames_to_come(1, HDR + NET_ETH_BYTES);
	memset(drv.ram.bytes + DATA, 0xff, 100);
	for (unsigned int i = 0; i < HDR; i++) {
		vring_desc(RX, i, DATA + 2 * i, 1, W | N, (uint16_t)(i + 1));
	}
	vring_desc(RX, HDR, DATA + 50, 100, W, 0);
	vring_offer(RX, 0);
	driver_notify(&drv, 0);
	assert_used(RX, 0, HDR + NET_ETH_BYTES);
	assert_int_equal(drv.ram.bytes[DATA + 20], 1);
	assert_int_equal(drv.ram.bytes[DATA + 22], 0);
	assert_int_equal(drv.ram.bytes[DATA + 19], 0xff);
	assert_memory_equal(drv.ram.bytes + DATA + 50, peer.frame + HDR, NET_ETH_BYTES);
}

static void a_peer_with_more_than_a_turn_takes_is_asked_again(void **state)
{
	make(0, MERGE);
	frames_to_come(FRAMES, HDR + FRAME);
	for (unsigned int done = 0; done < FRAMES; done += DRIVER_SIZE) {
		for (unsigned int i = 0; i < DRIVER_SIZE; i++) {
			give_room(i, 500);
		}
		driver_notify(&drv, 0);
		for (unsigned int i = 0; i < DRIVER_SIZE; i++) {
			assert_used(RX, i, HDR + FRAME);
		}
	}
	assert_int_equal(net.received, FRAMES);
	assert_int_equal(driver_interrupts(&drv), FRAMES / DRIVER_SIZE);
}

static void a_peer_that_is_gone_takes_the_link_down(void **state)
{
	make(0, MERGE | BIT(VIRTIO_NET_F_STATUS));
	give_room(0, 500);
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
	put_frame(0, &(struct virtio_net_hdr_v1){0}, FRAME);
	driver_notify(&drv, 1);
	assert_used(TX, 0, 0);
	assert_int_equal(peer.sends, 0);
	virtio_net_poll(&net, EPOLLIN | EPOLLHUP);
	assert_int_equal(peer.gone, 1);
}

static void a_peer_that_hangs_up_on_a_guest_without_room_is_seen(void **state)
{
	make(0, MERGE);
	virtio_net_poll(&net, EPOLLHUP);
	assert_int_equal(peer.gone, 1);
	teardown(state);
	make(0, MERGE);
	peer.send_result = -EPIPE;
	put_frame(0, &(struct virtio_net_hdr_v1){0}, FRAME);
	driver_notify(&drv, 1);
	assert_used(TX, 0, 0);
	assert_int_equal(peer.gone, 1);
}

static void broken_chains_fail_alone_and_a_broken_ring_stops_the_device(void **state)
{
	for (unsigned int q = 0; q < 2; q++) {
		struct vring_driver *v;

		make(0, MERGE);
		v = &drv.queue[q];
		frames_to_come(1, HDR + FRAME);
		vring_desc(v, 0, DATA, 100, (q == 0 ? W : 0) | N, 0); /* a loop */
		vring_desc(v, 1, UINT64_C(1) << 40, 100, q == 0 ? W : 0, 0);
		vring_desc(v, 2, DATA, 0, q == 0 ? W : 0, 0);
		for (uint16_t i = 0; i < 3; i++) {
			vring_offer(v, i);
		}
		driver_notify(&drv, q);
		for (unsigned int i = 0; i < 3; i++) {
			assert_used(v, i, 0);
		}
		vring_set_avail_idx(v, (uint16_t)(v->avail_idx + DRIVER_SIZE + 1));
		driver_notify(&drv, q);
		assert_true(driver_get(&drv, VIRTIO_MMIO_STATUS) & VIRTIO_CONFIG_S_NEEDS_RESET);
		virtio_net_poll(&net, EPOLLIN | EPOLLOUT);
		assert_int_equal(net.sent + net.received, 0);
		if (q == 0) {
			teardown(state);
		}
	}
}

static void nothing_is_made_when_the_machine_refuses(void **state)
{
	for (int at = 1; at <= 4; at++) {
		struct virtio_place place;

		memset(&peer, 0, sizeof(peer));
		peer.peer = (struct net_peer){.ops = &peer_ops, .fd = -1};
		driver_init(&drv);
		drv.fail_at = at;
		place = driver_place(&drv);
		assert_int_equal(virtio_net_init(&net, &place, &peer.peer, mac, &events, NULL),
				 -EMFILE);
		driver_fini(&drv);
	}
}

int main(void)
{
#define T(name) cmocka_unit_test_teardown(name, teardown)
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
		T(without_room_the_peer_is_not_read),
		T(a_long_frame_fills_several_buffers_and_says_how_many),
		T(a_frame_waits_for_buffers_that_come_later),
		T(a_frame_that_no_queue_can_hold_is_lost_and_the_next_one_comes),
		T(without_merging_a_frame_is_in_one_buffer_or_lost),
		T(the_largest_frame_comes_and_a_larger_one_is_lost),
		T(buffers_that_cannot_hold_a_header_go_back),
		T(a_header_may_lie_in_buffers_of_one_byte),
		T(a_peer_with_more_than_a_turn_takes_is_asked_again),
		T(a_peer_that_is_gone_takes_the_link_down),
		T(a_peer_that_hangs_up_on_a_guest_without_room_is_seen),
		T(broken_chains_fail_alone_and_a_broken_ring_stops_the_device),
		cmocka_unit_test(nothing_is_made_when_the_machine_refuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
