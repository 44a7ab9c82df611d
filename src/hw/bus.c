/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See bus.h. bus_read() and bus_write() run on vCPU threads. */
#include "hw/bus.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/log.h"

/**
 * bus_init() - an empty bus
 * @b: the caller's memory
 * @name: a word for messages; borrowed
 *
 * Context: before any vCPU runs.
 */
void bus_init(struct bus *b, const char *name)
{
	memset(b, 0, sizeof(*b));
	b->name = name;
}

/* How many ranges begin at or below addr: the last of them is the only one that may hold it. */
static unsigned int ranges_up_to(const struct bus *b, uint64_t addr)
{
	unsigned int lo = 0;
	unsigned int hi = b->count;

	while (lo < hi) {
		unsigned int mid = lo + (hi - lo) / 2;

		if (b->ranges[mid].base <= addr) {
			lo = mid + 1;
		} else {
			hi = mid;
		}
	}
	return lo;
}

static const struct bus_range *range_of(const struct bus *b, uint64_t addr)
{
	unsigned int n = ranges_up_to(b, addr);

	if (n == 0 || addr - b->ranges[n - 1].base >= b->ranges[n - 1].len) {
		return NULL;
	}
	return &b->ranges[n - 1];
}

/**
 * bus_add() - give addresses to a device
 * @b: the bus
 * @base: the first address
 * @len: how many, bytes, 1 and up; @base + @len may be 2^64 at most
 * @dev: borrowed until the bus is used no more
 * @offset: what the device is told for the address @base: 0, unless it has several ranges
 *
 * Return: 0, -EINVAL for an empty range or one that wraps, -EEXIST when another device has one of
 * the addresses, -ENOSPC after BUS_RANGES_MAX.
 * Context: before any vCPU runs.
 */
int bus_add(struct bus *b, uint64_t base, uint64_t len, struct device *dev, uint64_t offset)
{
	unsigned int at = ranges_up_to(b, base);

	if (len == 0 || len - 1 > UINT64_MAX - base || len - 1 > UINT64_MAX - offset) {
		return -EINVAL;
	}
	if (range_of(b, base) || (at < b->count && b->ranges[at].base - base < len)) {
		return -EEXIST;
	}
	if (b->count == BUS_RANGES_MAX) {
		return -ENOSPC;
	}
	memmove(&b->ranges[at + 1], &b->ranges[at], (b->count - at) * sizeof(b->ranges[0]));
	b->ranges[at] = (struct bus_range){.base = base, .len = len, .offset = offset, .dev = dev};
	b->count++;
	return 0;
}

static void count_unclaimed(struct bus *b, const char *what, uint64_t addr, unsigned int size)
{
	uint64_t before = atomic_fetch_add_explicit(&b->unclaimed, 1, memory_order_relaxed);

	/* A guest may do this in a loop: a few lines tell all there is to tell. */
	if (before < BUS_UNCLAIMED_LOGS_MAX) {
		log_debug("bus", "%s 0x%" PRIx64 ": %s of %u bytes, no device there", b->name, addr,
			  what, size);
	}
}

static uint64_t ones(unsigned int size)
{
	return size >= sizeof(uint64_t) ? UINT64_MAX : (UINT64_C(1) << (8 * size)) - 1;
}

/* The bytes of an access that the device at addr takes in one go; always a power of two. */
static unsigned int piece_size(const struct bus_range *r, uint64_t addr, unsigned int left)
{
	uint64_t room = r->len - (addr - r->base);
	unsigned int n = r->dev->ops->max_size;

	while (n > left || n > room) {
		n /= 2;
	}
	return n;
}

/* An access and how far it has come. */
struct access {
	struct bus *b;
	const char *what;
	uint64_t addr;
	unsigned int size;
	unsigned int done; /* bytes before the piece that is next */
	bool unclaimed;    /* a byte of it has no device */
};

/* A part of an access that one device takes, or a byte that none has: then dev is NULL. */
struct piece {
	struct device *dev;
	uint64_t offset;
	unsigned int size;
	unsigned int shift; /* where its lowest byte is in the value, bits */
};

/* Takes the next piece of an access; false when there is none, and then the access is over. */
static bool next_piece(struct access *a, struct piece *ret)
{
	uint64_t at = a->addr + a->done;
	const struct bus_range *r;

	assert(a->size >= 1 && a->size <= BUS_ACCESS_BYTES_MAX);
	if (a->done == a->size) {
		if (a->unclaimed) {
			count_unclaimed(a->b, a->what, a->addr, a->size);
		}
		return false;
	}
	r = range_of(a->b, at);
	*ret = (struct piece){.size = 1, .shift = 8 * a->done};
	if (r) {
		ret->dev = r->dev;
		ret->offset = r->offset + (at - r->base);
		ret->size = piece_size(r, at, a->size - a->done);
	} else {
		a->unclaimed = true;
	}
	a->done += ret->size;
	return true;
}

/**
 * bus_read() - a guest's read
 * @b: the bus
 * @addr: its address, any value
 * @size: bytes, 1 to 8
 *
 * Return: the value, cut to @size bytes; every byte that no device has is 0xff.
 * Context: a vCPU thread.
 */
uint64_t bus_read(struct bus *b, uint64_t addr, unsigned int size)
{
	struct access a = {.b = b, .what = "read", .addr = addr, .size = size};
	uint64_t value = 0;
	struct piece p;

	while (next_piece(&a, &p)) {
		uint64_t bits = p.dev ? p.dev->ops->read(p.dev, p.offset, p.size) : 0xff;

		value |= (bits & ones(p.size)) << p.shift;
	}
	return value;
}

/**
 * bus_write() - a guest's write
 * @b: the bus
 * @addr: its address, any value
 * @size: bytes, 1 to 8
 * @value: what is above @size bytes is ignored, and so is every byte that no device has
 *
 * Context: a vCPU thread.
 */
void bus_write(struct bus *b, uint64_t addr, unsigned int size, uint64_t value)
{
	struct access a = {.b = b, .what = "write", .addr = addr, .size = size};
	struct piece p;

	while (next_piece(&a, &p)) {
		if (p.dev) {
			p.dev->ops->write(p.dev, p.offset, p.size,
					  (value >> p.shift) & ones(p.size));
		}
	}
}

/**
 * bus_device_name() - who has an address, for a record or a message
 * @b: the bus
 * @addr: any value
 *
 * Return: the device's name, or NULL when no device has the address.
 * Context: any thread.
 */
const char *bus_device_name(const struct bus *b, uint64_t addr)
{
	const struct bus_range *r = range_of(b, addr);

	return r ? r->dev->ops->name : NULL;
}

/**
 * bus_unclaimed() - how many accesses touched an address that no device has
 * @b: the bus
 *
 * Return: the number so far.
 * Context: any thread.
 */
uint64_t bus_unclaimed(const struct bus *b)
{
	return atomic_load_explicit(&b->unclaimed, memory_order_relaxed);
}

/**
 * bus_reset() - reset every device; one with several ranges is reset once for each
 * @b: the bus
 *
 * Context: while no vCPU runs.
 */
void bus_reset(struct bus *b)
{
	for (unsigned int i = 0; i < b->count; i++) {
		device_reset(b->ranges[i].dev);
	}
}
