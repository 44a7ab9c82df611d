/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guest's RAM: a named memory file for each slot, below and above the hole, mapped whole and
 * touched nowhere. The loader may lay pages of the kernel's file over it, private: the guest and we
 * then see the same bytes, and what the guest writes never reaches the file.
 */
#ifndef VMM_RAM_H
#define VMM_RAM_H

#include <stdint.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "hw/gmem.h"
#include "kvm/kvm.h"
#include "vmm/vmm.h"

struct ram_slot {
	int fd;
	void *host;
	uint64_t gpa, bytes;
};

struct ram {
	const struct kvm_ops *ops;
	struct gmem mem; /* what everybody else uses */
	struct ram_slot slots[GMEM_LAYOUT_REGIONS];
	unsigned int count;
};

int ram_init(struct ram *r, const struct kvm_ops *ops, uint64_t bytes,
	     const struct machine_memory *how, struct err *e) __must_check;
int ram_settle(const struct ram *r, const struct machine_memory *how, struct err *e) __must_check;
void ram_fini(struct ram *r);

/* ram_host.c */
int ram_host_check(uint64_t bytes, const struct machine_memory *how, struct err *e) __must_check;

int ram_add_to_vm(const struct ram *r, struct kvm_vm *vm, struct err *e) __must_check;

#endif
