/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include "vsock_driver.h"

#include <errno.h>
#include <linux/virtio_ids.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void the_guest_finds_its_address(void **state)
{
	assert_int_equal(driver_get(&vsock_drv, VIRTIO_MMIO_DEVICE_ID), VIRTIO_ID_VSOCK);
	assert_int_equal(driver_get(&vsock_drv, VIRTIO_MMIO_CONFIG), CID);
	assert_int_equal(driver_get(&vsock_drv, VIRTIO_MMIO_CONFIG + 4), 0);
}

static void bytes_go_both_ways_on_a_connection_of_the_guests(void **state)
{
	char got[16] = "";
	struct virtio_vsock_hdr h;
	int fd = vsock_open_from_guest();

	memcpy(vsock_drv.ram.bytes + TX_DATA, "question", 8);
	vsock_send_data(HOST_PORT, 8);
	assert_int_equal(read(fd, got, sizeof(got)), 8);
	assert_memory_equal(got, "question", 8);
	assert_int_equal(write(fd, "answer", 6), 6);
	vsock_settle();
	assert_true(vsock_receive(&h, got));
	assert_int_equal(h.op, VIRTIO_VSOCK_OP_RW);
	assert_int_equal(h.len, 6);
	assert_int_equal(h.fwd_cnt, 8);
	assert_memory_equal(got, "answer", 6);
	close(fd);
}

static void a_port_where_nobody_listens_is_refused(void **state)
{
	struct virtio_vsock_hdr h;

	vsock_send_packet(VIRTIO_VSOCK_OP_REQUEST, HOST_PORT + 1);
	h = vsock_expect(VIRTIO_VSOCK_OP_RST);
	assert_int_equal(h.src_port, HOST_PORT + 1);
	assert_int_equal(vsock_connections(), 0);
}

static void a_program_of_the_host_connects_by_naming_the_port(void **state)
{
	struct virtio_vsock_hdr h, answer;
	char line[32] = "", expected[32], data[8];
	int fd = vsock_connect_to(vsock_path);

	/* In two pieces, and with the first bytes for the guest already behind it. */
	assert_int_equal(write(fd, "CONN", 4), 4);
	vsock_expect_silence();
	assert_int_equal(write(fd, "ECT 52\nearly", 12), 12);
	vsock_settle();
	h = vsock_expect(VIRTIO_VSOCK_OP_REQUEST);
	vsock_expect_silence();
	answer = vsock_packet(VIRTIO_VSOCK_OP_RESPONSE, h.src_port, 0);
	vsock_send_raw(&answer, 0);
	snprintf(expected, sizeof(expected), "OK %u\n", h.src_port);
	assert_int_equal(read(fd, line, sizeof(line)), strlen(expected));
	assert_string_equal(line, expected);
	assert_true(vsock_receive(&h, data));
	assert_int_equal(h.op, VIRTIO_VSOCK_OP_RW);
	assert_memory_equal(data, "early", 5);
	close(fd);
}

static void a_host_program_that_the_guest_refuses_gets_an_end_of_file(void **state)
{
	struct virtio_vsock_hdr h, answer;
	char line[8];
	int fd = vsock_connect_to(vsock_path);

	assert_int_equal(write(fd, "CONNECT 52\n", 11), 11);
	vsock_settle();
	h = vsock_expect(VIRTIO_VSOCK_OP_REQUEST);
	answer = vsock_packet(VIRTIO_VSOCK_OP_RST, h.src_port, 0);
	vsock_send_raw(&answer, 0);
	assert_int_equal(read(fd, line, sizeof(line)), 0);
	assert_int_equal(vsock_connections(), 0);
	close(fd);
}

