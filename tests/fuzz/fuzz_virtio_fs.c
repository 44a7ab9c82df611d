/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file system device between two that it trusts neither of: a driver without manners, and a
 * virtiofsd that answers vhost-user as it likes. What the device says to it is checked.
 *
 * The device's sendmsg() and recv() are this file's (--wrap): the other side has its turn as soon
 * as it was told something, and where it says nothing the time is up at once.
 */
#include "support.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "devices/virtio/fs.h"
#include "fuzz_driver.h"

#define QUEUES       VIRTIO_FS_QUEUES
#define REGIONS      2
#define LIES         16
#define HEADER_BYTES 12
#define WANTS_ACK    8u
#define PROTOCOL_BIT (UINT64_C(1) << 30) /* of the features */

enum { OP_LIE, OP_OFFER, OP_REGISTER, OP_ACCESS, OP_SERVE, OP_START, OP_CALL, OP_LOST, OP_COUNT };

/* What is wrong with an answer. */
enum {
	LIE_FLAGS = 1 << 0,
	LIE_REQUEST = 1 << 1,
	LIE_SIZE = 1 << 2,
	LIE_BODY = 1 << 3,
	LIE_CUT = 1 << 4,
	LIE_SILENT = 1 << 5,
	LIE_MORE = 1 << 6,
	LIE_FILE = 1 << 7,
	LIE_HANG_UP = 1 << 8,
};

struct message {
	uint32_t request, flags, size;
	uint64_t body[40];
} __attribute__((packed));

static struct virtio_driver drv;
static struct virtio_fs fs;
static bool made;
static int memory_fd = -1, interrupted;

/* The other side. */
static struct {
	int fd, call_fd;
	uint64_t features, protocol;
	struct fuzz_step lies[LIES];
	unsigned int lie_count;
	bool enabled[QUEUES];
} back;

ssize_t __real_sendmsg(int fd, const struct msghdr *h, int flags);
ssize_t __real_recv(int fd, void *buf, size_t bytes, int flags);
ssize_t __wrap_sendmsg(int fd, const struct msghdr *h, int flags);
ssize_t __wrap_recv(int fd, void *buf, size_t bytes, int flags);

/* Bytes and descriptors that go with each request: nothing else may be sent. */
static void check_shape(const struct message *m, ssize_t bytes, size_t fds)
{
	static const struct {
		uint8_t size, fds;
	} shapes[] = {
		[1] = {0, 0},  [2] = {8, 0},  [3] = {0, 0},  [5] = {8 + REGIONS * 32, REGIONS},
		[8] = {8, 0},  [9] = {40, 0}, [10] = {8, 0}, [11] = {8, 0},
		[12] = {8, 1}, [13] = {8, 1}, [15] = {0, 0}, [16] = {8, 0},
		[18] = {8, 0}};

	must(m->request < ARRAY_SIZE(shapes) && (m->flags & ~WANTS_ACK) == 1);
	must(m->request != 0 && m->size == shapes[m->request].size);
	must((size_t)bytes == HEADER_BYTES + m->size && fds == shapes[m->request].fds);
}

/* Returns the length of the answer, 0 for what has none of its own. */
static uint32_t act(struct message *m)
{
	uint32_t index = (uint32_t)m->body[0], num = (uint32_t)(m->body[0] >> 32);

	switch (m->request) {
	case 1:
		m->body[0] = back.features;
		return 8;
	case 15:
		m->body[0] = back.protocol;
		return 8;
	case 2:
		must((m->body[0] & ~(back.features | PROTOCOL_BIT)) == 0);
		return 0;
	case 8:
		must(num >= 1 && num <= VIRTQ_SIZE_MAX && (num & (num - 1)) == 0);
		break;
	case 9:
		for (int i = 1; i <= 3; i++) {
			must(m->body[i] < VRING_RAM_BYTES);
		}
		break;
	case 11:
		must(index < QUEUES);
		back.enabled[index] = false;
		m->body[0] = index;
		return 8;
	case 18:
		must(index < QUEUES && num == 1);
		back.enabled[index] = true;
		break;
	default:
		return 0;
	}
	must(index < QUEUES);
	return 0;
}

