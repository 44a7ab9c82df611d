/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The socket device: registers, packets without manners, and programs of the host at its sockets.
 */
#include "support.h"

#include <linux/virtio_ring.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "devices/virtio/vsock.h"
#include "fuzz_driver.h"

#define QUEUES    3
#define CID       3
#define PEERS     4 /* programs of the host */
#define PORTS     3 /* the guest's and the host's that are used; at host port 0 somebody listens */
#define TURNS     3 /* of the loop, for one step */
#define BUFFER    0x800
#define RX_AT(i)  (VRING_HEAP + (uint64_t)(i)*BUFFER)
#define TX_HEADER (VRING_HEAP + DRIVER_SIZE * BUFFER)
#define TX_DATA   (TX_HEADER + 0x100)

enum {
	OP_PACKET,
	OP_ROOM,
	OP_PEER_WRITE,
	OP_PEER_READ,
	OP_PEER_END,
	OP_PEER_OPEN,
	OP_REGISTER,
	OP_DESC,
	OP_START,
	OP_COUNT
};

static struct virtio_driver drv;
static struct virtio_vsock vsock;
static struct evloop *loop;
static struct evloop_source *doorbell, *waker;
static int wake_fd, service_fd = -1, peers[PEERS];
static char folder[] = "/tmp/ringside-fuzz-XXXXXX", path[64], service[72];

static void on_doorbell(void *ctx, int fd, uint32_t events)
{
	virtio_serve(&vsock.v);
}

static void on_wake(void *ctx, int fd, uint32_t events)
{
	evloop_stop(loop);
}

static void turn(void)
{
	for (unsigned int i = 0; i < TURNS; i++) {
		must(evloop_run(loop) == 0);
	}
}

static void remove_folder(void)
{
	unlink(service);
	rmdir(folder);
}

/* One folder and one service for all inputs. */
static void open_service(void)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};

	if (service_fd >= 0) {
		return;
	}
	must(mkdtemp(folder) != NULL);
	signal(SIGPIPE, SIG_IGN);
	snprintf(path, sizeof(path), "%s/v", folder);
	snprintf(service, sizeof(service), "%s_0", path);
	memcpy(addr.sun_path, service, sizeof(service));
	service_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	must(bind(service_fd, (struct sockaddr *)&addr, sizeof(addr)) == 0);
	must(listen(service_fd, PEERS) == 0);
	must(atexit(remove_folder) == 0);
	wake_fd = eventfd(1, EFD_NONBLOCK);
	must(wake_fd >= 0 && evloop_create(&loop) == 0 &&
	     evloop_add_fd(loop, wake_fd, EPOLLIN, on_wake, NULL, &waker) == 0);
}

static void set_peer(unsigned int i, int fd)
{
	if (peers[i] >= 0) {
		close(peers[i]);
	}
	peers[i] = fd;
}

static void open_peer(const struct fuzz_step *s)
{
	int pair[2];

	if (s->a & 1) {
		int fd = accept4(service_fd, NULL, NULL, SOCK_NONBLOCK);

		if (fd >= 0) {
			set_peer(s->i % PEERS, fd);
		}
		return;
	}
	must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) == 0);
	set_peer(s->i % PEERS, pair[0]);
	if (s->a & 2) {
		(void)!dprintf(pair[0], "CONNECT %u\n", s->b % PORTS);
	}
	virtio_vsock_accept(&vsock, pair[1]);
}

static void write_peer(const struct fuzz_step *s)
{
	static char bytes[65536];
	int fd = peers[s->i % PEERS];

	if (fd >= 0) {
		memset(bytes, s->b, 16);
		(void)!write(fd, bytes, s->a);
	}
}

static void read_peer(const struct fuzz_step *s)
{
	static char bytes[65536];
	int fd = peers[s->i % PEERS];

	if (fd >= 0) {
		(void)!read(fd, bytes, s->a);
	}
}

static void end_peer(const struct fuzz_step *s)
{
	int fd = peers[s->i % PEERS];

	if (fd >= 0 && s->a & 1) {
		shutdown(fd, s->a & 2 ? SHUT_RD : SHUT_WR);
	} else {
		set_peer(s->i % PEERS, -1);
	}
}

