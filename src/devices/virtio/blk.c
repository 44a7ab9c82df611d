/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See blk.h. Section numbers are those of virtio 1.2. Serves on the event loop, with the lock. */
#include "devices/virtio/blk.h"

#include <errno.h>
#include <linux/virtio_ids.h>
#include <string.h>

#define FEATURE(n)   (UINT64_C(1) << (n))
#define STATUS_BYTES 1
#define SEG_MAX      (VIRTQ_SIZE_MAX - 2) /* the header and the status take one each */

/* A request's header, a range of a discard: 5.2.6. */
struct header {
	uint32_t type;
	uint32_t reserved;
	uint64_t sector;
};

static uint8_t status_of(int error)
{
	switch (error) {
	case 0:
		return VIRTIO_BLK_S_OK;
	case -EOPNOTSUPP:
		return VIRTIO_BLK_S_UNSUPP;
	default:
		return VIRTIO_BLK_S_IOERR;
	}
}

static int read_data(struct virtio_blk *b, const struct virtq *q, const struct virtq_chain *c,
		     uint64_t sector, uint32_t *ret_bytes)
{
	uint32_t bytes = c->in_bytes - STATUS_BYTES;
	unsigned int n;
	int r = virtq_iov(q, c, VIRTQ_IN, 0, bytes, b->iov, &n);

	if (r == 0) {
		r = disk_read(b->disk, sector, b->iov, n);
	}
	*ret_bytes = r == 0 ? bytes : 0;
	return r;
}

static int write_data(struct virtio_blk *b, const struct virtq *q, const struct virtq_chain *c,
		      uint64_t sector)
{
	unsigned int n;
	int r = virtq_iov(q, c, VIRTQ_OUT, sizeof(struct header),
			  c->out_bytes - (uint32_t)sizeof(struct header), b->iov, &n);

	if (r == 0) {
		r = disk_write(b->disk, sector, b->iov, n);
	}
	/* 5.2.6.2: a driver that cannot flush gets a cache that is written through. */
	if (r == 0 && !virtio_accepted(&b->v, VIRTIO_BLK_F_FLUSH)) {
		r = disk_flush(b->disk);
	}
	return r;
}

static int one_range(struct virtio_blk *b, bool discard,
		     const struct virtio_blk_discard_write_zeroes *range)
{
	bool unmap = range->flags & VIRTIO_BLK_WRITE_ZEROES_FLAG_UNMAP;

	/* 5.2.6.2: reserved flags, and that flag on a discard, are not supported. */
	if ((range->flags & ~(uint32_t)VIRTIO_BLK_WRITE_ZEROES_FLAG_UNMAP) || (discard && unmap)) {
		return -EOPNOTSUPP;
	}
	if (range->num_sectors > VIRTIO_BLK_RANGE_MAX) {
		return -EINVAL;
	}
	return discard ? disk_discard(b->disk, range->sector, range->num_sectors)
		       : disk_zero(b->disk, range->sector, range->num_sectors, unmap);
}

static int clear_ranges(struct virtio_blk *b, const struct virtq *q, const struct virtq_chain *c,
			bool discard)
{
	struct virtio_blk_discard_write_zeroes ranges[VIRTIO_BLK_RANGES_MAX];
	uint32_t bytes = c->out_bytes - (uint32_t)sizeof(struct header);
	int r;

	if (b->disk->read_only) {
		return -EROFS;
	}
	if (bytes == 0 || bytes % sizeof(ranges[0]) || bytes > sizeof(ranges)) {
		return -EINVAL;
	}
	r = virtq_read(q, c, sizeof(struct header), ranges, bytes);
	for (uint32_t i = 0; i < bytes / sizeof(ranges[0]) && r == 0; i++) {
		r = one_range(b, discard, &ranges[i]);
	}
	return r;
}

static int give_id(struct virtio_blk *b, const struct virtq *q, const struct virtq_chain *c,
		   uint32_t *ret_bytes)
{
	int r = c->in_bytes - STATUS_BYTES < sizeof(b->id)
			? -EINVAL
			: virtq_write(q, c, 0, b->id, sizeof(b->id));

	*ret_bytes = r == 0 ? sizeof(b->id) : 0;
	return r;
}

