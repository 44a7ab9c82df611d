/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The machine's socket device. Runs on the owner's thread. */
#include "devices/virtio/vsock.h"

#include <errno.h>
#include <stdlib.h>

#include "vmm/vmm_priv.h"

_Static_assert(MACHINE_VSOCK_CID == VSOCK_CID_DEFAULT, "the header says what the device does");

static struct virtio_vsock *to_vsock(struct virtio_slot *slot)
{
	return (struct virtio_vsock *)slot->device;
}

static int watch(struct virtio_slot *slot)
{
	return virtio_vsock_watch(to_vsock(slot), slot->m->loop);
}

static void unwatch(struct virtio_slot *slot)
{
	virtio_vsock_unwatch(to_vsock(slot));
}

static void fini(struct virtio_slot *slot)
{
	virtio_vsock_fini(to_vsock(slot));
	free(slot->device);
}

/**
 * vsock_make() - make the socket device
 * @m: a machine
 * @cfg: what it is to be, with the path of its Unix socket
 * @number: 0
 * @place: where the device goes
 * @ret: set on success
 * @e: gets one line
 *
 * Return: 0, −ENOMEM, or what virtio_vsock_init() said.
 * Context: the owner, before any vCPU runs.
 */
int vsock_make(struct machine *m, const struct machine_config *cfg, unsigned int number,
	       const struct virtio_place *place, struct virtio_slot *ret, struct err *e)
{
	struct virtio_vsock *s = malloc(sizeof(*s));
	int r;

	if (!s) {
		return err_set(e, -ENOMEM, "vsock: out of memory");
	}
	r = virtio_vsock_init(s, place, cfg->vsock_path,
			      cfg->vsock_cid ? cfg->vsock_cid : VSOCK_CID_DEFAULT, e);
	if (r < 0) {
		free(s);
		return r;
	}
	*ret = (struct virtio_slot){
		.device = &s->v, .fini = fini, .watch = watch, .unwatch = unwatch};
	return 0;
}
