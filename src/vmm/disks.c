/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The machine's disks: virtio block devices over raw images. Runs on the owner's thread. */
#include "vmm/virtio.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "devices/virtio/blk.h"
#include "vmm/vmm_priv.h"

#define DISK_ID_BYTES 24

static void fini_blk(struct virtio_slot *slot)
{
	virtio_blk_fini((struct virtio_blk *)slot->device);
	disk_close(slot->disk);
	free(slot->device);
	free(slot->disk);
}

static int open_disk(const struct machine_disk *cfg, struct disk **ret, struct err *e)
{
	const struct disk_config open_as = {
		.path = cfg->path, .read_only = cfg->read_only, .direct = cfg->direct};
	struct disk *disk = malloc(sizeof(*disk));
	int r;

	if (!disk) {
		return err_set(e, -ENOMEM, "disk %s: out of memory", cfg->path);
	}
	r = disk_open(disk, &open_as, e);
	if (r < 0) {
		free(disk);
		return r;
	}
	*ret = disk;
	return 0;
}

/**
 * disk_make() - open an image and make a block device of it
 * @m: a machine
 * @cfg: what it is to be
 * @number: which of its disks
 * @place: where the device goes
 * @ret: set on success
 * @e: gets one line
 *
 * Return: 0, what disk_open() said, or another −errno.
 * Context: the owner, before any vCPU runs.
 */
int disk_make(struct machine *m, const struct machine_config *cfg, unsigned int number,
	      const struct virtio_place *place, struct virtio_slot *ret, struct err *e)
{
	struct virtio_blk *blk = NULL;
	struct disk *disk = NULL;
	char id[DISK_ID_BYTES];
	int r = open_disk(&cfg->disks[number], &disk, e);

	if (r < 0) {
		return r;
	}
	snprintf(id, sizeof(id), "ringside-disk%u", number);
	blk = malloc(sizeof(*blk));
	r = blk ? virtio_blk_init(blk, place, disk, id) : -ENOMEM;
	if (r < 0) {
		disk_close(disk);
		free(disk);
		free(blk);
		return err_errno(e, r, "disk %s: cannot make the device", cfg->disks[number].path);
	}
	*ret = (struct virtio_slot){.device = &blk->v, .fini = fini_blk, .disk = disk};
	return 0;
}

/**
 * machine_disk_tail() - how many bytes of an image are no whole sector
 * @m: a machine
 * @disk: number of the disk, as it was configured
 *
 * Return: bytes at the end of the image that the guest does not see, 0 to 511.
 * Context: the owner.
 */
uint32_t machine_disk_tail(const struct machine *m, unsigned int disk)
{
	for (unsigned int i = 0; i < m->virtio.count; i++) {
		const struct disk *d = m->virtio.slots[i].disk;

		if (d && disk-- == 0) {
			return d->tail_bytes;
		}
	}
	return 0;
}
