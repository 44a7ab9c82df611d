/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the machine knows of a device: registers to read and write, and a reset. A device embeds
 * struct device as its first member; code that must know which kind it has compares ops.
 *
 * vCPU threads call read and write, several at once: a device with state guards it itself. Nothing
 * here may allocate, block without end, or trust an offset, size or value.
 */
#ifndef HW_DEVICE_H
#define HW_DEVICE_H

#include <stdint.h>

struct device;

struct device_ops {
	const char *name;
	/* The widest access a register takes: 1, 2, 4 or 8 bytes. The bus splits wider ones. */
	unsigned int max_size;
	/* offset + size stays within what bus_add() was given; the result is cut to size bytes. */
	uint64_t (*read)(struct device *d, uint64_t offset, unsigned int size);
	void (*write)(struct device *d, uint64_t offset, unsigned int size, uint64_t value);
	/* Back to the state after power on; what is connected to it stays. May be NULL. */
	void (*reset)(struct device *d);
};

struct device {
	const struct device_ops *ops;
};

static inline void device_reset(struct device *d)
{
	if (d->ops->reset) {
		d->ops->reset(d);
	}
}

#endif
