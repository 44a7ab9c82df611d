/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See vsock.h. The host's side: Unix sockets, and who waits for what on the event loop. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/log.h"
#include "base/text.h"
#include "devices/virtio/vsock_priv.h"

#define BACKLOG 64
#define ACCEPT_BUDGET                                                              \
	16 /* connections accepted before other sources of the loop get their turn \
	    */
#define WORD "CONNECT "

static int make_socket(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	return fd < 0 ? -errno : fd;
}

static int dial(const char *path)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int fd = make_socket();

	if (fd < 0) {
		return fd;
	}
	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", path);
	/* A Unix socket connects at once, or not at all: EAGAIN is a full backlog. */
	if (connect(fd, (const struct sockaddr *)&addr, sizeof(addr)) < 0) {
		int r = -errno;

		close(fd);
		return r;
	}
	return fd;
}

/**
 * vsock_dial() - connect to the host's program at a port
 * @s: the device
 * @port: that the guest names
 *
 * Return: a socket, not blocking, or −errno: nobody listens there.
 * Context: the event loop.
 */
int vsock_dial(struct virtio_vsock *s, uint32_t port)
{
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];

	snprintf(path, sizeof(path), "%s_%u", s->path, port);
	return dial(path);
}

/* A socket that a machine left behind when it was killed is nobody's any more. */
static int remove_stale(const char *path)
{
	struct stat st;
	int fd;

	if (lstat(path, &st) < 0) {
		return errno == ENOENT ? 0 : -errno;
	}
	if (!S_ISSOCK(st.st_mode)) {
		return -EADDRINUSE;
	}
	fd = dial(path);
	if (fd >= 0) {
		close(fd);
		return -EADDRINUSE;
	}
	return fd == -ECONNREFUSED && unlink(path) == 0 ? 0 : -EADDRINUSE;
}

/**
 * vsock_listen() - make the Unix socket that the host's programs connect to
 * @s: the device, with its path
 * @e: gets one line
 *
 * Only the user may connect to it.
 *
 * Return: 0, −EADDRINUSE, or another −errno.
 * Context: before any vCPU runs.
 */
int vsock_listen(struct virtio_vsock *s, struct err *e)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int r = remove_stale(s->path), fd;

	if (r < 0) {
		return err_errno(e, r, "vsock: %s", s->path);
	}
	fd = make_socket();
	if (fd < 0) {
		return err_errno(e, fd, "vsock: cannot make a socket");
	}
	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", s->path);
	if (fchmod(fd, 0600) < 0 || bind(fd, (const struct sockaddr *)&addr, sizeof(addr)) < 0) {
		r = err_errno(e, -errno, "vsock: %s", s->path);
		close(fd);
		return r;
	}
	s->listen_fd = fd;
	if (listen(fd, BACKLOG) < 0) {
		r = err_errno(e, -errno, "vsock: %s", s->path);
		vsock_unlisten(s);
	}
	return r;
}

/**
 * vsock_unlisten() - take the Unix socket away
 * @s: the device; it may have none
 *
 * Context: the owner's thread.
 */
void vsock_unlisten(struct virtio_vsock *s)
{
	if (s->listen_fd >= 0) {
		unlink(s->path);
		close(s->listen_fd);
	}
	s->listen_fd = -1;
}

/* A port of ours that no connection has. */
static uint32_t next_port(struct virtio_vsock *s, uint32_t guest_port)
{
	do {
		s->next_port++;
	} while (vsock_find(s, guest_port, s->next_port));
	return s->next_port;
}

static void take_greeting(struct vsock_conn *c)
{
	const size_t word = strlen(WORD);
	uint64_t port;

	c->greeting[c->greeting_bytes - 1] = '\0';
	if (strlen(c->greeting) != c->greeting_bytes - 1 || strncmp(c->greeting, WORD, word) != 0 ||
	    text_parse_u64(c->greeting + word, &port) < 0 || port >= UINT32_MAX) {
		vsock_free(c);
		return;
	}
	c->guest_port = (uint32_t)port;
	c->host_port = next_port(c->vsock, c->guest_port);
	c->state = VSOCK_ASKED;
	c->due = VSOCK_DUE_REQUEST;
}

/**
 * vsock_greet() - read where the host's program wants to go
 * @c: a connection whose socket is readable; free afterwards if that was nothing
 *
 * What comes behind the line is the guest's, so the line is read a byte at a time.
 *
 * Context: the event loop.
 */
