/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file system device (virtio 1.2, 5.11) whose requests another process serves, a virtiofsd: this
 * side has the registers and the configuration, hands guest memory and queues over by vhost-user,
 * and takes the queues back when the driver resets. Doorbells go to that process straight from KVM,
 * one eventfd a queue, and its interrupts straight back: no request comes through here.
 *
 * When that process is gone the device needs a reset, which will not help it: what the driver asked
 * for never comes.
 */
#ifndef DEVICES_VIRTIO_FS_H
#define DEVICES_VIRTIO_FS_H

#include <linux/virtio_fs.h>

#include "devices/virtio/mmio.h"
#include "devices/virtio/vhost_user.h"

#define VIRTIO_FS_QUEUES 2 /* one for what cannot wait, one for requests */

struct virtio_fs {
	struct virtio_mmio v;
	struct virtio_fs_config config;
	struct vhost_user user;      /* with the lock, like what follows */
	int kicks[VIRTIO_FS_QUEUES]; /* eventfds */
	bool started[VIRTIO_FS_QUEUES];
};

int virtio_fs_init(struct virtio_fs *fs, const struct virtio_place *place, int fd,
		   const struct vhost_user_region *memory, unsigned int regions,
		   const char *tag) __must_check;
void virtio_fs_fini(struct virtio_fs *fs);

int virtio_fs_fd(const struct virtio_fs *fs);
void virtio_fs_lost(struct virtio_fs *fs);

#endif
