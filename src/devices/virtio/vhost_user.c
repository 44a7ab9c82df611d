/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See vhost_user.h. */
#include "devices/virtio/vhost_user.h"

#include <assert.h>
#include <errno.h>
#include <linux/vhost_types.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum request {
	GET_FEATURES = 1,
	SET_FEATURES = 2,
	SET_OWNER = 3,
	SET_MEM_TABLE = 5,
	SET_VRING_NUM = 8,
	SET_VRING_ADDR = 9,
	SET_VRING_BASE = 10,
	GET_VRING_BASE = 11,
	SET_VRING_KICK = 12,
	SET_VRING_CALL = 13,
	GET_PROTOCOL_FEATURES = 15,
	SET_PROTOCOL_FEATURES = 16,
	SET_VRING_ENABLE = 18,
};

#define VERSION      1u
#define VERSION_MASK 3u
#define IS_REPLY     (1u << 2)
#define WANTS_ACK    (1u << 3)

/* Not virtio's own: it stands among the features, and says that there are protocol features. */
#define F_PROTOCOL_FEATURES 30
#define P_REPLY_ACK         3

struct memory_region {
	uint64_t gpa, bytes, user_address, mmap_offset;
};

struct message {
	uint32_t request;
	uint32_t flags;
	uint32_t size; /* of what follows, bytes */
	union {
		uint64_t u64;
		struct vhost_vring_state state;
		struct vhost_vring_addr addr;
		struct {
			uint32_t count, padding;
			struct memory_region regions[VHOST_USER_REGIONS_MAX];
		} memory;
	} body;
} __attribute__((packed));

#define HEADER_BYTES offsetof(struct message, body)

union control {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(VHOST_USER_REGIONS_MAX * sizeof(int))];
};

/* A message goes out whole with its descriptors: a Unix socket takes one so small at once. */
static int send_message(int fd, const struct message *m, const int *fds, unsigned int count)
{
	union control control = {.bytes = ""};
	size_t bytes = HEADER_BYTES + m->size;
	struct iovec iov = {.iov_base = (void *)m, .iov_len = bytes};
	struct msghdr h = {.msg_iov = &iov, .msg_iovlen = 1};
	ssize_t n;

	if (count > 0) {
		struct cmsghdr *c;

		h.msg_control = &control;
		h.msg_controllen = CMSG_SPACE(count * sizeof(int));
		c = CMSG_FIRSTHDR(&h);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(count * sizeof(int));
		memcpy(CMSG_DATA(c), fds, count * sizeof(int));
	}
	do {
		n = sendmsg(fd, &h, MSG_NOSIGNAL);
	} while (n < 0 && errno == EINTR);
	if (n < 0) {
		return errno == EAGAIN ? -ETIMEDOUT : -errno;
	}
	return (size_t)n == bytes ? 0 : -EIO;
}

/* Descriptors that come along, which none of our messages asks for, the kernel drops. */
static int receive(int fd, void *buf, size_t bytes)
{
	uint8_t *p = buf;

	while (bytes > 0) {
		ssize_t n = recv(fd, p, bytes, 0);

		if (n == 0) {
			return -EPIPE;
		}
		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n < 0) {
			/* It is gone, and did not read what we had sent. */
			return errno == ECONNRESET ? -EPIPE : errno == EAGAIN ? -ETIMEDOUT : -errno;
		}
		p += n;
		bytes -= (size_t)n;
	}
	return 0;
}

static int receive_reply(int fd, uint32_t request, void *body, uint32_t bytes)
{
	struct message m;
	int r = receive(fd, &m, HEADER_BYTES);

	if (r < 0) {
		return r;
	}
	if (m.request != request || m.size != bytes ||
	    (m.flags & (VERSION_MASK | IS_REPLY)) != (VERSION | IS_REPLY)) {
		return -EPROTO;
	}
	return receive(fd, body, bytes);
}

