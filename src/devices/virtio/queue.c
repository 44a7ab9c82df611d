/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See queue.h. Section numbers are those of virtio 1.2. */
#include "devices/virtio/queue.h"

#include <assert.h>
#include <errno.h>
#include <linux/virtio_ring.h>
#include <string.h>

/* 2.7: what each part takes, and how it is aligned. */
#define DESC_BYTES     sizeof(struct vring_desc)
#define DESC_ALIGN     16
#define AVAIL_IDX      2
#define AVAIL_RING     4
#define AVAIL_BYTES(n) (AVAIL_RING + 2 * (uint64_t)(n))
#define AVAIL_ALIGN    2
#define USED_IDX       2
#define USED_RING      4
#define USED_BYTES(n)  (USED_RING + sizeof(struct vring_used_elem) * (uint64_t)(n))
#define USED_ALIGN     4
#define EVENT_BYTES    2 /* behind either ring, with event index */

/**
 * virtq_init() - a queue as after power on
 * @q: the caller's memory
 * @mem: the machine's RAM, borrowed
 *
 * Context: before any vCPU runs.
 */
void virtq_init(struct virtq *q, const struct gmem *mem)
{
	*q = (struct virtq){.mem = mem, .max = VIRTQ_SIZE_MAX, .size = VIRTQ_SIZE_MAX};
}

/**
 * virtq_reset() - back to power on; what the driver left in memory is not touched
 * @q: a queue
 *
 * Context: with the device's lock.
 */
void virtq_reset(struct virtq *q)
{
	const struct virtq before = *q;

	virtq_init(q, before.mem);
	q->max = q->size = before.max;
	q->bad_chains = before.bad_chains;
	q->trace = before.trace;
}

/**
 * virtq_make_ready() - start with the size, the addresses and the features that were set
 * @q: a queue that is not ready
 *
 * Return: 0; -EINVAL for a size that is no power of two up to the queue's limit, or an address that
 * is not aligned (2.7); -EFAULT for a part that is not RAM.
 * Context: with the device's lock.
 */
int virtq_make_ready(struct virtq *q)
{
	uint64_t n = q->size;
	uint64_t event = q->event_idx ? EVENT_BYTES : 0;

	if (n == 0 || n > q->max || (n & (n - 1)) || q->desc % DESC_ALIGN ||
	    q->avail % AVAIL_ALIGN || q->used % USED_ALIGN) {
		return -EINVAL;
	}
	if (gmem_check(q->mem, q->desc, n * DESC_BYTES) < 0 ||
	    gmem_check(q->mem, q->avail, AVAIL_BYTES(n) + event) < 0 ||
	    gmem_check(q->mem, q->used, USED_BYTES(n) + event) < 0) {
		return -EFAULT;
	}
	q->next_avail = q->next_used = q->told_used = q->staged = 0;
	q->broken = false;
	q->ready = true;
	return 0;
}

/* How many requests the driver has added. */
static int load_pending(struct virtq *q, uint16_t *ret)
{
	uint16_t idx;

	if (gmem_load16(q->mem, q->avail + AVAIL_IDX, &idx) < 0) {
		return -EPROTO;
	}
	*ret = (uint16_t)(idx - q->next_avail);
	return *ret > q->size ? -EPROTO : 0;
}

/* Where the walk stands: in the queue's table, or in a request's own. */
struct walk {
	uint64_t table;
	uint32_t entries;
	uint32_t at;
	bool indirect;
};

/* Is this a descriptor that a device may follow? The length of a chain is checked by the caller. */
static int add_seg(const struct virtq *q, struct virtq_chain *c, const struct vring_desc *d)
{
	unsigned int n = c->out_segs + c->in_segs;
	bool in = d->flags & VRING_DESC_F_WRITE;
	uint32_t *total = in ? &c->in_bytes : &c->out_bytes;

	/* 2.7.4.2: all that is to be read comes first, and a chain has at most 2^32 bytes. */
	if (n == q->size || d->len == 0 || (!in && c->in_segs) ||
	    (uint64_t)c->out_bytes + c->in_bytes + d->len > UINT32_MAX ||
	    gmem_check(q->mem, d->addr, d->len) < 0) {
		return -EBADMSG;
	}
	c->segs[n] = (struct virtq_seg){.gpa = d->addr, .bytes = d->len};
	*total += d->len;
	c->out_segs += !in;
	c->in_segs += in;
	return 0;
}

