/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Our own VMM as a session's backend: the adapter between engine/backend.h and vmm/vmm.h. */
#ifndef CLI_BACKEND_KVM_H
#define CLI_BACKEND_KVM_H

#include "engine/backend.h"
#include "vmm/cpu.h"
#include "vmm/vmm.h"

int backend_kvm_create(const struct backend_config *cfg, const struct machine_memory *memory,
		       const struct x86_cpu_spec *cpu, enum x86_clock clock,
		       const struct sandbox_config *seccomp, struct backend **ret,
		       struct err *e) __must_check;

#endif
