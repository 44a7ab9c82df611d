/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See fake_vhost.h. Numbers are those of QEMU's docs/interop/vhost-user.rst. */
#include "support.h"

#include "fake_vhost.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define NEED_REPLY 8u

struct message {
	uint32_t request, flags, size;
	uint64_t body[40];
} __attribute__((packed));

void fake_vhost_init(struct fake_vhost *f)
{
	int fds[2];

	memset(f, 0, sizeof(*f));
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	f->fd = fds[0];
	f->own_fd = fds[1];
	/* Version 1, indirect descriptors, event index, and the bit of the protocol's features. */
	f->features = UINT64_C(1) << 32 | UINT64_C(1) << 28 | UINT64_C(1) << 29 |
		      UINT64_C(1) << 30 | UINT64_C(1) << 24;
	f->protocol = 0xffff;
	f->memory_fd = -1;
	for (int i = 0; i < FAKE_VHOST_QUEUES; i++) {
		f->queue[i].kick_fd = f->queue[i].call_fd = -1;
	}
}

/* Returns false at the end. */
static bool take(struct fake_vhost *f, struct message *m, int *fd)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(8 * sizeof(int))];
	} control;
	struct iovec iov = {.iov_base = m, .iov_len = 12};
	struct msghdr h = {.msg_iov = &iov,
			   .msg_iovlen = 1,
			   .msg_control = &control,
			   .msg_controllen = sizeof(control)};
	struct cmsghdr *c;

	*fd = -1;
	if (recvmsg(f->own_fd, &h, MSG_WAITALL | MSG_CMSG_CLOEXEC) != 12) {
		return false;
	}
	c = CMSG_FIRSTHDR(&h);
	if (c) {
		memcpy(fd, CMSG_DATA(c), sizeof(int));
	}
	assert_true(m->size <= sizeof(m->body));
	return m->size == 0 || recv(f->own_fd, m->body, m->size, MSG_WAITALL) == (ssize_t)m->size;
}

static void keep(int *slot, int fd)
{
	if (*slot >= 0) {
		close(*slot);
	}
	*slot = fd;
}

/* Returns the length of the answer, 0 for what has none of its own. */
static uint32_t act(struct fake_vhost *f, struct message *m, int fd)
{
	uint32_t index = (uint32_t)m->body[0], num = (uint32_t)(m->body[0] >> 32);
	bool queue = index < FAKE_VHOST_QUEUES;

	switch (m->request) {
	case 1:
		m->body[0] = f->features;
		return 8;
	case 15:
		m->body[0] = f->protocol;
		return 8;
	case 2:
		f->accepted = m->body[0];
		break;
	case 5:
		f->regions = (uint32_t)m->body[0];
		f->gpa = m->body[1];
		f->bytes = m->body[2];
		f->user_address = m->body[3];
		keep(&f->memory_fd, fd);
		break;
	case 8:
		assert_true(queue);
		f->queue[index].num = num;
		break;
	case 9:
		assert_true(queue);
		f->queue[index].desc = m->body[1];
		f->queue[index].used = m->body[2];
		f->queue[index].avail = m->body[3];
		break;
	case 12:
		assert_true(queue);
		keep(&f->queue[index].kick_fd, fd);
		break;
	case 13:
		assert_true(queue);
		keep(&f->queue[index].call_fd, fd);
		break;
	case 18:
		assert_true(queue);
		f->queue[index].enabled = num;
		break;
	case 11:
		assert_true(queue);
		f->queue[index].enabled = false;
		m->body[0] = index;
		return 8;
	default:
		break;
	}
	return 0;
}

/* Returns false when it hung up. */
static bool answer(struct fake_vhost *f, struct message *m, uint32_t bytes, enum fake_vhost_lie lie)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {.bytes = ""};
	struct iovec iov = {.iov_base = m, .iov_len = 12 + bytes};
	struct msghdr h = {.msg_iov = &iov, .msg_iovlen = 1};

	m->flags = lie == FAKE_NO_REPLY ? 1 : lie == FAKE_VERSION ? 6 : 5;
	m->size = bytes;
	switch (lie) {
	case FAKE_OTHER_REQUEST:
		m->request++;
		break;
	case FAKE_TOO_LONG:
		m->size = 16;
		iov.iov_len += 8;
		break;
	case FAKE_TOO_SHORT:
		m->size = 4;
		iov.iov_len -= 4;
		break;
	case FAKE_HUGE:
		m->size = UINT32_MAX;
		break;
	case FAKE_HALF:
		iov.iov_len = 15;
		break;
	case FAKE_REFUSES:
		m->body[0] = 1;
		break;
	case FAKE_OTHER_QUEUE:
		m->body[0]++;
		break;
	case FAKE_WITH_FILE: {
		struct cmsghdr *c;

		h.msg_control = &control;
		h.msg_controllen = sizeof(control);
		c = CMSG_FIRSTHDR(&h);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &f->own_fd, sizeof(int));
		break;
	}
	default:
		break;
	}
	if (lie != FAKE_HANGS_UP) {
		(void)!sendmsg(f->own_fd, &h, MSG_NOSIGNAL);
	}
	if (lie == FAKE_HANGS_UP || lie == FAKE_HALF) {
		shutdown(f->own_fd, SHUT_RDWR);
		return false;
	}
	return true;
}

static void *serve(void *ctx)
{
	struct fake_vhost *f = ctx;
	struct message m;
	bool up = true;
	int fd;

	while (up && take(f, &m, &fd)) {
		uint32_t flags = m.flags, bytes;

		assert_true(f->count < FAKE_VHOST_LOG);
		f->log[f->count++] = m.request;
		bytes = act(f, &m, fd);
		if (bytes == 0 && (flags & NEED_REPLY)) {
			m.body[0] = 0;
			bytes = 8;
		}
		if (bytes > 0) {
			up = answer(f, &m, bytes, m.request == f->lie_at ? f->lie : FAKE_HONEST);
		}
	}
	return NULL;
}

void fake_vhost_start(struct fake_vhost *f)
{
	assert_int_equal(pthread_create(&f->thread, NULL, serve, f), 0);
}

/* Hangs up. The device's end is the device's to close. */
void fake_vhost_stop(struct fake_vhost *f)
{
	shutdown(f->own_fd, SHUT_RDWR);
	pthread_join(f->thread, NULL);
	close(f->own_fd);
	keep(&f->memory_fd, -1);
	for (int i = 0; i < FAKE_VHOST_QUEUES; i++) {
		keep(&f->queue[i].kick_fd, -1);
		keep(&f->queue[i].call_fd, -1);
	}
}

unsigned int fake_vhost_times(const struct fake_vhost *f, uint32_t request)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < f->count; i++) {
		n += f->log[i] == request;
	}
	return n;
}
