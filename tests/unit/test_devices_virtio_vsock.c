/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include "virtio_driver.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/virtio_ids.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
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
#define SETTLE_NS  (2 * NS_PER_MSEC)

static struct virtio_driver drv;
static struct virtio_vsock vsock;
static struct evloop *loop;
static struct evloop_source *doorbell, *pause_timer;
static char folder[64], path[80], service[96];
static int service_fd;

static void on_doorbell(void *ctx, int fd, uint32_t events)
{
	virtio_serve(&vsock.v);
}

static void on_pause(void *ctx)
{
	evloop_stop(loop);
}

/* Let the device do all that it can do now. */
static void settle(void)
{
	assert_int_equal(
		evloop_arm_timer(pause_timer, clock_now_ns(&clock_monotonic) + SETTLE_NS, 0), 0);
	assert_int_equal(evloop_run(loop), 0);
}

static int listen_at(const char *at)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", at);
	assert_int_equal(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	assert_int_equal(listen(fd, 8), 0);
	return fd;
}

static int connect_to(const char *at)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", at);
	assert_int_equal(connect(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	return fd;
}

static void give_buffers(unsigned int count, uint32_t bytes)
{
	for (unsigned int i = 0; i < count; i++) {
		vring_desc(&drv.queue[RX], i, RX_AT(i), bytes, VRING_DESC_F_WRITE, 0);
		vring_offer(&drv.queue[RX], (uint16_t)i);
	}
	driver_notify(&drv, RX);
}

static int setup_without_buffers(void **state)
{
	struct virtio_place place;
	struct err e = ERR_INIT;

	strcpy(folder, "/tmp/ringside-vsock-XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/vsock", folder);
	snprintf(service, sizeof(service), "%s_%u", path, HOST_PORT);
	service_fd = listen_at(service);
	driver_init(&drv);
	place = driver_place(&drv);
	assert_int_equal(virtio_vsock_init(&vsock, &place, path, CID, &e), 0);
	assert_int_equal(evloop_create(&loop), 0);
	assert_int_equal(evloop_add_fd(loop, virtio_doorbell_fd(&vsock.v), EPOLLIN, on_doorbell,
				       NULL, &doorbell),
			 0);
	assert_int_equal(evloop_add_timer(loop, on_pause, NULL, &pause_timer), 0);
	assert_int_equal(virtio_vsock_watch(&vsock, loop), 0);
	driver_start(&drv, &vsock.v, 3, DRIVER_V1);
	return 0;
}

static int setup(void **state)
{
	setup_without_buffers(state);
	give_buffers(DRIVER_SIZE, BUFFER);
	return 0;
}

static int teardown(void **state)
{
	virtio_vsock_unwatch(&vsock);
	virtio_vsock_fini(&vsock);
	evloop_remove(doorbell);
	evloop_remove(pause_timer);
	evloop_destroy(loop);
	driver_fini(&drv);
	close(service_fd);
	unlink(service);
	/* Nothing of the device's is left in the folder. */
	assert_int_equal(rmdir(folder), 0);
	return 0;
}

static struct virtio_vsock_hdr packet(uint16_t op, uint32_t host_port, uint32_t bytes)
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
static void send_raw(const struct virtio_vsock_hdr *h, uint32_t bytes)
{
	uint32_t head, written;

	memcpy(drv.ram.bytes + TX_HEADER, h, sizeof(*h));
	vring_desc(&drv.queue[TX], 0, TX_HEADER, sizeof(*h), bytes ? VRING_DESC_F_NEXT : 0, 1);
	vring_desc(&drv.queue[TX], 1, TX_DATA, bytes, 0, 0);
	vring_offer(&drv.queue[TX], 0);
	driver_notify(&drv, TX);
	settle();
	assert_true(vring_take_used(&drv.queue[TX], &head, &written));
	assert_int_equal(written, 0);
}

static void send_packet(uint16_t op, uint32_t host_port)
{
	const struct virtio_vsock_hdr h = packet(op, host_port, 0);

	send_raw(&h, 0);
}

static void send_data(uint32_t host_port, uint32_t bytes)
{
	const struct virtio_vsock_hdr h = packet(VIRTIO_VSOCK_OP_RW, host_port, bytes);

	send_raw(&h, bytes);
}

/* The next packet of the device's, whose buffer is given back. */
static bool receive(struct virtio_vsock_hdr *ret, void *data)
{
	uint32_t head, written;

	if (!vring_take_used(&drv.queue[RX], &head, &written)) {
		return false;
	}
	memcpy(ret, drv.ram.bytes + RX_AT(head), sizeof(*ret));
	assert_int_equal(written, sizeof(*ret) + ret->len);
	if (data) {
		memcpy(data, drv.ram.bytes + RX_AT(head) + sizeof(*ret), ret->len);
	}
	vring_offer(&drv.queue[RX], (uint16_t)head);
	driver_notify(&drv, RX);
	return true;
}

static struct virtio_vsock_hdr expect(uint16_t op)
{
	struct virtio_vsock_hdr h;

	assert_true(receive(&h, NULL));
	assert_int_equal(h.op, op);
	assert_int_equal(h.src_cid, VSOCK_CID_HOST);
	assert_int_equal(h.dst_cid, CID);
	assert_int_equal(h.dst_port, GUEST_PORT);
	return h;
}

static void expect_silence(void)
{
	struct virtio_vsock_hdr h;

	settle();
	assert_false(receive(&h, NULL));
}

/* The guest connects to the host; returns the host's end. */
static int open_from_guest(void)
{
	struct virtio_vsock_hdr h;
	int fd;

	send_packet(VIRTIO_VSOCK_OP_REQUEST, HOST_PORT);
	h = expect(VIRTIO_VSOCK_OP_RESPONSE);
	assert_int_equal(h.src_port, HOST_PORT);
	assert_int_equal(h.buf_alloc, VSOCK_BUFFER_BYTES);
	fd = accept(service_fd, NULL, NULL);
	assert_true(fd >= 0);
	return fd;
}

static unsigned int connections(void)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < VSOCK_CONNS_MAX; i++) {
		n += vsock.conns[i].state != VSOCK_FREE;
	}
	return n;
}

