/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See mmio.h. Section numbers are those of virtio 1.2. */
#include "devices/virtio/mmio.h"

#include <assert.h>
#include <errno.h>
#include <linux/virtio_config.h>
#include <linux/virtio_mmio.h>
#include <linux/virtio_ring.h>
#include <string.h>
#include <sys/eventfd.h>

#include "base/log.h"

#define MAGIC     0x74726976 /* "virt" */
#define VERSION   2
#define VENDOR    0x65646973 /* "side" */
#define REG_BYTES 4
/* A driver may go round and round: what it does first tells all there is to tell. */
#define NO_SHM     UINT32_MAX /* 4.2.2: the length of a shared memory region that is not there */

#define FEATURE(n) (UINT64_C(1) << (n))
#define COMMON                                                                \
	(FEATURE(VIRTIO_F_VERSION_1) | FEATURE(VIRTIO_RING_F_INDIRECT_DESC) | \
	 FEATURE(VIRTIO_RING_F_EVENT_IDX))

/* 2.1: what a driver sets in the device status. */
#define DRIVER_STATUS                                                                       \
	(VIRTIO_CONFIG_S_ACKNOWLEDGE | VIRTIO_CONFIG_S_DRIVER | VIRTIO_CONFIG_S_DRIVER_OK | \
	 VIRTIO_CONFIG_S_FEATURES_OK | VIRTIO_CONFIG_S_FAILED)

static void tell_interrupt(const struct virtio_mmio *v, uint32_t why)
{
	const struct trace_record r = {.kind = TRACE_INSTANT,
				       .name = "interrupt",
				       .track = v->queues[0].trace.track,
				       .start_ns = trace_now_ns(),
				       .keys = {"status"},
				       .values = {why}};

	trace_put(v->queues[0].trace.ring, &r);
}

static void interrupt(struct virtio_mmio *v, uint32_t why)
{
	/* The status before the signal: the handler that it starts must find the status. */
	atomic_fetch_or(&v->interrupt, why);
	(void)!eventfd_write(v->irq_fd, 1);
	if (v->queues[0].trace.ring) {
		tell_interrupt(v, why);
	}
}

static bool is_live(const struct virtio_mmio *v)
{
	return (v->status & VIRTIO_CONFIG_S_DRIVER_OK) &&
	       !(v->status & (VIRTIO_CONFIG_S_NEEDS_RESET | VIRTIO_CONFIG_S_FAILED));
}

static void reset(struct virtio_mmio *v)
{
	v->status = 0;
	v->accepted = 0;
	v->offered_sel = v->accepted_sel = v->queue_sel = 0;
	for (unsigned int i = 0; i < v->queue_count; i++) {
		virtq_reset(&v->queues[i]);
	}
	atomic_store(&v->interrupt, 0);
	if (v->ops->reset) {
		v->ops->reset(v);
	}
}

/* 3.1.1: features stand or fall as a whole, once. */
static void set_status(struct virtio_mmio *v, uint32_t value)
{
	uint32_t added = value & DRIVER_STATUS & ~v->status;

	if (value == 0) {
		reset(v);
		return;
	}
	if ((added & VIRTIO_CONFIG_S_FEATURES_OK) &&
	    ((v->accepted & ~v->offered) || !virtio_accepted(v, VIRTIO_F_VERSION_1))) {
		added &= ~(uint32_t)VIRTIO_CONFIG_S_FEATURES_OK;
	}
	/* 2.1.2: nothing is served for a driver that did not agree on features. */
	if (!((v->status | added) & VIRTIO_CONFIG_S_FEATURES_OK)) {
		added &= ~(uint32_t)VIRTIO_CONFIG_S_DRIVER_OK;
	}
	v->status |= added;
	log_debug_few(&v->status_logs, "virtio", "%s: status 0x%x, features 0x%llx", v->ops->name,
		      v->status, (unsigned long long)v->accepted);
	if (added & VIRTIO_CONFIG_S_DRIVER_OK) {
		virtio_ring(v); /* for requests that were added before */
	}
}

static void accept_features(struct virtio_mmio *v, uint32_t value)
{
	unsigned int shift = 32 * v->accepted_sel;

	if (v->accepted_sel > 1 || (v->status & VIRTIO_CONFIG_S_FEATURES_OK)) {
		return;
	}
	v->accepted &= ~((uint64_t)UINT32_MAX << shift);
	v->accepted |= (uint64_t)value << shift;
}

static void set_half(uint64_t *word, bool high, uint32_t value)
{
	*word = high ? (*word & UINT32_MAX) | (uint64_t)value << 32
		     : (*word & ~(uint64_t)UINT32_MAX) | value;
}