/* A lie tells how many answers before it are honest. */
static struct fuzz_step next_lie(void)
{
	struct fuzz_step lie = {.a = 0};

	if (back.lie_count > 0 && back.lies[0].i-- == 0) {
		lie = back.lies[0];
		back.lie_count--;
		memmove(back.lies, back.lies + 1, back.lie_count * sizeof(back.lies[0]));
	}
	return lie;
}

static void send_answer(const struct message *m, size_t bytes, bool with_file)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {.bytes = ""};
	struct iovec iov = {.iov_base = (void *)m, .iov_len = bytes};
	struct msghdr h = {.msg_iov = &iov, .msg_iovlen = 1};
	struct cmsghdr *c;

	if (with_file) {
		h.msg_control = &control;
		h.msg_controllen = sizeof(control);
		c = CMSG_FIRSTHDR(&h);
		*c = (struct cmsghdr){.cmsg_level = SOL_SOCKET,
				      .cmsg_type = SCM_RIGHTS,
				      .cmsg_len = CMSG_LEN(sizeof(int))};
		memcpy(CMSG_DATA(c), &memory_fd, sizeof(int));
	}
	(void)!__real_sendmsg(back.fd, &h, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void answer(struct message *m, uint32_t size)
{
	struct fuzz_step lie = next_lie();
	size_t bytes = HEADER_BYTES + size;

	m->flags = 5 ^ (lie.a & LIE_FLAGS ? lie.c : 0);
	m->request ^= lie.a & LIE_REQUEST ? lie.c : 0;
	m->size = lie.a & LIE_SIZE ? (uint32_t)lie.c << (lie.b & 16) : size;
	m->body[0] ^= lie.a & LIE_BODY ? (uint64_t)lie.c << (lie.b & 48) : 0;
	if (lie.a & (LIE_CUT | LIE_MORE)) {
		bytes = lie.b % (lie.a & LIE_MORE ? sizeof(*m) : bytes);
	}
	if (!(lie.a & LIE_SILENT)) {
		send_answer(m, bytes, lie.a & LIE_FILE);
	}
	if (lie.a & LIE_HANG_UP) {
		shutdown(back.fd, SHUT_RDWR);
	}
}

static void keep_call(int fd)
{
	if (back.call_fd >= 0) {
		close(back.call_fd);
	}
	back.call_fd = fd;
}

/* The first @count of the descriptors that came; which they are shows in what they are good for. */
static size_t take_files(struct msghdr *h, uint32_t request)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(h);
	size_t count = c ? (c->cmsg_len - CMSG_LEN(0)) / sizeof(int) : 0;
	int fds[8];

	must(count <= ARRAY_SIZE(fds) && !(h->msg_flags & MSG_CTRUNC));
	memcpy(fds, c ? CMSG_DATA(c) : (void *)fds, count * sizeof(int));
	for (size_t i = 0; i < count; i++) {
		if (request == 13) {
			keep_call(fds[i]);
		} else {
			close(fds[i]);
		}
	}
	return count;
}

/* The device has told us something. */
static void have_turn(void)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(8 * sizeof(int))];
	} control;
	struct message m;
	struct iovec iov = {.iov_base = &m, .iov_len = sizeof(m)};
	struct msghdr h = {.msg_iov = &iov,
			   .msg_iovlen = 1,
			   .msg_control = &control,
			   .msg_controllen = sizeof(control)};
	ssize_t bytes = recvmsg(back.fd, &h, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	uint32_t flags, size;

	must(bytes >= HEADER_BYTES);
	check_shape(&m, bytes, take_files(&h, m.request));
	flags = m.flags;
	size = act(&m);
	if (size == 0 && (flags & WANTS_ACK)) {
		m.body[0] = 0;
		size = 8;
	}
	if (size > 0) {
		answer(&m, size);
	}
}

ssize_t __wrap_sendmsg(int fd, const struct msghdr *h, int flags)
{
	ssize_t n;

	if (interrupted > 0) {
		interrupted--;
		errno = EINTR;
		return -1;
	}
	must(fd == fs.user.fd && !fs.user.broken);
	n = __real_sendmsg(fd, h, flags);
	if (n >= 0) {
		have_turn();
	}
	return n;
}

