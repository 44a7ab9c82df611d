/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See virtio.h. Runs on the owner's thread. */
#include "vmm/virtio.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "devices/virtio/blk.h"
#include "devices/virtio/rng.h"
#include "vmm/vmm_priv.h"

#define DISK_ID_BYTES 24

/* Lines that no other device of a PC uses; from 16 up they are the I/O APIC's alone. */
static const uint8_t lines[] = {5, 6, 7, 9, 10, 11, 16, 17, 18, 19, 20, 21, 22, 23};
_Static_assert(ARRAY_SIZE(lines) >= VIRTIO_SLOTS_MAX, "a line for each device");

static uint64_t slot_gpa(unsigned int i)
{
	return VIRTIO_GPA + i * (uint64_t)VIRTIO_MMIO_BYTES;
}

static unsigned int slots_of(const struct machine_config *cfg)
{
	return cfg->rng + ports_wanted(cfg) + (unsigned int)cfg->disk_count;
}

/**
 * virtio_slots_cmdline() - the kernel's command line with a word for each device
 * @cfg: what the machine is to be; with at most MACHINE_DISKS_MAX disks
 * @ret: set on success; the caller frees it
 *
 * The words stand in front of "--", behind which they would be the first process's.
 *
 * Return: 0 or -ENOMEM.
 * Context: any thread.
 */
int virtio_slots_cmdline(const struct machine_config *cfg, char **ret)
{
	const char *given = cfg->cmdline ? cfg->cmdline : "";
	const char *rest = strstr(given, " -- ");
	int head = rest ? (int)(rest - given) : (int)strlen(given);
	size_t len = 0;
	char *text = NULL;
	FILE *f = open_memstream(&text, &len);

	if (!f) {
		return -ENOMEM;
	}
	fprintf(f, "%.*s", head, given);
	for (unsigned int i = 0; i < slots_of(cfg); i++) {
		fprintf(f, "%svirtio_mmio.device=%dK@0x%llx:%u", i || head ? " " : "",
			VIRTIO_MMIO_BYTES / 1024, (unsigned long long)slot_gpa(i), lines[i]);
	}
	fputs(given + head, f);
	if (fclose(f) != 0) {
		free(text);
		return -ENOMEM;
	}
	*ret = text;
	return 0;
}

static int event_open(void *ctx)
{
	struct machine *m = ctx;

	return m->ops->eventfd(m->ops->ctx);
}

static void event_close(void *ctx, int fd)
{
	struct machine *m = ctx;

	m->ops->close(m->ops->ctx, fd);
}

static int event_tie_write(void *ctx, int fd, uint64_t gpa, unsigned int bytes)
{
	struct machine *m = ctx;

	return kvm_vm_ioeventfd(&m->vm, fd, gpa, bytes);
}

static int event_tie_irq(void *ctx, int fd, uint32_t gsi)
{
	struct machine *m = ctx;

	return kvm_vm_irqfd(&m->vm, fd, gsi, true);
}

static const struct ioevent_ops event_ops = {
	.open = event_open,
	.close = event_close,
	.tie_write = event_tie_write,
	.tie_irq = event_tie_irq,
};

static struct virtio_place next_place(struct machine *m)
{
	unsigned int i = m->virtio.count;

	return (struct virtio_place){.gpa = slot_gpa(i),
				     .gsi = lines[i],
				     .mem = &m->ram.mem,
				     .io = {.ops = &event_ops, .ctx = m}};
}

/* The device is whole: it counts from here, and is put on the bus. */
static int add_slot(struct machine *m, const struct virtio_slot *slot)
{
	uint64_t gpa = slot_gpa(m->virtio.count);

	m->virtio.slots[m->virtio.count++] = *slot;
	return bus_add(&m->mmio, gpa, VIRTIO_MMIO_BYTES, &slot->device->dev, 0);
}

static void fini_rng(struct virtio_slot *slot)
{
	virtio_rng_fini((struct virtio_rng *)slot->device);
	free(slot->device);
}

static int make_rng(struct machine *m, struct err *e)
{
	const struct virtio_place place = next_place(m);
	struct virtio_rng *rng = malloc(sizeof(*rng));
	int r = rng ? virtio_rng_init(rng, &place) : -ENOMEM;

	if (r < 0) {
		free(rng);
		return err_errno(e, r, "cannot make the entropy device");
	}
	return add_slot(m, &(struct virtio_slot){.device = &rng->v, .fini = fini_rng});
}

static int make_ports(struct machine *m, const struct machine_config *cfg, struct err *e)
{
	const struct virtio_place place = next_place(m);
	struct virtio_slot slot;
	int r = ports_make(m, cfg, &place, &slot);

	return r < 0 ? err_errno(e, r, "cannot make the console device") : add_slot(m, &slot);
}

