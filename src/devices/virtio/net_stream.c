/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See net_stream.h. Serves on the event loop. */
#include "devices/virtio/net_stream.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "devices/virtio/queue.h"

#define LENGTH_BYTES 4
#define PACKET_MAX   (LENGTH_BYTES + NET_STREAM_FRAME_MAX)
#define IN_KEPT      (256 << 10) /* of what is read ahead: memory that is not given back */

struct net_stream {
	struct net_peer peer;
	struct iovec iov[VIRTQ_SIZE_MAX + 1];
	uint8_t *in;          /* NET_STREAM_AHEAD bytes */
	size_t in_at, in_end; /* what was read and not given yet */
	size_t in_used;       /* the farthest end since its memory was given back */
	size_t out_at, out_end;
	uint8_t out[PACKET_MAX];
};

static struct net_stream *to_stream(struct net_peer *p)
{
	return (struct net_stream *)p;
}

/* A socket that fails for any other reason is as good as closed. */
static int error_of(int error)
{
	return error == EAGAIN || error == EINTR || error == ENOBUFS ? -EAGAIN : -EPIPE;
}

static int stream_flush(struct net_peer *p)
{
	struct net_stream *s = to_stream(p);

	while (s->out_at < s->out_end) {
		ssize_t n = send(p->fd, s->out + s->out_at, s->out_end - s->out_at,
				 MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0) {
			return error_of(errno);
		}
		s->out_at += (size_t)n;
	}
	s->out_at = s->out_end = 0;
	return 0;
}

static bool stream_is_blocked(const struct net_peer *p)
{
	return ((const struct net_stream *)p)->out_end > 0;
}

/* Keeps what the socket did not take, so that the guest's buffers can go back. */
static void keep_rest(struct net_stream *s, unsigned int count, size_t taken)
{
	for (unsigned int i = 0; i < count; i++) {
		size_t skip = taken < s->iov[i].iov_len ? taken : s->iov[i].iov_len;
		size_t n = s->iov[i].iov_len - skip;

		memcpy(s->out + s->out_end, (const uint8_t *)s->iov[i].iov_base + skip, n);
		s->out_end += n;
		taken -= skip;
	}
}