ssize_t __wrap_recv(int fd, void *buf, size_t bytes, int flags)
{
	must(fd == fs.user.fd && flags == 0);
	return __real_recv(fd, buf, bytes, MSG_DONTWAIT);
}

static bool make(void)
{
	const struct vhost_user_region memory[REGIONS] = {
		{.gpa = 0, .bytes = 0x20000, .fd = memory_fd},
		{.gpa = 0x20000, .bytes = 0x20000, .offset = 0x20000, .fd = memory_fd}};
	struct virtio_place place = driver_place(&drv);
	int pair[2];

	must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
	back.fd = pair[1];
	drv.dev = &fs.v;
	/* Of what it is refused for, nothing stays: the socket, too, is closed. */
	return virtio_fs_init(&fs, &place, pair[0], memory, REGIONS, "share0") == 0;
}

static void start(const struct fuzz_step *s)
{
	uint64_t offered = driver_offered(&drv), rings = s->i & 1 ? UINT64_MAX : 0;

	if (offered & DRIVER_V1) {
		driver_start(&drv, drv.dev, s->a % (QUEUES + 1), offered & (DRIVER_V1 | rings));
	}
}

/* What the other side is like: what it can do stands before there is a device. */
static void prepare(const struct fuzz_step *s)
{
	if (s->op % OP_COUNT == OP_LIE && back.lie_count < LIES) {
		back.lies[back.lie_count++] = *s;
		interrupted = s->i >> 4 & 1;
	} else if (!made && s->op % OP_COUNT == OP_OFFER) {
		back.features ^= (uint64_t)s->a << 24 | (uint64_t)s->b << (s->i & 48);
		back.protocol ^= s->c;
	}
}

static void step(const struct fuzz_step *s)
{
	switch (s->op % OP_COUNT) {
	case OP_REGISTER:
		fuzz_set_register(&drv, s);
		break;
	case OP_ACCESS:
		fuzz_access(&drv, s);
		break;
	case OP_SERVE:
		fuzz_serve(&drv);
		break;
	case OP_START:
		start(s);
		break;
	case OP_CALL:
		if (back.call_fd >= 0) {
			(void)!eventfd_write(back.call_fd, 1);
		}
		driver_interrupts(&drv);
		break;
	case OP_LOST:
		virtio_fs_lost(&fs);
		break;
	default:
		prepare(s);
		break;
	}
}

/* A driver that has reset the device has its memory for itself; whom it was not had from is gone.
 */
static void check(void)
{
	char byte;

	for (unsigned int i = 0; i < QUEUES; i++) {
		must(!back.enabled[i] || fs.user.broken ||
		     (fs.started[i] && driver_get(&drv, VIRTIO_MMIO_STATUS) != 0));
	}
	if (fs.user.broken) {
		must(__real_recv(back.fd, &byte, 1, MSG_DONTWAIT) == 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_step s;

	if (memory_fd < 0) {
		memory_fd = memfd_create("memory", MFD_CLOEXEC);
		must(memory_fd >= 0);
	}
	driver_init(&drv);
	memset(&back, 0, sizeof(back));
	back.fd = back.call_fd = -1;
	back.features = DRIVER_V1 | PROTOCOL_BIT | UINT64_C(1) << VIRTIO_RING_F_INDIRECT_DESC |
			UINT64_C(1) << VIRTIO_RING_F_EVENT_IDX;
	back.protocol = 0xffff;
	made = false;
	interrupted = 0;
	while (fuzz_next(&data, &size, &s)) {
		if (!made && s.op % OP_COUNT > OP_OFFER && !(made = make())) {
			break;
		}
		step(&s);
		if (made) {
			check();
		}
	}
	if (made) {
		virtio_fs_fini(&fs);
	}
	if (back.fd >= 0) {
		ssize_t n = __real_recv(back.fd, &s, 1, MSG_DONTWAIT);

		/* The device has hung up, whether it came to be or not. */
		must(n == 0 || (n < 0 && errno == ECONNRESET));
		close(back.fd);
	}
	keep_call(-1);
	driver_fini(&drv);
	return 0;
}
