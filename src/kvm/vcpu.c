/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A vCPU. KVM wants its requests from the thread that runs it, or from another while that one is
 * not inside kvm_vcpu_run().
 */
#include "kvm/kvm.h"

#include <errno.h>
#include <sys/mman.h>

static int vcpu_ioctl(struct kvm_vcpu *v, unsigned long request, const void *arg)
{
	return v->ops->ioctl(v->ops->ctx, v->fd, request, (void *)(uintptr_t)arg);
}

static int vcpu_get(struct kvm_vcpu *v, unsigned long request, void *ret)
{
	int r = vcpu_ioctl(v, request, ret);

	return r < 0 ? r : 0;
}

static int vcpu_set(struct kvm_vcpu *v, unsigned long request, const void *arg, const char *what,
		    struct err *e)
{
	int r = vcpu_ioctl(v, request, arg);

	return r < 0 ? err_errno(e, r, "KVM refuses the vCPU's %s", what) : 0;
}

/**
 * kvm_vcpu_init() - make a vCPU and map the page it shares with us
 * @v: to fill
 * @d: the device that @vm was made on
 * @vm: a VM
 * @index: number of the vCPU, also its APIC id
 * @e: gets one line
 *
 * Return: 0 or −errno.
 * Context: any thread.
 */
int kvm_vcpu_init(struct kvm_vcpu *v, const struct kvm_dev *d, struct kvm_vm *vm,
		  unsigned int index, struct err *e)
{
	void *run;
	int r;

	*v = (struct kvm_vcpu){.ops = d->ops, .fd = -1, .run_bytes = d->run_bytes};
	r = vm->ops->ioctl(vm->ops->ctx, vm->fd, KVM_CREATE_VCPU, (void *)(uintptr_t)index);
	if (r < 0) {
		return err_errno(e, r, "KVM makes no vCPU %u", index);
	}
	v->fd = r;
	r = v->ops->mmap(v->ops->ctx, NULL, v->run_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, v->fd,
			 0, &run);
	if (r < 0) {
		kvm_vcpu_fini(v);
		return err_errno(e, r, "cannot map the shared page of vCPU %u", index);
	}
	v->run = run;
	return 0;
}

/**
 * kvm_vcpu_fini() - give a vCPU back
 * @v: a vCPU, one whose making failed, or one given back before
 *
 * Context: any thread, while none runs it.
 */
void kvm_vcpu_fini(struct kvm_vcpu *v)
{
	if (v->run) {
		v->ops->munmap(v->ops->ctx, v->run, v->run_bytes);
		v->run = NULL;
	}
	if (v->fd >= 0) {
		v->ops->close(v->ops->ctx, v->fd);
		v->fd = -1;
	}
}

/**
 * kvm_vcpu_run() - let the guest run until something concerns us
 * @v: a vCPU
 *
 * Return: 0 with @v->run filled; −EINTR after a signal or immediate_exit; −EAGAIN when a vCPU
 * that waits for its start was woken; another errno of KVM.
 * Context: the thread of this vCPU.
 */
int kvm_vcpu_run(struct kvm_vcpu *v)
{
	int r = v->ops->ioctl(v->ops->ctx, v->fd, KVM_RUN, NULL);

	return r < 0 ? r : 0;
}

/**
 * kvm_vcpu_set_cpuid() - fix what CPUID says, before the first run
 * @v: a vCPU
 * @t: the leaves
 * @e: gets one line
 *
 * Return: 0 or −errno.
 * Context: see the file's head.
 */
int kvm_vcpu_set_cpuid(struct kvm_vcpu *v, struct kvm_cpuid_table *t, struct err *e)
{
	return vcpu_set(v, KVM_SET_CPUID2, t, "CPUID", e);
}

/**
 * kvm_vcpu_get_regs() - read the general registers
 * @v: a vCPU
 * @ret: gets them
 *
 * Return: 0 or −errno.
 * Context: see the file's head.
 */
int kvm_vcpu_get_regs(struct kvm_vcpu *v, struct kvm_regs *ret)
{
	return vcpu_get(v, KVM_GET_REGS, ret);
}

/**
 * kvm_vcpu_set_regs() - set the general registers
 * @v: a vCPU
 * @r: their values
 * @e: gets one line
 *
 * Return: 0 or −errno.
 * Context: see the file's head.
 */
int kvm_vcpu_set_regs(struct kvm_vcpu *v, const struct kvm_regs *r, struct err *e)
{
	return vcpu_set(v, KVM_SET_REGS, r, "general registers", e);
}

/**
 * kvm_vcpu_get_sregs() - read segment, control and table registers
 * @v: a vCPU
 * @ret: gets them
 *
 * Return: 0 or −errno.
 * Context: see the file's head.
 */
int kvm_vcpu_get_sregs(struct kvm_vcpu *v, struct kvm_sregs *ret)
{
	return vcpu_get(v, KVM_GET_SREGS, ret);
}

/**
 * kvm_vcpu_set_sregs() - set segment, control and table registers
 * @v: a vCPU
 * @s: their values
 * @e: gets one line
 *
 * Return: 0 or −errno.
 * Context: see the file's head.
 */
int kvm_vcpu_set_sregs(struct kvm_vcpu *v, const struct kvm_sregs *s, struct err *e)
{
	return vcpu_set(v, KVM_SET_SREGS, s, "segment and control registers", e);
}

/**
 * kvm_vcpu_set_fpu() - set the floating-point state
 * @v: a vCPU
 * @f: the state
 * @e: gets one line
 *
 * Return: 0 or −errno.
 * Context: see the file's head.
 */
