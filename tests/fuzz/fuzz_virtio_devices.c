/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Each virtio device, registers and requests, under a driver without manners. */
#include "support.h"

#include <linux/virtio_ring.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "devices/virtio/blk.h"
#include "devices/virtio/console.h"
#include "devices/virtio/rng.h"
#include "fuzz_driver.h"

#define SECTORS    64
#define HEADER     (VRING_HEAP + 0x100)
#define PORTS      3
#define OUTPUT_MAX (UINT64_C(64) << 20)

enum {
	OP_REGISTER,
	OP_ACCESS,
	OP_DESC,
	OP_OFFER,
	OP_SERVE,
	OP_START,
	OP_HOST,
	OP_HEADER,
	OP_COUNT
};
enum { RNG, BLK_RO, BLK_RW, CONSOLE, KINDS };

static struct virtio_driver drv;
static struct disk disks[2];
static int image_fd = -1;
static struct virtio_blk blk;
static struct virtio_console console;
static struct virtio_rng rng;
static uint64_t output_bytes;

static void on_output(void *ctx, unsigned int port, const void *data, size_t bytes)
{
	must(port < PORTS && bytes > 0);
	output_bytes += bytes;
}

static void on_room(void *ctx, unsigned int port)
{
}

static const struct virtio_console_events events = {.output = on_output, .room = on_room};

/* An image for all inputs: what is in it does not matter. */
static void open_images(void)
{
	struct err e = ERR_INIT;
	char path[64];

	if (image_fd >= 0) {
		return;
	}
	image_fd = memfd_create("image", MFD_CLOEXEC);
	must(image_fd >= 0 && ftruncate(image_fd, SECTORS * DISK_SECTOR_BYTES) == 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", image_fd);
	for (int i = 0; i < 2; i++) {
		const struct disk_config cfg = {.path = path, .read_only = true};

		must(disk_open(&disks[i], &cfg, &e) == 0);
	}
	/* Two would not be let in for writing: the second takes the descriptor itself. */
	close(disks[1].fd);
	disks[1].fd = image_fd;
	disks[1].read_only = false;
}

static struct virtio_mmio *make(unsigned int kind)
{
	static const struct virtio_console_kind ports[PORTS] = {
		{"one", true}, {"two", false}, {"three", false}};
	struct virtio_place place = driver_place(&drv);

	switch (kind) {
	case RNG:
		must(virtio_rng_init(&rng, &place) == 0);
		return &rng.v;
	case CONSOLE:
		must(virtio_console_init(&console, &place, ports, PORTS, &events, NULL) == 0);
		return &console.v;
	default:
		must(virtio_blk_init(&blk, &place, &disks[kind == BLK_RW], "fuzz") == 0);
		return &blk.v;
	}
}

static void start(const struct fuzz_step *s, unsigned int queues)
{
	const uint64_t rings = s->i & 1 ? UINT64_C(1) << VIRTIO_RING_F_INDIRECT_DESC |
						  UINT64_C(1) << VIRTIO_RING_F_EVENT_IDX
					: 0;

	driver_start(&drv, drv.dev, queues, driver_offered(&drv) & (DRIVER_V1 | rings | s->a));
}

static void use_host_side(const struct fuzz_step *s, unsigned int kind)
{
	if (kind == CONSOLE) {
		virtio_console_pause(&console, s->a % PORTS, s->b & 1);
		virtio_console_input(&console, s->a % PORTS, "some input", s->c % 11);
		virtio_console_has_output(&console);
	}
}

static void step(const struct fuzz_step *s, unsigned int kind, unsigned int queues)
{
	const struct virtio_blk_outhdr h = {.type = s->a & 31, .sector = s->b % (SECTORS + 2)};

	switch (s->op % OP_COUNT) {
	case OP_REGISTER:
		fuzz_set_register(&drv, s);
		break;
	case OP_ACCESS:
		fuzz_access(&drv, s);
		break;
	case OP_DESC:
		fuzz_set_descriptor(&drv, drv.queues, s);
		break;
	case OP_OFFER:
		fuzz_offer(&drv, queues, s);
		break;
	case OP_SERVE:
		fuzz_serve(&drv);
		break;
	case OP_START:
		start(s, queues);
		break;
	case OP_HOST:
		use_host_side(s, kind);
		break;
	default:
		memcpy(drv.ram.bytes + HEADER, &h, sizeof(h));
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned int kind = size ? data[0] % KINDS : RNG;
	unsigned int queues = kind == CONSOLE ? 2 * PORTS + 2 : 1;
	struct fuzz_step s = {.i = 1};
	struct stat st;

	open_images();
	driver_init(&drv);
	output_bytes = 0;
	drv.dev = make(kind);
	start(&s, queues);
	data += size > 0;
	size -= size > 0;
	while (fuzz_next(&data, &size, &s) && output_bytes < OUTPUT_MAX) {
		step(&s, kind, queues);
	}
	fuzz_serve(&drv);
	must(fstat(image_fd, &st) == 0 && st.st_size == SECTORS * DISK_SECTOR_BYTES);
	virtio_fini(drv.dev);
	driver_fini(&drv);
	return 0;
}
