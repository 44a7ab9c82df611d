/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A split virtqueue (virtio 1.2, 2.7), the device's side: the one place that walks what a driver
 * wrote. Every value is copied out of guest memory once, checked, and then only the copy is used;
 * the walk ends after as many descriptors as the queue has, whatever they say.
 *
 * Two kinds of error, told apart by what is still to be trusted:
 *
 *   the ring    its memory is gone, the available index ran further than the queue is long, a head
 *               that is no descriptor: -EPROTO. The queue is broken and gives nothing more until it
 *               is reset; the device latches DEVICE_NEEDS_RESET.
 *   one chain   a loop, too many descriptors, memory that is not RAM, an empty buffer, a buffer to
 *               read behind one to write, a bad indirect table: that request alone fails. It goes
 *               back as used with length 0, and the walk goes on with the next.
 *
 * Belongs to one thread at a time: whoever holds the device's lock.
 */
#ifndef DEVICES_VIRTIO_QUEUE_H
#define DEVICES_VIRTIO_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "base/cleanup.h"
#include "base/trace.h"
#include "hw/gmem.h"

#define VIRTQ_SIZE_MAX 256 /* entries; a power of two */

/* Where requests are told of: one thread serves a traced queue. */
struct virtq_trace {
	struct trace_ring *ring; /* NULL: nowhere */
	uint32_t track;
	uint64_t taken_ns; /* when the last request was */
};

struct virtq {
	const struct gmem *mem;
	uint16_t max; /* entries that the driver may ask for; a power of two */

	/* Set by the driver through the transport, before it is made ready. */
	uint16_t size; /* entries */
	uint64_t desc, avail, used;

	bool ready;
	bool broken;
	bool event_idx;      /* negotiated */
	bool indirect;       /* negotiated */
	uint16_t next_avail; /* the next entry to take; counts on, like the driver's index */
	uint16_t next_used;  /* the next one to fill */
	uint16_t staged;     /* filled in behind that, and not shown to the driver yet */
	uint16_t told_used;  /* next_used when the driver was last told */
	uint64_t bad_chains; /* since power on, for whoever looks */
	struct virtq_trace trace;
};

/* A buffer of guest memory, checked to be RAM and not empty. */
struct virtq_seg {
	uint64_t gpa;
	uint32_t bytes;
};

/* One request: what the device may read, then what it may write. */
struct virtq_chain {
	uint16_t head;
	uint16_t out_segs; /* segs[0] up: to read */
	uint16_t in_segs;  /* behind those: to write */
	uint32_t out_bytes, in_bytes;
	struct virtq_seg segs[VIRTQ_SIZE_MAX];
};

enum virtq_dir { VIRTQ_OUT, VIRTQ_IN };

void virtq_init(struct virtq *q, const struct gmem *mem);
void virtq_reset(struct virtq *q);
int virtq_make_ready(struct virtq *q) __must_check;

int virtq_pop(struct virtq *q, struct virtq_chain *ret) __must_check;
void virtq_push(struct virtq *q, uint16_t head, uint32_t written);
void virtq_stage(struct virtq *q, uint16_t head, uint32_t written);
void virtq_show(struct virtq *q);
bool virtq_must_tell(struct virtq *q);
void virtq_quiet(struct virtq *q);
bool virtq_listen(struct virtq *q);
bool virtq_has_next(struct virtq *q);

int virtq_read(const struct virtq *q, const struct virtq_chain *c, uint32_t offset, void *buf,
	       uint32_t bytes) __must_check;
int virtq_write(const struct virtq *q, const struct virtq_chain *c, uint32_t offset,
		const void *buf, uint32_t bytes) __must_check;
int virtq_iov(const struct virtq *q, const struct virtq_chain *c, enum virtq_dir dir,
	      uint32_t offset, uint32_t bytes, struct iovec ret[VIRTQ_SIZE_MAX],
	      unsigned int *ret_count) __must_check;

#endif