/* What is left after the header and without the status; 0 or −errno. */
static int serve_type(struct virtio_blk *b, const struct virtq *q, const struct virtq_chain *c,
		      const struct header *h, uint32_t *ret_bytes)
{
	switch (h->type) {
	case VIRTIO_BLK_T_IN:
		return read_data(b, q, c, h->sector, ret_bytes);
	case VIRTIO_BLK_T_OUT:
		return write_data(b, q, c, h->sector);
	case VIRTIO_BLK_T_FLUSH:
		return disk_flush(b->disk);
	case VIRTIO_BLK_T_GET_ID:
		return give_id(b, q, c, ret_bytes);
	case VIRTIO_BLK_T_DISCARD:
		return clear_ranges(b, q, c, true);
	case VIRTIO_BLK_T_WRITE_ZEROES:
		return clear_ranges(b, q, c, false);
	default:
		return -EOPNOTSUPP;
	}
}

static uint32_t answer(struct virtio_mmio *v, struct virtq *q, const struct virtq_chain *c)
{
	struct virtio_blk *b = (struct virtio_blk *)v;
	uint32_t bytes = 0;
	struct header h;
	uint8_t status;

	/* Without room for a status there is no answer but the request itself. */
	if (c->in_bytes < STATUS_BYTES) {
		return 0;
	}
	status = virtq_read(q, c, 0, &h, sizeof(h)) < 0
			 ? VIRTIO_BLK_S_IOERR
			 : status_of(serve_type(b, q, c, &h, &bytes));
	if (virtq_write(q, c, c->in_bytes - STATUS_BYTES, &status, STATUS_BYTES) < 0) {
		return 0;
	}
	/* 2.7.8.2: counted from the first byte on, so a status behind nothing does not count. */
	return bytes + STATUS_BYTES == c->in_bytes ? c->in_bytes : bytes;
}

static bool serve(struct virtio_mmio *v)
{
	return virtio_serve_queue(v, 0, answer);
}

static const struct virtio_ops blk_ops = {
	.name = "virtio-blk",
	.id = VIRTIO_ID_BLOCK,
	.serve = serve,
};

/**
 * virtio_blk_init() - a block device on an open image
 * @b: the caller's memory; it must stay where it is until virtio_blk_fini()
 * @place: where it is
 * @disk: the image, borrowed
 * @id: what the guest reads as its serial number; 20 bytes of it count
 *
 * Return: 0 or the −errno of virtio_init().
 * Context: before any vCPU runs.
 */
int virtio_blk_init(struct virtio_blk *b, const struct virtio_place *place, struct disk *disk,
		    const char *id)
{
	uint64_t features = FEATURE(VIRTIO_BLK_F_SEG_MAX) | FEATURE(VIRTIO_BLK_F_BLK_SIZE) |
			    FEATURE(VIRTIO_BLK_F_FLUSH);

	features |= disk->read_only
			    ? FEATURE(VIRTIO_BLK_F_RO)
			    : FEATURE(VIRTIO_BLK_F_DISCARD) | FEATURE(VIRTIO_BLK_F_WRITE_ZEROES);
	b->disk = disk;
	memset(b->id, 0, sizeof(b->id));
	memcpy(b->id, id, strnlen(id, sizeof(b->id)));
	b->config = (struct virtio_blk_config){
		.capacity = disk->sectors,
		.seg_max = SEG_MAX,
		.blk_size = disk->align ? disk->align : DISK_SECTOR_BYTES,
		.max_discard_sectors = VIRTIO_BLK_RANGE_MAX,
		.max_discard_seg = VIRTIO_BLK_RANGES_MAX,
		.discard_sector_alignment = 1,
		.max_write_zeroes_sectors = VIRTIO_BLK_RANGE_MAX,
		.max_write_zeroes_seg = VIRTIO_BLK_RANGES_MAX,
		.write_zeroes_may_unmap = 1,
	};
	return virtio_init(&b->v, &blk_ops, place, 1, features, &b->config, sizeof(b->config));
}

/**
 * virtio_blk_fini() - free what virtio_blk_init() made; the image stays open
 * @b: a device that was initialised
 *
 * Context: after the last vCPU thread has ended.
 */
void virtio_blk_fini(struct virtio_blk *b)
{
	virtio_fini(&b->v);
}
