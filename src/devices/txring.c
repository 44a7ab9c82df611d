/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See txring.h. Head and tail are stored and then the other one is loaded, on both sides and
 * sequentially consistent: at least one side sees the other's store, so neither a wake-up of the
 * consumer nor one of a waiting producer can be lost.
 */
#include "devices/txring.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>

/**
 * txring_init() - an empty ring
 * @r: the caller's memory; it must stay where it is until txring_fini()
 * @bytes: how much it holds, bytes: a power of two, 2 to TXRING_BYTES_MAX
 *
 * Return: 0, -EINVAL for such a size, -ENOMEM, or the errno of eventfd(2).
 * Context: before any thread uses the ring.
 */
int txring_init(struct txring *r, uint32_t bytes)
{
	if (bytes < 2 || bytes > TXRING_BYTES_MAX || (bytes & (bytes - 1)) != 0) {
		return -EINVAL;
	}
	memset(r, 0, sizeof(*r));
	r->size = bytes;
	r->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (r->fd < 0) {
		return -errno;
	}
	r->data = malloc(bytes);
	if (!r->data) {
		close(r->fd);
		return -ENOMEM;
	}
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->room, NULL);
	return 0;
}

/**
 * txring_fini() - free what txring_init() made
 * @r: a ring that was initialised
 *
 * Context: after the last thread has let go of the ring.
 */
void txring_fini(struct txring *r)
{
	pthread_cond_destroy(&r->room);
	pthread_mutex_destroy(&r->lock);
	free(r->data);
	close(r->fd);
	memset(r, 0, sizeof(*r));
	r->fd = -1;
}

/**
 * txring_put() - one byte in
 * @r: the ring
 * @byte: any value
 *
 * Return: false when the ring is full (see txring_wait()), and the byte is not in it.
 * Context: a vCPU thread that holds the device's lock. Never blocks.
 */
bool txring_put(struct txring *r, uint8_t byte)
{
	uint32_t head = atomic_load_explicit(&r->head, memory_order_relaxed);

	if (head - atomic_load(&r->tail) == r->size) {
		return false;
	}
	r->data[head & (r->size - 1)] = byte;
	atomic_store(&r->head, head + 1);
	if (atomic_load(&r->tail) == head) {
		/* Can only fail when the count is about to overflow: then it is readable anyway. */
		eventfd_write(r->fd, 1);
	}
	return true;
}

static bool half_free(struct txring *r)
{
	return atomic_load(&r->head) - atomic_load(&r->tail) <= r->size / 2;
}

/**
 * txring_wait() - wait until half the ring is free
 * @r: the ring
 *
 * Return: 0, or -ECANCELED when txring_abort() was called: the machine ends, nobody will drain.
 * Context: a vCPU thread, with no lock held that the consumer needs.
 */
int txring_wait(struct txring *r)
{
	pthread_mutex_lock(&r->lock);
	atomic_fetch_add(&r->waiters, 1);
	while (!half_free(r) && !atomic_load(&r->aborted)) {
		pthread_cond_wait(&r->room, &r->lock);
	}
	atomic_fetch_sub(&r->waiters, 1);
	pthread_mutex_unlock(&r->lock);
	return atomic_load(&r->aborted) ? -ECANCELED : 0;
}

/**
 * txring_fd() - what the event loop polls
 * @r: the ring
 *
 * Return: a descriptor, the ring's own, readable when bytes came into the empty ring.
 * Context: any thread.
 */
int txring_fd(const struct txring *r)
{
	return r->fd;
}

/**
 * txring_clear_fd() - make the descriptor unreadable; drain the ring after this, not before
 * @r: the ring
 *
 * Context: the consumer.
 */
void txring_clear_fd(struct txring *r)
{
	eventfd_t count;

	/* Fails when there was nothing to read, which is as good. */
	eventfd_read(r->fd, &count);
}

/**
 * txring_peek() - the oldest bytes
 * @r: the ring
 * @ret: set to them when there are any; valid until they are consumed
 *
 * Return: how many there are in one piece; 0 when the ring is empty. There may be more behind the
 * piece, where the ring wraps.
 * Context: the consumer.
 */
size_t txring_peek(struct txring *r, const uint8_t **ret)
{
	uint32_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
	uint32_t filled = atomic_load(&r->head) - tail;
	uint32_t at = tail & (r->size - 1);

	*ret = r->data + at;
	return filled < r->size - at ? filled : r->size - at;
}

/**
 * txring_consume() - done with the oldest bytes
 * @r: the ring
 * @n: how many, at most what txring_peek() returned
 *
 * Context: the consumer.
 */
void txring_consume(struct txring *r, size_t n)
{
	uint32_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);

	assert(n <= atomic_load(&r->head) - tail);
	atomic_store(&r->tail, tail + (uint32_t)n);
	if (atomic_load(&r->waiters) > 0 && half_free(r)) {
		pthread_mutex_lock(&r->lock);
		pthread_cond_broadcast(&r->room);
		pthread_mutex_unlock(&r->lock);
	}
}

/**
 * txring_abort() - let every producer go that waits or will wait
 * @r: the ring; what is in it can still be drained
 *
 * Context: any thread, when the machine ends.
 */
void txring_abort(struct txring *r)
{
	pthread_mutex_lock(&r->lock);
	atomic_store(&r->aborted, true);
	pthread_cond_broadcast(&r->room);
	pthread_mutex_unlock(&r->lock);
}
