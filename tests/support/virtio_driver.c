/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See virtio_driver.h. */
#include "support.h"

#include "virtio_driver.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int fails(struct virtio_driver *d)
{
	return ++d->calls == d->fail_at ? -EMFILE : 0;
}

static int open_event(void *ctx)
{
	struct virtio_driver *d = ctx;
	int fd = fails(d);

	if (fd == 0) {
		fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		assert_true(fd >= 0);
		d->opened++;
	}
	return fd;
}

static void close_event(void *ctx, int fd)
{
	struct virtio_driver *d = ctx;

	assert_int_equal(close(fd), 0);
	d->opened--;
}

static int tie_write(void *ctx, int fd, uint64_t gpa, unsigned int bytes)
{
	struct virtio_driver *d = ctx;

	d->doorbell_fd = fd;
	d->doorbell_gpa = gpa;
	d->doorbell_bytes = bytes;
	return fails(d);
}

static int tie_value(void *ctx, int fd, uint64_t gpa, unsigned int bytes, uint64_t value)
{
	struct virtio_driver *d = ctx;

	assert_int_equal(gpa, DRIVER_GPA + VIRTIO_MMIO_QUEUE_NOTIFY);
	assert_int_equal(bytes, 4);
	assert_true(value < VIRTIO_QUEUES_MAX);
	d->kick_fd[value] = fd;
	return fails(d);
}

static int tie_irq(void *ctx, int fd, uint32_t gsi)
{
	struct virtio_driver *d = ctx;

	d->irq_fd = fd;
	d->gsi = gsi;
	return fails(d);
}

static const struct ioevent_ops ops = {.open = open_event,
				       .close = close_event,
				       .tie_write = tie_write,
				       .tie_value = tie_value,
				       .tie_irq = tie_irq};

void driver_init(struct virtio_driver *d)
{
	memset(d, 0, sizeof(*d));
	guest_ram_init(&d->ram, VRING_RAM_BYTES);
}

/* The device must be gone, and have closed what it opened. */
void driver_fini(struct virtio_driver *d)
{
	assert_int_equal(d->opened, 0);
	guest_ram_fini(&d->ram);
}

struct virtio_place driver_place(struct virtio_driver *d)
{
	return (struct virtio_place){.gpa = DRIVER_GPA,
				     .gsi = DRIVER_GSI,
				     .mem = &d->ram.mem,
				     .io = {.ops = &ops, .ctx = d}};
}

uint32_t driver_get(struct virtio_driver *d, uint64_t reg)
{
	return (uint32_t)d->dev->dev.ops->read(&d->dev->dev, reg, 4);
}

void driver_set(struct virtio_driver *d, uint64_t reg, uint32_t value)
{
	d->dev->dev.ops->write(&d->dev->dev, reg, 4, value);
}

uint64_t driver_offered(struct virtio_driver *d)
{
	uint64_t low, high;

	driver_set(d, VIRTIO_MMIO_DEVICE_FEATURES_SEL, 0);
	low = driver_get(d, VIRTIO_MMIO_DEVICE_FEATURES);
	driver_set(d, VIRTIO_MMIO_DEVICE_FEATURES_SEL, 1);
	high = driver_get(d, VIRTIO_MMIO_DEVICE_FEATURES);
	return low | high << 32;
}