/* 2.7.5.3: a table of descriptors, once in a chain and as its last entry. */
static int enter_table(const struct virtq *q, struct walk *w, const struct vring_desc *d)
{
	if (!q->indirect || w->indirect || (d->flags & VRING_DESC_F_NEXT) || d->len == 0 ||
	    d->len % DESC_BYTES) {
		return -EBADMSG;
	}
	*w = (struct walk){
		.table = d->addr, .entries = d->len / (uint32_t)DESC_BYTES, .indirect = true};
	return 0;
}

static int walk_chain(const struct virtq *q, struct virtq_chain *c)
{
	struct walk w = {.table = q->desc, .entries = q->size, .at = c->head};

	/* One step for each descriptor of the queue, and one for the table's. */
	for (unsigned int steps = 0; steps <= q->size; steps++) {
		struct vring_desc d;
		uint64_t at;
		int r;

		if (w.at >= w.entries ||
		    __builtin_add_overflow(w.table, w.at * (uint64_t)DESC_BYTES, &at) ||
		    gmem_read(q->mem, at, &d, sizeof(d)) < 0) {
			return -EBADMSG;
		}
		if (d.flags & VRING_DESC_F_INDIRECT) {
			r = enter_table(q, &w, &d);
			if (r < 0) {
				return r;
			}
			continue;
		}
		r = add_seg(q, c, &d);
		if (r < 0 || !(d.flags & VRING_DESC_F_NEXT)) {
			return r;
		}
		w.at = d.next;
	}
	return -EBADMSG;
}

/**
 * virtq_pop() - take the next request that the driver added
 * @q: a queue
 * @ret: set on success; give it back with virtq_push()
 *
 * Requests that are broken in themselves are given back at once and not returned.
 *
 * Return: 0; -ENODATA when there is none, or the queue is not ready; -EPROTO when the ring cannot
 * be trusted any more: nothing comes of it until it is reset.
 * Context: with the device's lock.
 */
int virtq_pop(struct virtq *q, struct virtq_chain *ret)
{
	uint16_t pending;

	if (!q->ready || q->broken) {
		return -ENODATA;
	}
	if (load_pending(q, &pending) < 0) {
		q->broken = true;
		return -EPROTO;
	}
	for (; pending > 0; pending--) {
		uint64_t slot = q->next_avail & (q->size - 1);
		uint16_t head;

		if (gmem_load16(q->mem, q->avail + AVAIL_RING + 2 * slot, &head) < 0 ||
		    head >= q->size) {
			q->broken = true;
			return -EPROTO;
		}
		q->next_avail++;
		if (q->trace.ring) {
			q->trace.taken_ns = trace_now_ns();
		}
		ret->head = head;
		ret->out_segs = ret->in_segs = 0;
		ret->out_bytes = ret->in_bytes = 0;
		if (walk_chain(q, ret) == 0) {
			return 0;
		}
		/* At most as many in a row as the queue is long: the driver cannot keep us here. */
		q->bad_chains++;
		virtq_push(q, head, 0);
	}
	return -ENODATA;
}

static void tell_request(const struct virtq *q, uint16_t head, uint32_t written)
{
	const struct trace_record r = {.kind = TRACE_SPAN,
				       .name = "request",
				       .track = q->trace.track,
				       .start_ns = q->trace.taken_ns,
				       .end_ns = trace_now_ns(),
				       .keys = {"head", "written"},
				       .values = {head, written}};

	trace_put(q->trace.ring, &r);
}

