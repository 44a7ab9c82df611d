/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A VM: interrupt chips, memory slots, interrupt lines. */
#include "kvm/kvm.h"

#include <errno.h>

#include "base/log.h"

/*
 * Intel needs three pages for a real-mode task segment and one for an identity map, out of the
 * guest's way. Linux reserves nothing there: below 4 GiB, above the I/O APIC and the local APIC,
 * the place that other VMMs use too. Documentation/virt/kvm/api.rst 4.33 and 4.67.
 */
#define INTEL_IDENTITY_MAP UINT64_C(0xfffbc000)
#define INTEL_TSS          UINT64_C(0xfffbd000)

static int vm_ioctl(struct kvm_vm *vm, unsigned long request, const void *arg)
{
	return vm->ops->ioctl(vm->ops->ctx, vm->fd, request, (void *)(uintptr_t)arg);
}

/**
 * kvm_vm_init() - make a VM
 * @vm: to fill; @vm->fd stays −1 on failure
 * @d: an open device
 * @e: gets one line
 *
 * Return: 0 or −errno.
 * Context: any thread.
 */
int kvm_vm_init(struct kvm_vm *vm, const struct kvm_dev *d, struct err *e)
{
	uint64_t identity = INTEL_IDENTITY_MAP;
	int r;

	*vm = (struct kvm_vm){.ops = d->ops, .fd = -1};
	do {
		/* A signal may interrupt it: KVM then gives EINTR, and nothing was made. */
		r = d->ops->ioctl(d->ops->ctx, d->fd, KVM_CREATE_VM, NULL);
	} while (r == -EINTR);
	if (r < 0) {
		return err_errno(e, r, "KVM makes no VM");
	}
	vm->fd = r;
	r = vm_ioctl(vm, KVM_SET_IDENTITY_MAP_ADDR, &identity);
	if (r < 0) {
		err_errno(e, r, "KVM refuses the identity map at 0x%llx",
			  (unsigned long long)identity);
		goto fail;
	}
	r = vm_ioctl(vm, KVM_SET_TSS_ADDR, (void *)(uintptr_t)INTEL_TSS);
	if (r < 0) {
		err_errno(e, r, "KVM refuses the task segment at 0x%llx",
			  (unsigned long long)INTEL_TSS);
		goto fail;
	}
	return 0;
fail:
	kvm_vm_fini(vm);
	return r;
}

/**
 * kvm_vm_fini() - give the VM back
 * @vm: a VM, one whose making failed, or one given back before; its vCPUs must be gone
 *
 * Context: any thread.
 */
void kvm_vm_fini(struct kvm_vm *vm)
{
	if (vm->fd >= 0) {
		vm->ops->close(vm->ops->ctx, vm->fd);
		vm->fd = -1;
	}
}

/**
 * kvm_vm_disable_pmu() - have KVM emulate no performance counters, whatever CPUID says
 * @vm: a VM without vCPUs
 * @d: the device that it was made on
 * @e: gets one line
 *
 * AMD's four oldest counters are there without a word in CPUID. A KVM that cannot switch them off
 * (Linux before 5.18) gives them to a guest that tries.
 *
 * Return: 0 or −errno.
 * Context: any thread. Documentation/virt/kvm/api.rst, 8.35.
 */
int kvm_vm_disable_pmu(struct kvm_vm *vm, const struct kvm_dev *d, struct err *e)
{
	struct kvm_enable_cap cap = {.cap = KVM_CAP_PMU_CAPABILITY, .args[0] = KVM_PMU_CAP_DISABLE};
	int can = kvm_dev_cap(d, KVM_CAP_PMU_CAPABILITY);
	int r = can > 0 && can & KVM_PMU_CAP_DISABLE ? vm_ioctl(vm, KVM_ENABLE_CAP, &cap) : 0;

	return r < 0 ? err_errno(e, r, "KVM does not switch the performance counters off") : 0;
}

/**
 * kvm_vm_create_irqchip() - both PICs, the I/O APIC, local APICs and the PIT, all in the kernel
 * @vm: a VM without vCPUs: local APICs come only with chips made before them
 * @e: gets one line
 *
 * The PIT gets the speaker port as a dummy: Linux calibrates its TSC through port 0x61.
 *
 * Return: 0 or −errno.
 * Context: any thread.
 */
int kvm_vm_create_irqchip(struct kvm_vm *vm, struct err *e)
{
	struct kvm_pit_config pit = {.flags = KVM_PIT_SPEAKER_DUMMY};
	int r = vm_ioctl(vm, KVM_CREATE_IRQCHIP, NULL);

	if (r < 0) {
		return err_errno(e, r, "KVM makes no interrupt controllers");
	}
	r = vm_ioctl(vm, KVM_CREATE_PIT2, &pit);
	return r < 0 ? err_errno(e, r, "KVM makes no timer chip") : 0;
}

