/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See payload.h: making the VM. Running it is in payload_run.c. */
#include "vmm/payload.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "abi/marks.h"
#include "arch/x86/boot.h"
#include "loader/loader.h"
#include "vmm/payload_priv.h"

static void exit_port_write(struct device *d, uint64_t offset, unsigned int size, uint64_t value)
{
	struct payload_vm *vm =
		(struct payload_vm *)((char *)d - offsetof(struct payload_vm, exit));

	vm->exited = true;
	vm->exit_status = (uint32_t)value;
}

static uint64_t exit_port_read(struct device *d, uint64_t offset, unsigned int size)
{
	return UINT64_MAX;
}

static const struct device_ops exit_port_ops = {
	.name = "exit port",
	.max_size = EXIT_PORT_BYTES,
	.read = exit_port_read,
	.write = exit_port_write,
};

/* As the machine loads a kernel, of which only the entry is used here: no boot parameters. */
static int place_image(struct payload_vm *vm, const struct load_image *image, struct err *e)
{
	const struct load_request request = {
		.ram = vm->memory.regions,
		.ram_count = vm->memory.count,
		.cmdline = "",
	};
	struct load_plan *plan = malloc(sizeof(*plan));
	struct load_placed placed;
	int r;

	if (!plan) {
		return err_errno(e, -ENOMEM, "no memory to plan the guest's memory");
	}
	r = load_plan_make(image, &request, plan, e);
	if (r == 0) {
		r = load_plan_place(plan, &vm->memory, &placed, e);
	}
	free(plan);
	return r;
}

static int load_payload(struct payload_vm *vm, const char *path, struct err *e)
{
	struct load_image image;
	uint64_t magic = 0;
	int r = load_image_open(path, &image, e);

	if (r < 0) {
		return r;
	}
	r = place_image(vm, &image, e);
	vm->entry = image.entry;
	load_image_close(&image);
	if (r < 0) {
		return r;
	}
	r = gmem_read(&vm->memory, PAYLOAD_BLOCK_GPA + offsetof(struct payload_block, magic),
		      &magic, sizeof(magic));
	if (r < 0 || magic != PAYLOAD_MAGIC) {
		return err_set(e, -ENOEXEC, "%s: no firmware payload (no magic at 0x%lx)", path,
			       (unsigned long)PAYLOAD_BLOCK_GPA);
	}
	return 0;
}

static int set_registers(struct payload_vm *vm, enum x86_ring ring, struct err *e)
{
	struct kvm_sregs sregs;
	struct kvm_regs regs;
	int r = kvm_vcpu_get_sregs(&vm->vcpu, &sregs);

	if (r < 0) {
		return err_errno(e, r, "KVM gives no registers");
	}
	x86_boot_sregs(&sregs, ring);
	x86_boot_regs(&regs, vm->entry, 0, ring);
	r = kvm_vcpu_set_sregs(&vm->vcpu, &sregs, e);
	return r < 0 ? r : kvm_vcpu_set_regs(&vm->vcpu, &regs, e);
}

static int make_machine(struct payload_vm *vm, struct err *e)
{
	struct kvm_cpuid_table cpuid;
	int r = kvm_dev_init(&vm->dev, vm->ops, KVM_DEVICE_PATH, e);

	r = r < 0 ? r : kvm_vm_init(&vm->vm, &vm->dev, e);
	r = r < 0 ? r : kvm_vm_set_memslot(&vm->vm, 0, 0, PAYLOAD_RAM_BYTES, vm->ram, e);
	r = r < 0 ? r : kvm_vcpu_init(&vm->vcpu, &vm->dev, &vm->vm, 0, e);
	r = r < 0 ? r : kvm_dev_cpuid(&vm->dev, &cpuid, e);
	return r < 0 ? r : kvm_vcpu_set_cpuid(&vm->vcpu, &cpuid, e);
}

/**
 * payload_vm_create() - make a VM with a payload in it, ready to run
 * @ops: the system calls to use, must outlive the VM
 * @path: the payload's ELF file
 * @ring: where it starts, 0 or 3
 * @ret: set on success; give it to payload_vm_destroy()
 * @e: gets one line on failure
 *
 * Return: 0; -ENOEXEC when the file is no payload; -ENOMEM; -errno of the loader or of KVM.
 * Context: the thread that will run it.
 */
