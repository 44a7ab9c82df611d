/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The machine's network devices, and what they are plugged into. Runs on the owner's thread. */
#include "devices/virtio/net.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/log.h"
#include "devices/virtio/net_stream.h"
#include "devices/virtio/net_tap.h"
#include "vmm/vmm_priv.h"

/* What a slot owns. The device comes first: the slot's pointer is one to all of it. */
struct net {
	struct virtio_net device;
	struct net_peer *peer;
	struct machine *m;
	unsigned int number;
	struct evloop_source *source; /* of the peer */
};

static struct net *to_net(struct virtio_slot *slot)
{
	return (struct net *)slot->device;
}

static void on_poll(void *ctx, uint32_t events)
{
	struct net *n = ctx;

	/* Fails only for want of kernel memory; the device is then woken as before. */
	if (n->source) {
		(void)!evloop_set_events(n->source, events);
	}
}

static void on_gone(void *ctx)
{
	struct net *n = ctx;

	log_debug("net", "network %u: what it was plugged into is gone", n->number);
	evloop_remove(n->source);
	n->source = NULL;
	if (n->m->events && n->m->events->net_gone) {
		n->m->events->net_gone(n->m->events_ctx, n->number);
	}
}

static const struct virtio_net_events events = {.poll = on_poll, .gone = on_gone};

static void on_peer(void *ctx, int fd, uint32_t ready)
{
	struct net *n = ctx;

	virtio_net_poll(&n->device, ready);
}

static int watch(struct virtio_slot *slot)
{
	struct net *n = to_net(slot);

	return evloop_add_fd(slot->m->loop, n->peer->fd, 0, on_peer, n, &n->source);
}

static void unwatch(struct virtio_slot *slot)
{
	struct net *n = to_net(slot);

	evloop_remove(n->source);
	n->source = NULL;
}

static void fini(struct virtio_slot *slot)
{
	struct net *n = to_net(slot);
	const struct virtio_net *d = &n->device;

	log_debug("net",
		  "network %u: %llu frames from the guest and %llu thrown away; %llu to it, and "
		  "%llu thrown away",
		  n->number, (unsigned long long)d->sent, (unsigned long long)d->send_drops,
		  (unsigned long long)d->received, (unsigned long long)d->receive_drops);
	virtio_net_fini(&n->device);
	net_peer_destroy(n->peer);
	free(n);
}

/* A descriptor of ours in place of the caller's, which stays his. */
static int adopt(int given, struct net_peer **ret, struct err *e)
{
	_cleanup_close_ int fd = fcntl(given, F_DUPFD_CLOEXEC, 3);
	int type = 0, flags;
	socklen_t len = sizeof(type);
	int r;

	if (fd < 0) {
		return err_errno(e, -errno, "network: descriptor %d", given);
	}
	flags = fcntl(fd, F_GETFL);
	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0) {
		return err_errno(e, -errno, "network: descriptor %d", given);
	}
	if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0 && type == SOCK_STREAM) {
		r = net_stream_adopt(fd, ret, e);
	} else {
		r = net_tap_adopt(fd, ret, e);
	}
	if (r == 0) {
		TAKE_FD(fd);
	}
	return r < 0 ? err_prefix(e, "network: descriptor %d", given) : 0;
}

/**
 * net_make() - plug in, and make a network device of it
 * @m: a machine
 * @cfg: what it is to be
 * @number: which of its network devices
 * @place: where the device goes
 * @ret: set on success
 * @e: gets one line
 *
 * Return: 0, what net_tap_open() or net_tap_adopt() said, or another −errno.
 * Context: the owner, before any vCPU runs.
 */
int net_make(struct machine *m, const struct machine_config *cfg, unsigned int number,
	     const struct virtio_place *place, struct virtio_slot *ret, struct err *e)
{
	const struct machine_net *want = &cfg->nets[number];
	struct net_peer *peer = NULL;
	struct net *n;
	int r = want->tap ? net_tap_open(want->tap, &peer, e) : adopt(want->fd, &peer, e);

	if (r < 0) {
		return r;
	}
	n = malloc(sizeof(*n));
	r = n ? virtio_net_init(&n->device, place, peer, want->mac, &events, n) : -ENOMEM;
	if (r < 0) {
		net_peer_destroy(peer);
		free(n);
		return err_errno(e, r, "network: cannot make the device");
	}
	n->peer = peer;
	n->m = m;
	n->number = number;
	n->source = NULL;
	log_debug("net", "network %u: a %s, MTU %u, offloads 0x%x", number, peer->ops->name,
		  peer->mtu, peer->offloads);
	*ret = (struct virtio_slot){
		.device = &n->device.v, .fini = fini, .watch = watch, .unwatch = unwatch};
	return 0;
}
