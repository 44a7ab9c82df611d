/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A VM for one firmware payload (firmware/abi/payload.h): 4 MiB of RAM, one vCPU that starts in
 * long mode at the privilege level asked for, a port bus and an MMIO bus, and the exit port. No
 * interrupt chips, no Linux boot protocol. Devices may be put on the buses before the run. One
 * thread owns it.
 *
 * Starting in ring 3 is not what a kernel could do: it is for hosts whose KVM runs only user-mode
 * code at full speed.
 */
#ifndef VMM_PAYLOAD_H
#define VMM_PAYLOAD_H

#include <stdint.h>

#include "abi/payload.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "hw/bus.h"
#include "hw/gmem.h"
#include "kvm/ops.h"

#define PAYLOAD_RAM_BYTES (UINT64_C(4) << 20)

struct payload_vm;

enum payload_end {
	PAYLOAD_END_EXIT,    /* it wrote the exit port */
	PAYLOAD_END_TIMEOUT, /* it did not, in time */
	PAYLOAD_END_FAILED,  /* triple fault, halt, or KVM gave up: see text */
};

struct payload_outcome {
	enum payload_end end;
	uint32_t status;     /* PAYLOAD_END_EXIT: the value written */
	uint64_t user_exits; /* returns of KVM_RUN */
	char text[256];      /* one line for people, "" after PAYLOAD_END_EXIT */
	struct payload_block block;
};

int payload_vm_create(const struct kvm_ops *ops, const char *path, unsigned int ring,
		      struct payload_vm **ret, struct err *e) __must_check;
void payload_vm_destroy(struct payload_vm *vm);
DEFINE_CLEANUP(struct payload_vm *, payload_vm_destroy)

struct bus *payload_vm_ports(struct payload_vm *vm);
struct bus *payload_vm_mmio(struct payload_vm *vm);
const struct gmem *payload_vm_memory(struct payload_vm *vm);
int payload_vm_set_arg(struct payload_vm *vm, unsigned int index, uint64_t value) __must_check;
int payload_vm_run(struct payload_vm *vm, uint64_t timeout_ns, struct payload_outcome *ret,
		   struct err *e) __must_check;

#endif
