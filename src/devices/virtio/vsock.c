/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See vsock.h. Packets and queues. Section numbers are those of virtio 1.2. */
#include "devices/virtio/vsock.h"

#include <errno.h>
#include <linux/virtio_ids.h>
#include <string.h>
#include <sys/socket.h>

#include "devices/virtio/vsock_priv.h"

#define QUEUE_RX   0
#define QUEUE_TX   1
#define QUEUES     3 /* the third is for events, of which there are none without migration */
#define ENTRIES    128
#define F_STREAM   (UINT64_C(1) << 0) /* 5.10.3 */
#define FIRST_PORT (UINT32_C(1) << 30)

/* The lock, and what a reset left to do: it was with the lock too, so nothing is served in between.
 */
static bool take_lock(struct virtio_vsock *s)
{
	bool live = virtio_lock(&s->v);

	if (s->was_reset) {
		s->was_reset = false;
		vsock_end_all(s);
	}
	return live;
}

/* A buffer for a packet to the guest; true when s->rx is one, which stays until it is used. */
static bool hold_rx(struct virtio_vsock *s)
{
	struct virtq *q = &s->v.queues[QUEUE_RX];

	for (unsigned int tries = 0; !s->rx_held && tries < VIRTIO_BUDGET; tries++) {
		if (virtq_pop(q, &s->rx) < 0) {
			if (!virtq_listen(q)) {
				return false;
			}
		} else if (s->rx.in_bytes < sizeof(struct virtio_vsock_hdr)) {
			virtq_push(q, s->rx.head, 0);
		} else {
			s->rx_held = true;
		}
	}
	return s->rx_held;
}

static void push_rx(struct virtio_vsock *s, const struct virtio_vsock_hdr *h)
{
	struct virtq *q = &s->v.queues[QUEUE_RX];
	bool fits = virtq_write(q, &s->rx, 0, h, sizeof(*h)) == 0;

	virtq_push(q, s->rx.head, fits ? (uint32_t)sizeof(*h) + h->len : 0);
	s->rx_held = false;
}

static struct virtio_vsock_hdr header(struct vsock_conn *c, uint16_t op)
{
	/* Each packet tells of our room, so none need follow for that alone. */
	c->told_taken = c->taken;
	c->due &= ~VSOCK_DUE_CREDIT;
	return (struct virtio_vsock_hdr){
		.src_cid = VSOCK_CID_HOST,
		.dst_cid = c->vsock->config.guest_cid,
		.src_port = c->host_port,
		.dst_port = c->guest_port,
		.type = VIRTIO_VSOCK_TYPE_STREAM,
		.op = op,
		.buf_alloc = VSOCK_BUFFER_BYTES,
		.fwd_cnt = c->taken,
	};
}

static void send_reset(struct virtio_vsock *s)
{
	const struct vsock_reset *r = &s->resets[--s->reset_count];
	const struct virtio_vsock_hdr h = {
		.src_cid = r->host_cid,
		.dst_cid = r->guest_cid,
		.src_port = r->host_port,
		.dst_port = r->guest_port,
		.type = r->type,
		.op = VIRTIO_VSOCK_OP_RST,
	};

	push_rx(s, &h);
}

static uint32_t shutdown_flags(const struct vsock_conn *c)
{
	/* 5.10.6.6.1: we send no more; and when the host's program is gone, we take no more. */
	return VIRTIO_VSOCK_SHUTDOWN_SEND | (c->host_gone ? VIRTIO_VSOCK_SHUTDOWN_RCV : 0u);
}

/* One packet without data. */
static void send_due(struct vsock_conn *c)
{
	static const struct {
		unsigned int due;
		uint16_t op;
	} order[] = {
		{VSOCK_DUE_RST, VIRTIO_VSOCK_OP_RST},
		{VSOCK_DUE_REQUEST, VIRTIO_VSOCK_OP_REQUEST},
		{VSOCK_DUE_RESPONSE, VIRTIO_VSOCK_OP_RESPONSE},
		{VSOCK_DUE_CREDIT, VIRTIO_VSOCK_OP_CREDIT_UPDATE},
		{VSOCK_DUE_ASK, VIRTIO_VSOCK_OP_CREDIT_REQUEST},
		{VSOCK_DUE_SHUTDOWN, VIRTIO_VSOCK_OP_SHUTDOWN},
	};
	struct virtio_vsock *s = c->vsock;

	for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
		struct virtio_vsock_hdr h;

		if (!(c->due & order[i].due)) {
			continue;
		}
		c->due &= ~order[i].due;
		h = header(c, order[i].op);
		h.flags = h.op == VIRTIO_VSOCK_OP_SHUTDOWN ? shutdown_flags(c) : 0;
		push_rx(s, &h);
		if (h.op == VIRTIO_VSOCK_OP_RST) {
			vsock_free(c);
		}
		return;
	}
}

