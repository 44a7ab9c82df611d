/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A virtio device behind memory-mapped registers (virtio 1.2, 4.2), version 2, for every kind of
 * device: registers, status, features, queues, doorbell and interrupt. A kind embeds struct
 * virtio_mmio first and adds what its requests mean.
 *
 * Registers are read and written on vCPU threads, requests are served on the event loop: the
 * doorbell wakes it, by ioeventfd and so without an exit, and the interrupt goes back by irqfd. The
 * lock guards everything but the interrupt status, which vCPUs read and clear without it, so that a
 * vCPU in its interrupt handler never waits for a disk.
 *
 * A driver that breaks a ring gets DEVICE_NEEDS_RESET, and nothing is served until it resets.
 */
#ifndef DEVICES_VIRTIO_MMIO_H
#define DEVICES_VIRTIO_MMIO_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "devices/virtio/queue.h"
#include "hw/device.h"
#include "hw/ioevent.h"

#define VIRTIO_MMIO_BYTES 0x1000 /* of address space; the configuration ends there too */
#define VIRTIO_QUEUES_MAX 16
/* Requests of one queue that are served before other sources of the loop get their turn. */
#define VIRTIO_BUDGET 64

struct virtio_mmio;

struct virtio_ops {
	const char *name;
	uint32_t id; /* VIRTIO_ID_* of linux/virtio_ids.h */
	/* The doorbell rang. On the loop, without the lock. True: not done, ring again. */
	bool (*serve)(struct virtio_mmio *v);
	/*
	 * Another process works on the queues. No doorbell is tied: the kind ties one of its own
	 * for each queue, and "serve" comes when the driver is ready. And since that process can
	 * signal the interrupt but not set its status, the driver reads there that a queue was
	 * used.
	 */
	bool elsewhere;
	/* The driver resets the device. With the lock; may be NULL. */
	void (*reset)(struct virtio_mmio *v);
};

/* Answers one request: what it returns is the number of bytes written into it. With the lock. */
typedef uint32_t (*virtio_request_fn)(struct virtio_mmio *v, struct virtq *q,
				      const struct virtq_chain *c);

/* Where a device is, and what it is wired to. */
struct virtio_place {
	uint64_t gpa;
	uint32_t gsi;
	const struct gmem *mem;
	struct ioevent io;
};

struct virtio_mmio {
	struct device dev;
	const struct virtio_ops *ops;
	struct ioevent io;
	int doorbell_fd, irq_fd; /* eventfds */
	_Atomic uint32_t interrupt;

	pthread_mutex_t lock; /* of what follows */
	uint64_t offered, accepted;
	uint32_t status;
	uint32_t status_logs; /* lines on it so far */
	uint32_t offered_sel, accepted_sel, queue_sel;
	const void *config; /* the device's own, little-endian; see virtio_config_changed() */
	size_t config_bytes;
	uint32_t generation; /* of the configuration */
	unsigned int queue_count;
	struct virtq queues[VIRTIO_QUEUES_MAX];
	struct virtq_chain chain; /* the request that is served */
};

int virtio_init(struct virtio_mmio *v, const struct virtio_ops *ops,
		const struct virtio_place *place, unsigned int queues, uint64_t features,
		const void *config, size_t config_bytes) __must_check;
void virtio_fini(struct virtio_mmio *v);

int virtio_doorbell_fd(const struct virtio_mmio *v);
void virtio_ring(struct virtio_mmio *v);
void virtio_serve(struct virtio_mmio *v);

bool virtio_lock(struct virtio_mmio *v);
void virtio_unlock(struct virtio_mmio *v);
bool virtio_serve_queue(struct virtio_mmio *v, unsigned int queue, virtio_request_fn fn);
void virtio_config_changed(struct virtio_mmio *v);
bool virtio_accepted(const struct virtio_mmio *v, unsigned int feature);

#endif