int kvm_vcpu_set_fpu(struct kvm_vcpu *v, const struct kvm_fpu *f, struct err *e)
{
	return vcpu_set(v, KVM_SET_FPU, f, "floating-point state", e);
}

/**
 * kvm_vcpu_set_xcrs() - set the extended control registers
 * @v: a vCPU whose CPUID says that it has them
 * @x: their values
 * @e: gets one line
 *
 * Return: 0 or −errno.
 * Context: see the file's head.
 */
int kvm_vcpu_set_xcrs(struct kvm_vcpu *v, const struct kvm_xcrs *x, struct err *e)
{
	return vcpu_set(v, KVM_SET_XCRS, x, "extended control registers", e);
}

/**
 * kvm_vcpu_get_lapic() - read the local APIC's registers
 * @v: a vCPU of a VM with interrupt controllers
 * @ret: gets them
 * @e: gets one line
 *
 * Return: 0 or −errno.
 * Context: see the file's head.
 */
int kvm_vcpu_get_lapic(struct kvm_vcpu *v, struct kvm_lapic_state *ret, struct err *e)
{
	int r = vcpu_get(v, KVM_GET_LAPIC, ret);

	return r < 0 ? err_errno(e, r, "cannot read the local APIC") : 0;
}

/**
 * kvm_vcpu_set_lapic() - set the local APIC's registers
 * @v: a vCPU of a VM with interrupt controllers
 * @l: their values
 * @e: gets one line
 *
 * Return: 0 or −errno.
 * Context: see the file's head.
 */
int kvm_vcpu_set_lapic(struct kvm_vcpu *v, const struct kvm_lapic_state *l, struct err *e)
{
	return vcpu_set(v, KVM_SET_LAPIC, l, "local APIC", e);
}

/**
 * kvm_vcpu_set_msrs() - set model-specific registers
 * @v: a vCPU
 * @t: index and value of each
 * @e: gets one line, which names the first that KVM does not take
 *
 * Return: 0 or −errno (−EINVAL: KVM does not take one).
 * Context: see the file's head.
 */
int kvm_vcpu_set_msrs(struct kvm_vcpu *v, struct kvm_msr_table *t, struct err *e)
{
	int r = vcpu_ioctl(v, KVM_SET_MSRS, t);

	if (r < 0) {
		return err_errno(e, r, "KVM refuses the vCPU's model-specific registers");
	}
	if ((uint32_t)r < t->head.nmsrs) {
		return err_set(e, -EINVAL, "KVM does not take MSR 0x%x with the value 0x%llx",
			       t->entries[r].index, (unsigned long long)t->entries[r].data);
	}
	return 0;
}

/**
 * kvm_vcpu_get_msr() - read one model-specific register
 * @v: a vCPU
 * @index: which
 * @ret: gets its value
 *
 * Return: 0, −ENOENT when KVM does not have it, or −errno.
 * Context: see the file's head.
 */
int kvm_vcpu_get_msr(struct kvm_vcpu *v, uint32_t index, uint64_t *ret)
{
	struct kvm_msr_table t = {.head.nmsrs = 1};
	int r;

	t.entries[0].index = index;
	r = vcpu_ioctl(v, KVM_GET_MSRS, &t);
	if (r < 0) {
		return r;
	}
	if (r < 1) {
		return -ENOENT;
	}
	*ret = t.entries[0].data;
	return 0;
}

/**
 * kvm_vcpu_nmi() - give the vCPU a non-maskable interrupt, at its next entry
 * @v: a vCPU
 *
 * Return: 0 or −errno.
 * Context: see the file's head.
 */
int kvm_vcpu_nmi(struct kvm_vcpu *v)
{
	return vcpu_ioctl(v, KVM_NMI, NULL);
}

/**
 * kvm_vcpu_get_mp_state() - whether the vCPU runs, is halted, or waits to be started
 * @v: a vCPU
 * @ret: gets KVM_MP_STATE_*
 *
 * Return: 0 or −errno.
 * Context: see the file's head.
 */
int kvm_vcpu_get_mp_state(struct kvm_vcpu *v, uint32_t *ret)
{
	struct kvm_mp_state s;
	int r = vcpu_get(v, KVM_GET_MP_STATE, &s);

	if (r < 0) {
		return r;
	}
	*ret = s.mp_state;
	return 0;
}

/**
 * kvm_vcpu_tsc_khz() - how fast the guest's time-stamp counter goes
 * @v: a vCPU
 *
 * Return: kHz, or 0 when KVM does not know.
 * Context: see the file's head. Documentation/virt/kvm/api.rst, 4.56.
 */
uint32_t kvm_vcpu_tsc_khz(struct kvm_vcpu *v)
{
	int r = vcpu_ioctl(v, KVM_GET_TSC_KHZ, 0);

	return r > 0 ? (uint32_t)r : 0;
}

/**
 * kvm_vcpu_tsc_offset() - what the guest's time-stamp counter has ahead of the host's
 * @v: a vCPU
 * @ret: gets guest TSC − host TSC, modulo 2^64
 *
 * Return: 0 or −errno (−ENXIO, −ENOTTY: a KVM older than Linux 5.16).
 * Context: any thread. Documentation/virt/kvm/devices/vcpu.rst, 4.1.
 */
int kvm_vcpu_tsc_offset(struct kvm_vcpu *v, uint64_t *ret)
{
	uint64_t offset = 0;
	struct kvm_device_attr attr = {
		.group = KVM_VCPU_TSC_CTRL,
		.attr = KVM_VCPU_TSC_OFFSET,
		.addr = (uint64_t)(uintptr_t)&offset,
	};
	int r = vcpu_get(v, KVM_GET_DEVICE_ATTR, &attr);

	if (r < 0) {
		return r;
	}
	*ret = offset;
	return 0;
}