static bool may_send(const struct vsock_conn *c)
{
	return c->state == VSOCK_OPEN && c->readable && !c->host_ended && c->guest_reads &&
	       vsock_credit(c) > 0;
}

/* One packet of data, read from the host's socket straight into the guest's buffer. */
static void send_data(struct vsock_conn *c)
{
	struct virtio_vsock *s = c->vsock;
	const uint32_t head = sizeof(struct virtio_vsock_hdr);
	struct iovec iov[VIRTQ_SIZE_MAX];
	uint32_t bytes = s->rx.in_bytes - head;
	struct virtio_vsock_hdr h;
	unsigned int n = 0;
	ssize_t got;

	bytes = bytes < VSOCK_PACKET_BYTES ? bytes : VSOCK_PACKET_BYTES;
	bytes = bytes < vsock_credit(c) ? bytes : vsock_credit(c);
	if (bytes == 0 ||
	    virtq_iov(&s->v.queues[QUEUE_RX], &s->rx, VIRTQ_IN, head, bytes, iov, &n) < 0) {
		/* A buffer for a header alone, or one in two regions: it cannot hold data. */
		virtq_push(&s->v.queues[QUEUE_RX], s->rx.head, 0);
		s->rx_held = false;
		return;
	}
	got = recvmsg(c->fd, &(struct msghdr){.msg_iov = iov, .msg_iovlen = n}, MSG_DONTWAIT);
	if (got < 0) {
		c->readable = false;
		if (errno != EAGAIN && errno != EINTR) {
			vsock_abort(c);
		}
		return;
	}
	if (got == 0) {
		c->readable = false;
		c->host_ended = true;
		c->due |= VSOCK_DUE_SHUTDOWN;
		return;
	}
	c->sent += (uint32_t)got;
	h = header(c, VIRTIO_VSOCK_OP_RW);
	h.len = (uint32_t)got;
	push_rx(s, &h);
	if (vsock_credit(c) == 0) {
		c->due |= VSOCK_DUE_ASK;
	}
}

/* The next connection with something for the guest, each in its turn. */
static struct vsock_conn *next_sender(struct virtio_vsock *s)
{
	for (unsigned int i = 0; i < VSOCK_CONNS_MAX; i++) {
		struct vsock_conn *c = &s->conns[(s->turn + i) % VSOCK_CONNS_MAX];

		if (c->due || may_send(c)) {
			s->turn = (s->turn + i + 1) % VSOCK_CONNS_MAX;
			return c;
		}
	}
	return NULL;
}

/* Returns true when there is more, and room for it. */
static bool serve_rx(struct virtio_vsock *s)
{
	bool live = take_lock(s);
	unsigned int left = VIRTIO_BUDGET;

	for (; live && left > 0; left--) {
		struct vsock_conn *c = s->reset_count ? NULL : next_sender(s);

		if ((!s->reset_count && !c) || !hold_rx(s)) {
			break;
		}
		if (s->reset_count) {
			send_reset(s);
		} else if (c->due) {
			send_due(c);
		} else {
			send_data(c);
		}
	}
	virtio_unlock(&s->v);
	return left == 0;
}

static uint32_t take(struct virtio_vsock *s, struct virtq *q, const struct virtq_chain *chain)
{
	struct virtio_vsock_hdr h;

	/* 5.10.6.4: what is not from this guest, or not whole, is no packet. */
	if (virtq_read(q, chain, 0, &h, sizeof(h)) == 0 && h.src_cid == s->config.guest_cid &&
	    h.len <= chain->out_bytes - sizeof(h)) {
		vsock_take_packet(s, &h, q, chain);
	}
	return 0;
}

/* A packet is taken only when an answer to it can be kept: 5.10.6.1.2. */
static bool serve_tx(struct virtio_vsock *s)
{
	struct virtq *q = &s->v.queues[QUEUE_TX];
	unsigned int left = VIRTIO_BUDGET;
	bool more = take_lock(s);

	while (more && left > 0 && s->reset_count < VSOCK_RESETS_MAX) {
		virtq_quiet(q);
		while (left > 0 && s->reset_count < VSOCK_RESETS_MAX &&
		       virtq_pop(q, &s->v.chain) == 0) {
			virtq_push(q, s->v.chain.head, take(s, q, &s->v.chain));
			left--;
		}
		left -= left > 0;
		more = left == 0 || virtq_listen(q);
	}
	virtio_unlock(&s->v);
	return more && left == 0;
}

/* Returns true when there is more to do at once. */
static bool serve_all(struct virtio_vsock *s)
{
	bool full, more;

	more = serve_tx(s);
	full = s->reset_count == VSOCK_RESETS_MAX;
	more |= serve_rx(s);
	/* Packets wait for answers to go out: some did. */
	more |= full && s->reset_count < VSOCK_RESETS_MAX;
	for (unsigned int i = 0; i < VSOCK_CONNS_MAX; i++) {
		if (s->conns[i].state != VSOCK_FREE) {
			vsock_watch(&s->conns[i]);
		}
	}
	return more;
}

