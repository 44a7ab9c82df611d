/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See console.h. Section numbers are those of virtio 1.2. */
#include "devices/virtio/console.h"

#include <assert.h>
#include <linux/virtio_ids.h>
#include <string.h>

#define FEATURE(n) (UINT64_C(1) << (n))

/* 5.3.2: two queues for port 0, two for messages about ports, two for each port more. */
#define QUEUES(ports)   (2 * (ports) + 2)
#define QUEUE_RX(port)  ((port) ? 2 * (port) + 2 : 0)
#define QUEUE_TX(port)  (QUEUE_RX(port) + 1)
#define QUEUE_TO_DRIVER 2
#define QUEUE_TO_DEVICE 3
_Static_assert(QUEUES(VIRTIO_CONSOLE_PORTS_MAX) <= VIRTIO_QUEUES_MAX, "a queue for each");

/* Linux fills all of a queue to read from with pages: those that nothing comes by are short. */
#define ENTRIES_RX   16
#define ENTRIES_IDLE 2
#define ENTRIES_TX   64

/* Bytes handed over at once, and pieces before other sources of the loop get their turn. */
#define PIECE_BYTES 16384
#define PIECES      16

#define NAME_BYTES  64

/* Messages due, in the order in which they are sent. */
enum { DUE_ADD, DUE_CONSOLE, DUE_NAME, DUE_OPEN, DUE_COUNT };

static struct virtio_console *to_console(struct virtio_mmio *v)
{
	return (struct virtio_console *)v;
}

/* Fills in one message. Returns its length. */
static uint32_t compose(const struct virtio_console *c, unsigned int port, unsigned int due,
			uint8_t *buf)
{
	static const uint16_t events[DUE_COUNT] = {
		[DUE_ADD] = VIRTIO_CONSOLE_PORT_ADD,
		[DUE_CONSOLE] = VIRTIO_CONSOLE_CONSOLE_PORT,
		[DUE_NAME] = VIRTIO_CONSOLE_PORT_NAME,
		[DUE_OPEN] = VIRTIO_CONSOLE_PORT_OPEN,
	};
	const struct virtio_console_control m = {.id = port, .event = events[due], .value = 1};
	const char *name = due == DUE_NAME ? c->ports[port].kind.name : "";
	size_t n = strnlen(name, NAME_BYTES);

	memcpy(buf, &m, sizeof(m));
	memcpy(buf + sizeof(m), name, n);
	return (uint32_t)(sizeof(m) + n);
}

/* Sends what is due, as far as the driver has given buffers. With the lock. */
static void send_due(struct virtio_console *c)
{
	struct virtq *q = &c->v.queues[QUEUE_TO_DRIVER];
	struct virtq_chain *chain = &c->v.chain;
	uint8_t buf[sizeof(struct virtio_console_control) + NAME_BYTES];

	for (unsigned int i = 0; i < c->port_count; i++) {
		struct virtio_console_port *p = &c->ports[i];

		for (unsigned int due = 0; due < DUE_COUNT; due++) {
			uint32_t bytes;

			if (!(p->due & (1u << due))) {
				continue;
			}
			if (virtq_pop(q, chain) < 0) {
				/* The driver rings when it has given more, or has given it now. */
				if (virtq_listen(q)) {
					virtio_ring(&c->v);
				}
				return;
			}
			bytes = compose(c, i, due, buf);
			/* One that does not fit is lost, and that is the driver's doing. */
			bytes = virtq_write(q, chain, 0, buf, bytes) < 0 ? 0 : bytes;
			virtq_push(q, chain->head, bytes);
			p->due &= ~(1u << due);
		}
	}
}

