/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames on a stream socket: cut anywhere, with lengths that lie, into a socket that is full. */
#include "support.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "devices/virtio/net_stream.h"

#define HDR NET_HDR_BYTES

static struct net_peer *peer;
static int far; /* the other end */
static uint8_t got[HDR + NET_FRAME_MAX + 1];
static uint8_t data[HDR + NET_FRAME_MAX];

static int setup(void **state)
{
	struct err e = ERR_INIT;
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	assert_int_equal(net_stream_adopt(pair[0], &peer, &e), 0);
	far = pair[1];
	for (size_t i = 0; i < sizeof(data); i++) {
		data[i] = (uint8_t)(i * 13 + i / 256);
	}
	memset(got, 0xee, sizeof(got));
	return 0;
}

static int teardown(void **state)
{
	net_peer_destroy(peer);
	close(far);
	return 0;
}

static int receive(size_t room, size_t *ret_bytes)
{
	/* Three buffers, the first of one byte: header and frame both go over an edge. */
	const struct iovec iov[] = {{got, 1},
				    {got + 1, room < 20 ? room - 1 : 19},
				    {got + 20, room < 20 ? 0 : room - 20}};

	return peer->ops->receive(peer, iov, 3, ret_bytes);
}

static void put(const void *bytes, size_t count)
{
	assert_int_equal(send(far, bytes, count, MSG_NOSIGNAL), count);
}

static void put_frame(uint32_t length)
{
	uint32_t word = htonl(length);

	put(&word, sizeof(word));
	put(data, length);
}

static void assert_frame(uint32_t length)
{
	size_t bytes = 0;

	assert_int_equal(receive(sizeof(got), &bytes), 0);
	assert_int_equal(bytes, HDR + length);
	for (unsigned int i = 0; i < HDR; i++) {
		assert_int_equal(got[i], 0);
	}
	assert_memory_equal(got + HDR, data, length);
}

static void frames_come_whole_however_they_are_cut(void **state)
{
	uint8_t bytes[2 * (4 + 100)];
	uint32_t word = htonl(100);
	size_t n;

	memcpy(bytes, &word, 4);
	memcpy(bytes + 4, data, 100);
	memcpy(bytes + 104, bytes, 104);
	for (size_t cut = 1; cut < sizeof(bytes); cut++) {
		put(bytes, cut);
		if (cut >= 104) {
			assert_frame(100);
		}
		assert_int_equal(receive(sizeof(got), &n), -EAGAIN);
		put(bytes + cut, sizeof(bytes) - cut);
		if (cut < 104) {
			assert_frame(100);
		}
		assert_frame(100);
		assert_int_equal(receive(sizeof(got), &n), -EAGAIN);
	}
}

static void the_largest_frame_comes_and_many_after_it(void **state)
{
	for (unsigned int i = 0; i < 3; i++) {
		put_frame(NET_STREAM_FRAME_MAX);
		put_frame(14);
		put_frame(0);
		assert_frame(NET_STREAM_FRAME_MAX);
		assert_frame(14);
		assert_frame(0); /* which the device throws away */
	}
}

static void a_frame_without_room_is_lost_and_the_next_one_comes(void **state)
{
	size_t n;

	put_frame(100);
	put_frame(60);
	assert_int_equal(receive(HDR + 99, &n), -EMSGSIZE);
	assert_frame(60);
}

static void a_length_that_lies_ends_the_link(void **state)
{
	static const uint32_t lies[] = {NET_STREAM_FRAME_MAX + 1, 0x7fffffff, 0x80000000,
					UINT32_MAX};

	for (size_t i = 0; i < ARRAY_SIZE(lies); i++) {
		uint32_t word = htonl(lies[i]);
		size_t n;

		put_frame(20);
		put(&word, sizeof(word));
		put(data, 1000);
		assert_frame(20);
		assert_int_equal(receive(sizeof(got), &n), -EPIPE);
		assert_int_equal(receive(sizeof(got), &n), -EPIPE);
		if (i + 1 < ARRAY_SIZE(lies)) {
			teardown(state);
			setup(state);
		}
	}
}

static void an_end_that_is_closed_ends_the_link(void **state)
{
	struct iovec iov[] = {{data, HDR}, {data + HDR, 60}};
	size_t n;

	put_frame(20);
	shutdown(far, SHUT_RDWR);
	assert_frame(20);
	assert_int_equal(receive(sizeof(got), &n), -EPIPE);
	assert_int_equal(peer->ops->send(peer, iov, 2), -EPIPE);
}