static void a_host_that_does_not_read_stops_the_guest_by_its_credit(void **state)
{
	struct virtio_vsock_hdr h;
	uint64_t sent = 0, got = 0;
	char *buf = malloc(65536);
	uint32_t known = 0;
	int fd = vsock_open_from_guest();

	/* As a guest does: never more than the credit that it knows of. */
	while (sent - known + 32768 <= VSOCK_BUFFER_BYTES) {
		memset(vsock_drv.ram.bytes + TX_DATA, (int)(sent / 32768), 32768);
		vsock_send_data(HOST_PORT, 32768);
		sent += 32768;
		while (vsock_receive(&h, NULL)) {
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
			vsock_settle();
			continue;
		}
		for (ssize_t i = 0; i < n; i++, got++) {
			assert_int_equal((unsigned char)buf[i], got / 32768);
		}
	}
	vsock_settle();
	while (vsock_receive(&h, NULL)) {
		known = h.fwd_cnt;
	}
	assert_true(sent - known < VSOCK_BUFFER_BYTES / 2);
	close(fd);
	free(buf);
}

static void a_guest_without_room_gets_no_more_and_is_asked(void **state)
{
	struct virtio_vsock_hdr h = vsock_packet(VIRTIO_VSOCK_OP_REQUEST, HOST_PORT, 0);
	char data[BUFFER];
	int fd;

	h.buf_alloc = 10;
	vsock_send_raw(&h, 0);
	vsock_expect(VIRTIO_VSOCK_OP_RESPONSE);
	fd = accept(vsock_service_fd, NULL, NULL);
	assert_int_equal(write(fd, "0123456789abcde", 15), 15);
	vsock_settle();
	assert_true(vsock_receive(&h, data));
	assert_int_equal(h.len, 10);
	vsock_expect(VIRTIO_VSOCK_OP_CREDIT_REQUEST);
	vsock_expect_silence();
	/* It has read eight. */
	h = vsock_packet(VIRTIO_VSOCK_OP_CREDIT_UPDATE, HOST_PORT, 0);
	h.buf_alloc = 10;
	h.fwd_cnt = 8;
	vsock_send_raw(&h, 0);
	assert_true(vsock_receive(&h, data));
	assert_int_equal(h.len, 5);
	assert_memory_equal(data, "abcde", 5);
	/* Numbers that cannot be are no room at all. */
	h = vsock_packet(VIRTIO_VSOCK_OP_CREDIT_UPDATE, HOST_PORT, 0);
	h.buf_alloc = 10;
	h.fwd_cnt = 1000;
	vsock_send_raw(&h, 0);
	assert_int_equal(write(fd, "x", 1), 1);
	vsock_expect_silence();
	close(fd);
}

static void packets_wait_for_buffers_and_the_loop_does_not_spin(void **state)
{
	struct virtio_vsock_hdr h;
	char data[BUFFER];
	int fd;

	vsock_send_packet(VIRTIO_VSOCK_OP_REQUEST, HOST_PORT);
	fd = accept(vsock_service_fd, NULL, NULL);
	assert_int_equal(write(fd, "later", 5), 5);
	close(fd); /* hung up and readable: an end that level-triggered polling reports for ever */
	vsock_settle();
	assert_false(vsock_receive(&h, data));
	assert_null(vsock_dev.conns[0].source);
	vsock_give_buffers(2, BUFFER);
	vsock_settle();
	vsock_expect(VIRTIO_VSOCK_OP_RESPONSE);
	assert_true(vsock_receive(&h, data));
	assert_int_equal(h.op, VIRTIO_VSOCK_OP_RW);
	assert_memory_equal(data, "later", 5);
	vsock_settle();
	h = vsock_expect(VIRTIO_VSOCK_OP_SHUTDOWN);
	assert_int_equal(h.flags, VIRTIO_VSOCK_SHUTDOWN_SEND | VIRTIO_VSOCK_SHUTDOWN_RCV);
}

static void an_end_of_the_hosts_sending_alone_leaves_the_other_way_open(void **state)
{
	struct virtio_vsock_hdr h;
	char got[8];
	int fd = vsock_open_from_guest();

	shutdown(fd, SHUT_WR);
	vsock_settle();
	h = vsock_expect(VIRTIO_VSOCK_OP_SHUTDOWN);
	assert_int_equal(h.flags, VIRTIO_VSOCK_SHUTDOWN_SEND);
	memcpy(vsock_drv.ram.bytes + TX_DATA, "still", 5);
	vsock_send_data(HOST_PORT, 5);
	assert_int_equal(read(fd, got, sizeof(got)), 5);
	close(fd);
}

