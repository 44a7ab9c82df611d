/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See fs.h. Section numbers are those of virtio 1.2. */
#include "devices/virtio/fs.h"

#include <assert.h>
#include <errno.h>
#include <linux/virtio_config.h>
#include <linux/virtio_ids.h>
#include <linux/virtio_mmio.h>
#include <string.h>
#include <sys/socket.h>

static struct virtio_fs *to_fs(struct virtio_mmio *v)
{
	return (struct virtio_fs *)v;
}

static bool is_started(const struct virtio_fs *fs)
{
	for (unsigned int i = 0; i < VIRTIO_FS_QUEUES; i++) {
		if (fs->started[i]) {
			return true;
		}
	}
	return false;
}

/* The queues are those that the driver made ready before DRIVER_OK: 3.1.1. */
static int start(struct virtio_fs *fs)
{
	int r = vhost_user_set_features(&fs->user, fs->v.accepted);

	for (unsigned int i = 0; i < VIRTIO_FS_QUEUES && r == 0; i++) {
		if (fs->v.queues[i].ready) {
			/* Even a failure may have started it. */
			fs->started[i] = true;
			r = vhost_user_start_queue(&fs->user, i, &fs->v.queues[i], fs->kicks[i],
						   fs->v.irq_fd);
		}
	}
	return r;
}

/* Nobody serves the device any more: virtio_unlock() says so to the driver. */
static void give_up(struct virtio_fs *fs)
{
	fs->user.broken = true;
	fs->v.queues[0].broken = true;
	/* Wakes whoever watches the socket. */
	shutdown(fs->user.fd, SHUT_RDWR);
}

static bool serve(struct virtio_mmio *v)
{
	struct virtio_fs *fs = to_fs(v);

	if (virtio_lock(v) && !is_started(fs) && start(fs) < 0) {
		give_up(fs);
	}
	virtio_unlock(v);
	return false;
}

/*
 * The driver may use the queues' memory for something else as soon as its write is done, so this
 * waits until the other side has let go of it. One that does not is cut off.
 */
static void reset(struct virtio_mmio *v)
{
	struct virtio_fs *fs = to_fs(v);

	for (unsigned int i = 0; i < VIRTIO_FS_QUEUES; i++) {
		if (fs->started[i] && vhost_user_stop_queue(&fs->user, i) < 0) {
			give_up(fs);
		}
		fs->started[i] = false;
	}
}

static const struct virtio_ops fs_ops = {
	.name = "virtio-fs",
	.id = VIRTIO_ID_FS,
	.elsewhere = true,
	.serve = serve,
	.reset = reset,
};

static int tie_kicks(struct virtio_fs *fs, const struct virtio_place *place)
{
	int r = 0;

	for (unsigned int i = 0; i < VIRTIO_FS_QUEUES && r >= 0; i++) {
		r = fs->kicks[i] = ioevent_open(&place->io);
		if (r >= 0) {
			r = ioevent_tie_value(&place->io, fs->kicks[i],
					      place->gpa + VIRTIO_MMIO_QUEUE_NOTIFY,
					      sizeof(uint32_t), i);
		}
	}
	return r;
}

/**
 * virtio_fs_init() - a file system device, served by the process at the other end of a socket
 * @fs: the caller's memory; it must stay where it is until virtio_fs_fini()
 * @place: where it is
 * @fd: the socket, connected; taken, also on failure
 * @memory: all of guest memory
 * @regions: how many pieces that is, 1 to VHOST_USER_REGIONS_MAX
 * @tag: by which the guest mounts it, 1 to 36 bytes
 *
 * Return: 0, or the −errno of vhost_user_init(), vhost_user_set_memory() or virtio_init(); then
 * nothing is left.
 * Context: before any vCPU runs.
 */
int virtio_fs_init(struct virtio_fs *fs, const struct virtio_place *place, int fd,
		   const struct vhost_user_region *memory, unsigned int regions, const char *tag)
{
	size_t bytes = strlen(tag);
	int r;

	assert(bytes >= 1 && bytes <= sizeof(fs->config.tag));
	memset(fs, 0, sizeof(*fs));
	fs->kicks[0] = fs->kicks[1] = -1;
	memcpy(fs->config.tag, tag, bytes);
	fs->config.num_request_queues = VIRTIO_FS_QUEUES - 1;
	r = vhost_user_init(&fs->user, fd);
	if (r == 0) {
		r = vhost_user_set_memory(&fs->user, memory, regions);
	}
	if (r == 0) {
		r = virtio_init(&fs->v, &fs_ops, place, VIRTIO_FS_QUEUES, 0, &fs->config,
				sizeof(fs->config));
	}
	if (r < 0) {
		vhost_user_fini(&fs->user);
		return r;
	}
	/* Of what is the transport's to offer, what the other side can do, too. */
	fs->v.offered &= fs->user.features;
	r = tie_kicks(fs, place);
	if (r < 0) {
		virtio_fs_fini(fs);
		return r;
	}
	return 0;
}

/**
 * virtio_fs_fini() - free what virtio_fs_init() made, and hang up
 * @fs: a device that was initialised
 *
 * Context: after the last vCPU thread has ended.
 */
void virtio_fs_fini(struct virtio_fs *fs)
{
	for (unsigned int i = 0; i < VIRTIO_FS_QUEUES; i++) {
		ioevent_close(&fs->v.io, fs->kicks[i]);
	}
	vhost_user_fini(&fs->user);
	virtio_fini(&fs->v);
}

/**
 * virtio_fs_fd() - the socket, to watch for its end and for nothing else
 * @fs: a device
 *
 * Return: a descriptor, the device's own.
 * Context: any thread.
 */
int virtio_fs_fd(const struct virtio_fs *fs)
{
	return fs->user.fd;
}

/**
 * virtio_fs_lost() - the process at the other end is gone
 * @fs: a device
 *
 * Context: the event loop.
 */
void virtio_fs_lost(struct virtio_fs *fs)
{
	virtio_lock(&fs->v);
	give_up(fs);
	virtio_unlock(&fs->v);
}