/**
 * vsock_pump() - something happened on the host's side: move what can be moved
 * @s: the device
 *
 * Context: the event loop, without the lock.
 */
void vsock_pump(struct virtio_vsock *s)
{
	if (serve_all(s)) {
		virtio_ring(&s->v);
	}
}

/**
 * virtio_vsock_watch() - serve the host's side on a loop
 * @s: a device
 * @loop: the loop that its doorbell is served on
 *
 * Return: 0 or −errno.
 * Context: the event loop's thread.
 */
int virtio_vsock_watch(struct virtio_vsock *s, struct evloop *loop)
{
	s->loop = loop;
	return vsock_watch_listener(s);
}

/**
 * virtio_vsock_unwatch() - the end: what the guest has sent goes to the host, as far as that takes
 * it at once, and the host's side is served no more
 * @s: a device, watched or not; the vCPUs have ended
 *
 * Context: the event loop's thread.
 */
void virtio_vsock_unwatch(struct virtio_vsock *s)
{
	if (!s->loop) {
		return;
	}
	while (serve_tx(s)) {
	}
	s->loop = NULL;
	evloop_remove(s->listener);
	s->listener = NULL;
	for (unsigned int i = 0; i < VSOCK_CONNS_MAX; i++) {
		vsock_watch(&s->conns[i]);
	}
}

static bool serve(struct virtio_mmio *v)
{
	return serve_all((struct virtio_vsock *)v);
}

/* On a vCPU's thread: connections are the loop's, so it ends them. */
static void on_reset(struct virtio_mmio *v)
{
	struct virtio_vsock *s = (struct virtio_vsock *)v;

	s->rx_held = false;
	s->was_reset = true;
	virtio_ring(v);
}

static const struct virtio_ops vsock_ops = {
	.name = "virtio-vsock",
	.id = VIRTIO_ID_VSOCK,
	.serve = serve,
	.reset = on_reset,
};

/**
 * virtio_vsock_init() - a socket device, and its Unix socket for the host's programs
 * @s: the caller's memory; it must stay where it is until virtio_vsock_fini()
 * @place: where it is
 * @path: of the Unix socket, at most VSOCK_PATH_MAX bytes; one that nobody serves is replaced
 * @cid: the guest's address, VSOCK_CID_MIN to VSOCK_CID_MAX
 * @e: gets one line
 *
 * Return: 0; −EINVAL for a CID or a path that cannot be; −EADDRINUSE for a path that somebody
 * serves, or that is no socket; another −errno.
 * Context: before any vCPU runs.
 */
int virtio_vsock_init(struct virtio_vsock *s, const struct virtio_place *place, const char *path,
		      uint32_t cid, struct err *e)
{
	int r;

	memset(s, 0, sizeof(*s));
	s->listen_fd = -1;
	s->next_port = FIRST_PORT;
	s->config.guest_cid = cid;
	if (cid < VSOCK_CID_MIN || cid > VSOCK_CID_MAX) {
		return err_set(e, -EINVAL, "vsock: expected a CID of %d to %u, got %u",
			       VSOCK_CID_MIN, VSOCK_CID_MAX, cid);
	}
	if (strlen(path) > VSOCK_PATH_MAX || *path == '\0') {
		return err_set(e, -EINVAL,
			       "vsock: expected a path of 1 to %d bytes (\"_PORT\" must fit behind "
			       "it in a socket's address), got %zu",
			       VSOCK_PATH_MAX, strlen(path));
	}
	memcpy(s->path, path, strlen(path));
	for (unsigned int i = 0; i < VSOCK_CONNS_MAX; i++) {
		s->conns[i].vsock = s;
		s->conns[i].fd = -1;
	}
	r = vsock_listen(s, e);
	if (r < 0) {
		return r;
	}
	r = virtio_init(&s->v, &vsock_ops, place, QUEUES, F_STREAM, &s->config, sizeof(s->config));
	if (r < 0) {
		vsock_unlisten(s);
		return err_errno(e, r, "vsock: cannot make the device");
	}
	for (unsigned int i = 0; i < QUEUES; i++) {
		s->v.queues[i].max = ENTRIES;
	}
	device_reset(&s->v.dev); /* queues start at their own size */
	s->was_reset = false;
	return 0;
}

/**
 * virtio_vsock_fini() - end all connections, and free what virtio_vsock_init() made
 * @s: a device that was initialised, and is not watched
 *
 * Context: after the last vCPU thread has ended.
 */
void virtio_vsock_fini(struct virtio_vsock *s)
{
	for (unsigned int i = 0; i < VSOCK_CONNS_MAX; i++) {
		vsock_free(&s->conns[i]);
	}
	vsock_unlisten(s);
	virtio_fini(&s->v);
}
