/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A socket device (virtio 1.2, 5.10): streams between programs of the guest (AF_VSOCK) and Unix
 * sockets of the host, without a kernel module.
 *
 * Who listens on the host is at PATH: a program connects there, writes "CONNECT <port>\n" and gets
 * "OK <its own port>\n" when the guest accepted, or an end of file when it did not. What the guest
 * connects to at port n of the host goes to the Unix socket PATH_n. This is the convention of
 * Firecracker's vsock (its docs/vsock.md), so clients of one work with the other.
 *
 * Everything but a reset happens on the event loop. Each connection has one buffer for what the
 * guest sent and the host's program has not read yet; it is as long as the credit that the guest
 * was given, and there only while it is needed. A guest that sends more than its credit loses the
 * connection.
 */
#ifndef DEVICES_VIRTIO_VSOCK_H
#define DEVICES_VIRTIO_VSOCK_H

#include <linux/virtio_vsock.h>

#include "base/err.h"
#include "base/evloop.h"
#include "devices/virtio/mmio.h"

#define VSOCK_CID_HOST     2 /* 5.10.4 */
#define VSOCK_CID_MIN      3
#define VSOCK_CID_DEFAULT  3
#define VSOCK_CID_MAX      UINT32_C(0xfffffffe)

#define VSOCK_CONNS_MAX    256
#define VSOCK_RESETS_MAX   64
#define VSOCK_BUFFER_BYTES (UINT32_C(128) << 10)
#define VSOCK_PACKET_BYTES (UINT32_C(64) << 10) /* of data, at most in one packet */
/* Of PATH: "_4294967295" and a NUL must fit behind it in a Unix socket's address. */
#define VSOCK_PATH_MAX     96
#define VSOCK_GREETING_MAX 32 /* bytes of "CONNECT <port>\n" */

struct virtio_vsock;

enum vsock_state {
	VSOCK_FREE,
	VSOCK_GREETING, /* a program of the host connected and has not said to which port */
	VSOCK_ASKED,    /* the guest was asked, and has not answered */
	VSOCK_OPEN,
	VSOCK_LINGERS, /* the guest is gone; the host still gets what was sent before */
};

struct vsock_conn {
	struct virtio_vsock *vsock;
	enum vsock_state state;
	int fd; /* the host's end; −1: closed, and the guest is not told yet */
	struct evloop_source *source;
	uint32_t watched; /* EPOLL* that source waits for */
	uint32_t guest_port, host_port;
	unsigned int due; /* packets to send, VSOCK_DUE_* of vsock_priv.h */
	bool readable;    /* the host may have bytes */
	bool host_ended;  /* and will not have more */
	bool host_gone;   /* nor take any */
	bool guest_sends, guest_reads;

	/* 5.10.6.3: credit. All counters wrap. */
	uint32_t peer_buffer, peer_taken; /* what the guest has room for, and has read */
	uint32_t sent;                    /* bytes to the guest */
	uint32_t taken, told_taken;       /* bytes of the guest that the host has, or was told of */

	uint8_t *buffer; /* a ring of VSOCK_BUFFER_BYTES, or NULL when it is empty */
	uint32_t start, filled;

	char greeting[VSOCK_GREETING_MAX];
	unsigned int greeting_bytes;
};

struct vsock_reset {
	uint64_t guest_cid, host_cid;
	uint32_t guest_port, host_port;
	uint16_t type;
};

struct virtio_vsock {
	struct virtio_mmio v;
	struct virtio_vsock_config config;
	char path[VSOCK_PATH_MAX + 1];
	int listen_fd;
	struct evloop *loop;
	struct evloop_source *listener;

	/* With the lock. */
	bool was_reset; /* all connections are to end */
	bool rx_held;   /* rx is a chain that was taken and not filled yet */
	struct virtq_chain rx;

	/* The loop's. */
	unsigned int turn; /* the connection to look at next */
	uint32_t next_port;
	unsigned int told; /* lines on connections so far */
	unsigned int reset_count;
	struct vsock_reset resets[VSOCK_RESETS_MAX]; /* due, for what is no connection */
	struct vsock_conn conns[VSOCK_CONNS_MAX];
};

int virtio_vsock_init(struct virtio_vsock *s, const struct virtio_place *place, const char *path,
		      uint32_t cid, struct err *e) __must_check;
void virtio_vsock_fini(struct virtio_vsock *s);
int virtio_vsock_watch(struct virtio_vsock *s, struct evloop *loop) __must_check;
void virtio_vsock_unwatch(struct virtio_vsock *s);
void virtio_vsock_accept(struct virtio_vsock *s, int fd);

#endif
