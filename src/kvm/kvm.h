/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * KVM in three steps: the device (/dev/kvm), a VM on it, vCPUs in that. Nothing here keeps state
 * of the machine: each function is one request, checked, and its error named. Structures belong to
 * the caller; *_fini() takes half-made and finished ones and may be called twice.
 */
#ifndef KVM_KVM_H
#define KVM_KVM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "kvm/ops.h"
#include "kvm/types.h"

#define KVM_DEVICE_PATH "/dev/kvm"

/* One capability that this program looks at. */
struct kvm_cap {
	int number;
	const char *name; /* lower case, the end of the check id kvm-cap-NAME */
	bool needed;      /* no machine without it */
	const char *use;
};

struct kvm_dev {
	const struct kvm_ops *ops;
	int fd;
	int api_version;
	size_t run_bytes; /* of one vCPU's shared page */
};

struct kvm_vm {
	const struct kvm_ops *ops;
	int fd;
};

struct kvm_vcpu {
	const struct kvm_ops *ops;
	int fd;
	struct kvm_run *run;
	size_t run_bytes;
};

#define KVM_DEV_INIT     \
	{                \
		.fd = -1 \
	}
#define KVM_VM_INIT      \
	{                \
		.fd = -1 \
	}
#define KVM_VCPU_INIT    \
	{                \
		.fd = -1 \
	}

const struct kvm_cap *kvm_caps(size_t *ret_count);
int kvm_dev_init(struct kvm_dev *d, const struct kvm_ops *ops, const char *path,
		 struct err *e) __must_check;
void kvm_dev_fini(struct kvm_dev *d);
int kvm_dev_cap(const struct kvm_dev *d, int number);
int kvm_dev_check_caps(const struct kvm_dev *d, struct err *e) __must_check;
int kvm_dev_cpuid(const struct kvm_dev *d, struct kvm_cpuid_table *ret, struct err *e) __must_check;

int kvm_vm_init(struct kvm_vm *vm, const struct kvm_dev *d, struct err *e) __must_check;
void kvm_vm_fini(struct kvm_vm *vm);
int kvm_vm_disable_pmu(struct kvm_vm *vm, const struct kvm_dev *d, struct err *e) __must_check;
int kvm_vm_create_irqchip(struct kvm_vm *vm, struct err *e) __must_check;
int kvm_vm_set_memslot(struct kvm_vm *vm, uint32_t slot, uint64_t gpa, uint64_t bytes, void *host,
		       struct err *e) __must_check;
int kvm_vm_irq_line(struct kvm_vm *vm, unsigned int gsi, bool level) __must_check;
int kvm_vm_irqfd(struct kvm_vm *vm, int fd, unsigned int gsi, bool assign) __must_check;
int kvm_vm_ioeventfd(struct kvm_vm *vm, int fd, uint64_t gpa, unsigned int bytes) __must_check;
int kvm_vm_ioeventfd_value(struct kvm_vm *vm, int fd, uint64_t gpa, unsigned int bytes,
			   uint64_t value) __must_check;

int kvm_vcpu_init(struct kvm_vcpu *v, const struct kvm_dev *d, struct kvm_vm *vm,
		  unsigned int index, struct err *e) __must_check;
void kvm_vcpu_fini(struct kvm_vcpu *v);
int kvm_vcpu_run(struct kvm_vcpu *v) __must_check;
int kvm_vcpu_set_cpuid(struct kvm_vcpu *v, struct kvm_cpuid_table *t, struct err *e) __must_check;
int kvm_vcpu_get_regs(struct kvm_vcpu *v, struct kvm_regs *ret) __must_check;
int kvm_vcpu_set_regs(struct kvm_vcpu *v, const struct kvm_regs *r, struct err *e) __must_check;
int kvm_vcpu_get_sregs(struct kvm_vcpu *v, struct kvm_sregs *ret) __must_check;
int kvm_vcpu_set_sregs(struct kvm_vcpu *v, const struct kvm_sregs *s, struct err *e) __must_check;
int kvm_vcpu_set_fpu(struct kvm_vcpu *v, const struct kvm_fpu *f, struct err *e) __must_check;
int kvm_vcpu_set_xcrs(struct kvm_vcpu *v, const struct kvm_xcrs *x, struct err *e) __must_check;
int kvm_vcpu_get_lapic(struct kvm_vcpu *v, struct kvm_lapic_state *ret, struct err *e) __must_check;
int kvm_vcpu_set_lapic(struct kvm_vcpu *v, const struct kvm_lapic_state *l,
		       struct err *e) __must_check;
int kvm_vcpu_set_msrs(struct kvm_vcpu *v, struct kvm_msr_table *t, struct err *e) __must_check;
int kvm_vcpu_get_msr(struct kvm_vcpu *v, uint32_t index, uint64_t *ret) __must_check;
int kvm_vcpu_nmi(struct kvm_vcpu *v) __must_check;
int kvm_vcpu_get_mp_state(struct kvm_vcpu *v, uint32_t *ret) __must_check;
uint32_t kvm_vcpu_tsc_khz(struct kvm_vcpu *v);
int kvm_vcpu_tsc_offset(struct kvm_vcpu *v, uint64_t *ret) __must_check;
int kvm_vcpu_clock_ctrl(struct kvm_vcpu *v) __must_check;
int kvm_vcpu_get_fpu(struct kvm_vcpu *v, struct kvm_fpu *ret) __must_check;
int kvm_vcpu_change_fpu(struct kvm_vcpu *v, const struct kvm_fpu *f) __must_check;
int kvm_vcpu_set_debug(struct kvm_vcpu *v, const struct kvm_guest_debug *d) __must_check;
int kvm_vcpu_inject_breakpoint(struct kvm_vcpu *v) __must_check;

const char *kvm_exit_name(uint32_t reason);
const char *kvm_mp_state_name(uint32_t state);

#endif
