/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * virtio.elf: a driver that breaks the rules of virtio 1.2, on every entropy, block, network,
 * socket and console device that the machine has. A network device is to be sent frames of
 * NET_BYTES all the time. A broken request must come back alone and unanswered; a broken ring must
 * set DEVICE_NEEDS_RESET; and afterwards the device must serve a good request.
 */
#include <linux/virtio_config.h>
#include <linux/virtio_console.h>
#include <linux/virtio_ids.h>
#include <linux/virtio_mmio.h>
#include <linux/virtio_ring.h>
#include <linux/virtio_vsock.h>

#include "fw.h"

#define SLOTS_GPA  UINT64_C(0xfeb00000)
#define SLOT_BYTES 0x1000
#define SLOTS      18
#define MAGIC      0x74726976
#define SIZE       8 /* entries of the queue */
#define NO_RAM     UINT64_C(0xf0000000)
#define NET_BYTES  64 /* of a frame */
#define NET_HEADER 12
#define PACKET     44 /* bytes of a socket packet without data */
#define GUEST_CID  3
#define HOST_CID   2
#define SPINS      2000000 /* an answer comes long before, or never */
#define FEW_SPINS  20000
#define RUNNING    15 /* the status of a device at work */

#define NEXT       VRING_DESC_F_NEXT
#define WRITE      VRING_DESC_F_WRITE
#define TABLE      VRING_DESC_F_INDIRECT

static struct {
	struct vring_desc desc[SIZE];
	struct vring_desc table[SIZE];
	struct {
		uint16_t flags, idx, ring[SIZE], event;
	} avail;
	struct {
		uint16_t flags, idx;
		struct vring_used_elem ring[SIZE];
		uint16_t event;
	} used __attribute__((aligned(4)));
	uint8_t buffer[1024];
	struct {
		uint32_t type, reserved;
		uint64_t sector;
	} header;
	uint8_t status;
} ram __attribute__((aligned(4096)));

#define A ((uintptr_t)ram.buffer)
#define T ((uintptr_t)ram.table)

static uintptr_t base;
static uint32_t id;
static uint32_t queue; /* the one to break */

static uint32_t get(uint32_t reg)
{
	return *(volatile uint32_t *)(base + reg);
}

static void set(uint32_t reg, uint64_t value)
{
	*(volatile uint32_t *)(base + reg) = (uint32_t)value;
}

static void set_address(uint32_t reg, const void *at)
{
	set(reg, (uintptr_t)at);
	set(reg + 4, (uintptr_t)at >> 32);
}

/* From reset to work, with one queue. */
static bool start(bool event_idx)
{
	memset(&ram, 0, sizeof(ram));
	set(VIRTIO_MMIO_STATUS, 0);
	set(VIRTIO_MMIO_STATUS, VIRTIO_CONFIG_S_ACKNOWLEDGE);
	set(VIRTIO_MMIO_STATUS, VIRTIO_CONFIG_S_ACKNOWLEDGE | VIRTIO_CONFIG_S_DRIVER);
	set(VIRTIO_MMIO_DRIVER_FEATURES_SEL, 0);
	set(VIRTIO_MMIO_DRIVER_FEATURES,
	    1u << VIRTIO_RING_F_INDIRECT_DESC | (uint32_t)event_idx << VIRTIO_RING_F_EVENT_IDX);
	set(VIRTIO_MMIO_DRIVER_FEATURES_SEL, 1);
	set(VIRTIO_MMIO_DRIVER_FEATURES, 1u << (VIRTIO_F_VERSION_1 - 32));
	set(VIRTIO_MMIO_STATUS, RUNNING & ~VIRTIO_CONFIG_S_DRIVER_OK);
	set(VIRTIO_MMIO_QUEUE_SEL, queue);
	set(VIRTIO_MMIO_QUEUE_NUM, SIZE);
	set_address(VIRTIO_MMIO_QUEUE_DESC_LOW, ram.desc);
	set_address(VIRTIO_MMIO_QUEUE_AVAIL_LOW, &ram.avail);
	set_address(VIRTIO_MMIO_QUEUE_USED_LOW, &ram.used);
	set(VIRTIO_MMIO_QUEUE_READY, 1);
	set(VIRTIO_MMIO_STATUS, RUNNING);
	return get(VIRTIO_MMIO_STATUS) == RUNNING;
}

static void offer(uint16_t head)
{
	ram.avail.ring[ram.avail.idx % SIZE] = head;
	__atomic_store_n(&ram.avail.idx, (uint16_t)(ram.avail.idx + 1), __ATOMIC_RELEASE);
	set(VIRTIO_MMIO_QUEUE_NOTIFY, queue);
}