static void the_guest_finds_its_address(void **state)
{
	assert_int_equal(driver_get(&drv, VIRTIO_MMIO_DEVICE_ID), VIRTIO_ID_VSOCK);
	assert_int_equal(driver_get(&drv, VIRTIO_MMIO_CONFIG), CID);
	assert_int_equal(driver_get(&drv, VIRTIO_MMIO_CONFIG + 4), 0);
}

static void bytes_go_both_ways_on_a_connection_of_the_guests(void **state)
{
	char got[16] = "";
	struct virtio_vsock_hdr h;
	int fd = open_from_guest();

	memcpy(drv.ram.bytes + TX_DATA, "question", 8);
	send_data(HOST_PORT, 8);
	assert_int_equal(read(fd, got, sizeof(got)), 8);
	assert_memory_equal(got, "question", 8);
	assert_int_equal(write(fd, "answer", 6), 6);
	settle();
	assert_true(receive(&h, got));
	assert_int_equal(h.op, VIRTIO_VSOCK_OP_RW);
	assert_int_equal(h.len, 6);
	assert_int_equal(h.fwd_cnt, 8);
	assert_memory_equal(got, "answer", 6);
	close(fd);
}

static void a_port_where_nobody_listens_is_refused(void **state)
{
	struct virtio_vsock_hdr h;

	send_packet(VIRTIO_VSOCK_OP_REQUEST, HOST_PORT + 1);
	h = expect(VIRTIO_VSOCK_OP_RST);
	assert_int_equal(h.src_port, HOST_PORT + 1);
	assert_int_equal(connections(), 0);
}

static void a_program_of_the_host_connects_by_naming_the_port(void **state)
{
	struct virtio_vsock_hdr h, answer;
	char line[32] = "", expected[32], data[8];
	int fd = connect_to(path);

	/* In two pieces, and with the first bytes for the guest already behind it. */
	assert_int_equal(write(fd, "CONN", 4), 4);
	expect_silence();
	assert_int_equal(write(fd, "ECT 52\nearly", 12), 12);
	settle();
	h = expect(VIRTIO_VSOCK_OP_REQUEST);
	expect_silence();
	answer = packet(VIRTIO_VSOCK_OP_RESPONSE, h.src_port, 0);
	send_raw(&answer, 0);
	snprintf(expected, sizeof(expected), "OK %u\n", h.src_port);
	assert_int_equal(read(fd, line, sizeof(line)), strlen(expected));
	assert_string_equal(line, expected);
	assert_true(receive(&h, data));
	assert_int_equal(h.op, VIRTIO_VSOCK_OP_RW);
	assert_memory_equal(data, "early", 5);
	close(fd);
}

