/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include "vsock_driver.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

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
		int fd = vsock_connect_to(vsock_path);

		assert_int_equal(write(fd, greetings[i], strlen(greetings[i])),
				 strlen(greetings[i]));
		vsock_settle();
		assert_true(read(fd, line, sizeof(line)) <= 0);
		assert_int_equal(vsock_connections(), 0);
		close(fd);
	}
	vsock_expect_silence();
}

static void a_guest_that_sends_more_than_its_credit_loses_the_connection(void **state)
{
	struct virtio_vsock_hdr h = {.op = 0};
	int fd = vsock_open_from_guest();

	for (unsigned int i = 0; i < 64 && h.op != VIRTIO_VSOCK_OP_RST; i++) {
		vsock_send_data(HOST_PORT, 32768);
		while (vsock_receive(&h, NULL) && h.op != VIRTIO_VSOCK_OP_RST) {
		}
	}
	assert_int_equal(h.op, VIRTIO_VSOCK_OP_RST);
	assert_int_equal(vsock_connections(), 0);
	close(fd);
}

static void what_is_not_a_packet_of_this_guests_is_not_answered(void **state)
{
	struct virtio_vsock_hdr h = vsock_packet(VIRTIO_VSOCK_OP_REQUEST, HOST_PORT, 0);

	h.src_cid = CID + 1;
	vsock_send_raw(&h, 0);
	h = vsock_packet(VIRTIO_VSOCK_OP_REQUEST, HOST_PORT,
			 100); /* with fewer bytes than it says */
	vsock_send_raw(&h, 10);
	h = vsock_packet(VIRTIO_VSOCK_OP_RW, HOST_PORT, UINT32_MAX);
	vsock_send_raw(&h, 10);
	h = vsock_packet(VIRTIO_VSOCK_OP_RST, HOST_PORT,
			 0); /* two resets do not answer each other */
	vsock_send_raw(&h, 0);
	/* Shorter than a header. */
	vring_desc(&vsock_drv.queue[TX], 0, TX_HEADER, sizeof(h) - 1, 0, 0);
	vring_offer(&vsock_drv.queue[TX], 0);
	driver_notify(&vsock_drv, TX);
	vsock_expect_silence();
	assert_int_equal(vsock_connections(), 0);
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
		struct virtio_vsock_hdr h = vsock_packet(rows[i].op, HOST_PORT, 0);

		h.type = rows[i].type;
		h.dst_cid = rows[i].cid;
		vsock_send_raw(&h, 0);
		assert_true(vsock_receive(&h, NULL));
		assert_int_equal(h.op, VIRTIO_VSOCK_OP_RST);
		assert_int_equal(h.type, rows[i].type);
		assert_int_equal(h.src_cid, rows[i].cid);
		assert_int_equal(h.src_port, HOST_PORT);
	}
	vsock_expect_silence();
}

static void an_operation_out_of_order_ends_the_connection(void **state)
{
	static const uint16_t ops[] = {VIRTIO_VSOCK_OP_REQUEST, VIRTIO_VSOCK_OP_RESPONSE,
				       VIRTIO_VSOCK_OP_INVALID, UINT16_MAX};

	for (size_t i = 0; i < ARRAY_SIZE(ops); i++) {
		int fd = vsock_open_from_guest();
		char got[4];

		vsock_send_packet(ops[i], HOST_PORT);
		vsock_expect(VIRTIO_VSOCK_OP_RST);
		assert_int_equal(read(fd, got, sizeof(got)), 0);
		assert_int_equal(vsock_connections(), 0);
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
		h = vsock_packet(VIRTIO_VSOCK_OP_RW, HOST_PORT, 0);
		memcpy(vsock_drv.ram.bytes + TX_HEADER, &h, sizeof(h));
		vring_desc(&vsock_drv.queue[TX], sent % DRIVER_SIZE, TX_HEADER, sizeof(h), 0, 0);
		vring_offer(&vsock_drv.queue[TX], (uint16_t)(sent % DRIVER_SIZE));
		sent++;
		if (sent % DRIVER_SIZE == 0) {
			driver_notify(&vsock_drv, TX);
			vsock_settle();
			for (unsigned int i = 0; i < DRIVER_SIZE; i++) {
				if (!vring_take_used(&vsock_drv.queue[TX], &head, &written)) {
					goto full;
				}
			}
		}
	}
full:
	assert_int_equal(vsock_dev.reset_count, VSOCK_RESETS_MAX);
	vsock_give_buffers(DRIVER_SIZE, BUFFER);
	while (vsock_settle(), vsock_receive(&h, NULL)) {
		assert_int_equal(h.op, VIRTIO_VSOCK_OP_RST);
		answers++;
	}
	assert_int_equal(answers, sent);
}

