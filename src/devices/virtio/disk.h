/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is behind a block device: a raw image, a file or a block device of the host. Sizes are in
 * sectors of 512 bytes; a part of a sector at the end of a file is not served.
 *
 * An image is locked while it is open, shared for reading only and alone for writing, by a lock of
 * the open file description, so that two machines never write one image; on a file system without
 * those, by flock(2).
 *
 * Belongs to one thread at a time: the event loop.
 */
#ifndef DEVICES_VIRTIO_DISK_H
#define DEVICES_VIRTIO_DISK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "base/cleanup.h"
#include "base/err.h"

#define DISK_SECTOR_BYTES 512
#define DISK_BOUNCE_BYTES 65536 /* a multiple of every DISK_ALIGN_MAX */
#define DISK_ALIGN_MAX    4096

struct disk_config {
	const char *path;
	bool read_only;
	bool direct; /* past the host's page cache */
};

struct disk {
	int fd;
	bool read_only;
	bool block_device;
	uint64_t sectors;
	uint32_t tail_bytes; /* of the file, behind the last sector */
	uint32_t align;      /* of addresses and lengths; 0: any, not direct */
	uint8_t *bounce;     /* DISK_BOUNCE_BYTES, when direct */
};

int disk_open(struct disk *d, const struct disk_config *cfg, struct err *e) __must_check;
void disk_close(struct disk *d);

int disk_read(struct disk *d, uint64_t sector, struct iovec *iov, unsigned int count) __must_check;
int disk_write(struct disk *d, uint64_t sector, struct iovec *iov, unsigned int count) __must_check;
int disk_flush(struct disk *d) __must_check;
int disk_discard(struct disk *d, uint64_t sector, uint64_t sectors) __must_check;
int disk_zero(struct disk *d, uint64_t sector, uint64_t sectors, bool unmap) __must_check;

#endif