/* 5.3.6.2: a message of the driver's. */
static uint32_t take_message(struct virtio_mmio *v, struct virtq *q,
			     const struct virtq_chain *chain)
{
	struct virtio_console *c = to_console(v);
	struct virtio_console_control m;

	if (virtq_read(q, chain, 0, &m, sizeof(m)) < 0) {
		return 0;
	}
	if (m.event == VIRTIO_CONSOLE_DEVICE_READY && m.value) {
		for (unsigned int i = 0; i < c->port_count; i++) {
			/* A port without a name is none, but for its number. */
			c->ports[i].due |= c->ports[i].kind.name ? 1u << DUE_ADD : 0;
		}
	} else if (m.event == VIRTIO_CONSOLE_PORT_READY && m.value && m.id < c->port_count) {
		struct virtio_console_port *p = &c->ports[m.id];

		p->due |= 1u << DUE_NAME | 1u << DUE_OPEN;
		p->due |= p->kind.console ? 1u << DUE_CONSOLE : 0;
	}
	return 0;
}

/* The next piece of what a port's guest wrote, at most PIECE_BYTES. With the lock. */
static uint32_t take_piece(struct virtio_console *c, unsigned int port, uint8_t *buf)
{
	struct virtio_console_port *p = &c->ports[port];
	struct virtq *q = &c->v.queues[QUEUE_TX(port)];
	uint32_t n;

	/* Requests with nothing to give are skipped, so many at a time. */
	for (unsigned int tries = 0; !p->sending; tries++) {
		virtq_quiet(q);
		if (tries == VIRTIO_BUDGET) {
			virtio_ring(&c->v);
			return 0;
		}
		if (virtq_pop(q, &p->out) < 0) {
			if (virtq_listen(q)) {
				continue;
			}
			return 0;
		}
		p->sent = 0;
		p->sending = p->out.out_bytes > 0 && p->out.out_bytes <= VIRTIO_CONSOLE_WRITE_MAX;
		if (!p->sending) {
			virtq_push(q, p->out.head, 0);
		}
	}
	n = p->out.out_bytes - p->sent;
	n = n < PIECE_BYTES ? n : PIECE_BYTES;
	if (virtq_read(q, &p->out, p->sent, buf, n) < 0) {
		n = 0;
	}
	p->sent += n;
	if (n == 0 || p->sent == p->out.out_bytes) {
		p->sending = false;
		virtq_push(q, p->out.head, 0);
	}
	return n;
}

static bool serve_output(struct virtio_console *c, unsigned int port)
{
	uint8_t buf[PIECE_BYTES];

	for (unsigned int i = 0; i < PIECES; i++) {
		uint32_t n = 0;

		if (c->ports[port].paused) {
			return false;
		}
		if (virtio_lock(&c->v)) {
			n = take_piece(c, port, buf);
		}
		virtio_unlock(&c->v);
		if (n == 0) {
			return false;
		}
		c->events->output(c->ctx, port, buf, n);
	}
	return true;
}

static void tell_of_room(struct virtio_console *c, unsigned int port)
{
	bool room = virtio_lock(&c->v) && virtq_has_next(&c->v.queues[QUEUE_RX(port)]);

	virtio_unlock(&c->v);
	if (room) {
		c->ports[port].starving = false;
		c->events->room(c->ctx, port);
	}
}

static bool serve(struct virtio_mmio *v)
{
	struct virtio_console *c = to_console(v);
	bool more = virtio_serve_queue(v, QUEUE_TO_DEVICE, take_message);

	if (virtio_lock(v)) {
		send_due(c);
	}
	virtio_unlock(v);
	for (unsigned int i = 0; i < c->port_count; i++) {
		more |= serve_output(c, i);
		if (c->ports[i].starving) {
			tell_of_room(c, i);
		}
	}
	return more;
}

static void on_reset(struct virtio_mmio *v)
{
	struct virtio_console *c = to_console(v);

	for (unsigned int i = 0; i < c->port_count; i++) {
		c->ports[i].due = 0;
		c->ports[i].sending = false;
	}
}

static const struct virtio_ops console_ops = {
	.name = "virtio-console",
	.id = VIRTIO_ID_CONSOLE,
	.serve = serve,
	.reset = on_reset,
};

/**
 * virtio_console_init() - a console device
 * @c: the caller's memory; it must stay where it is until virtio_console_fini()
 * @place: where it is
 * @ports: what it has, by number; one without a name is not there, which only port 0 may be
 * @count: how many, 1 to VIRTIO_CONSOLE_PORTS_MAX
 * @events: what to call, on the event loop
 * @ctx: first argument of those
 *
 * Return: 0 or the −errno of virtio_init().
 * Context: before any vCPU runs.
 */
