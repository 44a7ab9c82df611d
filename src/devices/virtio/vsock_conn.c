/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See vsock.h. Connections: what a packet does to one, and credit. Section numbers are those of
 * virtio 1.2. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "devices/virtio/vsock_priv.h"

#define SEND_FLAGS (MSG_DONTWAIT | MSG_NOSIGNAL)

/**
 * vsock_new() - a connection
 * @s: the device
 * @fd: the host's end, not blocking; the connection's from here, if there is one
 *
 * Return: the connection, which has no ports yet, or NULL when there are VSOCK_CONNS_MAX.
 * Context: the event loop.
 */
struct vsock_conn *vsock_new(struct virtio_vsock *s, int fd)
{
	for (unsigned int i = 0; i < VSOCK_CONNS_MAX; i++) {
		struct vsock_conn *c = &s->conns[i];

		if (c->state == VSOCK_FREE) {
			*c = (struct vsock_conn){.vsock = s,
						 .state = VSOCK_GREETING,
						 .fd = fd,
						 .guest_sends = true,
						 .guest_reads = true};
			return c;
		}
	}
	return NULL;
}

/**
 * vsock_find() - the connection that a packet of the guest's is about
 * @s: the device
 * @guest_port: at its end
 * @host_port: at ours
 *
 * Return: a connection that the guest knows of, or NULL.
 * Context: the event loop.
 */
struct vsock_conn *vsock_find(struct virtio_vsock *s, uint32_t guest_port, uint32_t host_port)
{
	for (unsigned int i = 0; i < VSOCK_CONNS_MAX; i++) {
		struct vsock_conn *c = &s->conns[i];

		if ((c->state == VSOCK_ASKED || c->state == VSOCK_OPEN) &&
		    c->guest_port == guest_port && c->host_port == host_port) {
			return c;
		}
	}
	return NULL;
}

static void close_host(struct vsock_conn *c)
{
	evloop_remove(c->source);
	c->source = NULL;
	if (c->fd >= 0) {
		close(c->fd);
	}
	c->fd = -1;
	free(c->buffer);
	c->buffer = NULL;
	c->filled = 0;
}

/**
 * vsock_free() - the connection is over for both sides
 * @c: a connection, or a free one
 *
 * Context: the event loop.
 */
void vsock_free(struct vsock_conn *c)
{
	if (c->state == VSOCK_FREE) {
		return;
	}
	log_debug_few(&c->vsock->told, "vsock", "guest's port %u, host's port %u: ended",
		      c->guest_port, c->host_port);
	close_host(c);
	c->state = VSOCK_FREE;
	c->due = 0;
	/* It may be that accepting had to wait for a descriptor. */
	(void)!vsock_watch_listener(c->vsock);
}

/**
 * vsock_abort() - end a connection at once; the guest is told if it knows of it
 * @c: a connection
 *
 * Context: the event loop.
 */
void vsock_abort(struct vsock_conn *c)
{
	if (c->state != VSOCK_ASKED && c->state != VSOCK_OPEN) {
		vsock_free(c);
		return;
	}
	close_host(c);
	c->readable = false;
	/* A request that was not sent yet is simply not sent: the guest never hears of it. */
	if (c->due & VSOCK_DUE_REQUEST) {
		vsock_free(c);
		return;
	}
	c->due = VSOCK_DUE_RST;
}

/* The guest is gone. What it sent before still goes to the host. */
static void end(struct vsock_conn *c)
{
	if (c->filled == 0) {
		vsock_free(c);
		return;
	}
	c->state = VSOCK_LINGERS;
	c->due = 0;
}

/**
 * vsock_end_all() - the guest's driver has reset the device, and knows of no connection any more
 * @s: the device
 *
 * Context: the event loop, with the lock.
 */
void vsock_end_all(struct virtio_vsock *s)
{
	s->reset_count = 0;
	for (unsigned int i = 0; i < VSOCK_CONNS_MAX; i++) {
		if (s->conns[i].state == VSOCK_ASKED || s->conns[i].state == VSOCK_OPEN) {
			end(&s->conns[i]);
		}
	}
}

/**
 * vsock_credit() - how many bytes the guest has room for
 * @c: a connection
 *
 * Return: bytes; 0 too when the guest's numbers cannot be.
 * Context: the event loop. 5.10.6.3.
 */
