/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A virtio network device (virtio 1.2, 5.1) with one pair of queues, plugged into a peer on the
 * host. Frames go between the peer's descriptor and the guest's buffers with nothing in between,
 * but for the end of a frame that is longer than the buffers that were at hand.
 *
 *   to the host    a frame that the peer has no room for stays in its request, and the queue waits
 *   to the guest   buffers are taken from the driver ahead of the frame; without any, none is taken
 *                  of the peer until the driver has rung
 *
 * A peer that is gone takes the link down: what is sent is thrown away, and nothing comes.
 */
#ifndef DEVICES_VIRTIO_NET_H
#define DEVICES_VIRTIO_NET_H

#include <linux/virtio_net.h>

#include "devices/virtio/mmio.h"
#include "devices/virtio/net_peer.h"

#define VIRTIO_NET_MAC_BYTES 6

/* Buffers of the driver's that are held for frames to come, and what they are cut into at most. */
#define VIRTIO_NET_SEGS_MAX (2 * VIRTQ_SIZE_MAX)

struct virtio_net_events {
	/* Poll the peer's descriptor for these of EPOLLIN and EPOLLOUT. */
	void (*poll)(void *ctx, uint32_t events);
	/* The peer is gone, and not to be polled any more. Comes once. */
	void (*gone)(void *ctx);
};

/* A request of the receive queue that waits for a frame. */
struct virtio_net_room {
	uint16_t head;
	uint16_t segs;
	uint32_t bytes;
};

struct virtio_net {
	struct virtio_mmio v;
	struct virtio_net_config config;
	struct net_peer *peer; /* borrowed */
	const struct virtio_net_events *events;
	void *ctx;

	uint32_t polled; /* what the peer is polled for: of the event loop */
	bool down;       /* changed on the event loop, with the lock */

	/* With the lock: reset throws away what is held. */
	bool starving;   /* the driver has no room for frames */
	bool unfinished; /* the peer may have more than there was time for */
	bool offloads_set;
	struct virtio_net_room room[VIRTQ_SIZE_MAX];
	unsigned int room_count;
	uint64_t room_bytes;
	struct virtq_seg seg[VIRTIO_NET_SEGS_MAX]; /* of all of them, in order */
	struct iovec iov[VIRTIO_NET_SEGS_MAX + 1]; /* the same; the end of a frame behind */
	unsigned int seg_count;
	uint32_t frame_bytes; /* of a frame that waits for more room; 0: none */
	uint32_t spilled;     /* bytes of it that are in spill[] */
	uint32_t spill_at;    /* the first of them */
	uint8_t spill[NET_HDR_BYTES + NET_FRAME_MAX + 1];

	struct virtq_chain out; /* the frame that is sent */
	bool sending;
	unsigned int out_count;
	uint8_t out_header[NET_HDR_BYTES];
	struct iovec out_iov[VIRTQ_SIZE_MAX + 1];

	/* Since power on. */
	uint64_t sent, send_drops, received, receive_drops;
};

int virtio_net_init(struct virtio_net *n, const struct virtio_place *place, struct net_peer *peer,
		    const uint8_t mac[VIRTIO_NET_MAC_BYTES], const struct virtio_net_events *events,
		    void *ctx) __must_check;
void virtio_net_fini(struct virtio_net *n);
void virtio_net_poll(struct virtio_net *n, uint32_t events);

#endif