/* Has the device given back all that it was offered? */
static bool wait_used(uint64_t spins)
{
	while (__atomic_load_n(&ram.used.idx, __ATOMIC_ACQUIRE) != ram.avail.idx) {
		if (spins-- == 0) {
			return false;
		}
		__asm__ volatile("pause");
	}
	return true;
}

static bool wait_needs_reset(void)
{
	for (unsigned int i = 0; i < FEW_SPINS; i++) {
		if (get(VIRTIO_MMIO_STATUS) & VIRTIO_CONFIG_S_NEEDS_RESET) {
			return true;
		}
	}
	return false;
}

static const struct vring_used_elem *last_used(void)
{
	return &ram.used.ring[(uint16_t)(ram.used.idx - 1) % SIZE];
}

/* One buffer to the device, which answers nothing. */
static bool send_buffer(uint32_t bytes)
{
	ram.desc[0] = (struct vring_desc){A, bytes, 0, 0};
	offer(0);
	return wait_used(SPINS) && last_used()->len == 0;
}

static struct virtio_vsock_hdr *packet(void)
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

/* A request as it should be: random bytes, the first sector, a frame, a packet, a message, text. */
static bool good_request(void)
{
	if (id == VIRTIO_ID_RNG) {
		ram.desc[0] = (struct vring_desc){A, 64, WRITE, 0};
		offer(0);
		return wait_used(SPINS) && last_used()->len == 64;
	}
	if (id == VIRTIO_ID_NET && queue == 0) {
		ram.desc[0] = (struct vring_desc){A, sizeof(ram.buffer), WRITE, 0};
		offer(0);
		return wait_used(SPINS) && last_used()->len == NET_HEADER + NET_BYTES;
	}
	if (id == VIRTIO_ID_NET) {
		memset(ram.buffer, 0, NET_HEADER);
		return send_buffer(NET_HEADER + NET_BYTES);
	}
	if (id == VIRTIO_ID_VSOCK) {
		packet();
		return send_buffer(PACKET);
	}
	if (id == VIRTIO_ID_CONSOLE) {
		memset(ram.buffer, 0, sizeof(struct virtio_console_control));
		return send_buffer(sizeof(struct virtio_console_control));
	}
	ram.status = 0xff;
	ram.desc[0] = (struct vring_desc){(uintptr_t)&ram.header, 16, NEXT, 1};
	ram.desc[1] = (struct vring_desc){A, 512, NEXT | WRITE, 2};
	ram.desc[2] = (struct vring_desc){(uintptr_t)&ram.status, 1, WRITE, 0};
	offer(0);
	return wait_used(SPINS) && *(volatile uint8_t *)&ram.status == 0;
}

struct fault {
	const char *what;
	struct vring_desc desc[2], table[2];
};

static void check_chains(bool event_idx)
{
	const struct fault faults[] = {
		{"a loop of one", {{A, 4, NEXT, 0}}, {{0}}},
		{"a loop of two", {{A, 4, NEXT, 1}, {A, 4, NEXT, 0}}, {{0}}},
		{"a next outside of the table", {{A, 4, NEXT, SIZE}}, {{0}}},
		{"a next far outside", {{A, 4, NEXT, 0xffff}}, {{0}}},
		{"an empty buffer", {{A, 0, WRITE, 0}}, {{0}}},
		{"an empty buffer behind another", {{A, 4, NEXT, 1}, {A, 0, WRITE, 0}}, {{0}}},
		{"a buffer that is no RAM", {{NO_RAM, 16, WRITE, 0}}, {{0}}},
		{"a buffer over the end of RAM", {{A, 0xf0000000, WRITE, 0}}, {{0}}},
		{"an address that wraps", {{UINT64_MAX - 7, 16, WRITE, 0}}, {{0}}},
		{"an address beyond 52 bits", {{UINT64_C(1) << 60, 16, WRITE, 0}}, {{0}}},
		{"the longest buffer", {{0, UINT32_MAX, WRITE, 0}}, {{0}}},
		{"to read behind to write", {{A, 4, WRITE | NEXT, 1}, {A, 4, 0, 0}}, {{0}}},
		{"a table of nothing", {{T, 0, TABLE, 0}}, {{0}}},
		{"a table of half a descriptor", {{T, 24, TABLE, 0}}, {{A, 4, WRITE, 0}}},
		{"a table that is no RAM", {{NO_RAM, 16, TABLE, 0}}, {{0}}},
		{"a table that wraps", {{UINT64_MAX - 15, 32, TABLE, 0}}, {{0}}},
		{"a table with more behind it", {{T, 16, TABLE | NEXT, 1}}, {{A, 4, WRITE, 0}}},
		{"a table in a table", {{T, 16, TABLE, 0}}, {{T + 16, 16, TABLE, 0}}},
		{"a table in itself", {{T, 16, TABLE, 0}}, {{T, 16, TABLE, 0}}},
		{"a next outside of its table", {{T, 16, TABLE, 0}}, {{A, 4, NEXT | WRITE, 1}}},
		{"a loop in a table", {{T, 32, TABLE, 0}}, {{A, 4, NEXT, 1}, {A, 4, NEXT, 0}}},
	};

	for (unsigned int i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		const struct fault *f = &faults[i];
		bool back;

		if (!start(event_idx)) {
			report(false, "%s: the device does not start", f->what);
			continue;
		}
		memcpy(ram.desc, f->desc, sizeof(f->desc));
		memcpy(ram.table, f->table, sizeof(f->table));
		offer(0);
		back = wait_used(SPINS);
		report(back && last_used()->len == 0 && get(VIRTIO_MMIO_STATUS) == RUNNING,
		       "%s fails alone", f->what);
		report(good_request(), "after %s the next is served", f->what);
	}
}

