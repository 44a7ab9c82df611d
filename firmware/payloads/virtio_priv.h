/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of virtio.elf share: one device at a time, and one of its queues. */
#ifndef VIRTIO_PRIV_H
#define VIRTIO_PRIV_H

#include <linux/virtio_config.h>
#include <linux/virtio_console.h>
#include <linux/virtio_fs.h>
#include <linux/virtio_ids.h>
#include <linux/virtio_mmio.h>
#include <linux/virtio_ring.h>
#include <linux/virtio_vsock.h>

#include "fw.h"

#define SIZE       8 /* entries of the queue */
#define NO_RAM     UINT64_C(0xf0000000)
#define NET_BYTES  64 /* of a frame */
#define NET_HEADER 12
#define PACKET     44 /* bytes of a socket packet without data */
#define GUEST_CID  3
#define HOST_CID   2
#define SPINS      2000000 /* an answer comes long before, or never */
/* But its thread may have to wait for a processor: so long at least, some seconds. */
#define PATIENCE_TICKS (UINT64_C(1) << 33)
#define FEW_SPINS      20000
#define RUNNING        15 /* the status of a device at work */

#define NEXT           VRING_DESC_F_NEXT
#define WRITE          VRING_DESC_F_WRITE
#define TABLE          VRING_DESC_F_INDIRECT

struct ring {
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
} __attribute__((aligned(4096)));

/* The ring of the queue that is worked on, and a second for what needs two. */
extern struct ring ram, other;
extern uintptr_t base;
extern uint32_t id, queue;

#define A ((uintptr_t)ram.buffer)
#define T ((uintptr_t)ram.table)

uint32_t get(uint32_t reg);
void set(uint32_t reg, uint64_t value);
void prepare(bool event_idx);
void set_queue(unsigned int number, const struct ring *r);
bool start(bool event_idx);
void offer(uint16_t head);
uint64_t ticks_now(void);
bool wait_used(uint64_t spins);
bool wait_needs_reset(void);
const struct vring_used_elem *last_used(void);
bool send_buffer(uint32_t bytes);

struct virtio_vsock_hdr *packet(void);
void put_request(void);
bool good_request(void);

void fs_hello(void);

/* virtio_use.c: what a good driver does. */
void use_disk(void);
void use_results(void);
void use_socket(uint32_t port);

#endif
