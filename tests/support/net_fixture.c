/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See net_fixture.h. */
#include "support.h"

#include "net_fixture.h"

#include <errno.h>
#include <string.h>

const uint8_t net_mac[6] = {2, 0, 0, 0x12, 0x34, 0x56};
struct virtio_driver drv;
struct virtio_net net;

struct net_fixture_peer peer;

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

static int peer_read_ahead(struct net_peer *p)
{
	peer.read_aheads++;
	return peer.read_ahead_result;
}

static bool peer_can_read_ahead(const struct net_peer *p)
{
	return peer.can_read_ahead;
}

const struct net_peer_ops net_fixture_ops = {.name = "fake",
					     .send = peer_send,
					     .receive = peer_receive,
					     .set_offloads = peer_set_offloads,
					     .read_ahead = peer_read_ahead,
					     .can_read_ahead = peer_can_read_ahead,
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

const struct virtio_net_events net_fixture_events = {.poll = on_poll, .gone = on_gone};

void net_make(unsigned int offloads, uint64_t features)
{
	struct virtio_place place;

	memset(&peer, 0, sizeof(peer));
	peer.peer = (struct net_peer){
		.ops = &net_fixture_ops, .fd = -1, .offloads = offloads, .mtu = 9000};
	peer.end = -EAGAIN;
	driver_init(&drv);
	place = driver_place(&drv);
	assert_int_equal(
		virtio_net_init(&net, &place, &peer.peer, net_mac, &net_fixture_events, NULL), 0);
	driver_start(&drv, &net.v, 2, features);
	driver_notify(&drv, 0);
}

int net_teardown(void **state)
{
	virtio_net_fini(&net);
	driver_fini(&drv);
	return 0;
}

/* A frame behind its header, in one buffer. */
void net_put_frame(unsigned int i, const struct virtio_net_hdr_v1 *h, uint32_t bytes)
{
	uint8_t *at = drv.ram.bytes + FRAME_AT(i);

	memcpy(at, h, HDR);
	for (uint32_t n = 0; n < bytes; n++) {
		at[HDR + n] = (uint8_t)(n + i);
	}
	vring_desc(TX, i, FRAME_AT(i), HDR + bytes, 0, 0);
	vring_offer(TX, (uint16_t)i);
}

void net_give_room(unsigned int i, uint32_t bytes)
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

void net_frames_to_come(unsigned int count, size_t bytes)
{
	peer.frame = some_frame(bytes);
	peer.frame_bytes = bytes;
	peer.frames = count;
}

void net_assert_used(struct vring_driver *q, uint32_t head, uint32_t bytes)
{
	uint32_t h, n;

	assert_true(vring_take_used(q, &h, &n));
	assert_int_equal(h, head);
	assert_int_equal(n, bytes);
}

void net_assert_none_used(struct vring_driver *q)
{
	uint32_t h, n;

	assert_false(vring_take_used(q, &h, &n));
}
