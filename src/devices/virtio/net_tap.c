/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See net_tap.h. Serves on the event loop. */
#include "devices/virtio/net_tap.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define TUN_PATH "/dev/net/tun"

/* Not in Linux 6.1's headers. */
#define F_USO4 0x20
#define F_USO6 0x40

struct net_tap {
	struct net_peer peer;
};

static int tap_send(struct net_peer *p, const struct iovec *iov, unsigned int count)
{
	ssize_t n;

	do {
		n = writev(p->fd, iov, (int)count);
	} while (n < 0 && errno == EINTR);
	if (n >= 0) {
		return 0;
	}
	/* EBADFD: the interface was deleted. Down (EIO) or not to its liking: this frame is lost.
	 */
	return errno == EBADFD ? -EPIPE : -errno;
}

static int tap_receive(struct net_peer *p, const struct iovec *iov, unsigned int count,
		       size_t *ret_bytes)
{
	ssize_t n;

	do {
		n = readv(p->fd, iov, (int)count);
	} while (n < 0 && errno == EINTR);
	if (n >= 0) {
		*ret_bytes = (size_t)n;
		return 0;
	}
	return errno == EAGAIN || errno == EMSGSIZE ? -errno : -EPIPE;
}

static int set_offloads(int fd, unsigned int offloads)
{
	static const struct {
		unsigned int offload, flags;
	} map[] = {
		{NET_CSUM, TUN_F_CSUM},       {NET_TSO4, TUN_F_TSO4}, {NET_TSO6, TUN_F_TSO6},
		{NET_TSO_ECN, TUN_F_TSO_ECN}, {NET_UFO, TUN_F_UFO},   {NET_USO, F_USO4 | F_USO6},
	};
	unsigned long flags = 0;

	for (size_t i = 0; i < ARRAY_SIZE(map); i++) {
		flags |= offloads & map[i].offload ? map[i].flags : 0;
	}
	/* ECN is a way to have TSO. */
	if (!(offloads & (NET_TSO4 | NET_TSO6))) {
		flags &= ~(unsigned long)TUN_F_TSO_ECN;
	}
	return ioctl(fd, TUNSETOFFLOAD, flags) < 0 ? -errno : 0;
}

static int tap_set_offloads(struct net_peer *p, unsigned int offloads)
{
	return set_offloads(p->fd, offloads);
}

static void tap_destroy(struct net_peer *p)
{
	close(p->fd);
	free(p);
}

static const struct net_peer_ops tap_ops = {
	.name = "tap",
	.send = tap_send,
	.receive = tap_receive,
	.set_offloads = tap_set_offloads,
	.destroy = tap_destroy,
};

/* The most that this kernel leaves out; what it does not know, it refuses as a whole. */
static unsigned int find_offloads(int fd)
{
	static const unsigned int sets[] = {
		NET_CSUM | NET_TSO4 | NET_TSO6 | NET_TSO_ECN | NET_UFO | NET_USO,
		NET_CSUM | NET_TSO4 | NET_TSO6 | NET_TSO_ECN | NET_USO,
		NET_CSUM | NET_TSO4 | NET_TSO6 | NET_TSO_ECN | NET_UFO,
		NET_CSUM | NET_TSO4 | NET_TSO6 | NET_TSO_ECN,
		NET_CSUM,
	};

	for (size_t i = 0; i < ARRAY_SIZE(sets); i++) {
		if (set_offloads(fd, sets[i]) == 0) {
			/* None until a driver says what it takes. */
			return set_offloads(fd, 0) == 0 ? sets[i] : 0;
		}
	}
	return 0;
}

static uint16_t find_mtu(const char *name)
{
	_cleanup_close_ int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq req = {.ifr_name = ""};

	memcpy(req.ifr_name, name, strnlen(name, IFNAMSIZ - 1));
	/* 5.1.4.1: from 68 up. */
	if (s < 0 || ioctl(s, SIOCGIFMTU, &req) < 0 || req.ifr_mtu < 68 || req.ifr_mtu > 65535) {
		return 0;
	}
	return (uint16_t)req.ifr_mtu;
}

/* The descriptor is an interface's by now, with headers. Takes it on success. */
static int make(int fd, const char *name, struct net_peer **ret, struct err *e)
{
	int bytes = NET_HDR_BYTES;
	struct net_tap *t = malloc(sizeof(*t));

	if (!t) {
		return err_set(e, -ENOMEM, "network interface %s: out of memory", name);
	}
	if (ioctl(fd, TUNSETVNETHDRSZ, &bytes) < 0) {
		int r = err_errno(e, -errno, "network interface %s: headers of %d bytes", name,
				  bytes);

		free(t);
		return r;
	}
	t->peer = (struct net_peer){
		.ops = &tap_ops, .fd = fd, .offloads = find_offloads(fd), .mtu = find_mtu(name)};
	*ret = &t->peer;
	return 0;
}

/**
 * net_tap_open() - plug into a TAP interface of this machine
 * @name: of the interface, which must be there
 * @ret: set on success; end it with net_peer_destroy()
 * @e: gets one line
 *
 * Return: 0; -ENODEV without such an interface; -EBUSY when another program has it; -EPERM; -EINVAL
 * for one that is no TAP interface of one queue; -ENOENT without /dev/net/tun; -ENOMEM.
 * Context: before any vCPU runs.
 */
int net_tap_open(const char *name, struct net_peer **ret, struct err *e)
{
	_cleanup_close_ int fd = -1;
	struct ifreq req = {.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR};
	int r;

	/* The kernel would make one of that name, that nobody has set up. */
	if (strlen(name) >= IFNAMSIZ || if_nametoindex(name) == 0) {
		return err_set(e, -ENODEV,
			       "network interface %s: there is none; 'ip tuntap add dev %s mode "
			       "tap' makes one",
			       name, name);
	}
	fd = open(TUN_PATH, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0) {
		return err_errno(e, -errno, "network interface %s: %s", name, TUN_PATH);
	}
	memcpy(req.ifr_name, name, strlen(name));
	if (ioctl(fd, TUNSETIFF, &req) < 0) {
		r = -errno;
		if (r == -EBUSY) {
			return err_set(e, r, "network interface %s: in use by another program",
				       name);
		}
		if (r == -EINVAL) {
			return err_set(e, r,
				       "network interface %s: expected a TAP interface with one "
				       "queue",
				       name);
		}
		return err_errno(e, r, "network interface %s", name);
	}
	r = make(fd, name, ret, e);
	if (r == 0) {
		TAKE_FD(fd);
	}
	return r;
}

/**
 * net_tap_adopt() - plug into a TAP interface that another program has opened
 * @fd: its descriptor; the peer's on success
 * @ret: set on success; end it with net_peer_destroy()
 * @e: gets one line
 *
 * Return: 0, -ENOTTY for what is no TAP interface, -EINVAL for one without the header of virtio,
 * -ENOMEM.
 * Context: before any vCPU runs.
 */
int net_tap_adopt(int fd, struct net_peer **ret, struct err *e)
{
	struct ifreq req = {.ifr_name = ""};

	if (ioctl(fd, TUNGETIFF, &req) < 0 || !(req.ifr_flags & IFF_TAP)) {
		return err_set(e, -ENOTTY, "expected a TAP interface or a stream socket");
	}
	if ((req.ifr_flags & (IFF_NO_PI | IFF_VNET_HDR)) != (IFF_NO_PI | IFF_VNET_HDR)) {
		return err_set(e, -EINVAL,
			       "the TAP interface was opened without IFF_NO_PI and IFF_VNET_HDR");
	}
	return make(fd, req.ifr_name, ret, e);
}
