/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a network device is plugged into: something on the host that takes frames and gives them. A
 * frame starts with the 12 bytes of virtio 1.2's struct virtio_net_hdr. A peer that does not know
 * of such headers offers no offloads, skips the header of what it takes and clears that of what it
 * gives.
 *
 * The buffers are guest memory: handed to a system call or copied once, and never looked at.
 * Everything runs on the event loop, and nothing waits.
 */
#ifndef DEVICES_VIRTIO_NET_PEER_H
#define DEVICES_VIRTIO_NET_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "base/cleanup.h"

#define NET_HDR_BYTES 12
#define NET_ETH_BYTES 14
/* The largest frame, without the header: IP's largest packet behind a VLAN's Ethernet header. */
#define NET_FRAME_MAX (65535 + NET_ETH_BYTES + 4)

/* What a peer can be spared: checksums and segments that are left for who is behind it. */
enum net_offload {
	NET_CSUM = 1 << 0,
	NET_TSO4 = 1 << 1,
	NET_TSO6 = 1 << 2,
	NET_TSO_ECN = 1 << 3,
	NET_UFO = 1 << 4,
	NET_USO = 1 << 5,
};

struct net_peer;

struct net_peer_ops {
	const char *name;
	/*
	 * Takes a frame: iov[0] is the header, which is the device's own copy. Returns 0 when it
	 * took it; -EAGAIN when it is full, and its descriptor will say when it is not; -EPIPE when
	 * it is gone; another −errno when it took it and threw it away.
	 */
	int (*send)(struct net_peer *p, const struct iovec *iov, unsigned int count);
	/*
	 * Gives the next frame, header first. *ret_bytes is set to as many as were put into @iov.
	 * Returns 0; -EAGAIN when there is none; -EMSGSIZE for one that did not fit and is gone;
	 * -EPIPE when the peer is gone.
	 */
	int (*receive)(struct net_peer *p, const struct iovec *iov, unsigned int count,
		       size_t *ret_bytes);
	/* What the guest takes, of what the peer has offered. NULL when it offers nothing. */
	int (*set_offloads)(struct net_peer *p, unsigned int offloads);
	/* Has it read ahead, so that it has frames and its descriptor says nothing? May be NULL. */
	bool (*is_ahead)(const struct net_peer *p);
	/*
	 * The guest has no room: take from the descriptor what there is all the same, as far as the
	 * peer has room itself. Returns 0 or -EPIPE. May be NULL, with the next.
	 */
	int (*read_ahead)(struct net_peer *p);
	bool (*can_read_ahead)(const struct net_peer *p);
	/* Is there something that waits for the descriptor to be writable? May be NULL. */
	bool (*is_blocked)(const struct net_peer *p);
	/* It is writable: send what waits. Returns 0, -EAGAIN or -EPIPE. May be NULL. */
	int (*flush)(struct net_peer *p);
	/* Frees it and closes its descriptor. */
	void (*destroy)(struct net_peer *p);
};

/* Embedded first in each peer. */
struct net_peer {
	const struct net_peer_ops *ops;
	int fd;                /* to poll; owned */
	unsigned int offloads; /* enum net_offload, both ways */
	uint16_t mtu;          /* bytes behind the Ethernet header; 0: not known */
};

static inline void net_peer_destroy(struct net_peer *p)
{
	if (p) {
		p->ops->destroy(p);
	}
}

#endif