/* 4.2.2.2: a queue is not changed while it is ready. */
static void write_queue(struct virtio_mmio *v, uint64_t offset, uint32_t value)
{
	struct virtq *q = v->queue_sel < v->queue_count ? &v->queues[v->queue_sel] : NULL;

	if (!q || (q->ready && offset != VIRTIO_MMIO_QUEUE_READY)) {
		return;
	}
	switch (offset) {
	case VIRTIO_MMIO_QUEUE_NUM:
		q->size = value <= VIRTQ_SIZE_MAX ? (uint16_t)value : 0; /* 0 is never ready */
		break;
	case VIRTIO_MMIO_QUEUE_READY:
		if (!(value & 1)) {
			q->ready = false;
		} else if (!q->ready) {
			q->event_idx = virtio_accepted(v, VIRTIO_RING_F_EVENT_IDX);
			q->indirect = virtio_accepted(v, VIRTIO_RING_F_INDIRECT_DESC);
			/* One that cannot be stays as it is, which the driver can read. */
			(void)!virtq_make_ready(q);
		}
		break;
	case VIRTIO_MMIO_QUEUE_DESC_LOW:
	case VIRTIO_MMIO_QUEUE_DESC_HIGH:
		set_half(&q->desc, offset == VIRTIO_MMIO_QUEUE_DESC_HIGH, value);
		break;
	case VIRTIO_MMIO_QUEUE_AVAIL_LOW:
	case VIRTIO_MMIO_QUEUE_AVAIL_HIGH:
		set_half(&q->avail, offset == VIRTIO_MMIO_QUEUE_AVAIL_HIGH, value);
		break;
	default:
		set_half(&q->used, offset == VIRTIO_MMIO_QUEUE_USED_HIGH, value);
		break;
	}
}

static void write_register(struct virtio_mmio *v, uint64_t offset, uint32_t value)
{
	switch (offset) {
	case VIRTIO_MMIO_DEVICE_FEATURES_SEL:
		v->offered_sel = value;
		break;
	case VIRTIO_MMIO_DRIVER_FEATURES:
		accept_features(v, value);
		break;
	case VIRTIO_MMIO_DRIVER_FEATURES_SEL:
		v->accepted_sel = value;
		break;
	case VIRTIO_MMIO_QUEUE_SEL:
		v->queue_sel = value;
		break;
	case VIRTIO_MMIO_QUEUE_NUM:
	case VIRTIO_MMIO_QUEUE_READY:
	case VIRTIO_MMIO_QUEUE_DESC_LOW:
	case VIRTIO_MMIO_QUEUE_DESC_HIGH:
	case VIRTIO_MMIO_QUEUE_AVAIL_LOW:
	case VIRTIO_MMIO_QUEUE_AVAIL_HIGH:
	case VIRTIO_MMIO_QUEUE_USED_LOW:
	case VIRTIO_MMIO_QUEUE_USED_HIGH:
		write_queue(v, offset, value);
		break;
	case VIRTIO_MMIO_STATUS:
		set_status(v, value);
		break;
	default: /* read only, or not there */
		break;
	}
}

static uint32_t read_register(const struct virtio_mmio *v, uint64_t offset)
{
	const struct virtq *q = v->queue_sel < v->queue_count ? &v->queues[v->queue_sel] : NULL;

	switch (offset) {
	case VIRTIO_MMIO_MAGIC_VALUE:
		return MAGIC;
	case VIRTIO_MMIO_VERSION:
		return VERSION;
	case VIRTIO_MMIO_DEVICE_ID:
		return v->ops->id;
	case VIRTIO_MMIO_VENDOR_ID:
		return VENDOR;
	case VIRTIO_MMIO_DEVICE_FEATURES:
		return v->offered_sel > 1 ? 0 : (uint32_t)(v->offered >> (32 * v->offered_sel));
	case VIRTIO_MMIO_QUEUE_NUM_MAX:
		return q ? q->max : 0;
	case VIRTIO_MMIO_QUEUE_READY:
		return q && q->ready;
	case VIRTIO_MMIO_STATUS:
		return v->status;
	case VIRTIO_MMIO_SHM_LEN_LOW:
	case VIRTIO_MMIO_SHM_LEN_HIGH:
	case VIRTIO_MMIO_SHM_BASE_LOW:
	case VIRTIO_MMIO_SHM_BASE_HIGH:
		return NO_SHM;
	case VIRTIO_MMIO_CONFIG_GENERATION:
		return v->generation;
	default:
		return 0;
	}
}