static void check_ring(const char *what, uint16_t head, uint16_t idx)
{
	if (!start(false)) {
		report(false, "%s: the device does not start", what);
		return;
	}
	ram.desc[0] = (struct vring_desc){A, 4, WRITE, 0};
	ram.avail.ring[0] = head;
	__atomic_store_n(&ram.avail.idx, idx, __ATOMIC_RELEASE);
	set(VIRTIO_MMIO_QUEUE_NOTIFY, queue);
	report(wait_needs_reset() && ram.used.idx == 0, "%s asks for a reset", what);
	__atomic_store_n(&ram.avail.idx, (uint16_t)1, __ATOMIC_RELEASE);
	ram.avail.ring[0] = 0;
	set(VIRTIO_MMIO_QUEUE_NOTIFY, queue);
	report(!wait_used(FEW_SPINS), "after %s nothing is served", what);
	report(start(false) && good_request(), "after %s and a reset all is well", what);
}

/* Every offset at one width, read and written with every bit set. */
static void check_registers(unsigned int width)
{
	for (uintptr_t at = base; at + width <= base + 0x140; at += width == 4 ? 4 : 1) {
		switch (width) {
		case 1:
			*(volatile uint8_t *)at;
			*(volatile uint8_t *)at = 0xff;
			break;
		case 2:
			*(volatile uint16_t *)at;
			*(volatile uint16_t *)at = 0xffff;
			break;
		case 4:
			*(volatile uint32_t *)at;
			*(volatile uint32_t *)at = UINT32_MAX;
			break;
		default:
			*(volatile uint64_t *)at;
			*(volatile uint64_t *)at = UINT64_MAX;
			break;
		}
	}
	report(get(VIRTIO_MMIO_MAGIC_VALUE) == MAGIC && start(true) && good_request(),
	       "it outlives accesses of %u bytes at every offset", width);
}

/* Frames that go nowhere: each comes back, and the next good one does too. */
static void check_frames(void)
{
	static const struct {
		const char *what;
		uint8_t flags, gso_type;
		uint16_t gso_size, csum_start, csum_offset;
		uint32_t bytes; /* header and all; 0: a good frame's */
	} frames[] = {
		{"less than a header", .bytes = 5},
		{"a header alone", .bytes = NET_HEADER},
		{"less than an Ethernet header", .bytes = NET_HEADER + 13},
		{"a frame longer than any", .bytes = 0x11000},
		{"a checksum that was not agreed on", .flags = 1, .csum_start = 34},
		{"a checksum outside of the frame", .flags = 1, .csum_start = 0xffff,
		 .csum_offset = 0xffff},
		{"segments that were not agreed on", .flags = 1, .gso_type = 1, .gso_size = 1448},
		{"segments of no size", .flags = 1, .gso_type = 1},
		{"segments of no kind", .flags = 1, .gso_type = 0x7f, .gso_size = 1448},
		{"every bit of the header", 0xff, 0xff, 0xffff, 0xffff, 0xffff, 0},
	};

	for (unsigned int i = 0; i < sizeof(frames) / sizeof(frames[0]); i++) {
		bool up = start(false);

		ram.buffer[0] = frames[i].flags;
		ram.buffer[1] = frames[i].gso_type;
		memcpy(ram.buffer + 4, &frames[i].gso_size, 2);
		memcpy(ram.buffer + 6, &frames[i].csum_start, 2);
		memcpy(ram.buffer + 8, &frames[i].csum_offset, 2);
		ram.desc[0] = (struct vring_desc){
			A, frames[i].bytes ? frames[i].bytes : NET_HEADER + NET_BYTES, 0, 0};
		offer(0);
		report(up && wait_used(SPINS) && last_used()->len == 0 &&
			       get(VIRTIO_MMIO_STATUS) == RUNNING,
		       "%s comes back", frames[i].what);
		report(good_request(), "after %s the next goes", frames[i].what);
	}
}

