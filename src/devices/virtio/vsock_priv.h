/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the parts of the socket device: packets and queues (vsock.c), connections (vsock_conn.c),
 * and the host's sockets (vsock_host.c). All of it runs on the event loop. */
#ifndef DEVICES_VIRTIO_VSOCK_PRIV_H
#define DEVICES_VIRTIO_VSOCK_PRIV_H

#include "devices/virtio/vsock.h"

/* Packets that a connection is to send, in the order in which they go. */
#define VSOCK_DUE_REQUEST  (1u << 0)
#define VSOCK_DUE_RESPONSE (1u << 1)
#define VSOCK_DUE_CREDIT   (1u << 2) /* tell of our room */
#define VSOCK_DUE_ASK      (1u << 3) /* ask for the guest's */
#define VSOCK_DUE_SHUTDOWN (1u << 4) /* behind all data */
#define VSOCK_DUE_RST      (1u << 5) /* instead of all others, and then it is over */

/* vsock.c */
void vsock_pump(struct virtio_vsock *s);

/* vsock_conn.c */
struct vsock_conn *vsock_new(struct virtio_vsock *s, int fd);
struct vsock_conn *vsock_find(struct virtio_vsock *s, uint32_t guest_port, uint32_t host_port);
void vsock_free(struct vsock_conn *c);
void vsock_abort(struct vsock_conn *c);
void vsock_take_packet(struct virtio_vsock *s, const struct virtio_vsock_hdr *h,
		       const struct virtq *q, const struct virtq_chain *chain);
uint32_t vsock_credit(const struct vsock_conn *c);
void vsock_flush(struct vsock_conn *c);
void vsock_end_all(struct virtio_vsock *s);

/* vsock_host.c */
int vsock_listen(struct virtio_vsock *s, struct err *e) __must_check;
void vsock_unlisten(struct virtio_vsock *s);
int vsock_dial(struct virtio_vsock *s, uint32_t port);
void vsock_greeted(struct vsock_conn *c);
void vsock_watch(struct vsock_conn *c);
int vsock_watch_listener(struct virtio_vsock *s) __must_check;

#endif
