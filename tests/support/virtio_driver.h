/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A driver for tests of virtio devices: guest RAM, the registers, the handshake, and a ring for
 * each queue. Doorbell and interrupt are real eventfds, tied to nothing but a record of them.
 */
#ifndef TESTS_VIRTIO_DRIVER_H
#define TESTS_VIRTIO_DRIVER_H

#include "vring.h"

#include <linux/virtio_config.h>
#include <linux/virtio_mmio.h>

#include "devices/virtio/mmio.h"

#define DRIVER_GPA   UINT64_C(0xfeb00000)
#define DRIVER_GSI   5
#define DRIVER_SIZE  16 /* entries of each queue, or as many as it has */
#define DRIVER_RINGS 0x1000

#define DRIVER_V1    (UINT64_C(1) << VIRTIO_F_VERSION_1)

struct virtio_driver {
	struct guest_ram ram;
	struct virtio_mmio *dev;
	struct vring_driver queue[VIRTIO_QUEUES_MAX];
	unsigned int queues;

	/* What the device asked of the machine. */
	int opened;
	int fail_at; /* number of the call to fail, from 1 */
	int calls;
	int doorbell_fd, irq_fd;
	int kick_fd[VIRTIO_QUEUES_MAX]; /* of a device whose queues are served elsewhere */
	uint64_t doorbell_gpa;
	unsigned int doorbell_bytes;
	uint32_t gsi;
};

void driver_init(struct virtio_driver *d);
void driver_fini(struct virtio_driver *d);
struct virtio_place driver_place(struct virtio_driver *d);

uint32_t driver_get(struct virtio_driver *d, uint64_t reg);
void driver_set(struct virtio_driver *d, uint64_t reg, uint32_t value);
uint64_t driver_offered(struct virtio_driver *d);
void driver_start(struct virtio_driver *d, struct virtio_mmio *dev, unsigned int queues,
		  uint64_t features);
void driver_notify(struct virtio_driver *d, unsigned int queue);
void driver_turn(struct virtio_driver *d);
bool driver_rung(struct virtio_driver *d);
unsigned int driver_interrupts(struct virtio_driver *d);

#endif
