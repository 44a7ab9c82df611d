/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See rng.h. Serves on the event loop. */
#include "devices/virtio/rng.h"

#include <linux/virtio_ids.h>
#include <sys/random.h>

static uint32_t fill(struct virtio_mmio *v, struct virtq *q, const struct virtq_chain *c)
{
	uint8_t bytes[VIRTIO_RNG_REQUEST_MAX];
	size_t want = c->in_bytes < sizeof(bytes) ? c->in_bytes : sizeof(bytes);
	ssize_t got = getrandom(bytes, want, 0);

	/* 5.4.6.1 asks for one byte at least, and a pool that is up gives them all. */
	if (got <= 0 || virtq_write(q, c, 0, bytes, (uint32_t)got) < 0) {
		return 0;
	}
	return (uint32_t)got;
}

static bool serve(struct virtio_mmio *v)
{
	return virtio_serve_queue(v, 0, fill);
}

static const struct virtio_ops rng_ops = {
	.name = "virtio-rng",
	.id = VIRTIO_ID_RNG,
	.serve = serve,
};

/**
 * virtio_rng_init() - an entropy device
 * @r: the caller's memory; it must stay where it is until virtio_rng_fini()
 * @place: where it is
 *
 * Return: 0 or the −errno of virtio_init().
 * Context: before any vCPU runs.
 */
int virtio_rng_init(struct virtio_rng *r, const struct virtio_place *place)
{
	return virtio_init(&r->v, &rng_ops, place, 1, 0, NULL, 0);
}

/**
 * virtio_rng_fini() - free what virtio_rng_init() made
 * @r: a device that was initialised
 *
 * Context: after the last vCPU thread has ended.
 */
void virtio_rng_fini(struct virtio_rng *r)
{
	virtio_fini(&r->v);
}
