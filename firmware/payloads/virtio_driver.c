/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The registers, the ring, and for each kind of device a request as it should be. */
#include <linux/fuse.h>

#include "virtio_priv.h"

#define ROOT_INODE   1
#define NO_INODE     (UINT64_C(1) << 40)
#define ANSWER       512 /* where in the buffer a file system's comes */
#define ANSWER_BYTES (sizeof(struct fuse_out_header) + sizeof(struct fuse_attr_out))

struct ring ram, other;
uintptr_t base;
uint32_t id;
uint32_t queue; /* the one to break */

uint32_t get(uint32_t reg)
{
	return *(volatile uint32_t *)(base + reg);
}

void set(uint32_t reg, uint64_t value)
{
	*(volatile uint32_t *)(base + reg) = (uint32_t)value;
}

static void set_address(uint32_t reg, const void *at)
{
	set(reg, (uintptr_t)at);
	set(reg + 4, (uintptr_t)at >> 32);
}

/* From reset to the queues. */
void prepare(bool event_idx)
{
	/* The memory is ours again when the reset is done, and not before. */
	set(VIRTIO_MMIO_STATUS, 0);
	memset(&ram, 0, sizeof(ram));
	set(VIRTIO_MMIO_STATUS, VIRTIO_CONFIG_S_ACKNOWLEDGE);
	set(VIRTIO_MMIO_STATUS, VIRTIO_CONFIG_S_ACKNOWLEDGE | VIRTIO_CONFIG_S_DRIVER);
	set(VIRTIO_MMIO_DRIVER_FEATURES_SEL, 0);
	set(VIRTIO_MMIO_DRIVER_FEATURES,
	    1u << VIRTIO_RING_F_INDIRECT_DESC | (uint32_t)event_idx << VIRTIO_RING_F_EVENT_IDX);
	set(VIRTIO_MMIO_DRIVER_FEATURES_SEL, 1);
	set(VIRTIO_MMIO_DRIVER_FEATURES, 1u << (VIRTIO_F_VERSION_1 - 32));
	set(VIRTIO_MMIO_STATUS, RUNNING & ~VIRTIO_CONFIG_S_DRIVER_OK);
}

void set_queue(unsigned int number, const struct ring *r)
{
	set(VIRTIO_MMIO_QUEUE_SEL, number);
	set(VIRTIO_MMIO_QUEUE_NUM, SIZE);
	set_address(VIRTIO_MMIO_QUEUE_DESC_LOW, r->desc);
	set_address(VIRTIO_MMIO_QUEUE_AVAIL_LOW, &r->avail);
	set_address(VIRTIO_MMIO_QUEUE_USED_LOW, &r->used);
	set(VIRTIO_MMIO_QUEUE_READY, 1);
}

/* From reset to work, with one queue. */
bool start(bool event_idx)
{
	prepare(event_idx);
	set_queue(queue, &ram);
	set(VIRTIO_MMIO_STATUS, RUNNING);
	return get(VIRTIO_MMIO_STATUS) == RUNNING;
}

void offer(uint16_t head)
{
	ram.avail.ring[ram.avail.idx % SIZE] = head;
	__atomic_store_n(&ram.avail.idx, (uint16_t)(ram.avail.idx + 1), __ATOMIC_RELEASE);
	set(VIRTIO_MMIO_QUEUE_NOTIFY, queue);
}

uint64_t ticks_now(void)
{
	uint32_t lo, hi;

	__asm__ volatile("rdtsc" : "=a"(lo), "=d"(hi));
	return (uint64_t)hi << 32 | lo;
}

/* Has the device given back all that it was offered? */
bool wait_used(uint64_t spins)
{
	uint64_t until = spins == SPINS ? ticks_now() + PATIENCE_TICKS : 0;

	while (__atomic_load_n(&ram.used.idx, __ATOMIC_ACQUIRE) != ram.avail.idx) {
		if (spins > 0) {
			spins--;
		} else if (ticks_now() >= until) {
			return false;
		}
		__asm__ volatile("pause");
	}
	return true;
}

bool wait_needs_reset(void)
{
	for (unsigned int i = 0; i < FEW_SPINS; i++) {
		if (get(VIRTIO_MMIO_STATUS) & VIRTIO_CONFIG_S_NEEDS_RESET) {
			return true;
		}
	}
	return false;
}

const struct vring_used_elem *last_used(void)
{
	return &ram.used.ring[(uint16_t)(ram.used.idx - 1) % SIZE];
}

static void put_buffer(uint32_t bytes)
{
	ram.desc[0] = (struct vring_desc){A, bytes, 0, 0};
	offer(0);
}

/* One buffer to the device, which answers nothing. */
bool send_buffer(uint32_t bytes)
{
	put_buffer(bytes);
	return wait_used(SPINS) && last_used()->len == 0;
}