uint32_t vsock_credit(const struct vsock_conn *c)
{
	uint32_t unread = c->sent - c->peer_taken;

	return unread < c->peer_buffer ? c->peer_buffer - unread : 0;
}

/* The host took bytes of the guest's: the guest is told of the room in time. */
static void count_taken(struct vsock_conn *c, uint32_t bytes)
{
	c->taken += bytes;
	if (c->taken - c->told_taken >= VSOCK_BUFFER_BYTES / 2) {
		c->due |= VSOCK_DUE_CREDIT;
	}
}

/* All that the guest sent is with the host: what it said about the end comes true. */
static void finish(struct vsock_conn *c)
{
	if (c->state == VSOCK_LINGERS) {
		vsock_free(c);
	} else if (!c->guest_sends && !c->guest_reads) {
		vsock_abort(c); /* 5.10.6.5: both have ended, and RST says that we know */
	} else if (!c->guest_sends) {
		shutdown(c->fd, SHUT_WR);
	}
}

/**
 * vsock_flush() - hand the host what is kept for it
 * @c: a connection with something in its buffer; it may be free afterwards
 *
 * Context: the event loop.
 */
void vsock_flush(struct vsock_conn *c)
{
	while (c->filled > 0) {
		uint32_t part = VSOCK_BUFFER_BYTES - c->start;
		ssize_t n;

		part = part < c->filled ? part : c->filled;
		n = send(c->fd, c->buffer + c->start, part, SEND_FLAGS);
		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n < 0) {
			if (errno != EAGAIN) {
				vsock_abort(c);
			}
			return;
		}
		c->start = (c->start + (uint32_t)n) % VSOCK_BUFFER_BYTES;
		c->filled -= (uint32_t)n;
		count_taken(c, (uint32_t)n);
	}
	free(c->buffer);
	c->buffer = NULL;
	finish(c);
}

/* Behind what is kept already. The caller has checked that there is room. */
static int keep(struct vsock_conn *c, const struct virtq *q, const struct virtq_chain *chain,
		uint32_t offset, uint32_t bytes)
{
	int r = 0;

	if (!c->buffer) {
		c->buffer = malloc(VSOCK_BUFFER_BYTES);
		c->start = 0;
		if (!c->buffer) {
			return -ENOMEM;
		}
	}
	while (bytes > 0 && r == 0) {
		uint32_t at = (c->start + c->filled) % VSOCK_BUFFER_BYTES;
		uint32_t part = VSOCK_BUFFER_BYTES - at;

		part = part < bytes ? part : bytes;
		r = virtq_read(q, chain, offset, c->buffer + at, part);
		c->filled += part;
		offset += part;
		bytes -= part;
	}
	return r;
}

/* As many of the first bytes as the host takes at once. Returns their number or −errno. */
static ssize_t hand_over(struct vsock_conn *c, const struct virtq *q,
			 const struct virtq_chain *chain, uint32_t offset, uint32_t bytes)
{
	struct iovec iov[VIRTQ_SIZE_MAX];
	unsigned int n = 0;
	ssize_t r = virtq_iov(q, chain, VIRTQ_OUT, offset, bytes, iov, &n);

	if (r < 0) {
		return 0; /* a buffer in two regions: it is copied */
	}
	r = sendmsg(c->fd, &(struct msghdr){.msg_iov = iov, .msg_iovlen = n}, SEND_FLAGS);
	if (r < 0) {
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	}
	return r;
}

static void take_data(struct vsock_conn *c, const struct virtq *q, const struct virtq_chain *chain,
		      uint32_t bytes)
{
	uint32_t offset = sizeof(struct virtio_vsock_hdr);
	ssize_t n = 0;

	if (c->state != VSOCK_OPEN || !c->guest_sends || bytes > VSOCK_BUFFER_BYTES - c->filled) {
		vsock_abort(c);
		return;
	}
	if (c->filled == 0 && bytes > 0) {
		n = hand_over(c, q, chain, offset, bytes);
	}
	if (n < 0 || (n < (ssize_t)bytes &&
		      keep(c, q, chain, offset + (uint32_t)n, bytes - (uint32_t)n) < 0)) {
		vsock_abort(c);
		return;
	}
	count_taken(c, (uint32_t)n);
}