static void a_host_program_that_the_guest_refuses_gets_an_end_of_file(void **state)
{
	struct virtio_vsock_hdr h, answer;
	char line[8];
	int fd = connect_to(path);

	assert_int_equal(write(fd, "CONNECT 52\n", 11), 11);
	settle();
	h = expect(VIRTIO_VSOCK_OP_REQUEST);
	answer = packet(VIRTIO_VSOCK_OP_RST, h.src_port, 0);
	send_raw(&answer, 0);
	assert_int_equal(read(fd, line, sizeof(line)), 0);
	assert_int_equal(connections(), 0);
	close(fd);
}

static void a_greeting_that_is_none_ends_its_connection_alone(void **state)
{
	static const char *const greetings[] = {
		"\n",
		"CONNECT\n",
		"CONNECT \n",
		"CONNECT x\n",
		"CONNECT 52x\n",
		"CONNECT -1\n",
		"CONNECT 4294967295\n",
		"CONNECT 99999999999999999999\n",
		"connect 52\n",
		"CONNECT 0000000000000000000000052\n",
		"GET / HTTP/1.1\r\nHost: vsock\r\n\r\n",
	};
	char line[8];

	for (size_t i = 0; i < ARRAY_SIZE(greetings); i++) {
		int fd = connect_to(path);

		assert_int_equal(write(fd, greetings[i], strlen(greetings[i])),
				 strlen(greetings[i]));
		settle();
		assert_true(read(fd, line, sizeof(line)) <= 0);
		assert_int_equal(connections(), 0);
		close(fd);
	}
	expect_silence();
}

static void a_host_that_does_not_read_stops_the_guest_by_its_credit(void **state)
{
	struct virtio_vsock_hdr h;
	uint64_t sent = 0, got = 0;
	char *buf = malloc(65536);
	uint32_t known = 0;
	int fd = open_from_guest();

	/* As a guest does: never more than the credit that it knows of. */
	while (sent - known + 32768 <= VSOCK_BUFFER_BYTES) {
		memset(drv.ram.bytes + TX_DATA, (int)(sent / 32768), 32768);
		send_data(HOST_PORT, 32768);
		sent += 32768;
		while (receive(&h, NULL)) {
			assert_int_equal(h.op, VIRTIO_VSOCK_OP_CREDIT_UPDATE);
			known = h.fwd_cnt;
		}
	}
	/* The socket's own buffer, then ours. */
	assert_true(sent > VSOCK_BUFFER_BYTES);
	while (got < sent) {
		ssize_t n = recv(fd, buf, 65536, MSG_DONTWAIT);

		if (n < 0) {
			assert_int_equal(errno, EAGAIN);
			settle();
			continue;
		}
		for (ssize_t i = 0; i < n; i++, got++) {
			assert_int_equal((unsigned char)buf[i], got / 32768);
		}
	}
	settle();
	while (receive(&h, NULL)) {
		known = h.fwd_cnt;
	}
	assert_true(sent - known < VSOCK_BUFFER_BYTES / 2);
	close(fd);
	free(buf);
}

static void a_guest_that_sends_more_than_its_credit_loses_the_connection(void **state)
{
	struct virtio_vsock_hdr h = {.op = 0};
	int fd = open_from_guest();

	for (unsigned int i = 0; i < 64 && h.op != VIRTIO_VSOCK_OP_RST; i++) {
		send_data(HOST_PORT, 32768);
		while (receive(&h, NULL) && h.op != VIRTIO_VSOCK_OP_RST) {
		}
	}
	assert_int_equal(h.op, VIRTIO_VSOCK_OP_RST);
	assert_int_equal(connections(), 0);
	close(fd);
}

