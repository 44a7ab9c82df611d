/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See net.h. Section numbers are those of virtio 1.2. Serves on the event loop. */
#include "devices/virtio/net.h"

#include <errno.h>
#include <linux/virtio_ids.h>
#include <string.h>
#include <sys/epoll.h>

#include "devices/virtio/net_priv.h"

#define FEATURE(n) (UINT64_C(1) << (n))

enum { QUEUE_RX, QUEUE_TX, QUEUES };

/* Not in Linux 6.1's headers. */
#define F_GUEST_USO4 54
#define F_GUEST_USO6 55
#define F_HOST_USO   56

/* What an offload is called on the way to the guest and to the host. */
static const struct {
	unsigned int offload;
	unsigned int guest[2], host; /* bits; a second one or 0 */
} offload_bits[] = {
	{NET_CSUM, {VIRTIO_NET_F_GUEST_CSUM}, VIRTIO_NET_F_CSUM},
	{NET_TSO4, {VIRTIO_NET_F_GUEST_TSO4}, VIRTIO_NET_F_HOST_TSO4},
	{NET_TSO6, {VIRTIO_NET_F_GUEST_TSO6}, VIRTIO_NET_F_HOST_TSO6},
	{NET_TSO_ECN, {VIRTIO_NET_F_GUEST_ECN}, VIRTIO_NET_F_HOST_ECN},
	{NET_UFO, {VIRTIO_NET_F_GUEST_UFO}, VIRTIO_NET_F_HOST_UFO},
	{NET_USO, {F_GUEST_USO4, F_GUEST_USO6}, F_HOST_USO},
};

static struct virtio_net *to_net(struct virtio_mmio *v)
{
	return (struct virtio_net *)v;
}

static uint64_t features_of(const struct net_peer *peer)
{
	uint64_t f = FEATURE(VIRTIO_NET_F_MAC) | FEATURE(VIRTIO_NET_F_STATUS) |
		     FEATURE(VIRTIO_NET_F_MRG_RXBUF);

	f |= peer->mtu ? FEATURE(VIRTIO_NET_F_MTU) : 0;
	for (size_t i = 0; i < ARRAY_SIZE(offload_bits); i++) {
		if (peer->offloads & offload_bits[i].offload) {
			f |= FEATURE(offload_bits[i].guest[0]) | FEATURE(offload_bits[i].host);
			f |= offload_bits[i].guest[1] ? FEATURE(offload_bits[i].guest[1]) : 0;
		}
	}
	return f;
}

/* Once for each driver: the peer is told what it takes. With the lock. */
static void set_offloads(struct virtio_net *n)
{
	unsigned int taken = 0;

	if (n->offloads_set) {
		return;
	}
	n->offloads_set = true;
	for (size_t i = 0; i < ARRAY_SIZE(offload_bits); i++) {
		const unsigned int *guest = offload_bits[i].guest;

		if (virtio_accepted(&n->v, guest[0]) &&
		    (!guest[1] || virtio_accepted(&n->v, guest[1]))) {
			taken |= offload_bits[i].offload;
		}
	}
	/* A checksum that was left out is what all the others build on: 5.1.3.1. */
	taken = taken & NET_CSUM ? taken : 0;
	if (n->peer->ops->set_offloads) {
		(void)!n->peer->ops->set_offloads(n->peer, taken & n->peer->offloads);
	}
}

/* What the peer is to be polled for, as things stand. With the lock. */
static uint32_t wanted_events(const struct virtio_net *n)
{
	const struct net_peer_ops *ops = n->peer->ops;
	bool blocked = n->sending || (ops->is_blocked && ops->is_blocked(n->peer));
	bool reading =
		n->starving ? ops->can_read_ahead && ops->can_read_ahead(n->peer) : !n->unfinished;

	return (reading ? (uint32_t)EPOLLIN : 0) | (blocked ? (uint32_t)EPOLLOUT : 0);
}

/* 5.1.4.2: with the lock. */
static void link_down(struct virtio_net *n)
{
	if (!n->down) {
		n->down = true;
		n->config.status &= (uint16_t)~VIRTIO_NET_S_LINK_UP;
		virtio_config_changed(&n->v);
	}
}

/*
 * Sending.
 */