static void start_queue(struct virtio_driver *d, unsigned int i)
{
	struct vring_driver *q = &d->queue[i];
	unsigned int size;
	/* 1 KiB each: 16 descriptors, and 128 bytes for each of the rings. */
	uint64_t at = DRIVER_RINGS + i * 0x400;

	driver_set(d, VIRTIO_MMIO_QUEUE_SEL, i);
	size = driver_get(d, VIRTIO_MMIO_QUEUE_NUM_MAX);
	size = size < DRIVER_SIZE ? size : DRIVER_SIZE;
	*q = (struct vring_driver){.ram = d->ram.bytes,
				   .size = size,
				   .desc = at,
				   .avail = at + 0x100,
				   .used = at + 0x200};
	memset(d->ram.bytes + at, 0, 0x400);
	assert_int_equal(driver_get(d, VIRTIO_MMIO_QUEUE_READY), 0);
	driver_set(d, VIRTIO_MMIO_QUEUE_NUM, size);
	driver_set(d, VIRTIO_MMIO_QUEUE_DESC_LOW, (uint32_t)q->desc);
	driver_set(d, VIRTIO_MMIO_QUEUE_DESC_HIGH, 0);
	driver_set(d, VIRTIO_MMIO_QUEUE_AVAIL_LOW, (uint32_t)q->avail);
	driver_set(d, VIRTIO_MMIO_QUEUE_AVAIL_HIGH, 0);
	driver_set(d, VIRTIO_MMIO_QUEUE_USED_LOW, (uint32_t)q->used);
	driver_set(d, VIRTIO_MMIO_QUEUE_USED_HIGH, 0);
	driver_set(d, VIRTIO_MMIO_QUEUE_READY, 1);
	assert_int_equal(driver_get(d, VIRTIO_MMIO_QUEUE_READY), 1);
}

/* Everything from reset to DRIVER_OK: 3.1.1. */
void driver_start(struct virtio_driver *d, struct virtio_mmio *dev, unsigned int queues,
		  uint64_t features)
{
	uint32_t status = VIRTIO_CONFIG_S_ACKNOWLEDGE | VIRTIO_CONFIG_S_DRIVER;

	d->dev = dev;
	d->doorbell_fd = virtio_doorbell_fd(dev); /* tied or not */
	d->queues = queues;
	driver_set(d, VIRTIO_MMIO_STATUS, 0);
	assert_int_equal(driver_get(d, VIRTIO_MMIO_STATUS), 0);
	driver_set(d, VIRTIO_MMIO_STATUS, VIRTIO_CONFIG_S_ACKNOWLEDGE);
	driver_set(d, VIRTIO_MMIO_STATUS, status);
	for (uint32_t i = 0; i < 2; i++) {
		driver_set(d, VIRTIO_MMIO_DRIVER_FEATURES_SEL, i);
		driver_set(d, VIRTIO_MMIO_DRIVER_FEATURES, (uint32_t)(features >> (32 * i)));
	}
	status |= VIRTIO_CONFIG_S_FEATURES_OK;
	driver_set(d, VIRTIO_MMIO_STATUS, status);
	assert_int_equal(driver_get(d, VIRTIO_MMIO_STATUS), status);
	for (unsigned int i = 0; i < queues; i++) {
		start_queue(d, i);
	}
	status |= VIRTIO_CONFIG_S_DRIVER_OK;
	driver_set(d, VIRTIO_MMIO_STATUS, status);
	assert_int_equal(driver_get(d, VIRTIO_MMIO_STATUS), status);
}

/* Rings the doorbell and lets the device serve, as the event loop would. */
void driver_notify(struct virtio_driver *d, unsigned int queue)
{
	driver_set(d, VIRTIO_MMIO_QUEUE_NOTIFY, queue);
	while (driver_rung(d)) {
		driver_turn(d);
	}
}

static uint64_t events(int fd)
{
	eventfd_t n = 0;

	return eventfd_read(fd, &n) < 0 ? 0 : n;
}

/* Serves the device once, as the loop does when the doorbell rang. */
void driver_turn(struct virtio_driver *d)
{
	events(d->doorbell_fd);
	virtio_serve(d->dev);
}

/* Has the doorbell been rung since the last turn? It stays so. */
bool driver_rung(struct virtio_driver *d)
{
	uint64_t n = events(d->doorbell_fd);

	if (n > 0) {
		assert_int_equal(eventfd_write(d->doorbell_fd, n), 0);
	}
	return n > 0;
}

/* How often the line was pulsed since the last call. */
unsigned int driver_interrupts(struct virtio_driver *d)
{
	return (unsigned int)events(d->irq_fd);
}