static void fini_blk(struct virtio_slot *slot)
{
	virtio_blk_fini((struct virtio_blk *)slot->device);
	disk_close(slot->disk);
	free(slot->device);
	free(slot->disk);
}

static int open_disk(const struct machine_disk *cfg, struct disk **ret, struct err *e)
{
	const struct disk_config open_as = {
		.path = cfg->path, .read_only = cfg->read_only, .direct = cfg->direct};
	struct disk *disk = malloc(sizeof(*disk));
	int r;

	if (!disk) {
		return err_set(e, -ENOMEM, "disk %s: out of memory", cfg->path);
	}
	r = disk_open(disk, &open_as, e);
	if (r < 0) {
		free(disk);
		return r;
	}
	*ret = disk;
	return 0;
}

static int make_blk(struct machine *m, const struct machine_disk *cfg, unsigned int number,
		    struct err *e)
{
	const struct virtio_place place = next_place(m);
	struct virtio_blk *blk = NULL;
	struct disk *disk = NULL;
	char id[DISK_ID_BYTES];
	int r = open_disk(cfg, &disk, e);

	if (r < 0) {
		return r;
	}
	snprintf(id, sizeof(id), "ringside-disk%u", number);
	blk = malloc(sizeof(*blk));
	r = blk ? virtio_blk_init(blk, &place, disk, id) : -ENOMEM;
	if (r < 0) {
		disk_close(disk);
		free(disk);
		free(blk);
		return err_errno(e, r, "disk %s: cannot make the device", cfg->path);
	}
	return add_slot(m,
			&(struct virtio_slot){.device = &blk->v, .fini = fini_blk, .disk = disk});
}

/**
 * virtio_slots_make() - make the devices and put them on the bus
 * @m: a machine with its VM, memory, interrupt controllers and buses
 * @cfg: which it is to have, at most MACHINE_DISKS_MAX disks
 * @e: gets one line
 *
 * Return: 0; what disk_open() said; another −errno. What was made stays for virtio_slots_destroy().
 * Context: the owner, before any vCPU runs.
 */
int virtio_slots_make(struct machine *m, const struct machine_config *cfg, struct err *e)
{
	int r = 0;

	if (cfg->rng) {
		r = make_rng(m, e);
	}
	if (r == 0 && ports_wanted(cfg)) {
		r = make_ports(m, cfg, e);
	}
	for (unsigned int i = 0; i < cfg->disk_count && r == 0; i++) {
		r = make_blk(m, &cfg->disks[i], i, e);
	}
	return r;
}

/**
 * virtio_slots_destroy() - give the devices back
 * @m: a machine whose vCPUs have ended, with any number of devices
 *
 * Context: the owner.
 */
void virtio_slots_destroy(struct machine *m)
{
	while (m->virtio.count > 0) {
		struct virtio_slot *slot = &m->virtio.slots[--m->virtio.count];

		slot->fini(slot);
	}
	m->virtio.console = NULL;
}

static void on_doorbell(void *ctx, int fd, uint32_t events)
{
	struct virtio_slot *slot = ctx;

	virtio_serve(slot->device);
	machine_check_stopped(slot->m);
}

/**
 * virtio_slots_watch() - serve the devices on the machine's loop
 * @m: a machine that is about to start
 *
 * Return: 0 or −errno; what was registered stays for virtio_slots_unwatch().
 * Context: the owner.
 */
int virtio_slots_watch(struct machine *m)
{
	int r = 0;

	for (unsigned int i = 0; i < m->virtio.count && r == 0; i++) {
		struct virtio_slot *slot = &m->virtio.slots[i];

		slot->m = m;
		r = evloop_add_fd(m->loop, virtio_doorbell_fd(slot->device), EPOLLIN, on_doorbell,
				  slot, &slot->source);
	}
	return r;
}

/**
 * virtio_slots_unwatch() - serve them no more
 * @m: a machine
 *
 * Context: the owner.
 */
void virtio_slots_unwatch(struct machine *m)
{
	for (unsigned int i = 0; i < m->virtio.count; i++) {
		evloop_remove(m->virtio.slots[i].source);
		m->virtio.slots[i].source = NULL;
	}
}

/**
 * machine_disk_tail() - how many bytes of an image are no whole sector
 * @m: a machine
 * @disk: number of the disk, as it was configured
 *
 * Return: bytes at the end of the image that the guest does not see, 0 to 511.
 * Context: the owner.
 */
uint32_t machine_disk_tail(const struct machine *m, unsigned int disk)
{
	for (unsigned int i = 0; i < m->virtio.count; i++) {
		const struct disk *d = m->virtio.slots[i].disk;

		if (d && disk-- == 0) {
			return d->tail_bytes;
		}
	}
	return 0;
}
