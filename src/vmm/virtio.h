/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The machine's virtio devices: which there are, where they stand, how the kernel is told, and who
 * serves them. They stand in a row of pages below the I/O APIC, each with a line of its own, kind
 * by kind as the table in virtio.c has them: entropy, console, disks, and so on. A machine that was
 * asked for none has none.
 *
 * A new kind is a row of that table: how many there are to be, and a function that makes one.
 */
#ifndef VMM_VIRTIO_H
#define VMM_VIRTIO_H

#include "base/evloop.h"
#include "vmm/vmm.h"

struct virtio_mmio;
struct virtio_console;
struct virtio_place;
struct disk;

#define VIRTIO_GPA       UINT64_C(0xfeb00000)
#define VIRTIO_SLOTS_MAX 18 /* as many as there are lines for */

struct virtio_slot {
	struct machine *m;
	struct virtio_mmio *device; /* owned, freed by fini */
	void (*fini)(struct virtio_slot *slot);
	/*
	 * Put descriptors beside the doorbell on the machine's loop, and take them off again; NULL
	 * for a kind that has none. unwatch comes also when watch failed or was never called.
	 */
	int (*watch)(struct virtio_slot *slot);
	void (*unwatch)(struct virtio_slot *slot);
	void *own;         /* of the kind, freed by fini */
	struct disk *disk; /* owned, of a block device */
	struct evloop_source *source;
};

/* Where a device is, for who tells the kernel. */
struct virtio_window {
	uint64_t gpa;
	uint32_t bytes;
	uint32_t gsi;
};

struct virtio_slots {
	struct virtio_slot slots[VIRTIO_SLOTS_MAX];
	unsigned int count;
	struct virtio_console *console; /* one of them, or NULL */
	bool hvc_is_console;            /* what is typed goes there */
};

/* virtio.c */

int virtio_slots_check(const struct machine_config *cfg, struct err *e) __must_check;
unsigned int virtio_slots_list(const struct machine_config *cfg,
			       struct virtio_window ret[VIRTIO_SLOTS_MAX]);
int virtio_slots_cmdline(const struct machine_config *cfg, char **ret) __must_check;
int virtio_slots_make(struct machine *m, const struct machine_config *cfg,
		      struct err *e) __must_check;
void virtio_slots_destroy(struct machine *m);
int virtio_slots_watch(struct machine *m) __must_check;
void virtio_slots_unwatch(struct machine *m);

/* disks.c */
int disk_make(struct machine *m, const struct machine_config *cfg, unsigned int number,
	      const struct virtio_place *place, struct virtio_slot *ret,
	      struct err *e) __must_check;

/* vsock.c */
int vsock_make(struct machine *m, const struct machine_config *cfg, unsigned int number,
	       const struct virtio_place *place, struct virtio_slot *ret,
	       struct err *e) __must_check;

/* shares.c */
#define MACHINE_SHARE_TAG_FORMAT "share%u"
int share_make(struct machine *m, const struct machine_config *cfg, unsigned int number,
	       const struct virtio_place *place, struct virtio_slot *ret,
	       struct err *e) __must_check;
/* net.c */
int net_make(struct machine *m, const struct machine_config *cfg, unsigned int number,
	     const struct virtio_place *place, struct virtio_slot *ret, struct err *e) __must_check;

/* ports.c: the console among them */
bool ports_wanted(const struct machine_config *cfg);
int ports_make(struct machine *m, const struct machine_config *cfg, unsigned int number,
	       const struct virtio_place *place, struct virtio_slot *ret,
	       struct err *e) __must_check;
size_t ports_input(struct machine *m, enum machine_line line, const void *data, size_t bytes);
void ports_pause(struct machine *m, enum machine_line line, bool on);
bool ports_deliver(struct machine *m);
void ports_deliver_all(struct machine *m);

#endif