static size_t drain(uint8_t *to, size_t room)
{
	size_t total = 0;
	ssize_t n;

	while (total < room && (n = recv(far, to + total, room - total, MSG_DONTWAIT)) > 0) {
		total += (size_t)n;
	}
	return total;
}

static void a_full_socket_takes_no_more_and_loses_nothing(void **state)
{
	static uint8_t all[4 << 20];
	const struct iovec iov[] = {{got, HDR}, {data, 10000}, {data + 10000, 50000}};
	unsigned int sent = 0, seen = 0;
	size_t have, at = 0;
	int r;

	/* A part of the frame that did not fit is with the peer. */
	while ((r = peer->ops->send(peer, iov, 3)) == 0 && !peer->ops->is_blocked(peer)) {
		sent++;
	}
	assert_int_equal(r, 0);
	sent++;
	assert_int_equal(peer->ops->send(peer, iov, 3), -EAGAIN);
	assert_int_equal(peer->ops->flush(peer), -EAGAIN);
	have = drain(all, sizeof(all));
	assert_int_equal(peer->ops->flush(peer), 0);
	assert_false(peer->ops->is_blocked(peer));
	have += drain(all + have, sizeof(all) - have);
	assert_int_equal(have, sent * (4 + 60000));
	for (; at < have; at += 4 + 60000, seen++) {
		uint32_t word;

		memcpy(&word, all + at, 4);
		assert_int_equal(ntohl(word), 60000);
		assert_memory_equal(all + at + 4, data, 60000);
	}
	assert_int_equal(seen, sent);
}

/* Sends frames until the socket takes no more of one, which is finished later. */
static unsigned int fill(uint8_t *rest, size_t *ret_rest)
{
	const uint32_t word = htonl(60000);
	unsigned int frames = 0;
	ssize_t n;

	memcpy(rest, &word, 4);
	memcpy(rest + 4, data, 60000);
	if (*ret_rest == 0) {
		*ret_rest = 60004;
	}
	while ((n = send(far, rest + 60004 - *ret_rest, *ret_rest, MSG_NOSIGNAL | MSG_DONTWAIT)) >
	       0) {
		*ret_rest -= (size_t)n;
		if (*ret_rest == 0) {
			*ret_rest = 60004;
			frames++;
		}
	}
	return frames;
}

static void what_the_guest_has_no_room_for_is_taken_off_the_socket(void **state)
{
	static uint8_t frame[60004];
	size_t rest = 0, n;
	unsigned int frames = 0, taken = 0;

	/* Twice, as the memory is given back in between. */
	for (unsigned int turn = 0; turn < 2; turn++) {
		while (peer->ops->can_read_ahead(peer)) {
			frames += fill(frame, &rest);
			assert_int_equal(peer->ops->read_ahead(peer), 0);
		}
		/* Full at both places, and not sooner than promised. */
		frames += fill(frame, &rest);
		assert_int_equal(fill(frame, &rest), 0);
		assert_true(frames - taken > NET_STREAM_AHEAD / 60004);
		assert_true(peer->ops->is_ahead(peer));
		for (; taken < frames; taken++) {
			assert_frame(60000);
		}
		/* There is room again long before all of it is taken. */
		assert_true(peer->ops->can_read_ahead(peer));
		assert_int_equal(receive(sizeof(got), &n), -EAGAIN);
	}
	frames += fill(frame, &rest);
	shutdown(far, SHUT_RDWR);
	assert_int_equal(peer->ops->read_ahead(peer), -EPIPE);
	for (; taken < frames; taken++) {
		assert_frame(60000);
	}
}

static void a_frame_that_passt_would_not_take_is_refused(void **state)
{
	const struct iovec iov[] = {{got, HDR}, {data, NET_STREAM_FRAME_MAX + 1}};
	const struct iovec fits[] = {{got, HDR}, {data, NET_STREAM_FRAME_MAX}};

	assert_int_equal(peer->ops->send(peer, iov, 2), -EMSGSIZE);
	assert_int_equal(drain(got, sizeof(got)), 0);
	assert_int_equal(peer->ops->send(peer, fits, 2), 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(frames_come_whole_however_they_are_cut),
		T(the_largest_frame_comes_and_many_after_it),
		T(a_frame_without_room_is_lost_and_the_next_one_comes),
		T(a_length_that_lies_ends_the_link),
		T(an_end_that_is_closed_ends_the_link),
		T(a_full_socket_takes_no_more_and_loses_nothing),
		T(what_the_guest_has_no_room_for_is_taken_off_the_socket),
		T(a_frame_that_passt_would_not_take_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