/* Ask, and get an answer of @bytes into @reply. */
static int ask(struct vhost_user *u, struct message *m, void *reply, uint32_t bytes)
{
	int r = u->broken ? -EPIPE : 0;

	if (r == 0) {
		m->flags = VERSION;
		r = send_message(u->fd, m, NULL, 0);
	}
	if (r == 0) {
		r = receive_reply(u->fd, m->request, reply, bytes);
	}
	u->broken |= r < 0;
	return r;
}

/* Tell, and have it confirmed where the other side does that. */
static int tell(struct vhost_user *u, struct message *m, const int *fds, unsigned int count)
{
	uint64_t failed = 0;
	int r = u->broken ? -EPIPE : 0;

	if (r == 0) {
		m->flags = VERSION | (u->acks ? WANTS_ACK : 0);
		r = send_message(u->fd, m, fds, count);
	}
	if (r == 0 && u->acks) {
		r = receive_reply(u->fd, m->request, &failed, sizeof(failed));
	}
	if (r == 0 && failed) {
		r = -EREMOTEIO;
	}
	u->broken |= r < 0;
	return r;
}

static int ask_u64(struct vhost_user *u, enum request request, uint64_t *ret)
{
	struct message m = {.request = request};

	return ask(u, &m, ret, sizeof(*ret));
}

static int tell_u64(struct vhost_user *u, enum request request, uint64_t value)
{
	struct message m = {.request = request, .size = sizeof(value), .body.u64 = value};

	return tell(u, &m, NULL, 0);
}

static int tell_state(struct vhost_user *u, enum request request, uint32_t index, uint32_t num)
{
	struct message m = {.request = request,
			    .size = sizeof(m.body.state),
			    .body.state = {.index = index, .num = num}};

	return tell(u, &m, NULL, 0);
}

static int tell_fd(struct vhost_user *u, enum request request, uint32_t index, int fd)
{
	struct message m = {.request = request, .size = sizeof(uint64_t), .body.u64 = index};

	return tell(u, &m, &fd, 1);
}

/* Confirmations are asked for from the moment that both sides know of them. */
static int agree(struct vhost_user *u)
{
	struct message owner = {.request = SET_OWNER};
	uint64_t protocol = 0;
	int r = ask_u64(u, GET_FEATURES, &u->features);

	if (r == 0 && !(u->features & (UINT64_C(1) << F_PROTOCOL_FEATURES))) {
		r = -EPROTONOSUPPORT;
	}
	if (r == 0) {
		r = ask_u64(u, GET_PROTOCOL_FEATURES, &protocol);
	}
	protocol &= UINT64_C(1) << P_REPLY_ACK;
	if (r == 0) {
		r = tell_u64(u, SET_PROTOCOL_FEATURES, protocol);
	}
	if (r == 0) {
		u->acks = protocol != 0;
		r = tell(u, &owner, NULL, 0);
	}
	return r;
}

/**
 * vhost_user_init() - get to know the process at the other end
 * @u: the caller's memory
 * @fd: a connected stream socket; taken, also on failure
 *
 * Return: 0; -EPROTO for an answer that is none; -EPROTONOSUPPORT when it knows no protocol
 * features; -EPIPE when it is gone; -ETIMEDOUT; another −errno. Ended by vhost_user_fini() in each
 * case.
 * Context: a thread that may block.
 */
int vhost_user_init(struct vhost_user *u, int fd)
{
	const struct timeval limit = {.tv_sec = VHOST_USER_TIMEOUT_S};

	*u = (struct vhost_user){.fd = fd};
	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) < 0) {
		return -errno;
	}
	return agree(u);
}

/**
 * vhost_user_fini() - hang up; the other side then ends, as virtiofsd does
 * @u: initialised, or failed to
 *
 * Context: when nobody uses it any more.
 */
void vhost_user_fini(struct vhost_user *u)
{
	if (u->fd >= 0) {
		close(u->fd);
	}
	u->fd = -1;
}

