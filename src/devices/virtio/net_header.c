/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See net_priv.h. Section numbers are those of virtio 1.2. Pure; any thread. */
#include "devices/virtio/net_priv.h"

#define FEATURE(n) (UINT64_C(1) << (n))
#define F_HOST_USO 56 /* not in Linux 6.1's headers */

/* The feature that a frame of this kind of segmentation needs; 0: there is no such kind. */
static uint64_t needed(uint8_t gso_type)
{
	switch (gso_type) {
	case VIRTIO_NET_HDR_GSO_TCPV4:
		return FEATURE(VIRTIO_NET_F_HOST_TSO4);
	case VIRTIO_NET_HDR_GSO_TCPV6:
		return FEATURE(VIRTIO_NET_F_HOST_TSO6);
	case VIRTIO_NET_HDR_GSO_TCPV4 | VIRTIO_NET_HDR_GSO_ECN:
		return FEATURE(VIRTIO_NET_F_HOST_TSO4) | FEATURE(VIRTIO_NET_F_HOST_ECN);
	case VIRTIO_NET_HDR_GSO_TCPV6 | VIRTIO_NET_HDR_GSO_ECN:
		return FEATURE(VIRTIO_NET_F_HOST_TSO6) | FEATURE(VIRTIO_NET_F_HOST_ECN);
	case VIRTIO_NET_HDR_GSO_UDP:
		return FEATURE(VIRTIO_NET_F_HOST_UFO);
	case NET_GSO_UDP_L4:
		return FEATURE(F_HOST_USO);
	default:
		return 0;
	}
}

/**
 * net_header_is_valid() - may a frame with this header go to the host (5.1.6.2)
 * @h: our copy of what the driver wrote
 * @frame_bytes: length of the frame behind it
 * @accepted: features that the driver agreed on
 *
 * Return: false when it asks for what was not agreed on, or for a checksum outside the frame.
 */
bool net_header_is_valid(const struct virtio_net_hdr_v1 *h, uint32_t frame_bytes, uint64_t accepted)
{
	if (h->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) {
		uint32_t field = (uint32_t)h->csum_start + h->csum_offset;

		if (!(accepted & FEATURE(VIRTIO_NET_F_CSUM)) || field + 2 > frame_bytes) {
			return false;
		}
	}
	if (h->gso_type != VIRTIO_NET_HDR_GSO_NONE) {
		uint64_t wanted = needed(h->gso_type);

		/* 5.1.6.2.1: segments need the checksum, but for fragments of UDP. */
		return wanted && (accepted & wanted) == wanted && h->gso_size > 0 &&
		       (h->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM);
	}
	return true;
}
