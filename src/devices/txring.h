/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bytes on their way out of the guest: a bounded ring between the vCPU threads that write a device
 * and the event loop that drains it. One producer at a time (the device's lock sees to that), one
 * consumer.
 *
 * The descriptor becomes readable when bytes come into an empty ring. The consumer empties the
 * descriptor first and the ring after, so it misses nothing; one that stops with bytes left must
 * come back by itself. A producer that finds the ring full waits until half of it is free, so a
 * guest that writes without end costs bounded memory and stops when its reader stops.
 */
#ifndef DEVICES_TXRING_H
#define DEVICES_TXRING_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

#define TXRING_BYTES_MAX (UINT32_C(1) << 20)

struct txring {
	uint8_t *data;
	uint32_t size;            /* a power of two */
	_Atomic uint32_t head;    /* next to fill; the producer's. Counts on and wraps at 2^32 */
	_Atomic uint32_t tail;    /* next to drain; the consumer's */
	_Atomic uint32_t waiters; /* producers that wait for room */
	_Atomic bool aborted;     /* no one waits any more */
	pthread_mutex_t lock;     /* for room alone */
	pthread_cond_t room;
	int fd; /* eventfd */
};

int txring_init(struct txring *r, uint32_t bytes) __must_check;
void txring_fini(struct txring *r);

bool txring_put(struct txring *r, uint8_t byte) __must_check;
int txring_wait(struct txring *r) __must_check;

int txring_fd(const struct txring *r);
void txring_clear_fd(struct txring *r);
size_t txring_peek(struct txring *r, const uint8_t **ret);
void txring_consume(struct txring *r, size_t n);
void txring_abort(struct txring *r);

#endif