/**
 * virtq_push() - give a request back
 * @q: the queue that it came from
 * @head: of the chain
 * @written: bytes that the device wrote into it, from the first buffer on
 *
 * Context: with the device's lock.
 */
void virtq_push(struct virtq *q, uint16_t head, uint32_t written)
{
	virtq_stage(q, head, written);
	virtq_show(q);
}

/**
 * virtq_stage() - give a request back, together with others
 * @q: the queue that it came from
 * @head: of the chain
 * @written: bytes that the device wrote into it, from the first buffer on
 *
 * The driver sees none of them until virtq_show(), and then all at once.
 *
 * Context: with the device's lock.
 */
void virtq_stage(struct virtq *q, uint16_t head, uint32_t written)
{
	const struct vring_used_elem elem = {.id = head, .len = written};
	uint64_t slot = (uint16_t)(q->next_used + q->staged) & (q->size - 1);

	if (!q->ready || q->broken) {
		return;
	}
	if (gmem_write(q->mem, q->used + USED_RING + slot * sizeof(elem), &elem, sizeof(elem)) <
	    0) {
		q->broken = true;
		return;
	}
	q->staged++;
	if (q->trace.ring) {
		tell_request(q, head, written);
	}
}

/**
 * virtq_show() - show the driver what was staged
 * @q: a queue
 *
 * Context: with the device's lock.
 */
void virtq_show(struct virtq *q)
{
	uint16_t next = (uint16_t)(q->next_used + q->staged);

	if (!q->ready || q->broken || q->staged == 0) {
		return;
	}
	/* 2.7.8.2: the entries before the index that shows them; storing the index is a release. */
	if (gmem_store16(q->mem, q->used + USED_IDX, next) < 0) {
		q->broken = true;
		return;
	}
	q->next_used = next;
	q->staged = 0;
}

/**
 * virtq_must_tell() - does the driver want an interrupt for what was given back
 * @q: a queue
 *
 * Return: true at most once for each virtq_push() since the last call.
 * Context: with the device's lock.
 */