/* Bits of i choose what is wrong with it; most packets are good ones. */
static void send_packet(const struct fuzz_step *s)
{
	uint32_t host_ports[] = {0, 1, UINT32_C(0x40000001) + (s->b >> 8) % 3};
	struct virtio_vsock_hdr h = {
		.src_cid = s->i & 0x80 ? s->c : CID,
		.dst_cid = s->i & 0x40 ? s->c : VSOCK_CID_HOST,
		.src_port = s->b % PORTS,
		.dst_port = host_ports[(s->b >> 4) % PORTS],
		.len = s->i & 0x20 ? s->c : s->a % 0x8000,
		.type = s->i & 0x10 ? s->c : VIRTIO_VSOCK_TYPE_STREAM,
		.op = s->i & 15,
		.flags = s->c & 3,
		.buf_alloc = s->c & 4 ? s->a : 65536,
		.fwd_cnt = s->c & 8 ? s->a : 0,
	};
	uint32_t head, written;

	if (!drv.queue[1].ram) {
		return;
	}
	memcpy(drv.ram.bytes + TX_HEADER, &h, sizeof(h));
	vring_desc(&drv.queue[1], 0, TX_HEADER, sizeof(h), h.len ? VRING_DESC_F_NEXT : 0, 1);
	vring_desc(&drv.queue[1], 1, TX_DATA, s->a % 0x8000, 0, 0);
	vring_offer(&drv.queue[1], 0);
	driver_set(&drv, VIRTIO_MMIO_QUEUE_NOTIFY, 1);
	turn();
	(void)vring_take_used(&drv.queue[1], &head, &written);
}

static void give_room(const struct fuzz_step *s)
{
	struct vring_driver *q = &drv.queue[0];
	uint32_t head, written;

	if (!q->ram) {
		return;
	}
	for (unsigned int i = 0; i < 1u + s->i % 4; i++) {
		if (vring_take_used(q, &head, &written)) {
			must(written <= BUFFER);
		}
		vring_desc(q, i, RX_AT(i), s->a & 1 ? BUFFER : s->b % BUFFER, VRING_DESC_F_WRITE,
			   0);
		vring_offer(q, (uint16_t)i);
	}
	driver_set(&drv, VIRTIO_MMIO_QUEUE_NOTIFY, 0);
}

static void set_descriptor(const struct fuzz_step *s)
{
	struct vring_driver *q = &drv.queue[(s->i >> 4) % QUEUES];

	if (q->ram) {
		vring_desc(q, (s->i & 15) % q->size, (uint64_t)VRING_HEAP + s->a, s->b, s->c & 7,
			   s->c >> 3);
		vring_offer(q, s->c & 31);
		driver_set(&drv, VIRTIO_MMIO_QUEUE_NOTIFY, 0);
	}
}

static void start(const struct fuzz_step *s)
{
	const uint64_t rings = s->i & 1 ? UINT64_C(1) << VIRTIO_RING_F_INDIRECT_DESC |
						  UINT64_C(1) << VIRTIO_RING_F_EVENT_IDX
					: 0;

	driver_start(&drv, drv.dev, QUEUES, driver_offered(&drv) & (DRIVER_V1 | rings | 1));
}

static void step(const struct fuzz_step *s)
{
	switch (s->op % OP_COUNT) {
	case OP_PACKET:
		send_packet(s);
		break;
	case OP_ROOM:
		give_room(s);
		break;
	case OP_PEER_WRITE:
		write_peer(s);
		break;
	case OP_PEER_READ:
		read_peer(s);
		break;
	case OP_PEER_END:
		end_peer(s);
		break;
	case OP_PEER_OPEN:
		open_peer(s);
		break;
	case OP_REGISTER:
		fuzz_set_register(&drv, s);
		break;
	case OP_DESC:
		set_descriptor(s);
		break;
	default:
		start(s);
		break;
	}
	turn();
}

static void check_connections(void)
{
	for (unsigned int i = 0; i < VSOCK_CONNS_MAX; i++) {
		const struct vsock_conn *c = &vsock.conns[i];

		must(c->filled <= VSOCK_BUFFER_BYTES && c->start < VSOCK_BUFFER_BYTES);
		must((c->filled > 0) == (c->buffer != NULL));
		must(c->state != VSOCK_FREE || (c->fd < 0 && !c->source));
	}
	must(vsock.reset_count <= VSOCK_RESETS_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_step s = {.i = 1};
	struct virtio_place place;
	struct err e = ERR_INIT;
	int fd;

	open_service();
	driver_init(&drv);
	place = driver_place(&drv);
	must(virtio_vsock_init(&vsock, &place, path, CID, &e) == 0);
	drv.dev = &vsock.v;
	must(evloop_add_fd(loop, virtio_doorbell_fd(&vsock.v), EPOLLIN | EPOLLET, on_doorbell, NULL,
			   &doorbell) == 0);
	must(virtio_vsock_watch(&vsock, loop) == 0);
	for (unsigned int i = 0; i < PEERS; i++) {
		peers[i] = -1;
	}
	start(&s);
	while (fuzz_next(&data, &size, &s)) {
		step(&s);
		check_connections();
	}
	virtio_vsock_unwatch(&vsock);
	evloop_remove(doorbell);
	virtio_vsock_fini(&vsock);
	for (unsigned int i = 0; i < PEERS; i++) {
		set_peer(i, -1);
	}
	while ((fd = accept4(service_fd, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
		close(fd);
	}
	driver_fini(&drv);
	return 0;
}
