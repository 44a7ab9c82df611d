/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A TAP interface as the peer of a network device: one read or write a frame, with the header that
 * the kernel knows too, so that checksums and segments can be left out on either side.
 */
#ifndef DEVICES_VIRTIO_NET_TAP_H
#define DEVICES_VIRTIO_NET_TAP_H

#include "base/err.h"
#include "devices/virtio/net_peer.h"

int net_tap_open(const char *name, struct net_peer **ret, struct err *e) __must_check;
int net_tap_adopt(int fd, struct net_peer **ret, struct err *e) __must_check;

#endif