/* A buffer for the device to fill. */
static void put_room(uint32_t bytes)
{
	ram.desc[0] = (struct vring_desc){A, bytes, WRITE, 0};
	offer(0);
}

struct virtio_vsock_hdr *packet(void)
{
	struct virtio_vsock_hdr *h = (struct virtio_vsock_hdr *)ram.buffer;

	memset(h, 0, PACKET);
	h->src_cid = GUEST_CID;
	h->dst_cid = HOST_CID;
	h->src_port = h->dst_port = 1;
	h->type = VIRTIO_VSOCK_TYPE_STREAM;
	h->op = VIRTIO_VSOCK_OP_RST; /* of a connection that there is not: needs no answer */
	return h;
}

static void put_fuse(uint32_t opcode, uint64_t inode, const void *arg, uint32_t bytes)
{
	struct fuse_in_header h = {.len = (uint32_t)sizeof(h) + bytes,
				   .opcode = opcode,
				   .unique = ram.avail.idx + 1u,
				   .nodeid = inode};

	memcpy(ram.buffer, &h, sizeof(h));
	memcpy(ram.buffer + sizeof(h), arg, bytes);
	memset(ram.buffer + ANSWER, 0xff, sizeof(ram.buffer) - ANSWER);
	ram.desc[0] = (struct vring_desc){A, h.len, NEXT, 1};
	ram.desc[1] = (struct vring_desc){A + ANSWER, sizeof(ram.buffer) - ANSWER, WRITE, 0};
	offer(0);
}

static bool fuse_answered(void)
{
	struct fuse_out_header h;

	memcpy(&h, ram.buffer + ANSWER, sizeof(h));
	return h.error == 0 && h.unique == ram.avail.idx && h.len == last_used()->len;
}

/* A file system is greeted once, however often its device is reset. */
void fs_hello(void)
{
	const struct fuse_init_in hello = {.major = FUSE_KERNEL_VERSION,
					   .minor = FUSE_KERNEL_MINOR_VERSION,
					   .max_readahead = 4096};

	queue = 1;
	report(start(false), "it starts");
	put_fuse(FUSE_INIT, 0, &hello, sizeof(hello));
	report(wait_used(SPINS) && fuse_answered(), "it says what it is");
}

/*
 * A request as it should be: random bytes, the first sector, a frame, a packet, a message, text;
 * of a file system, what the root directory is, or that a file is of no more interest.
 */
void put_request(void)
{
	static const struct fuse_getattr_in ask;
	static const struct fuse_forget_in forget = {.nlookup = 1};

	switch (id) {
	case VIRTIO_ID_RNG:
		put_room(64);
		break;
	case VIRTIO_ID_NET:
		if (queue == 0) {
			put_room(sizeof(ram.buffer));
		} else {
			memset(ram.buffer, 0, NET_HEADER);
			put_buffer(NET_HEADER + NET_BYTES);
		}
		break;
	case VIRTIO_ID_VSOCK:
		packet();
		put_buffer(PACKET);
		break;
	case VIRTIO_ID_CONSOLE:
		memset(ram.buffer, 0, sizeof(struct virtio_console_control));
		put_buffer(sizeof(struct virtio_console_control));
		break;
	case VIRTIO_ID_FS:
		if (queue == 0) {
			put_fuse(FUSE_FORGET, NO_INODE, &forget, sizeof(forget));
		} else {
			put_fuse(FUSE_GETATTR, ROOT_INODE, &ask, sizeof(ask));
		}
		break;
	default:
		ram.status = 0xff;
		ram.header.type = 0;
		ram.header.sector = 0;
		ram.desc[0] = (struct vring_desc){(uintptr_t)&ram.header, 16, NEXT, 1};
		ram.desc[1] = (struct vring_desc){A, 512, NEXT | WRITE, 2};
		ram.desc[2] = (struct vring_desc){(uintptr_t)&ram.status, 1, WRITE, 0};
		offer(0);
		break;
	}
}

bool good_request(void)
{
	uint32_t expected = 0;

	put_request();
	if (!wait_used(SPINS)) {
		return false;
	}
	switch (id) {
	case VIRTIO_ID_RNG:
		expected = 64;
		break;
	case VIRTIO_ID_NET:
		expected = queue == 0 ? NET_HEADER + NET_BYTES : 0;
		break;
	case VIRTIO_ID_FS:
		if (queue == 1 && !fuse_answered()) {
			return false;
		}
		expected = queue == 1 ? ANSWER_BYTES : 0;
		break;
	case VIRTIO_ID_BLOCK:
		return *(volatile uint8_t *)&ram.status == 0;
	default:
		break;
	}
	return last_used()->len == expected;
}