static void take_shutdown(struct vsock_conn *c, uint32_t flags)
{
	c->guest_sends &= !(flags & VIRTIO_VSOCK_SHUTDOWN_SEND);
	c->guest_reads &= !(flags & VIRTIO_VSOCK_SHUTDOWN_RCV);
	if (c->state != VSOCK_OPEN) {
		vsock_abort(c);
	} else if (c->filled == 0) {
		finish(c);
	}
}

/**
 * vsock_refuse() - say that there is no such connection
 * @s: the device
 * @h: what the guest sent
 *
 * Context: the event loop; there is room for one more: serve_tx() sees to it.
 */
static void vsock_refuse(struct virtio_vsock *s, const struct virtio_vsock_hdr *h)
{
	if (h->op == VIRTIO_VSOCK_OP_RST || s->reset_count == VSOCK_RESETS_MAX) {
		return;
	}
	s->resets[s->reset_count++] = (struct vsock_reset){.guest_cid = h->src_cid,
							   .host_cid = h->dst_cid,
							   .guest_port = h->src_port,
							   .host_port = h->dst_port,
							   .type = h->type};
}

/* The guest connects to the host. */
static void take_request(struct virtio_vsock *s, const struct virtio_vsock_hdr *h)
{
	int fd = vsock_dial(s, h->dst_port);
	struct vsock_conn *c = fd >= 0 ? vsock_new(s, fd) : NULL;

	log_debug_few(&s->told, "vsock", "guest's port %u to host's port %u: %s", h->src_port,
		      h->dst_port,
		      c        ? "connected"
		      : fd < 0 ? "nobody listens there"
			       : "too many connections");
	if (!c) {
		if (fd >= 0) {
			close(fd);
		}
		vsock_refuse(s, h);
		return;
	}
	c->state = VSOCK_OPEN;
	c->guest_port = h->src_port;
	c->host_port = h->dst_port;
	c->peer_buffer = h->buf_alloc;
	c->peer_taken = h->fwd_cnt;
	c->due = VSOCK_DUE_RESPONSE;
}

/**
 * vsock_take_packet() - a packet of the guest's
 * @s: the device
 * @h: a copy of its header, whose source is the guest
 * @q: the queue that it came by
 * @chain: the packet: the header, and as many bytes of data as that says, or more
 *
 * Context: the event loop, with the lock. 5.10.6.
 */
void vsock_take_packet(struct virtio_vsock *s, const struct virtio_vsock_hdr *h,
		       const struct virtq *q, const struct virtq_chain *chain)
{
	struct vsock_conn *c;

	if (h->type != VIRTIO_VSOCK_TYPE_STREAM || h->dst_cid != VSOCK_CID_HOST) {
		vsock_refuse(s, h);
		return;
	}
	c = vsock_find(s, h->src_port, h->dst_port);
	if (!c && h->op == VIRTIO_VSOCK_OP_REQUEST) {
		take_request(s, h);
	} else if (!c) {
		vsock_refuse(s, h);
	}
	if (!c) {
		return;
	}
	if (h->op == VIRTIO_VSOCK_OP_RST) {
		end(c);
		return;
	}
	if (c->due & VSOCK_DUE_RST) {
		return; /* it is over, and the guest will hear of it */
	}
	c->peer_buffer = h->buf_alloc;
	c->peer_taken = h->fwd_cnt;
	switch (h->op) {
	case VIRTIO_VSOCK_OP_RESPONSE:
		if (c->state == VSOCK_ASKED && !(c->due & VSOCK_DUE_REQUEST)) {
			vsock_greeted(c);
		} else {
			vsock_abort(c);
		}
		break;
	case VIRTIO_VSOCK_OP_RW:
		take_data(c, q, chain, h->len);
		break;
	case VIRTIO_VSOCK_OP_SHUTDOWN:
		take_shutdown(c, h->flags);
		break;
	case VIRTIO_VSOCK_OP_CREDIT_UPDATE:
		break;
	case VIRTIO_VSOCK_OP_CREDIT_REQUEST:
		c->due |= VSOCK_DUE_CREDIT;
		break;
	default: /* 5.10.6.1: an operation that there is not, or a second request */
		vsock_abort(c);
		break;
	}
}