/* Takes the next frame. False when there is none. With the lock. */
static bool next_frame(struct virtio_net *n, struct virtq *q)
{
	struct virtio_net_hdr_v1 h;
	unsigned int count;

	if (virtq_pop(q, &n->out) < 0) {
		return false;
	}
	n->sending = true;
	n->out_count = 0;
	if (n->down || n->out.out_bytes < NET_HDR_BYTES + NET_ETH_BYTES ||
	    n->out.out_bytes > NET_HDR_BYTES + NET_FRAME_MAX ||
	    virtq_read(q, &n->out, 0, &h, sizeof(h)) < 0 ||
	    !net_header_is_valid(&h, n->out.out_bytes - NET_HDR_BYTES, n->v.accepted) ||
	    virtq_iov(q, &n->out, VIRTQ_OUT, NET_HDR_BYTES, n->out.out_bytes - NET_HDR_BYTES,
		      n->out_iov + 1, &count) < 0) {
		return true;
	}
	memcpy(n->out_header, &h, NET_HDR_BYTES);
	n->out_iov[0] = (struct iovec){.iov_base = n->out_header, .iov_len = NET_HDR_BYTES};
	n->out_count = count + 1;
	return true;
}

/* Sends the frame that was taken. False when it has to wait. With the lock. */
static bool send_frame(struct virtio_net *n, struct virtq *q)
{
	int r = -EINVAL;

	if (n->out_count > 0 && !n->down) {
		r = n->peer->ops->send(n->peer, n->out_iov, n->out_count);
	}
	if (r == -EAGAIN) {
		return false;
	}
	if (r == -EPIPE) {
		link_down(n);
	}
	n->sent += r == 0;
	n->send_drops += r < 0;
	n->sending = false;
	virtq_push(q, n->out.head, 0);
	return true;
}

/* True when more frames are waiting, and nothing is in their way. With the lock. */
static bool transmit(struct virtio_net *n)
{
	struct virtq *q = &n->v.queues[QUEUE_TX];

	for (unsigned int left = VIRTIO_BUDGET; left > 0; left--) {
		if (!n->sending) {
			virtq_quiet(q);
			if (!next_frame(n, q)) {
				if (virtq_listen(q)) {
					continue;
				}
				return false;
			}
		}
		if (!send_frame(n, q)) {
			return false;
		}
	}
	return true;
}

/*
 * Receiving. All of it with the lock.
 */

static void forget_room(struct virtio_net *n)
{
	n->room_count = n->seg_count = 0;
	n->room_bytes = 0;
	n->frame_bytes = n->spilled = 0;
}

/* Takes one request more. -ENODATA when the driver has none, -ENOSPC when there is no place. */
static int take_room(struct virtio_net *n, struct virtq *q)
{
	struct virtq_chain *c = &n->v.chain;
	struct virtio_net_room *room = &n->room[n->room_count];
	unsigned int count;

	if (n->room_count == VIRTQ_SIZE_MAX ||
	    n->seg_count + VIRTQ_SIZE_MAX > VIRTIO_NET_SEGS_MAX) {
		return -ENOSPC;
	}
	for (unsigned int tries = 0; tries < VIRTIO_BUDGET; tries++) {
		if (virtq_pop(q, c) < 0) {
			break;
		}
		if (c->in_bytes < NET_HDR_BYTES ||
		    virtq_iov(q, c, VIRTQ_IN, 0, c->in_bytes, n->iov + n->seg_count, &count) < 0) {
			virtq_push(q, c->head, 0);
			continue;
		}
		memcpy(n->seg + n->seg_count, c->segs + c->out_segs, count * sizeof(n->seg[0]));
		*room = (struct virtio_net_room){
			.head = c->head, .segs = (uint16_t)count, .bytes = c->in_bytes};
		n->room_count++;
		n->seg_count += count;
		n->room_bytes += c->in_bytes;
		return 0;
	}
	return -ENODATA;
}

/* Room for the largest frame, as far as there is. Without mergeable buffers one request is all. */
static int hold_room(struct virtio_net *n, struct virtq *q)
{
	bool merge = virtio_accepted(&n->v, VIRTIO_NET_F_MRG_RXBUF);
	int r = 0;

	while (r == 0 && n->room_bytes < NET_HDR_BYTES + NET_FRAME_MAX &&
	       (merge || n->room_count == 0)) {
		r = take_room(n, q);
	}
	return n->room_count > 0 ? 0 : r;
}

/* Writes into the requests that are held, as if they were one. */
static int write_room(struct virtio_net *n, const struct virtq *q, uint32_t offset, const void *buf,
		      uint32_t bytes)
{
	const uint8_t *from = buf;
	int r = 0;

	for (unsigned int i = 0; i < n->seg_count && bytes > 0 && r == 0; i++) {
		const struct virtq_seg *s = &n->seg[i];
		uint32_t part;

		if (offset >= s->bytes) {
			offset -= s->bytes;
			continue;
		}
		part = s->bytes - offset < bytes ? s->bytes - offset : bytes;
		r = gmem_write(q->mem, s->gpa + offset, from, part);
		from += part;
		bytes -= part;
		offset = 0;
	}
	return r;
}

