/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An entropy device (virtio 1.2, 5.4): fills what the driver gives it from the host's random pool.
 */
#ifndef DEVICES_VIRTIO_RNG_H
#define DEVICES_VIRTIO_RNG_H

#include "devices/virtio/mmio.h"

#define VIRTIO_RNG_REQUEST_MAX 4096 /* bytes given for one request; the driver asks again */

struct virtio_rng {
	struct virtio_mmio v;
};

int virtio_rng_init(struct virtio_rng *r, const struct virtio_place *place) __must_check;
void virtio_rng_fini(struct virtio_rng *r);

#endif