/* Packets whose chain is good and whose header is not. */
static void check_packets(void)
{
	const struct {
		const char *what;
		uint32_t bytes; /* of the chain; 0: a whole header and 64 bytes of data */
		uint64_t src_cid, dst_cid;
		uint32_t len;
		uint16_t type, op;
		uint32_t flags;
	} packets[] = {
		{"half a header", 20, 3, 2, 0, 1, 1, 0},
		{"a header without its last byte", PACKET - 1, 3, 2, 0, 1, 1, 0},
		{"another guest's address", 0, 4, 2, 0, 1, 1, 0},
		{"an address of 64 bits", 0, UINT64_MAX, UINT64_MAX, 0, 1, 1, 0},
		{"data for another guest", 0, 3, 5, 64, 1, 5, 0},
		{"more data than there is", 0, 3, 2, 65, 1, 5, 0},
		{"the longest data", 0, 3, 2, UINT32_MAX, 1, 5, 0},
		{"data that wraps with its header", 0, 3, 2, UINT32_MAX - 40, 1, 5, 0},
		{"data of no connection", 0, 3, 2, 64, 1, 5, 0},
		{"a connection to a port where nobody is", 0, 3, 2, 0, 1, 1, 0},
		{"an answer to no question", 0, 3, 2, 0, 1, 2, 0},
		{"an end of no connection", 0, 3, 2, 0, 1, 4, UINT32_MAX},
		{"a question for credit of no connection", 0, 3, 2, 0, 1, 7, 0},
		{"no operation", 0, 3, 2, 0, 1, 0, 0},
		{"an operation that there is not", 0, 3, 2, 0, 1, UINT16_MAX, 0},
		{"a type that there is not", 0, 3, 2, 0, UINT16_MAX, 1, 0},
		{"packets with borders", 0, 3, 2, 0, VIRTIO_VSOCK_TYPE_SEQPACKET, 1, 0},
	};

	for (unsigned int i = 0; i < sizeof(packets) / sizeof(packets[0]); i++) {
		bool up = start(false);
		struct virtio_vsock_hdr *h = packet();

		h->src_cid = packets[i].src_cid;
		h->dst_cid = packets[i].dst_cid;
		h->len = packets[i].len;
		h->type = packets[i].type;
		h->op = packets[i].op;
		h->flags = packets[i].flags;
		report(up && send_buffer(packets[i].bytes ? packets[i].bytes : PACKET + 64) &&
			       get(VIRTIO_MMIO_STATUS) == RUNNING,
		       "%s comes back", packets[i].what);
		report(good_request(), "after %s the next is taken", packets[i].what);
	}
}

static void check_queue(const char *name)
{
	report_group(name);
	report(start(false) && good_request(), "a good request is served");
	report(start(true) && good_request(), "a good request is served with event index");
	check_chains(false);
	check_chains(true);
	check_ring("an index that ran too far", 0, SIZE + 1);
	check_ring("an index that went backwards", 0, 0xffff);
	check_ring("a head outside of the table", SIZE, 1);
	check_ring("a head far outside", 0xffff, 1);
	for (unsigned int width = 1; width <= 8; width *= 2) {
		check_registers(width);
	}
}

static void check_device(void)
{
	queue = 0;
	switch (id) {
	case VIRTIO_ID_RNG:
		check_queue("rng");
		break;
	case VIRTIO_ID_NET:
		check_queue("net-rx");
		queue = 1;
		check_queue("net-tx");
		check_frames();
		break;
	case VIRTIO_ID_VSOCK:
		queue = 1;
		check_queue("vsock-tx");
		check_packets();
		break;
	case VIRTIO_ID_CONSOLE:
		queue = 1;
		check_queue("console-tx");
		queue = 3;
		check_queue("console-control");
		break;
	default:
		check_queue("blk");
		break;
	}
}

uint64_t payload_main(void)
{
	unsigned int found = 0;

	if (!fw_map_mmio(SLOTS_GPA)) {
		report_skip("0x%lx cannot be mapped", SLOTS_GPA);
		return report_summary();
	}
	for (unsigned int i = 0; i < SLOTS; i++) {
		base = SLOTS_GPA + i * SLOT_BYTES;
		id = get(VIRTIO_MMIO_MAGIC_VALUE) == MAGIC ? get(VIRTIO_MMIO_DEVICE_ID) : 0;
		if (id == VIRTIO_ID_RNG || id == VIRTIO_ID_BLOCK || id == VIRTIO_ID_NET ||
		    id == VIRTIO_ID_VSOCK || id == VIRTIO_ID_CONSOLE) {
			check_device();
			found++;
		}
	}
	if (found == 0) {
		report_skip("this machine has no device that is known here");
	}
	return report_summary();
}
