/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The network device, registers and requests, under a driver without manners, plugged into one end
 * of a socket whose other end is as bad: lengths that lie, frames cut anywhere, a reader that
 * stops. Or into a peer that knows of headers, and refuses as it likes.
 */
#include "support.h"

#include <errno.h>
#include <linux/virtio_ring.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "devices/virtio/net.h"
#include "devices/virtio/net_stream.h"
#include "fuzz_driver.h"

#define QUEUES 2

enum {
	OP_REGISTER,
	OP_ACCESS,
	OP_DESC,
	OP_OFFER,
	OP_SERVE,
	OP_START,
	OP_HOST,
	OP_HEADER,
	OP_POLL,
	OP_COUNT
};

static struct virtio_driver drv;
static struct virtio_net net;
static struct net_peer *peer;
static struct net_peer fake;
static uint16_t fake_frame; /* bytes of the next frame; 0: none */
static int fake_send_result;
static int far = -1;
static bool gone;
static uint32_t polled;

/* Reads every byte, as a system call would. */
static int fake_send(struct net_peer *p, const struct iovec *iov, unsigned int count)
{
	static uint8_t sink[NET_HDR_BYTES + NET_FRAME_MAX];
	size_t at = 0;

	must(count >= 2 && iov[0].iov_len == NET_HDR_BYTES);
	for (unsigned int i = 0; i < count; i++) {
		must(at + iov[i].iov_len <= sizeof(sink));
		memcpy(sink + at, iov[i].iov_base, iov[i].iov_len);
		at += iov[i].iov_len;
	}
	return fake_send_result;
}

static int fake_receive(struct net_peer *p, const struct iovec *iov, unsigned int count,
			size_t *ret_bytes)
{
	size_t left = fake_frame;

	if (fake_frame == 0) {
		return -EAGAIN;
	}
	for (unsigned int i = 0; i < count && left > 0; i++) {
		size_t n = iov[i].iov_len < left ? iov[i].iov_len : left;

		memset(iov[i].iov_base, 0x5a, n);
		left -= n;
	}
	*ret_bytes = fake_frame - left;
	fake_frame = 0;
	return 0;
}

static int fake_set_offloads(struct net_peer *p, unsigned int offloads)
{
	must((offloads & ~p->offloads) == 0);
	return 0;
}

static const struct net_peer_ops fake_ops = {.name = "fake",
					     .send = fake_send,
					     .receive = fake_receive,
					     .set_offloads = fake_set_offloads};

static void on_poll(void *ctx, uint32_t events)
{
	must(!gone && (events & ~(uint32_t)(EPOLLIN | EPOLLOUT)) == 0);
	polled = events;
}

static void on_gone(void *ctx)
{
	must(!gone);
	gone = true;
}

static const struct virtio_net_events events = {.poll = on_poll, .gone = on_gone};

static void make(bool stream)
{
	static const uint8_t mac[6] = {2, 0, 0, 0, 0, 1};
	struct virtio_place place = driver_place(&drv);
	struct err e = ERR_INIT;
	int pair[2];

	gone = false;
	polled = 0;
	fake_frame = 0;
	fake_send_result = 0;
	if (stream) {
		must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
		must(net_stream_adopt(pair[0], &peer, &e) == 0);
		far = pair[1];
	} else {
		fake = (struct net_peer){.ops = &fake_ops, .fd = -1, .offloads = 0x3f, .mtu = 1500};
		peer = &fake;
	}
	must(virtio_net_init(&net, &place, peer, mac, &events, NULL) == 0);
	drv.dev = &net.v;
}

static void start(const struct fuzz_step *s)
{
	const uint64_t rings = s->i & 1 ? UINT64_C(1) << VIRTIO_RING_F_INDIRECT_DESC |
						  UINT64_C(1) << VIRTIO_RING_F_EVENT_IDX
					: 0;
	uint64_t wanted = DRIVER_V1 | rings | s->a | (uint64_t)s->b << 48;

	driver_start(&drv, drv.dev, QUEUES, driver_offered(&drv) & wanted);
}

/* What a program at the other end may do. */
static void use_host_side(const struct fuzz_step *s)
{
	static const uint8_t zeros[512];
	uint8_t bytes[520] = {0, 0, (uint8_t)(s->b >> 8), (uint8_t)s->b};

	fake_frame = s->b;
	fake_send_result = (s->c & 3) == 1 ? -EAGAIN : (s->c & 3) == 2 ? -EIO : 0;
	if (far < 0) {
		return;
	}
	switch (s->i % 4) {
	case 0: /* a frame, or a part of one */
		(void)!send(far, bytes, 4 + s->c % 512, MSG_DONTWAIT | MSG_NOSIGNAL);
		break;
	case 1: /* any bytes as a length */
		memcpy(bytes, &s->a, 6);
		(void)!send(far, bytes, 6, MSG_DONTWAIT | MSG_NOSIGNAL);
		break;
	case 2:
		(void)!recv(far, bytes, s->c % sizeof(bytes), MSG_DONTWAIT);
		break;
	default:
		if (s->a == 0xdead) {
			close(far);
			far = -1;
		} else {
			(void)!send(far, zeros, s->c % sizeof(zeros), MSG_DONTWAIT | MSG_NOSIGNAL);
		}
		break;
	}
}

static void step(const struct fuzz_step *s)
{
	const uint16_t header[] = {s->a, s->b, s->c, (uint16_t)(s->i * 257), s->a, 0};

	switch (s->op % OP_COUNT) {
	case OP_REGISTER:
		fuzz_set_register(&drv, s);
		break;
	case OP_ACCESS:
		fuzz_access(&drv, s);
		break;
	case OP_DESC:
		fuzz_set_descriptor(&drv, QUEUES, s);
		break;
	case OP_OFFER:
		fuzz_offer(&drv, QUEUES, s);
		break;
	case OP_SERVE:
		fuzz_serve(&drv);
		break;
	case OP_START:
		start(s);
		break;
	case OP_HOST:
		use_host_side(s);
		break;
	case OP_HEADER:
		memcpy(drv.ram.bytes + VRING_HEAP + s->a % 0x8000, header, sizeof(header));
		break;
	default:
		if (!gone) {
			virtio_net_poll(&net, s->a & (EPOLLIN | EPOLLOUT | EPOLLHUP | EPOLLERR));
		}
		break;
	}
	must(net.room_count <= VIRTQ_SIZE_MAX && net.seg_count <= VIRTIO_NET_SEGS_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_step s = {.i = 1};

	driver_init(&drv);
	make(size && (data[0] & 1));
	start(&s);
	data += size > 0;
	size -= size > 0;
	while (fuzz_next(&data, &size, &s)) {
		step(&s);
	}
	fuzz_serve(&drv);
	virtio_net_fini(&net);
	if (peer != &fake) {
		net_peer_destroy(peer);
	}
	if (far >= 0) {
		close(far);
		far = -1;
	}
	driver_fini(&drv);
	return 0;
}
