/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /dev/kvm: open, version, capabilities. Each refusal starts with the id of doctor's check. */
#include "kvm/kvm.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

static const struct kvm_cap caps[] = {
	{KVM_CAP_USER_MEMORY, "user-memory", true, "guest memory from ours"},
	{KVM_CAP_IRQCHIP, "irqchip", true, "interrupt controllers in the kernel"},
	{KVM_CAP_PIT2, "pit2", true, "the timer chip in the kernel"},
	{KVM_CAP_IRQFD, "irqfd", true, "interrupts raised through an eventfd"},
	{KVM_CAP_IOEVENTFD, "ioeventfd", true, "doorbells through an eventfd"},
	{KVM_CAP_SET_TSS_ADDR, "set-tss-addr", true, "room for Intel's real-mode task segment"},
	{KVM_CAP_SET_IDENTITY_MAP_ADDR, "set-identity-map-addr", true, "likewise its page table"},
	{KVM_CAP_EXT_CPUID, "ext-cpuid", true, "choosing what CPUID says"},
	{KVM_CAP_MP_STATE, "mp-state", true, "telling a halted vCPU from a running one"},
	{KVM_CAP_IMMEDIATE_EXIT, "immediate-exit", true, "stopping a vCPU without a race"},
	{KVM_CAP_BINARY_STATS_FD, "binary-stats-fd", false, "exit counts of batches"},
	{KVM_CAP_TSC_DEADLINE_TIMER, "tsc-deadline-timer", false, "the guest's cheapest timer"},
	{KVM_CAP_ADJUST_CLOCK, "adjust-clock", false, "the paravirtual clock"},
	{KVM_CAP_INTERNAL_ERROR_DATA, "internal-error-data", false, "reports of KVM's failures"},
	{KVM_CAP_X2APIC_API, "x2apic-api", false, "more than 255 vCPUs"},
	{KVM_CAP_XSAVE2, "xsave2", false, "saving large vector state"},
};

/**
 * kvm_caps() - the capabilities that this program looks at
 * @ret_count: their number
 *
 * Return: the table, never NULL.
 * Context: any thread.
 */
const struct kvm_cap *kvm_caps(size_t *ret_count)
{
	*ret_count = ARRAY_SIZE(caps);
	return caps;
}

static int open_fault(int code, const char *path, struct err *e)
{
	switch (code) {
	case -EACCES:
	case -EPERM:
		return err_set(e, code,
			       "kvm-permission: no permission for %s; become a member of the group "
			       "that owns it (usually \"kvm\"), or run as root",
			       path);
	case -ENOENT:
		return err_set(
			e, code,
			"kvm-device: %s does not exist; load the module kvm-intel or kvm-amd, "
			"or enable virtualisation in the firmware",
			path);
	default:
		return err_errno(e, code, "kvm-device: cannot open %s", path);
	}
}

/**
 * kvm_dev_init() - open the device and check its version
 * @d: to fill; @d->fd stays −1 on failure
 * @ops: the system calls to use, must outlive @d
 * @path: the device, normally KVM_DEVICE_PATH
 * @e: gets one line that starts with the check id kvm-device, kvm-permission or kvm-api
 *
 * Return: 0; −ENOENT, −EACCES or another errno of open(2); −ENOTTY when @path is no KVM device;
 * −EPROTO for another API version.
 * Context: any thread. Linux Documentation/virt/kvm/api.rst, 4.1.
 */
int kvm_dev_init(struct kvm_dev *d, const struct kvm_ops *ops, const char *path, struct err *e)
{
	int r;

	*d = (struct kvm_dev){.ops = ops, .fd = -1};
	r = ops->open(ops->ctx, path, O_RDWR);
	if (r < 0) {
		return open_fault(r, path, e);
	}
	d->fd = r;
	r = ops->ioctl(ops->ctx, d->fd, KVM_GET_API_VERSION, NULL);
	if (r < 0) {
		err_errno(e, r, "kvm-api: %s does not answer like KVM", path);
		goto fail;
	}
	d->api_version = r;
	if (r != KVM_API_VERSION) {
		r = err_set(e, -EPROTO, "kvm-api: %s has API version %d, expected %d", path, r,
			    KVM_API_VERSION);
		goto fail;
	}
	r = ops->ioctl(ops->ctx, d->fd, KVM_GET_VCPU_MMAP_SIZE, NULL);
	if (r < (int)sizeof(struct kvm_run)) {
		r = err_set(e, r < 0 ? r : -EPROTO,
			    "kvm-api: %s says a vCPU shares %d bytes, expected at least %zu", path,
			    r, sizeof(struct kvm_run));
		goto fail;
	}
	d->run_bytes = (size_t)r;
	return 0;
fail:
	kvm_dev_fini(d);
	return r;
}

/**
 * kvm_dev_fini() - close the device
 * @d: an opened device, one whose opening failed, or one closed before
 *
 * Context: any thread. VMs made on it stay.
 */
void kvm_dev_fini(struct kvm_dev *d)
{
	if (d->fd >= 0) {
		d->ops->close(d->ops->ctx, d->fd);
		d->fd = -1;
	}
}

/**
 * kvm_dev_cap() - ask for one capability
 * @d: an open device
 * @number: KVM_CAP_*
 *
 * Return: 0 when KVM lacks it (or cannot say), else its positive value.
 * Context: any thread.
 */
int kvm_dev_cap(const struct kvm_dev *d, int number)
{
	int r = d->ops->ioctl(d->ops->ctx, d->fd, KVM_CHECK_EXTENSION, (void *)(uintptr_t)number);

	return r < 0 ? 0 : r;
}

/**
 * kvm_dev_check_caps() - refuse a KVM that lacks something needed
 * @d: an open device
 * @e: gets one line that starts with kvm-cap-NAME
 *
 * Return: 0 or −ENOTSUP.
 * Context: any thread.
 */
int kvm_dev_check_caps(const struct kvm_dev *d, struct err *e)
{
	for (size_t i = 0; i < ARRAY_SIZE(caps); i++) {
		if (caps[i].needed && !kvm_dev_cap(d, caps[i].number)) {
			return err_set(
				e, -ENOTSUP,
				"kvm-cap-%s: this KVM lacks the capability %d, needed for %s; "
				"it takes a newer host kernel",
				caps[i].name, caps[i].number, caps[i].use);
		}
	}
	return 0;
}

/**
 * kvm_dev_cpuid() - the CPUID leaves that this host can give a guest
 * @d: an open device
 * @ret: gets the leaves
 * @e: gets one line
 *
 * Return: 0 or −errno (−E2BIG: more than KVM_CPUID_MAX leaves).
 * Context: any thread.
 */
int kvm_dev_cpuid(const struct kvm_dev *d, struct kvm_cpuid_table *ret, struct err *e)
{
	int r;

	memset(&ret->head, 0, sizeof(ret->head));
	ret->head.nent = KVM_CPUID_MAX;
	r = d->ops->ioctl(d->ops->ctx, d->fd, KVM_GET_SUPPORTED_CPUID, ret);
	return r < 0 ? err_errno(e, r, "cannot read the CPUID that KVM supports") : 0;
}