/* Gives the first requests back, with the frame that is in them. */
static void give_frame(struct virtio_net *n, struct virtq *q)
{
	uint32_t left = n->frame_bytes;
	unsigned int rooms = 0, segs = 0;
	uint16_t buffers;

	for (uint32_t sum = 0; sum < left; rooms++) {
		sum += n->room[rooms].bytes;
	}
	/* 5.1.6.4.1: how many they are, in the header of the first. */
	buffers = (uint16_t)rooms;
	if (write_room(n, q, offsetof(struct virtio_net_hdr_v1, num_buffers), &buffers,
		       sizeof(buffers)) < 0) {
		q->broken = true;
		return;
	}
	for (unsigned int i = 0; i < rooms; i++) {
		uint32_t bytes = left < n->room[i].bytes ? left : n->room[i].bytes;

		virtq_stage(q, n->room[i].head, bytes);
		left -= bytes;
		segs += n->room[i].segs;
		n->room_bytes -= n->room[i].bytes;
	}
	virtq_show(q); /* at once: a driver that sees the first expects the others */
	n->room_count -= rooms;
	n->seg_count -= segs;
	memmove(n->room, n->room + rooms, n->room_count * sizeof(n->room[0]));
	memmove(n->seg, n->seg + segs, n->seg_count * sizeof(n->seg[0]));
	memmove(n->iov, n->iov + segs, n->seg_count * sizeof(n->iov[0]));
	n->received++;
	n->frame_bytes = 0;
}

/*
 * The end of a frame that found too few buffers goes into those that came since. Returns 0 when the
 * frame is whole, or gone; -ENODATA when it still waits.
 */
static int place_spill(struct virtio_net *n, struct virtq *q)
{
	while (n->spilled > 0) {
		uint32_t had = (uint32_t)n->room_bytes, part;
		int r = virtio_accepted(&n->v, VIRTIO_NET_F_MRG_RXBUF) ? take_room(n, q) : -ENOSPC;

		if (r == -ENODATA && n->room_count < q->size) {
			return r;
		}
		part = (uint32_t)n->room_bytes - had;
		part = part < n->spilled ? part : n->spilled;
		/* All that the queue can hold is too little: no driver should have that. */
		if (r < 0 || write_room(n, q, had, n->spill + n->spill_at, part) < 0) {
			n->receive_drops++;
			n->frame_bytes = n->spilled = 0;
			return 0;
		}
		n->spill_at += part;
		n->spilled -= part;
	}
	return 0;
}

/* One frame from the peer. Returns 0; -EAGAIN: none; -ENODATA: no room; -EPIPE. */
static int receive_frame(struct virtio_net *n, struct virtq *q)
{
	size_t bytes = 0;
	int r;

	if (n->frame_bytes == 0) {
		r = hold_room(n, q);
		if (r < 0) {
			return r;
		}
		n->iov[n->seg_count] =
			(struct iovec){.iov_base = n->spill, .iov_len = sizeof(n->spill)};
		r = n->peer->ops->receive(n->peer, n->iov, n->seg_count + 1, &bytes);
		if (r == -EMSGSIZE || (r == 0 && (bytes < NET_HDR_BYTES + NET_ETH_BYTES ||
						  bytes > NET_HDR_BYTES + NET_FRAME_MAX))) {
			n->receive_drops++;
			return 0;
		}
		if (r < 0) {
			return r;
		}
		n->frame_bytes = (uint32_t)bytes;
		n->spill_at = 0;
		n->spilled = bytes > n->room_bytes ? (uint32_t)(bytes - n->room_bytes) : 0;
	}
	r = place_spill(n, q);
	if (r == 0 && n->frame_bytes > 0) {
		give_frame(n, q);
	}
	return r;
}

/*
 * At most so many frames. True when there is more to do, of which the peer's descriptor does not
 * tell: what it has read ahead, and the end of a frame for which there is room by now.
 */
static bool receive(struct virtio_net *n, unsigned int left)
{
	const struct net_peer_ops *ops = n->peer->ops;
	struct virtq *q = &n->v.queues[QUEUE_RX];
	int r = 0;

	for (; left > 0 && r == 0 && !q->broken; left--) {
		virtq_quiet(q);
		n->starving = false;
		r = receive_frame(n, q);
		/* Only without room does the driver have to ring for buffers. */
		if (r == -ENODATA) {
			n->starving = !virtq_listen(q);
			r = n->starving ? r : 0;
		}
	}
	n->starving |= q->broken;
	if (r == -EPIPE) {
		link_down(n);
	}
	n->unfinished = r == 0 && !q->broken &&
			(n->frame_bytes > 0 || (ops->is_ahead && ops->is_ahead(n->peer)));
	return n->unfinished;
}