/**
 * vhost_user_set_memory() - hand guest memory over
 * @u: a connection
 * @regions: the pieces, by gpa
 * @count: 1 to VHOST_USER_REGIONS_MAX
 *
 * Return: 0, -EREMOTEIO when the other side could not map it, or as vhost_user_init().
 * Context: a thread that may block.
 */
int vhost_user_set_memory(struct vhost_user *u, const struct vhost_user_region *regions,
			  unsigned int count)
{
	struct message m = {.request = SET_MEM_TABLE, .body.memory.count = count};
	int fds[VHOST_USER_REGIONS_MAX];

	assert(count >= 1 && count <= VHOST_USER_REGIONS_MAX);
	m.size = (uint32_t)(offsetof(struct message, body.memory.regions) - HEADER_BYTES +
			    count * sizeof(struct memory_region));
	for (unsigned int i = 0; i < count; i++) {
		m.body.memory.regions[i] = (struct memory_region){.gpa = regions[i].gpa,
								  .bytes = regions[i].bytes,
								  .user_address = regions[i].gpa,
								  .mmap_offset = regions[i].offset};
		fds[i] = regions[i].fd;
	}
	return tell(u, &m, fds, count);
}

/**
 * vhost_user_set_features() - tell what the driver agreed to
 * @u: a connection
 * @features: by bit, of those that were offered
 *
 * Return: 0 or as vhost_user_set_memory().
 * Context: with the device's lock.
 */
int vhost_user_set_features(struct vhost_user *u, uint64_t features)
{
	return tell_u64(u, SET_FEATURES, features | UINT64_C(1) << F_PROTOCOL_FEATURES);
}

/**
 * vhost_user_start_queue() - let the other side serve a queue from its start
 * @u: a connection that knows memory and features
 * @index: the queue's number
 * @q: a queue that the driver has made ready
 * @kick_fd: an eventfd that the driver's doorbell signals; borrowed
 * @call_fd: an eventfd whose signal interrupts the driver; borrowed
 *
 * Return: 0 or as vhost_user_set_memory().
 * Context: with the device's lock.
 */
int vhost_user_start_queue(struct vhost_user *u, uint32_t index, const struct virtq *q, int kick_fd,
			   int call_fd)
{
	struct message addr = {.request = SET_VRING_ADDR,
			       .size = sizeof(addr.body.addr),
			       .body.addr = {.index = index,
					     .desc_user_addr = q->desc,
					     .avail_user_addr = q->avail,
					     .used_user_addr = q->used}};
	int r = tell_state(u, SET_VRING_NUM, index, q->size);

	if (r == 0) {
		r = tell_state(u, SET_VRING_BASE, index, 0);
	}
	if (r == 0) {
		r = tell(u, &addr, NULL, 0);
	}
	if (r == 0) {
		r = tell_fd(u, SET_VRING_CALL, index, call_fd);
	}
	if (r == 0) {
		r = tell_fd(u, SET_VRING_KICK, index, kick_fd);
	}
	/* With protocol features a queue starts disabled. */
	return r < 0 ? r : tell_state(u, SET_VRING_ENABLE, index, 1);
}

/**
 * vhost_user_stop_queue() - have it leave a queue alone
 * @u: a connection
 * @index: of a queue that was started
 *
 * Return: 0: it touches neither the queue nor what was in it any more; or as vhost_user_init().
 * Context: with the device's lock.
 */
int vhost_user_stop_queue(struct vhost_user *u, uint32_t index)
{
	struct message m = {.request = GET_VRING_BASE,
			    .size = sizeof(m.body.state),
			    .body.state = {.index = index}};
	struct vhost_vring_state at;
	int r = ask(u, &m, &at, sizeof(at));

	if (r == 0 && at.index != index) {
		u->broken = true;
		r = -EPROTO;
	}
	return r;
}
