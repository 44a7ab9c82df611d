/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Steps that a fuzzed driver makes on any virtio device. */
#ifndef TESTS_FUZZ_DRIVER_H
#define TESTS_FUZZ_DRIVER_H

#include "fuzz.h"
#include "virtio_driver.h"

#define FUZZ_TURNS 4 /* of the loop, for one step */

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

/* The loop serves doorbells for a while. */
static inline void fuzz_serve(struct virtio_driver *drv)
{
	for (unsigned int i = 0; i < FUZZ_TURNS && driver_rung(drv); i++) {
		driver_turn(drv);
	}
}

#endif
