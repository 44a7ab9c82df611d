/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A guest's socket driver for tests of the socket device, and programs of the host around it: real
 * Unix sockets in a folder of their own, one of which listens for the guest at VSOCK_HOST_PORT.
 */
#ifndef TESTS_VSOCK_DRIVER_H
#define TESTS_VSOCK_DRIVER_H

#include "virtio_driver.h"

#include "devices/virtio/vsock.h"

#define CID        7
#define RX         0
#define TX         1
#define BUFFER     0x1000 /* of each entry of the receive queue */
#define RX_AT(i)   (VRING_HEAP + (uint64_t)(i)*BUFFER)
#define TX_HEADER  (VRING_HEAP + DRIVER_SIZE * BUFFER)
#define TX_DATA    (TX_HEADER + 0x1000)
#define GUEST_PORT 52
#define HOST_PORT  1025

extern struct virtio_driver vsock_drv;
extern struct virtio_vsock vsock_dev;
extern char vsock_path[80];
extern int vsock_service_fd;

void vsock_settle(void);
int vsock_listen_at(const char *at);
int vsock_connect_to(const char *at);
void vsock_give_buffers(unsigned int count, uint32_t bytes);
int vsock_setup_without_buffers(void **state);
int vsock_setup(void **state);
int vsock_teardown(void **state);
struct virtio_vsock_hdr vsock_packet(uint16_t op, uint32_t host_port, uint32_t bytes);
void vsock_send_raw(const struct virtio_vsock_hdr *h, uint32_t bytes);
void vsock_send_packet(uint16_t op, uint32_t host_port);
void vsock_send_data(uint32_t host_port, uint32_t bytes);
bool vsock_receive(struct virtio_vsock_hdr *ret, void *data);
struct virtio_vsock_hdr vsock_expect(uint16_t op);
void vsock_expect_silence(void);
int vsock_open_from_guest(void);
unsigned int vsock_connections(void);

#endif