/**
 * kvm_vm_set_memslot() - show a range of our memory to the guest
 * @vm: a VM
 * @slot: number of the slot
 * @gpa: guest physical address, page aligned
 * @bytes: length, a multiple of the page size; 0 takes the slot away
 * @host: our mapping of that length, which must stay until the VM is gone
 * @e: gets one line
 *
 * Return: 0 or −errno.
 * Context: any thread.
 */
int kvm_vm_set_memslot(struct kvm_vm *vm, uint32_t slot, uint64_t gpa, uint64_t bytes, void *host,
		       struct err *e)
{
	struct kvm_userspace_memory_region region = {
		.slot = slot,
		.guest_phys_addr = gpa,
		.memory_size = bytes,
		.userspace_addr = (uint64_t)(uintptr_t)host,
	};
	int r = vm_ioctl(vm, KVM_SET_USER_MEMORY_REGION, &region);

	log_debug("kvm", "slot %u: 0x%llx bytes at 0x%llx: %d", slot, (unsigned long long)bytes,
		  (unsigned long long)gpa, r);
	if (r < 0) {
		return err_errno(e, r, "KVM refuses memory slot %u (0x%llx bytes at 0x%llx)", slot,
				 (unsigned long long)bytes, (unsigned long long)gpa);
	}
	return 0;
}

/**
 * kvm_vm_irq_line() - set an interrupt line
 * @vm: a VM with interrupt controllers
 * @gsi: line, 0–23
 * @level: the new level
 *
 * Return: 0 or −errno.
 * Context: any thread.
 */
int kvm_vm_irq_line(struct kvm_vm *vm, unsigned int gsi, bool level)
{
	struct kvm_irq_level line = {.irq = gsi, .level = level};
	int r = vm_ioctl(vm, KVM_IRQ_LINE, &line);

	return r < 0 ? r : 0;
}

/**
 * kvm_vm_irqfd() - tie an eventfd to an interrupt line, or untie it
 * @vm: a VM with interrupt controllers
 * @fd: the eventfd
 * @gsi: line
 * @assign: tie or untie
 *
 * Return: 0 or −errno.
 * Context: any thread.
 */
int kvm_vm_irqfd(struct kvm_vm *vm, int fd, unsigned int gsi, bool assign)
{
	struct kvm_irqfd irqfd = {
		.fd = (uint32_t)fd,
		.gsi = gsi,
		.flags = assign ? 0 : KVM_IRQFD_FLAG_DEASSIGN,
	};
	int r = vm_ioctl(vm, KVM_IRQFD, &irqfd);

	return r < 0 ? r : 0;
}

/**
 * kvm_vm_ioeventfd() - let a guest's write to memory-mapped I/O signal an eventfd, without an exit
 * @vm: a VM
 * @fd: the eventfd; KVM holds it until the VM is gone
 * @gpa: the address
 * @bytes: 1, 2, 4 or 8: only a write so wide counts, of any value
 *
 * Documentation/virt/kvm/api.rst 4.59. KVM waits for a grace period with each, so there is one for
 * a device and not one for a queue.
 *
 * Return: 0 or −errno.
 * Context: any thread.
 */
int kvm_vm_ioeventfd(struct kvm_vm *vm, int fd, uint64_t gpa, unsigned int bytes)
{
	struct kvm_ioeventfd io = {.addr = gpa, .len = bytes, .fd = fd};
	int r = vm_ioctl(vm, KVM_IOEVENTFD, &io);

	return r < 0 ? r : 0;
}

/**
 * kvm_vm_ioeventfd_value() - the same, for writes of one value
 * @vm: a VM
 * @fd: the eventfd; KVM holds it until the VM is gone
 * @gpa: the address; no eventfd may be tied to it for any value
 * @bytes: 1, 2, 4 or 8
 * @value: other values make an exit, unless another eventfd is tied to them
 *
 * Return: 0 or −errno.
 * Context: any thread.
 */
int kvm_vm_ioeventfd_value(struct kvm_vm *vm, int fd, uint64_t gpa, unsigned int bytes,
			   uint64_t value)
{
	struct kvm_ioeventfd io = {.addr = gpa,
				   .len = bytes,
				   .fd = fd,
				   .datamatch = value,
				   .flags = KVM_IOEVENTFD_FLAG_DATAMATCH};
	int r = vm_ioctl(vm, KVM_IOEVENTFD, &io);

	return r < 0 ? r : 0;
}
