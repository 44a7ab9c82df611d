/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A stream socket as the peer of a network device, with the length of each frame before it, 4 bytes
 * big-endian: what passt and QEMU's "-netdev stream" speak. It knows of no headers, so nothing is
 * left out on either side.
 *
 * What comes is read ahead, many frames with one call, and also while the guest has no buffers:
 * passt throws away what its socket has no room for, all that a TCP connection may have on its way,
 * and comes back to it only after two seconds and for four frames. What goes is written from the
 * guest's buffers; the end of a frame that the socket has no room for is copied, and the next ones
 * wait.
 */
#ifndef DEVICES_VIRTIO_NET_STREAM_H
#define DEVICES_VIRTIO_NET_STREAM_H

#include "base/err.h"
#include "devices/virtio/net_peer.h"

/* The largest frame that passt takes and gives, and the packets that then fit. */
#define NET_STREAM_FRAME_MAX 65535
#define NET_STREAM_MTU       65520

/* Room for what was read and has no place in the guest yet: as much as a connection of Linux's own
 * has on its way at most. Address space, whose memory is given back when it is empty. */
#define NET_STREAM_AHEAD (8 << 20)

int net_stream_adopt(int fd, struct net_peer **ret, struct err *e) __must_check;

#endif
