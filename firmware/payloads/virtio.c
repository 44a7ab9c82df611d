/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * virtio.elf: a driver that breaks the rules of virtio 1.2, on every entropy, block, network,
 * socket, console and file system device that the machine has. A network device is to be sent
 * frames of NET_BYTES all the time. A broken request must come back alone and unanswered; a broken
 * ring must set DEVICE_NEEDS_RESET; and afterwards the device must serve a good request.
 *
 * The requests of a file system are served by a program that is not ours, and broken ones are its
 * own affair: it may end of them. With "fs_fault=N" that is all that happens: the N-th of them, on
 * a file system device.
 *
 * With "vsock_port=N" a socket device connects to that port of the host, too.
 */
#include "virtio_priv.h"

#define SLOTS_GPA  UINT64_C(0xfeb00000)
#define SLOT_BYTES 0x1000
#define SLOTS      18
#define MAGIC      0x74726976
#define RESETS     20
#define NO_NUMBER  UINT64_MAX

static const struct {
	const char *what;
	struct vring_desc desc[2], table[2];
} faults[] = {
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

static void put_fault(unsigned int i)
{
	memcpy(ram.desc, faults[i].desc, sizeof(faults[i].desc));
	memcpy(ram.table, faults[i].table, sizeof(faults[i].table));
	offer(0);
}

static void check_chains(bool event_idx)
{
	for (unsigned int i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		const char *what = faults[i].what;
		bool back;

		if (!start(event_idx)) {
			report(false, "%s: the device does not start", what);
			continue;
		}
		put_fault(i);
		back = wait_used(SPINS);
		report(back && last_used()->len == 0 && get(VIRTIO_MMIO_STATUS) == RUNNING,
		       "%s fails alone", what);
		report(good_request(), "after %s the next is served", what);
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

/* What cannot be a queue does not become one, and what is wrong before the start harms nothing. */
static void check_setup(void)
{
	static const struct {
		const char *what;
		uint32_t reg, value;
	} wrongs[] = {
		{"a queue of no entries", VIRTIO_MMIO_QUEUE_NUM, 0},
		{"a queue of three", VIRTIO_MMIO_QUEUE_NUM, 3},
		{"a queue of too many", VIRTIO_MMIO_QUEUE_NUM, 0x8000},
		{"a queue of 2^32 less one", VIRTIO_MMIO_QUEUE_NUM, UINT32_MAX},
		{"a table that is no RAM", VIRTIO_MMIO_QUEUE_DESC_LOW, (uint32_t)NO_RAM},
		{"a table beyond 52 bits", VIRTIO_MMIO_QUEUE_DESC_HIGH, 1u << 28},
		{"a table off its place", VIRTIO_MMIO_QUEUE_DESC_LOW, 8},
		{"an available ring that is no RAM", VIRTIO_MMIO_QUEUE_AVAIL_LOW, (uint32_t)NO_RAM},
		{"an available ring that wraps", VIRTIO_MMIO_QUEUE_AVAIL_HIGH, UINT32_MAX},
		{"a used ring that is no RAM", VIRTIO_MMIO_QUEUE_USED_LOW, (uint32_t)NO_RAM},
		{"a used ring that wraps", VIRTIO_MMIO_QUEUE_USED_HIGH, UINT32_MAX},
	};

	for (unsigned int i = 0; i < sizeof(wrongs) / sizeof(wrongs[0]); i++) {
		prepare(false);
		set_queue(queue, &ram);
		set(VIRTIO_MMIO_QUEUE_READY, 0);
		set(wrongs[i].reg, wrongs[i].value);
		set(VIRTIO_MMIO_QUEUE_READY, 1);
		report(!get(VIRTIO_MMIO_QUEUE_READY), "%s is not taken", wrongs[i].what);
		set(VIRTIO_MMIO_STATUS, RUNNING);
		set(VIRTIO_MMIO_QUEUE_NOTIFY, queue);
	}
	prepare(false);
	set(VIRTIO_MMIO_QUEUE_SEL, UINT32_MAX);
	set(VIRTIO_MMIO_QUEUE_NUM, SIZE);
	set(VIRTIO_MMIO_QUEUE_READY, 1);
	report(!get(VIRTIO_MMIO_QUEUE_READY) && !get(VIRTIO_MMIO_QUEUE_NUM_MAX),
	       "a queue that there is not is not taken");
	set(VIRTIO_MMIO_STATUS, 0);
	set(VIRTIO_MMIO_DRIVER_FEATURES_SEL, 0);
	set(VIRTIO_MMIO_DRIVER_FEATURES, UINT32_MAX);
	set_queue(queue, &ram);
	set(VIRTIO_MMIO_STATUS, RUNNING);
	report(!(get(VIRTIO_MMIO_STATUS) &
		 (VIRTIO_CONFIG_S_FEATURES_OK | VIRTIO_CONFIG_S_DRIVER_OK)),
	       "features that were not offered are not agreed on");
	set(VIRTIO_MMIO_QUEUE_NOTIFY, queue);
	report(start(false) && good_request(), "after all that all is well");
}

/* A reset comes at any time, and finds the device at work. */
static void check_resets(void)
{
	bool up = true;

	for (unsigned int i = 0; i < RESETS; i++) {
		up = up && start(i & 1);
		if (i & 2) {
			put_request();
		}
		if (i & 4) {
			wait_used(FEW_SPINS);
		}
	}
	set(VIRTIO_MMIO_STATUS, 0);
	report(up && start(false) && good_request(), "it outlives %u resets while it works",
	       RESETS);
}

static void check_width(void)
{
	for (unsigned int width = 1; width <= 8; width *= 2) {
		check_registers(width);
	}
}

static void check_queue(const char *name)
{
	report_group(name);
	report(start(false) && good_request(), "a good request is served");
	report(start(true) && good_request(), "a good request is served with event index");
	check_setup();
	check_resets();
	check_width();
	if (id == VIRTIO_ID_FS) {
		return;
	}
	check_chains(false);
	check_chains(true);
	check_ring("an index that ran too far", 0, SIZE + 1);
	check_ring("an index that went backwards", 0, 0xffff);
	check_ring("a head outside of the table", SIZE, 1);
	check_ring("a head far outside", 0xffff, 1);
}

static void check_device(void)
{
	uint32_t port = (uint32_t)fw_cmdline_number("vsock_port=", 0);

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
		if (port) {
			use_socket(port);
		}
		break;
	case VIRTIO_ID_CONSOLE:
		queue = 1;
		check_queue("console-tx");
		queue = 3;
		check_queue("console-control");
		use_results();
		break;
	case VIRTIO_ID_FS:
		report_group("fs");
		fs_hello();
		check_queue("fs-requests");
		queue = 0;
		check_queue("fs-forget");
		break;
	default:
		check_queue("blk");
		use_disk();
		break;
	}
}

/* What comes of it is for the host to see. */
static void break_file_system(unsigned int fault)
{
	report_group("fs");
	fs_hello();
	start(fault & 1);
	put_fault(fault / 2);
	report(true, "%s %s", faults[fault / 2].what, wait_used(SPINS) ? "came back" : "is kept");
}

static void reset_file_system(void)
{
	fs_hello();
	for (;;) {
		start(false);
	}
}

static bool is_known(void)
{
	return id == VIRTIO_ID_RNG || id == VIRTIO_ID_BLOCK || id == VIRTIO_ID_NET ||
	       id == VIRTIO_ID_VSOCK || id == VIRTIO_ID_CONSOLE || id == VIRTIO_ID_FS;
}

uint64_t payload_main(void)
{
	uint64_t fault = fw_cmdline_number("fs_fault=", NO_NUMBER);
	unsigned int found = 0;

	if (!fw_map_mmio(SLOTS_GPA)) {
		report_skip("0x%lx cannot be mapped", SLOTS_GPA);
		return report_summary();
	}
	for (unsigned int i = 0; i < SLOTS; i++) {
		base = SLOTS_GPA + i * SLOT_BYTES;
		id = get(VIRTIO_MMIO_MAGIC_VALUE) == MAGIC ? get(VIRTIO_MMIO_DEVICE_ID) : 0;
		if (fault < 2 * sizeof(faults) / sizeof(faults[0])) {
			if (id == VIRTIO_ID_FS) {
				break_file_system((unsigned int)fault);
				found++;
			}
		} else if (id == VIRTIO_ID_FS && fw_cmdline_number("fs_resets=", 0)) {
			reset_file_system();
		} else if (is_known()) {
			check_device();
			found++;
		}
	}
	if (found == 0) {
		report_skip("this machine has no device that is known here");
	}
	return report_summary();
}