static void a_guest_without_room_gets_no_more_and_is_asked(void **state)
{
	struct virtio_vsock_hdr h = packet(VIRTIO_VSOCK_OP_REQUEST, HOST_PORT, 0);
	char data[BUFFER];
	int fd;

	h.buf_alloc = 10;
	send_raw(&h, 0);
	expect(VIRTIO_VSOCK_OP_RESPONSE);
	fd = accept(service_fd, NULL, NULL);
	assert_int_equal(write(fd, "0123456789abcde", 15), 15);
	settle();
	assert_true(receive(&h, data));
	assert_int_equal(h.len, 10);
	expect(VIRTIO_VSOCK_OP_CREDIT_REQUEST);
	expect_silence();
	/* It has read eight. */
	h = packet(VIRTIO_VSOCK_OP_CREDIT_UPDATE, HOST_PORT, 0);
	h.buf_alloc = 10;
	h.fwd_cnt = 8;
	send_raw(&h, 0);
	assert_true(receive(&h, data));
	assert_int_equal(h.len, 5);
	assert_memory_equal(data, "abcde", 5);
	/* Numbers that cannot be are no room at all. */
	h = packet(VIRTIO_VSOCK_OP_CREDIT_UPDATE, HOST_PORT, 0);
	h.buf_alloc = 10;
	h.fwd_cnt = 1000;
	send_raw(&h, 0);
	assert_int_equal(write(fd, "x", 1), 1);
	expect_silence();
	close(fd);
}

static void packets_wait_for_buffers_and_the_loop_does_not_spin(void **state)
{
	struct virtio_vsock_hdr h;
	char data[BUFFER];
	int fd;

	send_packet(VIRTIO_VSOCK_OP_REQUEST, HOST_PORT);
	fd = accept(service_fd, NULL, NULL);
	assert_int_equal(write(fd, "later", 5), 5);
	close(fd); /* hung up and readable: an end that level-triggered polling reports for ever */
	settle();
	assert_false(receive(&h, data));
	assert_null(vsock.conns[0].source);
	give_buffers(2, BUFFER);
	settle();
	expect(VIRTIO_VSOCK_OP_RESPONSE);
	assert_true(receive(&h, data));
	assert_int_equal(h.op, VIRTIO_VSOCK_OP_RW);
	assert_memory_equal(data, "later", 5);
	settle();
	h = expect(VIRTIO_VSOCK_OP_SHUTDOWN);
	assert_int_equal(h.flags, VIRTIO_VSOCK_SHUTDOWN_SEND | VIRTIO_VSOCK_SHUTDOWN_RCV);
}

static void an_end_of_the_hosts_sending_alone_leaves_the_other_way_open(void **state)
{
	struct virtio_vsock_hdr h;
	char got[8];
	int fd = open_from_guest();

	shutdown(fd, SHUT_WR);
	settle();
	h = expect(VIRTIO_VSOCK_OP_SHUTDOWN);
	assert_int_equal(h.flags, VIRTIO_VSOCK_SHUTDOWN_SEND);
	memcpy(drv.ram.bytes + TX_DATA, "still", 5);
	send_data(HOST_PORT, 5);
	assert_int_equal(read(fd, got, sizeof(got)), 5);
	close(fd);
}

static void an_end_of_the_guests_sending_reaches_the_host_behind_all_data(void **state)
{
	struct virtio_vsock_hdr h;
	char got[8];
	int fd = open_from_guest();

	send_data(HOST_PORT, 4);
	h = packet(VIRTIO_VSOCK_OP_SHUTDOWN, HOST_PORT, 0);
	h.flags = VIRTIO_VSOCK_SHUTDOWN_SEND;
	send_raw(&h, 0);
	assert_int_equal(read(fd, got, sizeof(got)), 4);
	assert_int_equal(read(fd, got, sizeof(got)), 0);
	assert_int_equal(write(fd, "yes", 3), 3);
	settle();
	h = expect(VIRTIO_VSOCK_OP_RW);
	assert_int_equal(h.len, 3);
	/* And what it sends nevertheless is an error. */
	send_data(HOST_PORT, 1);
	expect(VIRTIO_VSOCK_OP_RST);
	close(fd);
}