int payload_vm_create(const struct kvm_ops *ops, const char *path, unsigned int ring,
		      struct payload_vm **ret, struct err *e)
{
	_cleanup_(payload_vm_destroy_p) struct payload_vm *vm = calloc(1, sizeof(*vm));
	const enum x86_ring x86_ring = ring ? X86_RING_3 : X86_RING_0;
	void *ram;
	int r;

	if (!vm) {
		return err_errno(e, -ENOMEM, "%s", path);
	}
	vm->ops = ops;
	vm->dev = (struct kvm_dev)KVM_DEV_INIT;
	vm->vm = (struct kvm_vm)KVM_VM_INIT;
	vm->vcpu = (struct kvm_vcpu)KVM_VCPU_INIT;
	gmem_init(&vm->memory);
	bus_init(&vm->ports, "port");
	bus_init(&vm->mmio, "mmio");
	r = ops->mmap(ops->ctx, NULL, PAYLOAD_RAM_BYTES, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0, &ram);
	if (r < 0) {
		return err_errno(e, r, "%s: cannot map %lu bytes of guest memory", path,
				 (unsigned long)PAYLOAD_RAM_BYTES);
	}
	vm->ram = ram;
	vm->exit.ops = &exit_port_ops;
	r = gmem_add(&vm->memory, 0, PAYLOAD_RAM_BYTES, ram);
	r = r < 0 ? r : bus_add(&vm->ports, EXIT_PORT, EXIT_PORT_BYTES, &vm->exit, 0);
	r = r < 0 ? r : x86_boot_write_tables(&vm->memory, x86_ring);
	if (r < 0) {
		return err_errno(e, r, "%s: cannot lay out the VM", path);
	}
	r = load_payload(vm, path, e);
	r = r < 0 ? r : make_machine(vm, e);
	r = r < 0 ? r : set_registers(vm, x86_ring, e);
	if (r < 0) {
		return r;
	}
	*ret = TAKE_PTR(vm);
	return 0;
}

/**
 * payload_vm_destroy() - give everything back
 * @vm: a VM, or NULL
 *
 * Context: the thread that owns it.
 */
void payload_vm_destroy(struct payload_vm *vm)
{
	if (!vm) {
		return;
	}
	kvm_vcpu_fini(&vm->vcpu);
	kvm_vm_fini(&vm->vm);
	kvm_dev_fini(&vm->dev);
	gmem_fini(&vm->memory);
	if (vm->ram) {
		vm->ops->munmap(vm->ops->ctx, vm->ram, PAYLOAD_RAM_BYTES);
	}
	free(vm);
}

/**
 * payload_vm_ports() - the port bus, for adding devices before the run
 * @vm: a VM
 *
 * Return: a bus that lives as long as @vm.
 * Context: the thread that owns it.
 */
struct bus *payload_vm_ports(struct payload_vm *vm)
{
	return &vm->ports;
}

/**
 * payload_vm_mmio() - the MMIO bus, for adding devices before the run
 * @vm: a VM
 *
 * Return: a bus that lives as long as @vm.
 * Context: the thread that owns it.
 */
struct bus *payload_vm_mmio(struct payload_vm *vm)
{
	return &vm->mmio;
}

/**
 * payload_vm_memory() - the guest's memory
 * @vm: a VM
 *
 * Return: a table that lives as long as @vm.
 * Context: the thread that owns it.
 */
const struct gmem *payload_vm_memory(struct payload_vm *vm)
{
	return &vm->memory;
}

/**
 * payload_vm_set_arg() - hand a number in
 * @vm: a VM that has not run yet
 * @index: below PAYLOAD_ARG_COUNT
 * @value: 0 asks for the payload's default
 *
 * Return: 0, or -EINVAL for a bad index.
 * Context: the thread that owns it.
 */
int payload_vm_set_arg(struct payload_vm *vm, unsigned int index, uint64_t value)
{
	if (index >= PAYLOAD_ARG_COUNT) {
		return -EINVAL;
	}
	return gmem_write(&vm->memory,
			  PAYLOAD_BLOCK_GPA + offsetof(struct payload_block, args) +
				  index * sizeof(value),
			  &value, sizeof(value));
}