static void an_end_of_the_guests_sending_reaches_the_host_behind_all_data(void **state)
{
	struct virtio_vsock_hdr h;
	char got[8];
	int fd = vsock_open_from_guest();

	vsock_send_data(HOST_PORT, 4);
	h = vsock_packet(VIRTIO_VSOCK_OP_SHUTDOWN, HOST_PORT, 0);
	h.flags = VIRTIO_VSOCK_SHUTDOWN_SEND;
	vsock_send_raw(&h, 0);
	assert_int_equal(read(fd, got, sizeof(got)), 4);
	assert_int_equal(read(fd, got, sizeof(got)), 0);
	assert_int_equal(write(fd, "yes", 3), 3);
	vsock_settle();
	h = vsock_expect(VIRTIO_VSOCK_OP_RW);
	assert_int_equal(h.len, 3);
	/* And what it sends nevertheless is an error. */
	vsock_send_data(HOST_PORT, 1);
	vsock_expect(VIRTIO_VSOCK_OP_RST);
	close(fd);
}

static void a_close_of_the_guests_is_answered_and_frees_the_connection(void **state)
{
	struct virtio_vsock_hdr h;
	char got[8];
	int fd = vsock_open_from_guest();

	h = vsock_packet(VIRTIO_VSOCK_OP_SHUTDOWN, HOST_PORT, 0);
	h.flags = VIRTIO_VSOCK_SHUTDOWN_SEND | VIRTIO_VSOCK_SHUTDOWN_RCV;
	vsock_send_raw(&h, 0);
	vsock_expect(VIRTIO_VSOCK_OP_RST);
	assert_int_equal(read(fd, got, sizeof(got)), 0);
	assert_int_equal(vsock_connections(), 0);
	close(fd);
}

static void what_was_sent_before_a_reset_of_the_connection_still_arrives(void **state)
{
	char *buf = malloc(1 << 20);
	struct virtio_vsock_hdr h;
	uint32_t sent = 0, known = 0;
	size_t got = 0;
	ssize_t n;
	int fd = vsock_open_from_guest();

	while (sent - known + 32768 <= VSOCK_BUFFER_BYTES) {
		vsock_send_data(HOST_PORT, 32768);
		sent += 32768;
		while (vsock_receive(&h, NULL)) {
			known = h.fwd_cnt;
		}
	}
	vsock_send_packet(VIRTIO_VSOCK_OP_RST, HOST_PORT);
	assert_int_equal(vsock_connections(), 1);
	while (vsock_settle(), (n = recv(fd, buf, 1 << 20, MSG_DONTWAIT)) > 0) {
		got += (size_t)n;
	}
	assert_int_equal(n, 0);
	assert_int_equal(got, sent);
	assert_int_equal(vsock_connections(), 0);
	close(fd);
	free(buf);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, vsock_setup, vsock_teardown)
#define W(name) cmocka_unit_test_setup_teardown(name, vsock_setup_without_buffers, vsock_teardown)
	const struct CMUnitTest tests[] = {
		T(the_guest_finds_its_address),
		T(bytes_go_both_ways_on_a_connection_of_the_guests),
		T(a_port_where_nobody_listens_is_refused),
		T(a_program_of_the_host_connects_by_naming_the_port),
		T(a_host_program_that_the_guest_refuses_gets_an_end_of_file),
		T(a_host_that_does_not_read_stops_the_guest_by_its_credit),
		T(a_guest_without_room_gets_no_more_and_is_asked),
		W(packets_wait_for_buffers_and_the_loop_does_not_spin),
		T(an_end_of_the_hosts_sending_alone_leaves_the_other_way_open),
		T(an_end_of_the_guests_sending_reaches_the_host_behind_all_data),
		T(a_close_of_the_guests_is_answered_and_frees_the_connection),
		T(what_was_sent_before_a_reset_of_the_connection_still_arrives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