bool virtq_must_tell(struct virtq *q)
{
	uint16_t before = q->told_used, word = 0;

	if (!q->ready || q->next_used == before) {
		return false;
	}
	q->told_used = q->next_used;
	/* The driver sets its wish and then looks at the index again: both must not miss. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (q->event_idx) {
		return gmem_load16(q->mem, q->avail + AVAIL_BYTES(q->size), &word) == 0 &&
		       vring_need_event(word, q->next_used, before);
	}
	return gmem_load16(q->mem, q->avail, &word) == 0 && !(word & VRING_AVAIL_F_NO_INTERRUPT);
}

/**
 * virtq_quiet() - the driver need not tell of new requests for now
 * @q: a queue
 *
 * With event index nothing has to be done: the driver tells once, and then waits for listening.
 *
 * Context: with the device's lock.
 */
void virtq_quiet(struct virtq *q)
{
	if (q->ready && !q->broken && !q->event_idx) {
		q->broken = gmem_store16(q->mem, q->used, VRING_USED_F_NO_NOTIFY) < 0;
	}
}

/**
 * virtq_listen() - the driver is to tell of the next request
 * @q: a queue
 *
 * Return: true when there is one already, of which it may not tell.
 * Context: with the device's lock.
 */
bool virtq_listen(struct virtq *q)
{
	int r;

	if (!q->ready || q->broken) {
		return false;
	}
	r = q->event_idx ? gmem_store16(q->mem, q->used + USED_BYTES(q->size), q->next_avail)
			 : gmem_store16(q->mem, q->used, 0);
	q->broken = r < 0;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return virtq_has_next(q);
}

/**
 * virtq_has_next() - did the driver add a request that was not taken yet
 * @q: a queue
 *
 * Return: true also when the ring is broken and virtq_pop() would say so.
 * Context: with the device's lock.
 */
bool virtq_has_next(struct virtq *q)
{
	uint16_t pending = 0;

	return q->ready && !q->broken && (load_pending(q, &pending) < 0 || pending > 0);
}

/* The buffers, and parts of buffers, that a range of a request's bytes is made of. */
static int cut(const struct virtq_chain *c, enum virtq_dir dir, uint32_t offset, uint32_t bytes,
	       struct virtq_seg ret[VIRTQ_SIZE_MAX], unsigned int *ret_count)
{
	const struct virtq_seg *s = dir == VIRTQ_OUT ? c->segs : c->segs + c->out_segs;
	uint32_t total = dir == VIRTQ_OUT ? c->out_bytes : c->in_bytes;
	unsigned int n = 0;

	if (offset > total || bytes > total - offset) {
		return -EINVAL;
	}
	for (; bytes > 0; s++) {
		if (offset >= s->bytes) {
			offset -= s->bytes;
			continue;
		}
		ret[n].gpa = s->gpa + offset;
		ret[n].bytes = s->bytes - offset < bytes ? s->bytes - offset : bytes;
		bytes -= ret[n++].bytes;
		offset = 0;
	}
	*ret_count = n;
	return 0;
}

/**
 * virtq_read() - copy what the driver sent
 * @q: the queue
 * @c: a request of it
 * @offset: from the first byte to read, whatever buffers it is cut into
 * @buf: room for @bytes
 * @bytes: how many
 *
 * Return: 0, or -EINVAL when the request has fewer.
 * Context: with the device's lock.
 */
int virtq_read(const struct virtq *q, const struct virtq_chain *c, uint32_t offset, void *buf,
	       uint32_t bytes)
{
	struct virtq_seg seg[VIRTQ_SIZE_MAX];
	uint8_t *to = buf;
	unsigned int n = 0;
	int r = cut(c, VIRTQ_OUT, offset, bytes, seg, &n);

	for (unsigned int i = 0; i < n && r == 0; i++) {
		r = gmem_read(q->mem, seg[i].gpa, to, seg[i].bytes);
		to += seg[i].bytes;
	}
	return r;
}

/**
 * virtq_write() - fill in what the driver gave room for
 * @q: the queue
 * @c: a request of it
 * @offset: from the first byte to write
 * @buf: @bytes bytes
 * @bytes: how many
 *
 * Return: 0, or -EINVAL when the request has room for fewer.
 * Context: with the device's lock.
 */
int virtq_write(const struct virtq *q, const struct virtq_chain *c, uint32_t offset,
		const void *buf, uint32_t bytes)
{
	struct virtq_seg seg[VIRTQ_SIZE_MAX];
	const uint8_t *from = buf;
	unsigned int n = 0;
	int r = cut(c, VIRTQ_IN, offset, bytes, seg, &n);

	for (unsigned int i = 0; i < n && r == 0; i++) {
		r = gmem_write(q->mem, seg[i].gpa, from, seg[i].bytes);
		from += seg[i].bytes;
	}
	return r;
}

/**
 * virtq_iov() - a part of a request, for a system call that reads into it or writes from it
 * @q: the queue
 * @c: a request of it
 * @dir: the part to read or the part to write
 * @offset: from the first byte of that part
 * @bytes: how many
 * @ret: set on success; guest memory, never to be looked at from here
 * @ret_count: set on success
 *
 * Return: 0, -EINVAL when the request has fewer, -EFAULT for a buffer that lies in two regions.
 * Context: with the device's lock.
 */
int virtq_iov(const struct virtq *q, const struct virtq_chain *c, enum virtq_dir dir,
	      uint32_t offset, uint32_t bytes, struct iovec ret[VIRTQ_SIZE_MAX],
	      unsigned int *ret_count)
{
	struct virtq_seg seg[VIRTQ_SIZE_MAX];
	unsigned int n = 0;
	int r = cut(c, dir, offset, bytes, seg, &n);

	for (unsigned int i = 0; i < n && r == 0; i++) {
		ret[i].iov_len = seg[i].bytes;
		r = gmem_host_range(q->mem, seg[i].gpa, seg[i].bytes, &ret[i].iov_base);
	}
	if (r == 0) {
		*ret_count = n;
	}
	return r;
}
