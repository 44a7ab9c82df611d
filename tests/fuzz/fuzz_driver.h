/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Steps that a fuzzed driver makes on any virtio device. */
#ifndef TESTS_FUZZ_DRIVER_H
#define TESTS_FUZZ_DRIVER_H

#include "fuzz.h"
#include "virtio_driver.h"

#define FUZZ_TURNS 4 /* of the loop, for one step */

/* Any value into a register as a driver writes it: whole and aligned. */
static inline void fuzz_set_register(struct virtio_driver *drv, const struct fuzz_step *s)
{
	driver_set(drv, (uint64_t)(s->i % 64) * 4, s->b | (uint32_t)s->c << 16);
}

/* A read or write of 1 to 4 bytes anywhere in the registers. */
static inline void fuzz_access(struct virtio_driver *drv, const struct fuzz_step *s)
{
	struct device *d = &drv->dev->dev;
	unsigned int size = 1 + s->i % 4;
	uint64_t offset = s->a % (VIRTIO_MMIO_BYTES - 4);

	if (s->i & 0x80) {
		d->ops->write(d, offset, size, s->b | (uint64_t)s->c << 16);
	} else {
		must(size == 4 || d->ops->read(d, offset, size) >> (8 * size) == 0);
	}
}

/* Any descriptor in one of a driver's queues, in the heap or at the end of all addresses. */
static inline void fuzz_set_descriptor(struct virtio_driver *drv, unsigned int queues,
				       const struct fuzz_step *s)
{
	struct vring_driver *q = &drv->queue[(s->i >> 4) % queues];
	uint64_t gpa = s->a < 0xfff0 ? (uint64_t)VRING_HEAP + s->a : UINT64_MAX - (0xffffu - s->a);

	if (q->ram) {
		vring_desc(q, (s->i & 15) % q->size, gpa, s->b, s->c & 7, s->c >> 3);
	}
}

/* Makes one of what stands in a queue's table available, and rings for it. */
static inline void fuzz_offer(struct virtio_driver *drv, unsigned int queues,
			      const struct fuzz_step *s)
{
	if (drv->queue[s->i % queues].ram) {
		vring_offer(&drv->queue[s->i % queues], s->a & 31);
		driver_set(drv, VIRTIO_MMIO_QUEUE_NOTIFY, s->i % queues);
	}
}

/* The loop serves doorbells for a while. */
static inline void fuzz_serve(struct virtio_driver *drv)
{
	for (unsigned int i = 0; i < FUZZ_TURNS && driver_rung(drv); i++) {
		driver_turn(drv);
	}
}

#endif
