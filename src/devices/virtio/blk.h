/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A block device (virtio 1.2, 5.2) on a raw image, one queue. Requests are answered one after the
 * other on the event loop, which waits for the host meanwhile. Reading only is enforced whatever
 * was negotiated, and without VIRTIO_BLK_F_FLUSH every write is flushed.
 */
#ifndef DEVICES_VIRTIO_BLK_H
#define DEVICES_VIRTIO_BLK_H

#include <linux/virtio_blk.h>

#include "devices/virtio/disk.h"
#include "devices/virtio/mmio.h"

/* Of one discard or write-zeroes request: segments, and sectors in each. */
#define VIRTIO_BLK_RANGES_MAX 16
#define VIRTIO_BLK_RANGE_MAX  32768

struct virtio_blk {
	struct virtio_mmio v;
	struct disk *disk; /* borrowed */
	char id[VIRTIO_BLK_ID_BYTES];
	struct virtio_blk_config config;
	struct iovec iov[VIRTQ_SIZE_MAX]; /* of the request that is served */
};

int virtio_blk_init(struct virtio_blk *b, const struct virtio_place *place, struct disk *disk,
		    const char *id) __must_check;
void virtio_blk_fini(struct virtio_blk *b);

#endif
