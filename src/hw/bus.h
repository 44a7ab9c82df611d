/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A bus: which device has which addresses. A machine has two, ports and MMIO. Built before the
 * first vCPU runs and only read afterwards (but for the counter, which is atomic), so vCPU threads
 * use it without a lock and nothing is allocated.
 *
 * An access that no device claims reads all ones, and is counted. One that is wider than the
 * device takes, or that straddles its end, is split, lowest address first, as on an ISA bus.
 */
#ifndef HW_BUS_H
#define HW_BUS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "hw/device.h"

#define BUS_RANGES_MAX         32
#define BUS_UNCLAIMED_LOGS_MAX 4
#define BUS_ACCESS_BYTES_MAX   8

struct bus_range {
	uint64_t base;
	uint64_t len;    /* bytes */
	uint64_t offset; /* in the device, of the byte at base */
	struct device *dev;
};

struct bus {
	const char *name;                        /* for messages: "port", "mmio" */
	struct bus_range ranges[BUS_RANGES_MAX]; /* by base, not overlapping */
	unsigned int count;
	_Atomic uint64_t unclaimed; /* accesses so far */
};

void bus_init(struct bus *b, const char *name);
int bus_add(struct bus *b, uint64_t base, uint64_t len, struct device *dev,
	    uint64_t offset) __must_check;

uint64_t bus_read(struct bus *b, uint64_t addr, unsigned int size);
void bus_write(struct bus *b, uint64_t addr, unsigned int size, uint64_t value);

const char *bus_device_name(const struct bus *b, uint64_t addr);
uint64_t bus_unclaimed(const struct bus *b);
void bus_reset(struct bus *b);

#endif
