/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include "vsock_driver.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Of the loop, in each of which everything has its turn: far more than any answer takes. */
#define SETTLE_ROUNDS 64

struct virtio_driver vsock_drv;
struct virtio_vsock vsock_dev;
static struct evloop *loop;
static struct evloop_source *doorbell, *pause_timer;
static unsigned int rounds_left;
char vsock_path[80];
int vsock_service_fd;
static char folder[64], service[96];

static void on_doorbell(void *ctx, int fd, uint32_t events)
{
	virtio_serve(&vsock_dev.v);
}

static void on_pause(void *ctx)
{
	if (--rounds_left == 0) {
		evloop_stop(loop);
		return;
	}
	assert_int_equal(evloop_arm_timer(pause_timer, 1, 0), 0);
}

/* Let the device do all that it can do now. */
void vsock_settle(void)
{
	rounds_left = SETTLE_ROUNDS;
	assert_int_equal(evloop_arm_timer(pause_timer, 1, 0), 0);
	assert_int_equal(evloop_run(loop), 0);
}

int vsock_listen_at(const char *at)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", at);
	assert_int_equal(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	assert_int_equal(listen(fd, 8), 0);
	return fd;
}

int vsock_connect_to(const char *at)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", at);
	assert_int_equal(connect(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	return fd;
}

void vsock_give_buffers(unsigned int count, uint32_t bytes)
{
	for (unsigned int i = 0; i < count; i++) {
		vring_desc(&vsock_drv.queue[RX], i, RX_AT(i), bytes, VRING_DESC_F_WRITE, 0);
		vring_offer(&vsock_drv.queue[RX], (uint16_t)i);
	}
	driver_notify(&vsock_drv, RX);
}

int vsock_setup_without_buffers(void **state)
{
	struct virtio_place place;
	struct err e = ERR_INIT;

	strcpy(folder, "/tmp/ringside-vsock-XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(vsock_path, sizeof(vsock_path), "%s/vsock", folder);
	snprintf(service, sizeof(service), "%s_%u", vsock_path, HOST_PORT);
	vsock_service_fd = vsock_listen_at(service);
	driver_init(&vsock_drv);
	place = driver_place(&vsock_drv);
	assert_int_equal(virtio_vsock_init(&vsock_dev, &place, vsock_path, CID, &e), 0);
	assert_int_equal(evloop_create(&loop), 0);
	assert_int_equal(evloop_add_fd(loop, virtio_doorbell_fd(&vsock_dev.v), EPOLLIN | EPOLLET,
				       on_doorbell, NULL, &doorbell),
			 0);
	assert_int_equal(evloop_add_timer(loop, on_pause, NULL, &pause_timer), 0);
	assert_int_equal(virtio_vsock_watch(&vsock_dev, loop), 0);
	driver_start(&vsock_drv, &vsock_dev.v, 3, DRIVER_V1);
	return 0;
}

int vsock_setup(void **state)
{
	vsock_setup_without_buffers(state);
	vsock_give_buffers(DRIVER_SIZE, BUFFER);
	return 0;
}

int vsock_teardown(void **state)
{
	virtio_vsock_unwatch(&vsock_dev);
	virtio_vsock_fini(&vsock_dev);
	evloop_remove(doorbell);
	evloop_remove(pause_timer);
	evloop_destroy(loop);
	driver_fini(&vsock_drv);
	close(vsock_service_fd);
	unlink(service);
	/* Nothing of the device's is left in the folder. */
	assert_int_equal(rmdir(folder), 0);
	return 0;
}

struct virtio_vsock_hdr vsock_packet(uint16_t op, uint32_t host_port, uint32_t bytes)
{
	return (struct virtio_vsock_hdr){
		.src_cid = CID,
		.dst_cid = VSOCK_CID_HOST,
		.src_port = GUEST_PORT,
		.dst_port = host_port,
		.len = bytes,
		.type = VIRTIO_VSOCK_TYPE_STREAM,
		.op = op,
		.buf_alloc = 65536,
	};
}

/* Sends a packet as it is, with bytes of data behind it. */
void vsock_send_raw(const struct virtio_vsock_hdr *h, uint32_t bytes)
{
	uint32_t head, written;

	memcpy(vsock_drv.ram.bytes + TX_HEADER, h, sizeof(*h));
	vring_desc(&vsock_drv.queue[TX], 0, TX_HEADER, sizeof(*h), bytes ? VRING_DESC_F_NEXT : 0,
		   1);
	vring_desc(&vsock_drv.queue[TX], 1, TX_DATA, bytes, 0, 0);
	vring_offer(&vsock_drv.queue[TX], 0);
	driver_notify(&vsock_drv, TX);
	vsock_settle();
	assert_true(vring_take_used(&vsock_drv.queue[TX], &head, &written));
	assert_int_equal(written, 0);
}

void vsock_send_packet(uint16_t op, uint32_t host_port)
{
	const struct virtio_vsock_hdr h = vsock_packet(op, host_port, 0);

	vsock_send_raw(&h, 0);
}

void vsock_send_data(uint32_t host_port, uint32_t bytes)
{
	const struct virtio_vsock_hdr h = vsock_packet(VIRTIO_VSOCK_OP_RW, host_port, bytes);

	vsock_send_raw(&h, bytes);
}

/* The next packet of the device's, whose buffer is given back. */
bool vsock_receive(struct virtio_vsock_hdr *ret, void *data)
{
	uint32_t head, written;

	if (!vring_take_used(&vsock_drv.queue[RX], &head, &written)) {
		return false;
	}
	memcpy(ret, vsock_drv.ram.bytes + RX_AT(head), sizeof(*ret));
	assert_int_equal(written, sizeof(*ret) + ret->len);
	if (data) {
		memcpy(data, vsock_drv.ram.bytes + RX_AT(head) + sizeof(*ret), ret->len);
	}
	vring_offer(&vsock_drv.queue[RX], (uint16_t)head);
	driver_notify(&vsock_drv, RX);
	return true;
}

struct virtio_vsock_hdr vsock_expect(uint16_t op)
{
	struct virtio_vsock_hdr h;

	assert_true(vsock_receive(&h, NULL));
	assert_int_equal(h.op, op);
	assert_int_equal(h.src_cid, VSOCK_CID_HOST);
	assert_int_equal(h.dst_cid, CID);
	assert_int_equal(h.dst_port, GUEST_PORT);
	return h;
}

void vsock_expect_silence(void)
{
	struct virtio_vsock_hdr h;

	vsock_settle();
	assert_false(vsock_receive(&h, NULL));
}

/* The guest connects to the host; returns the host's end. */
int vsock_open_from_guest(void)
{
	struct virtio_vsock_hdr h;
	int fd;

	vsock_send_packet(VIRTIO_VSOCK_OP_REQUEST, HOST_PORT);
	h = vsock_expect(VIRTIO_VSOCK_OP_RESPONSE);
	assert_int_equal(h.src_port, HOST_PORT);
	assert_int_equal(h.buf_alloc, VSOCK_BUFFER_BYTES);
	fd = accept(vsock_service_fd, NULL, NULL);
	assert_true(fd >= 0);
	return fd;
}

unsigned int vsock_connections(void)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < VSOCK_CONNS_MAX; i++) {
		n += vsock_dev.conns[i].state != VSOCK_FREE;
	}
	return n;
}
