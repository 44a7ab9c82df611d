/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The driver's side of a split virtqueue, for tests: a ring in guest RAM of one region at 0, good
 * to start from, and every field of it to spoil. Buffers come from a heap behind the rings.
 */
#ifndef TESTS_VRING_H
#define TESTS_VRING_H

#include "guest_ram.h"

#include <linux/virtio_ring.h>
#include <stdbool.h>

#define VRING_RAM_BYTES 0x40000
#define VRING_DESC      0x1000  /* rings: 16 KiB */
#define VRING_TABLE     0x6000  /* for indirect descriptors */
#define VRING_HEAP      0x10000 /* buffers, up to the end of RAM */

struct vring_driver {
	unsigned char *ram;
	unsigned int size;
	uint64_t desc, avail, used;
	uint16_t avail_idx;
	uint16_t seen_used;
	uint64_t heap;
};

void vring_driver_init(struct vring_driver *v, unsigned char *ram, unsigned int size);
void vring_driver_at(struct vring_driver *v, unsigned char *ram, unsigned int size, uint64_t gpa);

void vring_set_desc(struct vring_driver *v, uint64_t table, unsigned int i, uint64_t gpa,
		    uint32_t bytes, uint16_t flags, uint16_t next);
void vring_desc(struct vring_driver *v, unsigned int i, uint64_t gpa, uint32_t bytes,
		uint16_t flags, uint16_t next);
void vring_offer(struct vring_driver *v, uint16_t head);
void vring_set_avail_idx(struct vring_driver *v, uint16_t idx);
void vring_set_avail_flags(struct vring_driver *v, uint16_t flags);
void vring_set_used_event(struct vring_driver *v, uint16_t idx);
uint16_t vring_used_flags(const struct vring_driver *v);
uint16_t vring_used_idx(const struct vring_driver *v);
uint16_t vring_found_avail_event(const struct vring_driver *v);
bool vring_take_used(struct vring_driver *v, uint32_t *ret_head, uint32_t *ret_bytes);

#endif