static void a_close_of_the_guests_is_answered_and_frees_the_connection(void **state)
{
	struct virtio_vsock_hdr h;
	char got[8];
	int fd = open_from_guest();

	h = packet(VIRTIO_VSOCK_OP_SHUTDOWN, HOST_PORT, 0);
	h.flags = VIRTIO_VSOCK_SHUTDOWN_SEND | VIRTIO_VSOCK_SHUTDOWN_RCV;
	send_raw(&h, 0);
	expect(VIRTIO_VSOCK_OP_RST);
	assert_int_equal(read(fd, got, sizeof(got)), 0);
	assert_int_equal(connections(), 0);
	close(fd);
}

static void what_was_sent_before_a_reset_of_the_connection_still_arrives(void **state)
{
	char *buf = malloc(1 << 20);
	struct virtio_vsock_hdr h;
	uint32_t sent = 0, known = 0;
	size_t got = 0;
	ssize_t n;
	int fd = open_from_guest();

	while (sent - known + 32768 <= VSOCK_BUFFER_BYTES) {
		send_data(HOST_PORT, 32768);
		sent += 32768;
		while (receive(&h, NULL)) {
			known = h.fwd_cnt;
		}
	}
	send_packet(VIRTIO_VSOCK_OP_RST, HOST_PORT);
	assert_int_equal(connections(), 1);
	while (settle(), (n = recv(fd, buf, 1 << 20, MSG_DONTWAIT)) > 0) {
		got += (size_t)n;
	}
	assert_int_equal(n, 0);
	assert_int_equal(got, sent);
	assert_int_equal(connections(), 0);
	close(fd);
	free(buf);
}

static void what_is_not_a_packet_of_this_guests_is_not_answered(void **state)
{
	struct virtio_vsock_hdr h = packet(VIRTIO_VSOCK_OP_REQUEST, HOST_PORT, 0);

	h.src_cid = CID + 1;
	send_raw(&h, 0);
	h = packet(VIRTIO_VSOCK_OP_REQUEST, HOST_PORT, 100); /* with fewer bytes than it says */
	send_raw(&h, 10);
	h = packet(VIRTIO_VSOCK_OP_RW, HOST_PORT, UINT32_MAX);
	send_raw(&h, 10);
	h = packet(VIRTIO_VSOCK_OP_RST, HOST_PORT, 0); /* two resets do not answer each other */
	send_raw(&h, 0);
	/* Shorter than a header. */
	vring_desc(&drv.queue[TX], 0, TX_HEADER, sizeof(h) - 1, 0, 0);
	vring_offer(&drv.queue[TX], 0);
	driver_notify(&drv, TX);
	expect_silence();
	assert_int_equal(connections(), 0);
}

static void a_packet_that_means_nothing_is_refused(void **state)
{
	static const struct {
		uint16_t type, op;
		uint64_t cid;
	} rows[] = {
		{VIRTIO_VSOCK_TYPE_SEQPACKET, VIRTIO_VSOCK_OP_REQUEST, VSOCK_CID_HOST},
		{0, VIRTIO_VSOCK_OP_REQUEST, VSOCK_CID_HOST},
		{UINT16_MAX, VIRTIO_VSOCK_OP_RW, VSOCK_CID_HOST},
		{VIRTIO_VSOCK_TYPE_STREAM, VIRTIO_VSOCK_OP_REQUEST, CID},
		{VIRTIO_VSOCK_TYPE_STREAM, VIRTIO_VSOCK_OP_REQUEST, UINT64_MAX},
		{VIRTIO_VSOCK_TYPE_STREAM, VIRTIO_VSOCK_OP_INVALID, VSOCK_CID_HOST},
		{VIRTIO_VSOCK_TYPE_STREAM, VIRTIO_VSOCK_OP_RESPONSE, VSOCK_CID_HOST},
		{VIRTIO_VSOCK_TYPE_STREAM, VIRTIO_VSOCK_OP_RW, VSOCK_CID_HOST},
		{VIRTIO_VSOCK_TYPE_STREAM, VIRTIO_VSOCK_OP_SHUTDOWN, VSOCK_CID_HOST},
		{VIRTIO_VSOCK_TYPE_STREAM, VIRTIO_VSOCK_OP_CREDIT_REQUEST, VSOCK_CID_HOST},
		{VIRTIO_VSOCK_TYPE_STREAM, UINT16_MAX, VSOCK_CID_HOST},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct virtio_vsock_hdr h = packet(rows[i].op, HOST_PORT, 0);

		h.type = rows[i].type;
		h.dst_cid = rows[i].cid;
		send_raw(&h, 0);
		assert_true(receive(&h, NULL));
		assert_int_equal(h.op, VIRTIO_VSOCK_OP_RST);
		assert_int_equal(h.type, rows[i].type);
		assert_int_equal(h.src_cid, rows[i].cid);
		assert_int_equal(h.src_port, HOST_PORT);
	}
	expect_silence();
}