static int stream_send(struct net_peer *p, const struct iovec *iov, unsigned int count)
{
	struct net_stream *s = to_stream(p);
	struct msghdr m = {.msg_iov = s->iov, .msg_iovlen = count};
	size_t bytes = 0;
	uint32_t length;
	ssize_t n;
	int r = stream_flush(p);

	if (r < 0) {
		return r;
	}
	for (unsigned int i = 1; i < count; i++) {
		s->iov[i] = iov[i];
		bytes += iov[i].iov_len;
	}
	if (bytes > NET_STREAM_FRAME_MAX) {
		return -EMSGSIZE;
	}
	length = htonl((uint32_t)bytes);
	s->iov[0] = (struct iovec){.iov_base = &length, .iov_len = LENGTH_BYTES};
	n = sendmsg(p->fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (n < 0) {
		return error_of(errno);
	}
	if ((size_t)n < LENGTH_BYTES + bytes) {
		keep_rest(s, count, (size_t)n);
	}
	return 0;
}

/* To the front with what is left, when that is little for the room that it makes. */
static void close_up(struct net_stream *s)
{
	size_t have = s->in_end - s->in_at;

	if (have < PACKET_MAX || s->in_at >= NET_STREAM_AHEAD / 2) {
		memmove(s->in, s->in + s->in_at, have);
		s->in_at = 0;
		s->in_end = have;
	}
	if (have == 0 && s->in_used > IN_KEPT) {
		(void)!madvise(s->in + IN_KEPT, NET_STREAM_AHEAD - IN_KEPT, MADV_DONTNEED);
		s->in_used = 0;
	}
}

/* One read, of as much as there is room for, which is more than nothing. */
static int read_more(struct net_stream *s)
{
	ssize_t n;

	close_up(s);
	n = recv(s->peer.fd, s->in + s->in_end, NET_STREAM_AHEAD - s->in_end, MSG_DONTWAIT);
	if (n <= 0) {
		return n == 0 ? -EPIPE : error_of(errno);
	}
	s->in_end += (size_t)n;
	s->in_used = s->in_end > s->in_used ? s->in_end : s->in_used;
	return 0;
}

/* Reads on until a whole frame is there. */
static int find_frame(struct net_stream *s, size_t *ret_bytes)
{
	int r = 0;

	while (r == 0) {
		size_t have = s->in_end - s->in_at;
		uint32_t length = 0;

		if (have >= LENGTH_BYTES) {
			memcpy(&length, s->in + s->in_at, LENGTH_BYTES);
			length = ntohl(length);
			/* There is no way to find the next frame behind a length that lies. */
			if (length > NET_STREAM_FRAME_MAX) {
				return -EPIPE;
			}
			if (have >= LENGTH_BYTES + length) {
				*ret_bytes = length;
				return 0;
			}
		}
		r = read_more(s);
	}
	return r;
}

static bool stream_can_read_ahead(const struct net_peer *p)
{
	const struct net_stream *s = (const struct net_stream *)p;

	return s->in_end < NET_STREAM_AHEAD || s->in_at >= NET_STREAM_AHEAD / 2;
}

static int stream_read_ahead(struct net_peer *p)
{
	int r = 0;

	while (r == 0 && stream_can_read_ahead(p)) {
		r = read_more(to_stream(p));
	}
	return r == -EAGAIN ? 0 : r;
}

static int stream_receive(struct net_peer *p, const struct iovec *iov, unsigned int count,
			  size_t *ret_bytes)
{
	static const uint8_t header[NET_HDR_BYTES];
	struct net_stream *s = to_stream(p);
	size_t bytes = 0, at = 0;
	const uint8_t *frame;
	int r = find_frame(s, &bytes);

	if (r < 0) {
		return r;
	}
	frame = s->in + s->in_at + LENGTH_BYTES;
	s->in_at += LENGTH_BYTES + bytes;
	bytes += NET_HDR_BYTES;
	for (unsigned int i = 0; i < count && at < bytes; i++) {
		uint8_t *to = iov[i].iov_base;
		size_t room = iov[i].iov_len, n;

		/* The header, and then the frame; any buffer may have a part of both. */
		while (room > 0 && at < bytes) {
			const uint8_t *from =
				at < NET_HDR_BYTES ? header + at : frame + at - NET_HDR_BYTES;

			n = at < NET_HDR_BYTES ? NET_HDR_BYTES - at : bytes - at;
			n = n < room ? n : room;
			memcpy(to, from, n);
			to += n;
			at += n;
			room -= n;
		}
	}
	if (at < bytes) {
		return -EMSGSIZE;
	}
	*ret_bytes = bytes;
	return 0;
}

static bool stream_is_ahead(const struct net_peer *p)
{
	const struct net_stream *s = (const struct net_stream *)p;

	return s->in_at < s->in_end;
}

static void stream_destroy(struct net_peer *p)
{
	munmap(to_stream(p)->in, NET_STREAM_AHEAD);
	close(p->fd);
	free(p);
}

static const struct net_peer_ops stream_ops = {
	.name = "stream",
	.send = stream_send,
	.receive = stream_receive,
	.is_ahead = stream_is_ahead,
	.read_ahead = stream_read_ahead,
	.can_read_ahead = stream_can_read_ahead,
	.is_blocked = stream_is_blocked,
	.flush = stream_flush,
	.destroy = stream_destroy,
};

/**
 * net_stream_adopt() - plug into a connected stream socket
 * @fd: the socket; the peer's on success
 * @ret: set on success; end it with net_peer_destroy()
 * @e: gets one line
 *
 * Return: 0 or -ENOMEM.
 * Context: before any vCPU runs.
 */
int net_stream_adopt(int fd, struct net_peer **ret, struct err *e)
{
	struct net_stream *s = malloc(sizeof(*s));

	if (s) {
		s->in = mmap(NULL, NET_STREAM_AHEAD, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	}
	if (!s || s->in == MAP_FAILED) {
		free(s);
		return err_set(e, -ENOMEM, "out of memory");
	}
	s->peer = (struct net_peer){.ops = &stream_ops, .fd = fd, .mtu = NET_STREAM_MTU};
	s->in_at = s->in_end = s->in_used = s->out_at = s->out_end = 0;
	*ret = &s->peer;
	return 0;
}