static uint64_t read_config(const struct virtio_mmio *v, uint64_t offset, unsigned int size)
{
	uint64_t value = 0;

	if (offset < v->config_bytes) {
		size_t there = v->config_bytes - offset;

		memcpy(&value, (const uint8_t *)v->config + offset, size < there ? size : there);
	}
	return value;
}

/* 4.2.2.2: registers are read and written as aligned words; anything else means nothing. */
static bool is_register(uint64_t offset, unsigned int size)
{
	return size == REG_BYTES && offset % REG_BYTES == 0;
}

static uint64_t mmio_read(struct device *d, uint64_t offset, unsigned int size)
{
	struct virtio_mmio *v = (struct virtio_mmio *)d;
	uint64_t value;

	if (offset >= VIRTIO_MMIO_CONFIG) {
		pthread_mutex_lock(&v->lock);
		value = read_config(v, offset - VIRTIO_MMIO_CONFIG, size);
		pthread_mutex_unlock(&v->lock);
		return value;
	}
	if (!is_register(offset, size)) {
		return 0;
	}
	if (offset == VIRTIO_MMIO_INTERRUPT_STATUS) {
		return atomic_load(&v->interrupt) | (v->ops->elsewhere ? VIRTIO_MMIO_INT_VRING : 0);
	}
	pthread_mutex_lock(&v->lock);
	value = read_register(v, offset);
	pthread_mutex_unlock(&v->lock);
	return value;
}

static void mmio_write(struct device *d, uint64_t offset, unsigned int size, uint64_t value)
{
	struct virtio_mmio *v = (struct virtio_mmio *)d;

	if (offset >= VIRTIO_MMIO_CONFIG || !is_register(offset, size)) {
		return;
	}
	if (offset == VIRTIO_MMIO_INTERRUPT_ACK) {
		atomic_fetch_and(&v->interrupt, ~(uint32_t)value);
		return;
	}
	if (offset == VIRTIO_MMIO_QUEUE_NOTIFY) {
		virtio_ring(v); /* where no ioeventfd took it */
		return;
	}
	pthread_mutex_lock(&v->lock);
	write_register(v, offset, (uint32_t)value);
	pthread_mutex_unlock(&v->lock);
}

static void mmio_reset(struct device *d)
{
	struct virtio_mmio *v = (struct virtio_mmio *)d;

	pthread_mutex_lock(&v->lock);
	reset(v);
	pthread_mutex_unlock(&v->lock);
}

static const struct device_ops mmio_ops = {
	.name = "virtio",
	.max_size = REG_BYTES,
	.read = mmio_read,
	.write = mmio_write,
	.reset = mmio_reset,
};

/**
 * virtio_init() - a device as after power on, tied to its doorbell and its interrupt
 * @v: the caller's memory; it must stay where it is until virtio_fini()
 * @ops: what kind of device it is
 * @place: where it is; copied, but for the guest memory it names
 * @queues: how many it has, 1 to VIRTIO_QUEUES_MAX
 * @features: what the kind offers; those of every device are added
 * @config: its configuration, little-endian; must stay, and changes only with the lock
 * @config_bytes: length of that
 *
 * Return: 0, or the −errno of what could not be made or tied; then nothing is left.
 * Context: before any vCPU runs.
 */
int virtio_init(struct virtio_mmio *v, const struct virtio_ops *ops,
		const struct virtio_place *place, unsigned int queues, uint64_t features,
		const void *config, size_t config_bytes)
{
	int r;

	assert(queues >= 1 && queues <= VIRTIO_QUEUES_MAX);
	memset(v, 0, sizeof(*v));
	v->dev.ops = &mmio_ops;
	v->ops = ops;
	v->io = place->io;
	v->offered = features | COMMON;
	v->config = config;
	v->config_bytes = config_bytes;
	v->queue_count = queues;
	for (unsigned int i = 0; i < queues; i++) {
		virtq_init(&v->queues[i], place->mem);
	}
	v->irq_fd = -1;
	v->doorbell_fd = r = ioevent_open(&v->io);
	if (r >= 0) {
		v->irq_fd = r = ioevent_open(&v->io);
	}
	if (r >= 0 && !ops->elsewhere) {
		r = ioevent_tie_write(&v->io, v->doorbell_fd, place->gpa + VIRTIO_MMIO_QUEUE_NOTIFY,
				      REG_BYTES);
	}
	if (r >= 0) {
		r = ioevent_tie_irq(&v->io, v->irq_fd, place->gsi);
	}
	if (r < 0) {
		ioevent_close(&v->io, v->irq_fd);
		ioevent_close(&v->io, v->doorbell_fd);
		return r;
	}
	pthread_mutex_init(&v->lock, NULL);
	return 0;
}