static void an_operation_out_of_order_ends_the_connection(void **state)
{
	static const uint16_t ops[] = {VIRTIO_VSOCK_OP_REQUEST, VIRTIO_VSOCK_OP_RESPONSE,
				       VIRTIO_VSOCK_OP_INVALID, UINT16_MAX};

	for (size_t i = 0; i < ARRAY_SIZE(ops); i++) {
		int fd = open_from_guest();
		char got[4];

		send_packet(ops[i], HOST_PORT);
		expect(VIRTIO_VSOCK_OP_RST);
		assert_int_equal(read(fd, got, sizeof(got)), 0);
		assert_int_equal(connections(), 0);
		close(fd);
	}
}

static void refusals_without_room_hold_the_guests_packets_back_and_none_is_lost(void **state)
{
	enum { PACKETS = VSOCK_RESETS_MAX + 20 };
	struct virtio_vsock_hdr h;
	unsigned int sent = 0, answers = 0;
	uint32_t head, written;

	/* The queue's sixteen entries, over and over, and no buffer to answer into. */
	while (sent < PACKETS) {
		h = packet(VIRTIO_VSOCK_OP_RW, HOST_PORT, 0);
		memcpy(drv.ram.bytes + TX_HEADER, &h, sizeof(h));
		vring_desc(&drv.queue[TX], sent % DRIVER_SIZE, TX_HEADER, sizeof(h), 0, 0);
		vring_offer(&drv.queue[TX], (uint16_t)(sent % DRIVER_SIZE));
		sent++;
		if (sent % DRIVER_SIZE == 0) {
			driver_notify(&drv, TX);
			settle();
			for (unsigned int i = 0; i < DRIVER_SIZE; i++) {
				if (!vring_take_used(&drv.queue[TX], &head, &written)) {
					goto full;
				}
			}
		}
	}
full:
	assert_int_equal(vsock.reset_count, VSOCK_RESETS_MAX);
	give_buffers(DRIVER_SIZE, BUFFER);
	while (settle(), receive(&h, NULL)) {
		assert_int_equal(h.op, VIRTIO_VSOCK_OP_RST);
		answers++;
	}
	assert_int_equal(answers, sent);
}

static void a_reset_of_the_device_ends_all_connections(void **state)
{
	int fd = open_from_guest();
	char got[4];

	driver_start(&drv, &vsock.v, 3, DRIVER_V1);
	give_buffers(DRIVER_SIZE, BUFFER);
	settle();
	assert_int_equal(read(fd, got, sizeof(got)), 0);
	assert_int_equal(connections(), 0);
	close(fd);
	close(open_from_guest());
}

static void buffers_that_hold_no_packet_are_given_back_empty(void **state)
{
	struct virtio_vsock_hdr h;
	uint32_t head, written;
	int fd;

	give_buffers(3, sizeof(h) - 1);
	send_packet(VIRTIO_VSOCK_OP_REQUEST, HOST_PORT);
	for (unsigned int i = 0; i < 3; i++) {
		assert_true(vring_take_used(&drv.queue[RX], &head, &written));
		assert_int_equal(written, 0);
	}
	/* Room for a header alone: enough for an answer, and for no data. */
	give_buffers(2, sizeof(h));
	settle();
	expect(VIRTIO_VSOCK_OP_RESPONSE);
	fd = accept(service_fd, NULL, NULL);
	assert_int_equal(write(fd, "x", 1), 1);
	settle();
	assert_true(vring_take_used(&drv.queue[RX], &head, &written));
	assert_int_equal(written, 0);
	close(fd);
}

