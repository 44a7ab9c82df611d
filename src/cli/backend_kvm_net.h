/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The networks of a machine of our own, and the programs behind them. */
#ifndef CLI_BACKEND_KVM_NET_H
#define CLI_BACKEND_KVM_NET_H

#include "cli/passt.h"
#include "vmm/vmm.h"

struct kvm_nets {
	size_t count;
	struct machine_net net[BACKEND_NETS_MAX];
	struct passt passt[BACKEND_NETS_MAX];
	enum backend_net_kind kind[BACKEND_NETS_MAX];
};

int kvm_nets_open(struct kvm_nets *n, const struct backend_config *cfg, struct err *e) __must_check;
void kvm_nets_built(struct kvm_nets *n);
void kvm_nets_tell_gone(const struct kvm_nets *n, unsigned int net);
void kvm_nets_close(struct kvm_nets *n);

#endif
