/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What stops a vCPU and looks into it. The rules of vcpu.c's head hold here too. */
#include <string.h>

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

/* How an XSAVE area begins, and what of it its bits are about. SDM 1 10.5.1, 13.4.2. */
struct legacy_area {
	uint16_t fcw, fsw;
	uint8_t ftwx, reserved;
	uint16_t last_opcode;
	uint64_t last_ip, last_dp;
	uint32_t mxcsr, mxcsr_mask;
	uint8_t st[8][16], xmm[16][16];
};

#define XSAVE_BITS     (512 / 4)
#define XSAVE_BITS_FPU 3u

_Static_assert(sizeof(struct legacy_area) == 416, "the area is the processor's");

/**
 * kvm_vcpu_get_fpu() - read the floating-point state
 * @v: a vCPU
 * @ret: gets it
 *
 * Not by KVM_GET_FPU, which knows neither MXCSR nor which of the registers are in use at all.
 *
 * Return: 0 or −errno.
 * Context: see vcpu.c's head.
 */
int kvm_vcpu_get_fpu(struct kvm_vcpu *v, struct kvm_fpu *ret)
{
	struct legacy_area l;
	struct kvm_xsave x;
	int r = vcpu_ioctl(v, KVM_GET_XSAVE, &x);

	if (r < 0) {
		return r;
	}
	memcpy(&l, &x, sizeof(l));
	*ret = (struct kvm_fpu){.fcw = l.fcw,
				.fsw = l.fsw,
				.ftwx = l.ftwx,
				.last_opcode = l.last_opcode,
				.last_ip = l.last_ip,
				.last_dp = l.last_dp,
				.mxcsr = l.mxcsr};
	memcpy(ret->fpr, l.st, sizeof(l.st));
	memcpy(ret->xmm, l.xmm, sizeof(l.xmm));
	return 0;
}

/**
 * kvm_vcpu_change_fpu() - change the floating-point state of a vCPU that has run
 * @v: a vCPU
 * @f: what it is to be
 *
 * Not by KVM_SET_FPU, which leaves registers that were not in use so: the guest would not find what
 * was set.
 *
 * Return: 0 or −errno (−EINVAL: a reserved bit of MXCSR).
 * Context: see vcpu.c's head.
 */
int kvm_vcpu_change_fpu(struct kvm_vcpu *v, const struct kvm_fpu *f)
{
	struct legacy_area l;
	struct kvm_xsave x;
	int r = vcpu_ioctl(v, KVM_GET_XSAVE, &x);

	if (r < 0) {
		return r;
	}
	memcpy(&l, &x, sizeof(l));
	l.fcw = f->fcw;
	l.fsw = f->fsw;
	l.ftwx = f->ftwx;
	l.last_opcode = f->last_opcode;
	l.last_ip = f->last_ip;
	l.last_dp = f->last_dp;
	l.mxcsr = f->mxcsr;
	memcpy(l.st, f->fpr, sizeof(l.st));
	memcpy(l.xmm, f->xmm, sizeof(l.xmm));
	memcpy(&x, &l, sizeof(l));
	x.region[XSAVE_BITS] |= XSAVE_BITS_FPU;
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