/**
 * virtio_fini() - free what virtio_init() made
 * @v: a device that was initialised
 *
 * Context: after the last vCPU thread has ended.
 */
void virtio_fini(struct virtio_mmio *v)
{
	pthread_mutex_destroy(&v->lock);
	ioevent_close(&v->io, v->irq_fd);
	ioevent_close(&v->io, v->doorbell_fd);
	v->irq_fd = v->doorbell_fd = -1;
}

/**
 * virtio_doorbell_fd() - what the event loop polls; then it calls virtio_serve()
 * @v: a device
 *
 * It is polled for edges (EPOLLET), as nobody reads it: each ring is one, also when none was served
 * since the last. That spares a system call for each ring, and the loop a second look at it.
 *
 * Return: a descriptor, the device's own.
 * Context: any thread.
 */
int virtio_doorbell_fd(const struct virtio_mmio *v)
{
	return v->doorbell_fd;
}

/**
 * virtio_ring() - ring the doorbell, as the driver does
 * @v: a device
 *
 * Context: any thread.
 */
void virtio_ring(struct virtio_mmio *v)
{
	/* Fails only when the count is about to overflow, and then it is readable anyway. */
	(void)!eventfd_write(v->doorbell_fd, 1);
}

/**
 * virtio_serve() - the doorbell rang: serve what there is, for a bounded time
 * @v: a device
 *
 * Context: the event loop.
 */
void virtio_serve(struct virtio_mmio *v)
{
	if (v->ops->serve(v)) {
		virtio_ring(v);
	}
}

/**
 * virtio_lock() - take the device, to serve its queues
 * @v: a device
 *
 * Return: false when there is nothing to serve: its driver is not ready, or it needs a reset. The
 * lock is taken all the same.
 * Context: the event loop.
 */
bool virtio_lock(struct virtio_mmio *v)
{
	pthread_mutex_lock(&v->lock);
	return is_live(v);
}

/**
 * virtio_unlock() - let go of the device, and tell the driver what it wants to know
 * @v: a device that was taken
 *
 * Context: the event loop.
 */
void virtio_unlock(struct virtio_mmio *v)
{
	bool tell = false, broken = false;

	for (unsigned int i = 0; i < v->queue_count; i++) {
		tell |= virtq_must_tell(&v->queues[i]);
		broken |= v->queues[i].broken;
	}
	if (tell) {
		interrupt(v, VIRTIO_MMIO_INT_VRING);
	}
	/* 2.1.2: and with DRIVER_OK set, the driver is told of it as of a change. */
	if (broken && is_live(v)) {
		v->status |= VIRTIO_CONFIG_S_NEEDS_RESET;
		log_debug_few(&v->status_logs, "virtio", "%s: a ring is broken, needs a reset",
			      v->ops->name);
		interrupt(v, VIRTIO_MMIO_INT_CONFIG);
	}
	pthread_mutex_unlock(&v->lock);
}

/**
 * virtio_serve_queue() - serve the requests of a queue, VIRTIO_BUDGET at most
 * @v: a device, not taken
 * @queue: its number
 * @fn: what answers a request
 *
 * Return: true when more are waiting.
 * Context: the event loop.
 */
bool virtio_serve_queue(struct virtio_mmio *v, unsigned int queue, virtio_request_fn fn)
{
	struct virtq *q = &v->queues[queue];
	unsigned int left = VIRTIO_BUDGET;
	bool more = virtio_lock(v);

	while (more && left > 0) {
		virtq_quiet(q);
		while (left > 0 && virtq_pop(q, &v->chain) == 0) {
			virtq_push(q, v->chain.head, fn(v, q, &v->chain));
			left--;
		}
		/* A round of broken requests costs too: a vCPU that adds them without end would
		 * keep us here. */
		left -= left > 0;
		more = left == 0 || virtq_listen(q);
	}
	virtio_unlock(v);
	return more;
}

/**
 * virtio_config_changed() - the device has changed its configuration: tell the driver
 * @v: a device
 *
 * Context: with the lock that the change was made under.
 */
void virtio_config_changed(struct virtio_mmio *v)
{
	v->generation++;
	if (is_live(v)) {
		interrupt(v, VIRTIO_MMIO_INT_CONFIG);
	}
}

/**
 * virtio_accepted() - did driver and device agree on a feature
 * @v: a device
 * @feature: number of its bit, 0–63
 *
 * Return: true if so, or if they are about to.
 * Context: with the lock.
 */
bool virtio_accepted(const struct virtio_mmio *v, unsigned int feature)
{
	return v->accepted & FEATURE(feature);
}
