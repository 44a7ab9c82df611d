/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See virtio.h. Runs on the owner's thread. */
#include "vmm/virtio.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "devices/virtio/rng.h"
#include "vmm/vmm_priv.h"

/*
 * Lines that no other device of ours uses. From 16 up they are the I/O APIC's alone; the last four
 * belong to a mouse, a coprocessor and IDE disks in an older PC, so they come last.
 */
static const uint8_t lines[] = {5, 6, 7, 9, 10, 11, 16, 17, 18, 19, 20, 21, 22, 23, 12, 13, 14, 15};
_Static_assert(ARRAY_SIZE(lines) == VIRTIO_SLOTS_MAX, "a line for each device");

static uint64_t slot_gpa(unsigned int i)
{
	return VIRTIO_GPA + i * (uint64_t)VIRTIO_MMIO_BYTES;
}

static void fini_rng(struct virtio_slot *slot)
{
	virtio_rng_fini((struct virtio_rng *)slot->device);
	free(slot->device);
}

static int make_rng(struct machine *m, const struct machine_config *cfg, unsigned int number,
		    const struct virtio_place *place, struct virtio_slot *ret, struct err *e)
{
	struct virtio_rng *rng = malloc(sizeof(*rng));
	int r = rng ? virtio_rng_init(rng, place) : -ENOMEM;

	if (r < 0) {
		free(rng);
		return err_errno(e, r, "cannot make the entropy device");
	}
	*ret = (struct virtio_slot){.device = &rng->v, .fini = fini_rng};
	return 0;
}

static unsigned int count_rngs(const struct machine_config *cfg)
{
	return cfg->rng;
}

static unsigned int count_consoles(const struct machine_config *cfg)
{
	return ports_wanted(cfg);
}

static unsigned int count_disks(const struct machine_config *cfg)
{
	return (unsigned int)cfg->disk_count;
}

static unsigned int count_vsocks(const struct machine_config *cfg)
{
	return cfg->vsock_path != NULL;
}

static unsigned int count_shares(const struct machine_config *cfg)
{
	return (unsigned int)cfg->share_count;
}

static unsigned int count_nets(const struct machine_config *cfg)
{
	return (unsigned int)cfg->net_count;
}

static const struct {
	unsigned int (*count)(const struct machine_config *cfg);
	int (*make)(struct machine *m, const struct machine_config *cfg, unsigned int number,
		    const struct virtio_place *place, struct virtio_slot *ret, struct err *e);
} kinds[] = {
	{count_rngs, make_rng}, {count_consoles, ports_make}, {count_disks, disk_make},
	{count_nets, net_make}, {count_vsocks, vsock_make},   {count_shares, share_make},
};

static unsigned int slots_of(const struct machine_config *cfg)
{
	unsigned int n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		n += kinds[i].count(cfg);
	}
	return n;
}

/**
 * virtio_slots_check() - is there room for the devices
 * @cfg: what the machine is to be, each kind within its own limit
 * @e: gets one line
 *
 * Return: 0, or -E2BIG when there are more than VIRTIO_SLOTS_MAX.
 * Context: any thread.
 */
int virtio_slots_check(const struct machine_config *cfg, struct err *e)
{
	unsigned int n = slots_of(cfg);

	if (n > VIRTIO_SLOTS_MAX) {
		return err_set(e, -E2BIG,
			       "%u virtio devices, entropy and console among them: there are "
			       "interrupt lines for %d",
			       n, VIRTIO_SLOTS_MAX);
	}
	return 0;
}

/**
 * virtio_slots_list() - where each device is to be
 * @cfg: what the machine is to be; it passed virtio_slots_check()
 * @ret: gets them, in the order in which the kernel is told of them
 *
 * Return: how many there are.
 * Context: any thread.
 */
unsigned int virtio_slots_list(const struct machine_config *cfg,
			       struct virtio_window ret[VIRTIO_SLOTS_MAX])
{
	unsigned int n = slots_of(cfg);

	for (unsigned int i = 0; i < n; i++) {
		ret[i] = (struct virtio_window){
			.gpa = slot_gpa(i), .bytes = VIRTIO_MMIO_BYTES, .gsi = lines[i]};
	}
	return n;
}

/**
 * virtio_slots_cmdline() - the kernel's command line with a word for each device
 * @cfg: what the machine is to be; it passed virtio_slots_check()
 * @ret: set on success; the caller frees it
 *
 * The words stand in front of "--", behind which they would be the first process's. A kernel that
 * finds the devices in ACPI tables gets none: it would see each of them twice.
 *
 * Return: 0 or -ENOMEM.
 * Context: any thread.
 */
int virtio_slots_cmdline(const struct machine_config *cfg, char **ret)
{
	struct virtio_window at[VIRTIO_SLOTS_MAX];
	unsigned int devices = cfg->acpi ? 0 : virtio_slots_list(cfg, at);
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
	for (unsigned int i = 0; i < devices; i++) {
		fprintf(f, "%svirtio_mmio.device=%uK@0x%llx:%u", i || head ? " " : "",
			at[i].bytes / 1024, (unsigned long long)at[i].gpa, at[i].gsi);
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

static int event_tie_value(void *ctx, int fd, uint64_t gpa, unsigned int bytes, uint64_t value)
{
	struct machine *m = ctx;

	return kvm_vm_ioeventfd_value(&m->vm, fd, gpa, bytes, value);
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
	.tie_value = event_tie_value,
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

/**
 * virtio_slots_make() - make the devices and put them on the bus
 * @m: a machine with its VM, memory, interrupt controllers and buses
 * @cfg: which it is to have; it passed virtio_slots_check()
 * @e: gets one line
 *
 * Return: 0; what disk_open() said; another −errno. What was made stays for virtio_slots_destroy().
 * Context: the owner, before any vCPU runs.
 */
int virtio_slots_make(struct machine *m, const struct machine_config *cfg, struct err *e)
{
	int r = 0;

	for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
		for (unsigned int n = 0; n < kinds[k].count(cfg) && r == 0; n++) {
			const struct virtio_place place = next_place(m);
			struct virtio_slot slot;

			r = kinds[k].make(m, cfg, n, &place, &slot, e);
			if (r == 0) {
				r = add_slot(m, &slot);
			}
		}
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
	uint64_t start_ns = slot->m->tracing.trace ? trace_now_ns() : 0;

	virtio_serve(slot->device);
	if (slot->m->tracing.trace) {
		tracing_serve(slot, start_ns);
	}
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
		r = evloop_add_fd(m->loop, virtio_doorbell_fd(slot->device), EPOLLIN | EPOLLET,
				  on_doorbell, slot, &slot->source);
		if (r == 0 && slot->watch) {
			r = slot->watch(slot);
		}
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
		struct virtio_slot *slot = &m->virtio.slots[i];

		if (slot->unwatch) {
			slot->unwatch(slot);
		}
		evloop_remove(slot->source);
		slot->source = NULL;
	}
}
