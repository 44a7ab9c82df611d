/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See vring.h. */
#include "support.h"

#include "vring.h"

#include <string.h>

static void put16(struct vring_driver *v, uint64_t gpa, uint16_t value)
{
	memcpy(v->ram + gpa, &value, sizeof(value));
}

static uint16_t get16(const struct vring_driver *v, uint64_t gpa)
{
	uint16_t value;

	memcpy(&value, v->ram + gpa, sizeof(value));
	return value;
}

/* Rings at @gpa, 16 KiB of them at most, for a device with several queues. */
void vring_driver_at(struct vring_driver *v, unsigned char *ram, unsigned int size, uint64_t gpa)
{
	*v = (struct vring_driver){.ram = ram,
				   .size = size,
				   .desc = gpa,
				   .avail = gpa + 0x2000,
				   .used = gpa + 0x3000,
				   .heap = VRING_HEAP};
	memset(ram + gpa, 0, 0x4000);
}

void vring_driver_init(struct vring_driver *v, unsigned char *ram, unsigned int size)
{
	vring_driver_at(v, ram, size, VRING_DESC);
}

void vring_set_desc(struct vring_driver *v, uint64_t table, unsigned int i, uint64_t gpa,
		    uint32_t bytes, uint16_t flags, uint16_t next)
{
	const struct vring_desc d = {.addr = gpa, .len = bytes, .flags = flags, .next = next};

	memcpy(v->ram + table + i * sizeof(d), &d, sizeof(d));
}

void vring_desc(struct vring_driver *v, unsigned int i, uint64_t gpa, uint32_t bytes,
		uint16_t flags, uint16_t next)
{
	vring_set_desc(v, v->desc, i, gpa, bytes, flags, next);
}

void vring_offer(struct vring_driver *v, uint16_t head)
{
	put16(v, v->avail + 4 + 2 * (v->avail_idx % v->size), head);
	vring_set_avail_idx(v, (uint16_t)(v->avail_idx + 1));
}

void vring_set_avail_idx(struct vring_driver *v, uint16_t idx)
{
	v->avail_idx = idx;
	put16(v, v->avail + 2, idx);
}

void vring_set_avail_flags(struct vring_driver *v, uint16_t flags)
{
	put16(v, v->avail, flags);
}

void vring_set_used_event(struct vring_driver *v, uint16_t idx)
{
	put16(v, v->avail + 4 + 2 * v->size, idx);
}

uint16_t vring_used_flags(const struct vring_driver *v)
{
	return get16(v, v->used);
}

uint16_t vring_used_idx(const struct vring_driver *v)
{
	return get16(v, v->used + 2);
}

uint16_t vring_found_avail_event(const struct vring_driver *v)
{
	return get16(v, v->used + 4 + 8 * v->size);
}

/* The next request that the device gave back. */
bool vring_take_used(struct vring_driver *v, uint32_t *ret_head, uint32_t *ret_bytes)
{
	struct vring_used_elem elem;

	if (v->seen_used == vring_used_idx(v)) {
		return false;
	}
	memcpy(&elem, v->ram + v->used + 4 + sizeof(elem) * (v->seen_used % v->size), sizeof(elem));
	v->seen_used++;
	*ret_head = elem.id;
	*ret_bytes = elem.len;
	return true;
}