/* Lets go of the device, and then tells the event loop what has changed. */
static void done(struct virtio_net *n, bool was_down)
{
	uint32_t wanted = wanted_events(n);

	virtio_unlock(&n->v);
	if (n->down && !was_down) {
		n->events->gone(n->ctx);
	}
	if (!n->down && wanted != n->polled) {
		n->polled = wanted;
		n->events->poll(n->ctx, wanted);
	}
}

/* There is no room for frames now. False when the peer is gone. With the lock. */
static bool read_ahead(struct virtio_net *n, uint32_t events)
{
	const struct net_peer_ops *ops = n->peer->ops;

	return !(events & EPOLLIN) || n->down || !ops->read_ahead || ops->read_ahead(n->peer) == 0;
}

static bool serve(struct virtio_mmio *v)
{
	struct virtio_net *n = to_net(v);
	bool was_down = n->down, more = false;

	if (virtio_lock(v)) {
		uint64_t sent_before = n->sent;

		set_offloads(n);
		more = transmit(n);
		if ((n->starving || n->unfinished) && !n->down) {
			more |= receive(n, VIRTIO_BUDGET);
		} else if (n->sent > sent_before && !n->down) {
			/* An answer is often there already, and then one interrupt is for both. */
			more |= receive(n, 1);
		}
	}
	done(n, was_down);
	return more;
}

/* With the lock, on a vCPU's thread: what the event loop knows is put right when it next looks. */
static void on_reset(struct virtio_mmio *v)
{
	struct virtio_net *n = to_net(v);

	forget_room(n);
	n->sending = n->unfinished = false;
	n->offloads_set = false;
	n->starving = true;
	virtio_ring(v);
}

static const struct virtio_ops net_ops = {
	.name = "virtio-net",
	.id = VIRTIO_ID_NET,
	.serve = serve,
	.reset = on_reset,
};

/**
 * virtio_net_poll() - the peer's descriptor is ready
 * @n: a device
 * @events: EPOLLIN, EPOLLOUT, EPOLLHUP, EPOLLERR
 *
 * Context: the event loop.
 */
void virtio_net_poll(struct virtio_net *n, uint32_t events)
{
	const struct net_peer_ops *ops = n->peer->ops;
	bool was_down = n->down, live;

	if (n->down) {
		return;
	}
	live = virtio_lock(&n->v);
	if ((events & EPOLLOUT) && ops->flush && ops->flush(n->peer) == -EPIPE) {
		link_down(n);
	}
	if (live && (events & EPOLLOUT) && transmit(n)) {
		virtio_ring(&n->v);
	}
	if (live && !n->down && !n->starving && (events & (EPOLLIN | EPOLLHUP | EPOLLERR))) {
		if (receive(n, VIRTIO_BUDGET)) {
			virtio_ring(&n->v);
		}
	} else if ((events & (EPOLLHUP | EPOLLERR)) || !read_ahead(n, events)) {
		link_down(n); /* which would be told without end */
	} else if (!live) {
		n->starving = true;
	}
	done(n, was_down);
}

/**
 * virtio_net_init() - a network device
 * @n: the caller's memory; it must stay where it is until virtio_net_fini()
 * @place: where it is
 * @peer: what it is plugged into, borrowed
 * @mac: its address
 * @events: what to call, on the event loop
 * @ctx: first argument of those
 *
 * The peer is not polled until the first events->poll().
 *
 * Return: 0 or the −errno of virtio_init().
 * Context: before any vCPU runs.
 */
int virtio_net_init(struct virtio_net *n, const struct virtio_place *place, struct net_peer *peer,
		    const uint8_t mac[VIRTIO_NET_MAC_BYTES], const struct virtio_net_events *events,
		    void *ctx)
{
	n->peer = peer;
	n->events = events;
	n->ctx = ctx;
	n->down = n->sending = n->offloads_set = n->unfinished = false;
	n->starving = true; /* until the driver is there */
	n->polled = 0;
	n->sent = n->send_drops = n->received = n->receive_drops = 0;
	forget_room(n);
	n->config = (struct virtio_net_config){.status = VIRTIO_NET_S_LINK_UP, .mtu = peer->mtu};
	memcpy(n->config.mac, mac, VIRTIO_NET_MAC_BYTES);
	return virtio_init(&n->v, &net_ops, place, QUEUES, features_of(peer), &n->config,
			   offsetof(struct virtio_net_config, mtu) + sizeof(n->config.mtu));
}

/**
 * virtio_net_fini() - free what virtio_net_init() made; the peer stays
 * @n: a device that was initialised
 *
 * Context: after the last vCPU thread has ended.
 */
void virtio_net_fini(struct virtio_net *n)
{
	virtio_fini(&n->v);
}
