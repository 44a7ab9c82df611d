/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a good driver does with a disk, a port and a socket, for the calls that the host makes of
 * it.
 */
#include <linux/virtio_blk.h>

#include "virtio_priv.h"

#define SECTOR      512
#define LAST_BYTES  4096 /* of a disk: these hold zeros, and do so afterwards */
#define RESULTS     5    /* the queue to the host of the console's port 1 */
#define LINE_BYTES  (300u << 10)
#define SOCKET_PORT 77
#define ROOM        1024 /* that we have for what the other end sends */

static bool disk_request(uint32_t type, uint64_t sector, uint32_t bytes, bool in)
{
	uint16_t data = bytes ? 1 : 2;

	ram.status = 0xff;
	ram.header.type = type;
	ram.header.sector = sector;
	ram.desc[0] = (struct vring_desc){(uintptr_t)&ram.header, 16, NEXT, data};
	ram.desc[1] = (struct vring_desc){A, bytes, in ? NEXT | WRITE : NEXT, 2};
	ram.desc[2] = (struct vring_desc){(uintptr_t)&ram.status, 1, WRITE, 0};
	offer(0);
	return wait_used(SPINS) && *(volatile uint8_t *)&ram.status == VIRTIO_BLK_S_OK;
}

static bool range_request(uint32_t type, uint64_t sector)
{
	const struct virtio_blk_discard_write_zeroes range = {.sector = sector,
							      .num_sectors = LAST_BYTES / SECTOR};

	memcpy(ram.buffer, &range, sizeof(range));
	return disk_request(type, 0, sizeof(range), false);
}

/* What is there stays as it is: a sector is written as it was read, and zeros become zeros. */
void use_disk(void)
{
	uint64_t last = *(volatile uint32_t *)(base + VIRTIO_MMIO_CONFIG);
	uint32_t offered;

	set(VIRTIO_MMIO_DEVICE_FEATURES_SEL, 0);
	offered = get(VIRTIO_MMIO_DEVICE_FEATURES);
	if (offered & 1u << VIRTIO_BLK_F_RO || last < LAST_BYTES / SECTOR) {
		return;
	}
	last -= LAST_BYTES / SECTOR;
	report(start(false) && disk_request(VIRTIO_BLK_T_IN, 0, SECTOR, true) &&
		       disk_request(VIRTIO_BLK_T_OUT, 0, SECTOR, false),
	       "a sector is read and written");
	report(disk_request(VIRTIO_BLK_T_FLUSH, 0, 0, false), "it is flushed");
	report(range_request(VIRTIO_BLK_T_DISCARD, last), "sectors are discarded");
	report(range_request(VIRTIO_BLK_T_WRITE_ZEROES, last), "sectors are zeroed");
}

/* A line for the host to keep until its end, which is far: no record, and told as such. */
void use_results(void)
{
	bool taken;

	queue = RESULTS;
	set(VIRTIO_MMIO_QUEUE_SEL, queue);
	if (!get(VIRTIO_MMIO_QUEUE_NUM_MAX)) {
		return; /* no agent is asked for */
	}
	taken = start(false);
	memset(ram.buffer, 'x', sizeof(ram.buffer));
	for (unsigned int i = 0; i < LINE_BYTES / sizeof(ram.buffer); i++) {
		taken = taken && send_buffer(sizeof(ram.buffer));
	}
	ram.buffer[0] = '\n';
	report(taken && send_buffer(1), "a line of %u bytes is taken", LINE_BYTES);
}

/* A packet of our connection, with bytes behind it. */
static bool say(uint32_t port, uint16_t op, uint32_t bytes)
{
	struct virtio_vsock_hdr *h = packet();

	h->src_port = SOCKET_PORT;
	h->dst_port = port;
	h->op = op;
	h->len = bytes;
	h->buf_alloc = ROOM;
	h->flags = op == VIRTIO_VSOCK_OP_SHUTDOWN ? VIRTIO_VSOCK_SHUTDOWN_SEND : 0;
	return send_buffer(PACKET + bytes);
}

/* The next packet from the other end, if it is such a one. */
static bool hear(uint16_t op, uint32_t bytes)
{
	const struct virtio_vsock_hdr *h = (const struct virtio_vsock_hdr *)other.buffer;
	uint16_t at = other.avail.idx;
	uint64_t until;

	other.desc[0] =
		(struct vring_desc){(uintptr_t)other.buffer, sizeof(other.buffer), WRITE, 0};
	other.avail.ring[at % SIZE] = 0;
	__atomic_store_n(&other.avail.idx, (uint16_t)(at + 1), __ATOMIC_RELEASE);
	set(VIRTIO_MMIO_QUEUE_NOTIFY, 0);
	until = ticks_now() + PATIENCE_TICKS;
	for (uint64_t spins = 0; spins < SPINS || ticks_now() < until; spins++) {
		if (__atomic_load_n(&other.used.idx, __ATOMIC_ACQUIRE) != at) {
			return h->op == op && h->len == bytes;
		}
		__asm__ volatile("pause");
	}
	return false;
}

/* A program of the host's listens there: it sends back the four bytes that it gets, and hangs up.
 */
void use_socket(uint32_t port)
{
	queue = 1;
	prepare(false);
	memset(&other, 0, sizeof(other));
	set_queue(0, &other);
	set_queue(1, &ram);
	set(VIRTIO_MMIO_STATUS, RUNNING);
	report(say(port, VIRTIO_VSOCK_OP_REQUEST, 0) && hear(VIRTIO_VSOCK_OP_RESPONSE, 0),
	       "a program of the host's takes a connection");
	report(say(port, VIRTIO_VSOCK_OP_RW, 4) && hear(VIRTIO_VSOCK_OP_RW, 4),
	       "bytes go there and back");
	report(say(port, VIRTIO_VSOCK_OP_SHUTDOWN, 0) && hear(VIRTIO_VSOCK_OP_SHUTDOWN, 0),
	       "both ends are done");
}
