/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The network device behind a driver, plugged into a peer that does as it is told. */
#ifndef TESTS_NET_FIXTURE_H
#define TESTS_NET_FIXTURE_H

#include "virtio_driver.h"

#include "devices/virtio/net.h"

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

/* What the peer was given, what it gives, and how it fails. */
struct net_fixture_peer {
	struct net_peer peer;
	uint8_t sent[HDR + NET_FRAME_MAX];
	size_t sent_bytes;
	unsigned int sends, receives, flushes;
	int send_result;
	const uint8_t *frame; /* of those to come */
	size_t frame_bytes;
	unsigned int frames;
	int end; /* when there are no more */
	bool can_read_ahead;
	int read_ahead_result;
	unsigned int read_aheads;
	unsigned int offloads, offloads_set;
	uint32_t polled;
	unsigned int polls, gone;
};

extern struct virtio_driver drv;
extern struct virtio_net net;
extern struct net_fixture_peer peer;
extern const uint8_t net_mac[6];
extern const struct net_peer_ops net_fixture_ops;
extern const struct virtio_net_events net_fixture_events;

void net_make(unsigned int offloads, uint64_t features);
int net_teardown(void **state);
void net_put_frame(unsigned int i, const struct virtio_net_hdr_v1 *h, uint32_t bytes);
void net_give_room(unsigned int i, uint32_t bytes);
void net_frames_to_come(unsigned int count, size_t bytes);
void net_assert_used(struct vring_driver *q, uint32_t head, uint32_t bytes);
void net_assert_none_used(struct vring_driver *q);

#endif
