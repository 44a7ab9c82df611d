/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A console device with several named ports (virtio 1.2, 5.3): streams of bytes between the guest
 * and its host, without frames and without a port write for each byte.
 *
 * What the guest writes stays in its own memory until the host takes it: a port that is paused
 * costs the host nothing, and its writer waits when the queue is full. What the host has to say of
 * its ports is a set of flags for each, so a driver that never listens costs nothing either.
 *
 * Served on the event loop. Output is handed over without the lock, from a copy.
 */
#ifndef DEVICES_VIRTIO_CONSOLE_H
#define DEVICES_VIRTIO_CONSOLE_H

#include <linux/virtio_console.h>

#include "devices/virtio/mmio.h"

#define VIRTIO_CONSOLE_PORTS_MAX 5
/* The longest single write: what is longer fails. Linux cuts its own at 32 KiB. */
#define VIRTIO_CONSOLE_WRITE_MAX (UINT32_C(1) << 20)

/* What a port is; the name is borrowed. */
struct virtio_console_kind {
	const char *name;
	bool console; /* a terminal, which takes input */
};

struct virtio_console_events {
	/* Bytes that the guest wrote. Not called for a port that is paused. */
	void (*output)(void *ctx, unsigned int port, const void *data, size_t bytes);
	/* There is room again after virtio_console_input() took less than it was given. */
	void (*room)(void *ctx, unsigned int port);
};

struct virtio_console_port {
	struct virtio_console_kind kind;
	bool paused, starving; /* the loop's */

	/* With the lock. */
	unsigned int due; /* messages to the driver, as bits */
	bool sending;     /* out is being taken */
	uint32_t sent;    /* bytes of it */
	struct virtq_chain out;
};

struct virtio_console {
	struct virtio_mmio v;
	struct virtio_console_config config;
	const struct virtio_console_events *events;
	void *ctx;
	unsigned int port_count;
	struct virtio_console_port ports[VIRTIO_CONSOLE_PORTS_MAX];
};

int virtio_console_init(struct virtio_console *c, const struct virtio_place *place,
			const struct virtio_console_kind *ports, unsigned int count,
			const struct virtio_console_events *events, void *ctx) __must_check;
void virtio_console_fini(struct virtio_console *c);

size_t virtio_console_input(struct virtio_console *c, unsigned int port, const void *data,
			    size_t bytes);
void virtio_console_pause(struct virtio_console *c, unsigned int port, bool on);
bool virtio_console_has_output(struct virtio_console *c);

#endif
