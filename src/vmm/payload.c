/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See payload.h: making the VM. Running it is in payload_run.c. */
#include "vmm/payload.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "abi/marks.h"
#include "arch/x86/boot.h"
#include "base/io.h"
#include "vmm/payload_priv.h"

#define PAYLOAD_FILE_MAX (1u << 20)

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

/* All checks of offsets are left to gmem and to the file's length: nothing outside is reached. */
static int load_segments(struct payload_vm *vm, const char *path, const char *file, size_t len,
			 struct err *e)
{
	Elf64_Ehdr ehdr;

	if (len < sizeof(ehdr)) {
		return err_set(e, -ENOEXEC, "%s: too short for a payload", path);
	}
	memcpy(&ehdr, file, sizeof(ehdr));
	if (memcmp(ehdr.e_ident, ELFMAG, SELFMAG) != 0 || ehdr.e_ident[EI_CLASS] != ELFCLASS64 ||
	    ehdr.e_machine != EM_X86_64 || ehdr.e_type != ET_EXEC ||
	    ehdr.e_phentsize != sizeof(Elf64_Phdr)) {
		return err_set(e, -ENOEXEC, "%s: no static x86-64 ELF program", path);
	}
	for (unsigned int i = 0; i < ehdr.e_phnum; i++) {
		uint64_t at = ehdr.e_phoff + i * sizeof(Elf64_Phdr);
		Elf64_Phdr ph;

		if (at > len || len - at < sizeof(ph)) {
			return err_set(e, -ENOEXEC, "%s: program header %u lies past the end", path,
				       i);
		}
		memcpy(&ph, file + at, sizeof(ph));
		if (ph.p_type != PT_LOAD) {
			continue;
		}
		if (ph.p_paddr < PAYLOAD_BLOCK_GPA || ph.p_filesz > len ||
		    ph.p_offset > len - ph.p_filesz || ph.p_filesz > ph.p_memsz ||
		    gmem_write(&vm->memory, ph.p_paddr, file + ph.p_offset, ph.p_filesz) < 0 ||
		    gmem_fill(&vm->memory, ph.p_paddr + ph.p_filesz, 0, ph.p_memsz - ph.p_filesz) <
			    0) {
			return err_set(e, -ENOEXEC,
				       "%s: segment %u does not fit into 0x%lx to 0x%lx", path, i,
				       (unsigned long)PAYLOAD_BLOCK_GPA,
				       (unsigned long)PAYLOAD_RAM_BYTES);
		}
	}
	vm->entry = ehdr.e_entry;
	return 0;
}

static int load_payload(struct payload_vm *vm, const char *path, struct err *e)
{
	_cleanup_free_ char *file = NULL;
	struct payload_block block;
	size_t len;
	int r;

	r = io_read_file(path, PAYLOAD_FILE_MAX, &file, &len, e);
	if (r == 0) {
		r = load_segments(vm, path, file, len, e);
	}
	if (r < 0) {
		return r;
	}
	r = gmem_read(&vm->memory, PAYLOAD_BLOCK_GPA, &block, sizeof(block));
	if (r < 0 || block.magic != PAYLOAD_MAGIC) {
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
 * Return: 0; -ENOEXEC when the file is no payload; -ENOMEM; -errno of reading or of KVM.
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
