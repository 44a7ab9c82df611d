/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by payload.c, which makes the VM, and payload_run.c, which runs it. */
#ifndef VMM_PAYLOAD_PRIV_H
#define VMM_PAYLOAD_PRIV_H

#include "kvm/kvm.h"
#include "vmm/payload.h"

struct payload_vm {
	const struct kvm_ops *ops;
	struct kvm_dev dev;
	struct kvm_vm vm;
	struct kvm_vcpu vcpu;
	void *ram; /* PAYLOAD_RAM_BYTES, or NULL */
	struct gmem memory;
	struct bus ports;
	struct bus mmio;
	struct device exit;
	uint64_t entry;
	bool exited;
	uint32_t exit_status;
};

#endif
