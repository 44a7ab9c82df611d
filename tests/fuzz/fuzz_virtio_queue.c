/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The ring walker alone, under a driver that writes whatever it likes wherever it likes. */
#include "support.h"

#include <errno.h>

#include "devices/virtio/queue.h"
#include "fuzz.h"
#include "vring.h"

enum { OP_DESC, OP_TABLE, OP_OFFER, OP_INDEX, OP_POP, OP_FLAGS, OP_POKE, OP_READY, OP_COUNT };

static struct vring_driver drv;
static struct gmem mem;
static unsigned char *ram;
static struct virtq q;
static struct virtq_chain chain;

/* Most addresses are RAM, the last few values are not, or wrap. */
static uint64_t address(uint16_t a)
{
	return a < 0xfff0 ? (uint64_t)a * 4 : UINT64_MAX - (uint64_t)(0xffff - a) * 2;
}

static uint32_t length(uint16_t b)
{
	return b < 0xff00 ? b & 0xfff : UINT32_MAX - (0xffffu - b);
}

static void make_ready(uint8_t how)
{
	virtq_reset(&q);
	vring_driver_init(&drv, ram, 1u << (how & 7));
	q.size = (uint16_t)drv.size;
	q.desc = drv.desc;
	q.avail = drv.avail;
	q.used = drv.used;
	q.event_idx = how & 8;
	q.indirect = how & 16;
	must(virtq_make_ready(&q) == 0);
}

/* Everything that a device does with a request. */
static void use_chain(void)
{
	struct iovec iov[VIRTQ_SIZE_MAX];
	uint8_t buf[512];
	unsigned int n = 0;
	uint64_t sum = 0;
	uint32_t some = chain.out_bytes < sizeof(buf) ? chain.out_bytes : sizeof(buf);

	must(chain.head < q.size);
	must(chain.out_segs + chain.in_segs >= 1 && chain.out_segs + chain.in_segs <= q.size);
	must(virtq_read(&q, &chain, chain.out_bytes - some, buf, some) == 0);
	must(virtq_read(&q, &chain, chain.out_bytes, buf, 1) == -EINVAL);
	must(virtq_iov(&q, &chain, VIRTQ_IN, 0, chain.in_bytes, iov, &n) == 0);
	must(n == chain.in_segs);
	for (unsigned int i = 0; i < n; i++) {
		const unsigned char *at = iov[i].iov_base;

		must(at >= ram && iov[i].iov_len > 0 &&
		     iov[i].iov_len <= (size_t)(ram + VRING_RAM_BYTES - at));
		sum += iov[i].iov_len;
	}
	must(sum == chain.in_bytes);
	some = chain.in_bytes < sizeof(buf) ? chain.in_bytes : sizeof(buf);
	memset(buf, 0, sizeof(buf));
	must(virtq_write(&q, &chain, chain.in_bytes - some, buf, some) == 0);
	virtq_push(&q, chain.head, chain.in_bytes);
}

static void pop_all(void)
{
	uint16_t before = q.next_avail;
	unsigned int popped = 0;

	virtq_quiet(&q);
	while (virtq_pop(&q, &chain) == 0) {
		use_chain();
		/* It may have been written over its own rings: only so many at a time. */
		if (++popped == VIRTQ_SIZE_MAX) {
			break;
		}
	}
	must(q.broken || (uint16_t)(q.next_avail - before) >= popped);
	virtq_must_tell(&q);
	virtq_listen(&q);
}

static void step(const struct fuzz_step *s)
{
	switch (s->op % OP_COUNT) {
	case OP_DESC:
	case OP_TABLE:
		vring_set_desc(&drv, s->op % OP_COUNT == OP_DESC ? drv.desc : VRING_TABLE, s->i,
			       address(s->a), length(s->b), s->c & 7, s->c >> 3);
		break;
	case OP_OFFER:
		vring_offer(&drv, s->i);
		break;
	case OP_INDEX:
		vring_set_avail_idx(&drv, s->a);
		break;
	case OP_POP:
		pop_all();
		break;
	case OP_FLAGS:
		vring_set_avail_flags(&drv, s->a & 1);
		vring_set_used_event(&drv, s->b);
		break;
	case OP_POKE:
		memcpy(ram + s->a * 4, &s->b, sizeof(s->b));
		break;
	default:
		make_ready(s->i);
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_step s;

	ram = calloc(1, VRING_RAM_BYTES);
	must(ram);
	gmem_init(&mem);
	must(gmem_add(&mem, 0, VRING_RAM_BYTES, ram) == 0);
	virtq_init(&q, &mem);
	make_ready(4 | 8 | 16);
	while (fuzz_next(&data, &size, &s)) {
		step(&s);
	}
	pop_all();
	gmem_fini(&mem);
	free(ram);
	return 0;
}
