/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The headers of frames, for the network device and its tests. */
#ifndef DEVICES_VIRTIO_NET_PRIV_H
#define DEVICES_VIRTIO_NET_PRIV_H

#include <linux/virtio_net.h>
#include <stdbool.h>
#include <stdint.h>

#define NET_GSO_UDP_L4 5 /* not in Linux 6.1's headers */

bool net_header_is_valid(const struct virtio_net_hdr_v1 *h, uint32_t frame_bytes,
			 uint64_t accepted);

#endif