static void vsock_greet(struct vsock_conn *c)
{
	while (c->state == VSOCK_GREETING) {
		char *at = &c->greeting[c->greeting_bytes];
		ssize_t n = recv(c->fd, at, 1, MSG_DONTWAIT);

		if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
			return;
		}
		if (n <= 0 || ++c->greeting_bytes == VSOCK_GREETING_MAX) {
			vsock_free(c);
		} else if (*at == '\n') {
			take_greeting(c);
		}
	}
}

/**
 * vsock_greeted() - the guest accepted: tell the host's program
 * @c: a connection that was asked for
 *
 * Context: the event loop.
 */
void vsock_greeted(struct vsock_conn *c)
{
	char line[VSOCK_GREETING_MAX];
	int n = snprintf(line, sizeof(line), "OK %u\n", c->host_port);

	log_debug_few(&c->vsock->told, "vsock", "host's port %u to guest's port %u: connected",
		      c->host_port, c->guest_port);
	c->state = VSOCK_OPEN;
	c->readable = true;
	if (send(c->fd, line, (size_t)n, MSG_DONTWAIT | MSG_NOSIGNAL) != n) {
		vsock_abort(c);
	}
}

static void on_event(void *ctx, int fd, uint32_t events)
{
	struct vsock_conn *c = ctx;
	struct virtio_vsock *s = c->vsock;

	c->host_gone |= (events & (EPOLLHUP | EPOLLERR)) != 0;
	if (c->state == VSOCK_GREETING) {
		vsock_greet(c);
	} else {
		c->readable |= (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0;
		if (c->filled > 0) {
			vsock_flush(c);
		}
	}
	vsock_pump(s);
}

static uint32_t wanted(const struct vsock_conn *c)
{
	if (c->fd < 0 || !c->vsock->loop) {
		return 0;
	}
	switch (c->state) {
	case VSOCK_GREETING:
		return EPOLLIN;
	case VSOCK_OPEN:
		/* What is known to be readable waits for the guest's room, not for the host. */
		return (c->readable || c->host_ended || !c->guest_reads ? 0 : EPOLLIN) |
		       (c->filled ? EPOLLOUT : 0);
	case VSOCK_LINGERS:
		return EPOLLOUT;
	default:
		return 0;
	}
}

/**
 * vsock_watch() - let the loop wait for what a connection waits for, and for nothing else
 * @c: a connection, or a free one
 *
 * A socket whose other end is closed is always "ready", so one with nothing to wait for is not
 * watched at all.
 *
 * Context: the event loop.
 */
void vsock_watch(struct vsock_conn *c)
{
	uint32_t events = wanted(c);
	int r = 0;

	if (!events) {
		evloop_remove(c->source);
		c->source = NULL;
	} else if (!c->source) {
		r = evloop_add_fd(c->vsock->loop, c->fd, events, on_event, c, &c->source);
	} else if (events != c->watched) {
		r = evloop_set_events(c->source, events);
	}
	c->watched = events;
	if (r < 0) {
		c->source = NULL;
		vsock_abort(c);
	}
}

/**
 * virtio_vsock_accept() - a program of the host connected
 * @s: the device
 * @fd: its socket, not blocking; the device's from here
 *
 * Context: the event loop. With VSOCK_CONNS_MAX connections it is closed at once.
 */
void virtio_vsock_accept(struct virtio_vsock *s, int fd)
{
	struct vsock_conn *c = vsock_new(s, fd);

	if (!c) {
		close(fd);
		return;
	}
	vsock_greet(c);
	vsock_pump(s);
}

static void on_listener(void *ctx, int fd, uint32_t events)
{
	struct virtio_vsock *s = ctx;

	for (unsigned int i = 0; i < ACCEPT_BUDGET; i++) {
		int conn = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (conn < 0) {
			/* Out of descriptors: it would be ready for ever. One that ends goes on. */
			if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS ||
			    errno == ENOMEM) {
				log_warn("vsock: %s: %s", s->path, strerror(errno));
				evloop_remove(s->listener);
				s->listener = NULL;
			}
			return;
		}
		virtio_vsock_accept(s, conn);
	}
}

/**
 * vsock_watch_listener() - wait for programs of the host, if nobody does yet
 * @s: the device
 *
 * Return: 0 or −errno.
 * Context: the event loop.
 */
int vsock_watch_listener(struct virtio_vsock *s)
{
	if (s->listener || !s->loop) {
		return 0;
	}
	return evloop_add_fd(s->loop, s->listen_fd, EPOLLIN, on_listener, s, &s->listener);
}
