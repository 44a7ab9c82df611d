/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Streams between a guest and its host, seen from the guest. On the host runs
 * tests/lab/vsock_peer.py, which serves ECHO and SINK and connects to GREETED until it is accepted.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* Behind sys/socket.h, whose types it needs. */
#include <linux/vm_sockets.h>

#include "ktap.h"

#define ECHO    1000 /* gives back what it gets, until the end */
#define SINK    1001 /* waits a second, reads all, answers with their number in decimal */
#define NOBODY  1002
#define GREETED 52

#define BYTES   (1u << 20)
#define AT_ONCE 16

static unsigned char sent[BYTES], got[BYTES + 1];

static void fill(uint32_t seed)
{
	for (size_t i = 0; i < sizeof(sent); i++) {
		seed = seed * 1664525 + 1013904223;
		sent[i] = (unsigned char)(seed >> 24);
	}
}

static int try_connect(unsigned int port)
{
	const struct sockaddr_vm to = {
		.svm_family = AF_VSOCK, .svm_cid = VMADDR_CID_HOST, .svm_port = port};
	int fd = socket(AF_VSOCK, SOCK_STREAM, 0);

	ktap_check(fd >= 0, "socket: %s", strerror(errno));
	if (connect(fd, (const struct sockaddr *)&to, sizeof(to)) < 0) {
		int r = -errno;

		close(fd);
		return r;
	}
	return fd;
}

static int connect_to(unsigned int port)
{
	int fd = try_connect(port);

	ktap_check(fd >= 0, "connect to port %u: %s", port, strerror(-fd));
	return fd;
}

static void write_all(int fd, const void *data, size_t bytes)
{
	const unsigned char *from = data;

	while (bytes > 0) {
		ssize_t n = write(fd, from, bytes);

		ktap_check(n > 0, "write: %s", strerror(errno));
		from += n;
		bytes -= (size_t)n;
	}
}

static size_t read_to_end(int fd, unsigned char *data, size_t room)
{
	size_t bytes = 0;
	ssize_t n;

	while (bytes < room && (n = read(fd, data + bytes, room - bytes)) != 0) {
		ktap_check(n > 0, "read: %s", strerror(errno));
		bytes += (size_t)n;
	}
	return bytes;
}

/* Writes and reads at the same time, as both directions have a bounded buffer. */
static void echo(unsigned int port, size_t bytes)
{
	int fd = connect_to(port);
	pid_t writer = fork();
	size_t n;

	if (writer == 0) {
		write_all(fd, sent, bytes);
		shutdown(fd, SHUT_WR);
		_exit(0);
	}
	n = read_to_end(fd, got, bytes + 1);
	ktap_reap(writer, "the writer");
	ktap_check(n == bytes, "%zu bytes came back of %zu", n, bytes);
	ktap_check(memcmp(sent, got, bytes) == 0, "other bytes came back");
	close(fd);
}

static void a_stream_comes_back_as_it_was_sent(void)
{
	fill(1);
	echo(ECHO, BYTES);
}

static void connections_one_after_the_other(void)
{
	fill(2);
	for (unsigned int i = 0; i < 50; i++) {
		echo(ECHO, 1 + 97 * i);
	}
}

static void connections_at_once(void)
{
	pid_t child[AT_ONCE];

	for (unsigned int i = 0; i < AT_ONCE; i++) {
		child[i] = fork();
		if (child[i] == 0) {
			fill(100 + i);
			echo(ECHO, 65536);
			_exit(0);
		}
	}
	for (unsigned int i = 0; i < AT_ONCE; i++) {
		ktap_reap(child[i], "a connection");
	}
}

static void a_port_where_nobody_listens(void)
{
	int r = try_connect(NOBODY);

	ktap_check(r == -ECONNRESET, "expected %s, got %s", strerror(ECONNRESET),
		   r < 0 ? strerror(-r) : "a connection");
}

static void a_reader_that_is_slow(void)
{
	int fd = connect_to(SINK);

	fill(3);
	write_all(fd, sent, BYTES);
	shutdown(fd, SHUT_WR);
	got[read_to_end(fd, got, 32)] = '\0';
	ktap_check(strtoul((const char *)got, NULL, 10) == BYTES, "it read %s bytes of %u", got,
		   BYTES);
	close(fd);
}

static void a_connection_of_the_hosts(void)
{
	const struct sockaddr_vm at = {
		.svm_family = AF_VSOCK, .svm_cid = VMADDR_CID_ANY, .svm_port = GREETED};
	int listener = socket(AF_VSOCK, SOCK_STREAM, 0);
	size_t n;
	int fd;

	ktap_check(bind(listener, (const struct sockaddr *)&at, sizeof(at)) == 0 &&
			   listen(listener, 1) == 0,
		   "listen: %s", strerror(errno));
	fd = accept(listener, NULL, NULL);
	ktap_check(fd >= 0, "accept: %s", strerror(errno));
	n = read_to_end(fd, got, sizeof(got));
	ktap_check(n == BYTES, "%zu bytes came of %u", n, BYTES);
	/* The host has ended its sending alone: this way is still open. */
	write_all(fd, got, n);
	close(fd);
}

int main(void)
{
	static const struct ktap_case cases[] = {
		{"a stream comes back as it was sent", a_stream_comes_back_as_it_was_sent, 60},
		{"connections one after the other", connections_one_after_the_other, 60},
		{"connections at once", connections_at_once, 60},
		{"a port where nobody listens", a_port_where_nobody_listens, 30},
		{"a reader that is slow", a_reader_that_is_slow, 60},
		{"a connection of the host's", a_connection_of_the_hosts, 60},
	};

	return ktap_run(cases, sizeof(cases) / sizeof(cases[0]));
}