int virtio_console_init(struct virtio_console *c, const struct virtio_place *place,
			const struct virtio_console_kind *ports, unsigned int count,
			const struct virtio_console_events *events, void *ctx)
{
	int r;

	assert(count >= 1 && count <= VIRTIO_CONSOLE_PORTS_MAX);
	memset(c, 0, sizeof(*c));
	c->events = events;
	c->ctx = ctx;
	c->port_count = count;
	c->config.max_nr_ports = count;
	r = virtio_init(&c->v, &console_ops, place, QUEUES(count),
			FEATURE(VIRTIO_CONSOLE_F_MULTIPORT), &c->config, sizeof(c->config));
	for (unsigned int i = 0; i < count && r == 0; i++) {
		c->ports[i].kind = ports[i];
		c->v.queues[QUEUE_RX(i)].max = ports[i].console ? ENTRIES_RX : ENTRIES_IDLE;
		c->v.queues[QUEUE_TX(i)].max = ENTRIES_TX;
	}
	if (r == 0) {
		c->v.queues[QUEUE_TO_DRIVER].max = c->v.queues[QUEUE_TO_DEVICE].max = ENTRIES_RX;
		device_reset(&c->v.dev); /* queues start at their own size */
	}
	return r;
}

/**
 * virtio_console_fini() - free what virtio_console_init() made
 * @c: a device that was initialised
 *
 * Context: after the last vCPU thread has ended.
 */
void virtio_console_fini(struct virtio_console *c)
{
	virtio_fini(&c->v);
}

/**
 * virtio_console_input() - bytes from the host to the guest
 * @c: the device
 * @port: number of a port
 * @data: @bytes bytes
 * @bytes: any number
 *
 * Return: how many were taken, from the front. When fewer, the room event follows.
 * Context: the event loop.
 */
size_t virtio_console_input(struct virtio_console *c, unsigned int port, const void *data,
			    size_t bytes)
{
	struct virtq *q = &c->v.queues[QUEUE_RX(port)];
	struct virtq_chain *chain = &c->v.chain;
	const uint8_t *from = data;
	size_t taken = 0;
	bool live = virtio_lock(&c->v);

	for (unsigned int tries = 0; live && taken < bytes && tries < VIRTIO_BUDGET; tries++) {
		uint32_t n;

		if (virtq_pop(q, chain) < 0) {
			if (virtq_listen(q)) {
				continue;
			}
			break;
		}
		n = bytes - taken < chain->in_bytes ? (uint32_t)(bytes - taken) : chain->in_bytes;
		n = virtq_write(q, chain, 0, from + taken, n) < 0 ? 0 : n;
		virtq_push(q, chain->head, n);
		taken += n;
	}
	virtio_unlock(&c->v);
	c->ports[port].starving = taken < bytes;
	if (live && taken < bytes) {
		virtio_ring(&c->v); /* there may be room by now */
	}
	return taken;
}

/**
 * virtio_console_pause() - stop or go on taking what the guest writes
 * @c: the device
 * @port: number of a port
 * @on: stop; the guest waits once the queue is full
 *
 * Context: the event loop.
 */
void virtio_console_pause(struct virtio_console *c, unsigned int port, bool on)
{
	c->ports[port].paused = on;
	if (!on) {
		virtio_ring(&c->v); /* by the loop: the caller may be inside an event */
	}
}

/**
 * virtio_console_has_output() - is there anything that the guest wrote and nobody took
 * @c: the device
 *
 * Return: true if so, on whatever port, paused or not.
 * Context: the event loop.
 */
bool virtio_console_has_output(struct virtio_console *c)
{
	bool found = false;

	if (virtio_lock(&c->v)) {
		for (unsigned int i = 0; i < c->port_count; i++) {
			found |= c->ports[i].sending || virtq_has_next(&c->v.queues[QUEUE_TX(i)]);
		}
	}
	virtio_unlock(&c->v);
	return found;
}