static void a_reset_of_the_device_ends_all_connections(void **state)
{
	int fd = vsock_open_from_guest();
	char got[4];

	driver_start(&vsock_drv, &vsock_dev.v, 3, DRIVER_V1);
	vsock_give_buffers(DRIVER_SIZE, BUFFER);
	vsock_settle();
	assert_int_equal(read(fd, got, sizeof(got)), 0);
	assert_int_equal(vsock_connections(), 0);
	close(fd);
	close(vsock_open_from_guest());
}

static void buffers_that_hold_no_packet_are_given_back_empty(void **state)
{
	struct virtio_vsock_hdr h;
	uint32_t head, written;
	int fd;

	vsock_give_buffers(3, sizeof(h) - 1);
	vsock_send_packet(VIRTIO_VSOCK_OP_REQUEST, HOST_PORT);
	for (unsigned int i = 0; i < 3; i++) {
		assert_true(vring_take_used(&vsock_drv.queue[RX], &head, &written));
		assert_int_equal(written, 0);
	}
	/* Room for a header alone: enough for an answer, and for no data. */
	vsock_give_buffers(2, sizeof(h));
	vsock_settle();
	vsock_expect(VIRTIO_VSOCK_OP_RESPONSE);
	fd = accept(vsock_service_fd, NULL, NULL);
	assert_int_equal(write(fd, "x", 1), 1);
	vsock_settle();
	assert_true(vring_take_used(&vsock_drv.queue[RX], &head, &written));
	assert_int_equal(written, 0);
	close(fd);
}

static void more_connections_than_there_is_room_for_are_refused(void **state)
{
	static int fds[VSOCK_CONNS_MAX + 1];
	char got[4];

	for (unsigned int i = 0; i <= VSOCK_CONNS_MAX; i++) {
		fds[i] = vsock_connect_to(vsock_path);
		if (i % 32 == 31) {
			vsock_settle();
		}
	}
	vsock_settle();
	assert_int_equal(vsock_connections(), VSOCK_CONNS_MAX);
	assert_int_equal(recv(fds[VSOCK_CONNS_MAX], got, 1, MSG_DONTWAIT), 0);
	for (unsigned int i = 0; i <= VSOCK_CONNS_MAX; i++) {
		close(fds[i]);
	}
	vsock_settle();
	assert_int_equal(vsock_connections(), 0);
	close(vsock_open_from_guest());
}

static int try_init(const char *at, uint32_t cid, struct err *e)
{
	static struct virtio_vsock other;
	struct virtio_place place = driver_place(&vsock_drv);
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

	assert_int_equal(try_init(vsock_path, CID, &e), -EADDRINUSE); /* a machine has it */
	snprintf(other, sizeof(other), "%s.2", vsock_path);
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
	snprintf(file, sizeof(file), "%s.file", vsock_path);
	close(open(file, O_CREAT | O_WRONLY, 0600));
	assert_int_equal(try_init(file, CID, &e), -EADDRINUSE);
	unlink(file);
	fd = vsock_listen_at(other);
	close(fd);
	assert_int_equal(try_init(other, CID, &e), 0);
}

static void only_the_user_may_connect(void **state)
{
	struct stat st;

	assert_int_equal(stat(vsock_path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, vsock_setup, vsock_teardown)
#define W(name) cmocka_unit_test_setup_teardown(name, vsock_setup_without_buffers, vsock_teardown)
	const struct CMUnitTest tests[] = {
		T(a_greeting_that_is_none_ends_its_connection_alone),
		T(a_guest_that_sends_more_than_its_credit_loses_the_connection),
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
