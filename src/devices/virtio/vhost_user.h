/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The vhost-user protocol, the front end's side: guest memory and virtqueues are handed to another
 * process over a Unix socket, and that process serves the requests. Message numbers and layouts are
 * those of QEMU's docs/interop/vhost-user.rst; linux/vhost_types.h has the parts that the kernel's
 * vhost shares with it.
 *
 * Addresses that we send are guest-physical ones: the protocol calls them the front end's, and asks
 * only that those of queues lie in the regions told before. None of our own ever leaves us.
 *
 * The other side is not trusted. An answer counts only if it is one, to what was asked, with the
 * length that it must have; after any other the connection is broken for good and every call fails.
 * A call waits VHOST_USER_TIMEOUT_S at most for it.
 *
 * Belongs to one thread at a time: whoever holds the device's lock.
 */
#ifndef DEVICES_VIRTIO_VHOST_USER_H
#define DEVICES_VIRTIO_VHOST_USER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "devices/virtio/queue.h"

#define VHOST_USER_TIMEOUT_S   30
#define VHOST_USER_REGIONS_MAX 8

/* A piece of guest memory and the file that it is in. */
struct vhost_user_region {
	uint64_t gpa, bytes;
	uint64_t offset; /* in the file */
	int fd;          /* borrowed, for the call */
};

struct vhost_user {
	int fd;            /* owned */
	uint64_t features; /* that it offers: virtio's, by bit */
	bool acks;         /* it confirms what has no answer of its own */
	bool broken;
};

int vhost_user_init(struct vhost_user *u, int fd) __must_check;
void vhost_user_fini(struct vhost_user *u);

int vhost_user_set_memory(struct vhost_user *u, const struct vhost_user_region *regions,
			  unsigned int count) __must_check;
int vhost_user_set_features(struct vhost_user *u, uint64_t features) __must_check;
int vhost_user_start_queue(struct vhost_user *u, uint32_t index, const struct virtq *q, int kick_fd,
			   int call_fd) __must_check;
int vhost_user_stop_queue(struct vhost_user *u, uint32_t index) __must_check;

#endif