static void more_connections_than_there_is_room_for_are_refused(void **state)
{
	static int fds[VSOCK_CONNS_MAX + 1];
	char got[4];

	for (unsigned int i = 0; i <= VSOCK_CONNS_MAX; i++) {
		fds[i] = connect_to(path);
		if (i % 32 == 31) {
			settle();
		}
	}
	settle();
	assert_int_equal(connections(), VSOCK_CONNS_MAX);
	assert_int_equal(recv(fds[VSOCK_CONNS_MAX], got, 1, MSG_DONTWAIT), 0);
	for (unsigned int i = 0; i <= VSOCK_CONNS_MAX; i++) {
		close(fds[i]);
	}
	settle();
	assert_int_equal(connections(), 0);
	close(open_from_guest());
}

static int try_init(const char *at, uint32_t cid, struct err *e)
{
	static struct virtio_vsock other;
	struct virtio_place place = driver_place(&drv);
	int r = virtio_vsock_init(&other, &place, at, cid, e);

	if (r == 0) {
		virtio_vsock_fini(&other);
	}
	return r;
}

static void a_path_or_an_address_that_cannot_be_is_refused(void **state)
{
	char other[96], file[96], longer[128];
	struct err e = ERR_INIT;
	int fd;

	assert_int_equal(try_init(path, CID, &e), -EADDRINUSE); /* a machine has it */
	snprintf(other, sizeof(other), "%s.2", path);
	assert_int_equal(try_init(other, 2, &e), -EINVAL);
	assert_string_equal(e.text, "vsock: expected a CID of 3 to 4294967294, got 2");
	assert_int_equal(try_init(other, UINT32_MAX, &e), -EINVAL);
	memset(longer, 'x', sizeof(longer));
	longer[VSOCK_PATH_MAX + 1] = '\0';
	assert_int_equal(try_init(longer, CID, &e), -EINVAL);
	assert_int_equal(try_init("", CID, &e), -EINVAL);
	assert_int_equal(try_init("/nowhere/vsock", CID, &e), -ENOENT);
	assert_string_equal(e.text, "vsock: /nowhere/vsock: No such file or directory");
	/* A file is not replaced; a socket that nobody serves is. */
	snprintf(file, sizeof(file), "%s.file", path);
	close(open(file, O_CREAT | O_WRONLY, 0600));
	assert_int_equal(try_init(file, CID, &e), -EADDRINUSE);
	unlink(file);
	fd = listen_at(other);
	close(fd);
	assert_int_equal(try_init(other, CID, &e), 0);
}

static void only_the_user_may_connect(void **state)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
#define W(name) cmocka_unit_test_setup_teardown(name, setup_without_buffers, teardown)
	const struct CMUnitTest tests[] = {
		T(the_guest_finds_its_address),
		T(bytes_go_both_ways_on_a_connection_of_the_guests),
		T(a_port_where_nobody_listens_is_refused),
		T(a_program_of_the_host_connects_by_naming_the_port),
		T(a_host_program_that_the_guest_refuses_gets_an_end_of_file),
		T(a_greeting_that_is_none_ends_its_connection_alone),
		T(a_host_that_does_not_read_stops_the_guest_by_its_credit),
		T(a_guest_that_sends_more_than_its_credit_loses_the_connection),
		T(a_guest_without_room_gets_no_more_and_is_asked),
		W(packets_wait_for_buffers_and_the_loop_does_not_spin),
		T(an_end_of_the_hosts_sending_alone_leaves_the_other_way_open),
		T(an_end_of_the_guests_sending_reaches_the_host_behind_all_data),
		T(a_close_of_the_guests_is_answered_and_frees_the_connection),
		T(what_was_sent_before_a_reset_of_the_connection_still_arrives),
		T(what_is_not_a_packet_of_this_guests_is_not_answered),
		T(a_packet_that_means_nothing_is_refused),
		T(an_operation_out_of_order_ends_the_connection),
		W(refusals_without_room_hold_the_guests_packets_back_and_none_is_lost),
		T(a_reset_of_the_device_ends_all_connections),
		W(buffers_that_hold_no_packet_are_given_back_empty),
		T(more_connections_than_there_is_room_for_are_refused),
		T(a_path_or_an_address_that_cannot_be_is_refused),
		T(only_the_user_may_connect),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
