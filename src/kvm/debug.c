/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What stops a vCPU and looks into it. The rules of vcpu.c's head hold here too. */
#include "kvm/kvm.h"

static int vcpu_ioctl(struct kvm_vcpu *v, unsigned long request, void *arg)
{
	int r = v->ops->ioctl(v->ops->ctx, v->fd, request, arg);

	return r < 0 ? r : 0;
}

/**
 * kvm_vcpu_clock_ctrl() - tell the guest's kvmclock that the vCPU was stopped
 * @v: a vCPU
 *
 * Return: 0, −EINVAL when the guest uses no kvmclock, or −errno.
 * Context: any thread, while the vCPU is not inside kvm_vcpu_run().
 */
int kvm_vcpu_clock_ctrl(struct kvm_vcpu *v)
{
	return vcpu_ioctl(v, KVM_KVMCLOCK_CTRL, NULL);
}

/**
 * kvm_vcpu_get_fpu() - read the floating-point state
 * @v: a vCPU
 * @ret: gets it
 *
 * Return: 0 or −errno.
 * Context: see vcpu.c's head.
 */
int kvm_vcpu_get_fpu(struct kvm_vcpu *v, struct kvm_fpu *ret)
{
	return vcpu_ioctl(v, KVM_GET_FPU, ret);
}

/* Where an XSAVE area has MXCSR and the bits of the parts that are in it. SDM 1 10.5.1, 13.4.2. */
#define XSAVE_MXCSR   (24 / 4)
#define XSAVE_BITS    (512 / 4)
#define XSAVE_BIT_SSE 2u

/**
 * kvm_vcpu_get_mxcsr() - read what KVM_GET_FPU leaves out
 * @v: a vCPU
 * @ret: gets MXCSR
 *
 * Return: 0 or −errno.
 * Context: see vcpu.c's head.
 */
int kvm_vcpu_get_mxcsr(struct kvm_vcpu *v, uint32_t *ret)
{
	struct kvm_xsave x;
	int r = vcpu_ioctl(v, KVM_GET_XSAVE, &x);

	if (r == 0) {
		*ret = x.region[XSAVE_MXCSR];
	}
	return r;
}

/**
 * kvm_vcpu_set_mxcsr() - set what KVM_SET_FPU leaves out
 * @v: a vCPU
 * @mxcsr: its value
 *
 * Return: 0 or −errno (−EINVAL: a reserved bit).
 * Context: see vcpu.c's head.
 */
int kvm_vcpu_set_mxcsr(struct kvm_vcpu *v, uint32_t mxcsr)
{
	struct kvm_xsave x;
	int r = vcpu_ioctl(v, KVM_GET_XSAVE, &x);

	if (r < 0) {
		return r;
	}
	x.region[XSAVE_MXCSR] = mxcsr;
	x.region[XSAVE_BITS] |= XSAVE_BIT_SSE;
	return vcpu_ioctl(v, KVM_SET_XSAVE, &x);
}

/**
 * kvm_vcpu_set_debug() - choose what makes the vCPU come out with KVM_EXIT_DEBUG
 * @v: a vCPU
 * @d: control bits and debug registers
 *
 * Return: 0 or −errno.
 * Context: see vcpu.c's head.
 */
int kvm_vcpu_set_debug(struct kvm_vcpu *v, const struct kvm_guest_debug *d)
{
	return vcpu_ioctl(v, KVM_SET_GUEST_DEBUG, (void *)(uintptr_t)d);
}

/**
 * kvm_vcpu_inject_breakpoint() - give the guest the #BP of an INT3 that is its own
 * @v: a vCPU that came out with KVM_EXIT_DEBUG for one, RIP still on it
 *
 * Return: 0 or −errno.
 * Context: the vCPU's thread.
 */
int kvm_vcpu_inject_breakpoint(struct kvm_vcpu *v)
{
	struct kvm_vcpu_events events;
	int r = vcpu_ioctl(v, KVM_GET_VCPU_EVENTS, &events);

	if (r < 0) {
		return r;
	}
	events.exception.injected = 1;
	events.exception.nr = 3; /* SDM 3A 6.15, #BP */
	events.exception.has_error_code = 0;
	events.exception.error_code = 0;
	events.flags = 0;
	return vcpu_ioctl(v, KVM_SET_VCPU_EVENTS, &events);
}
