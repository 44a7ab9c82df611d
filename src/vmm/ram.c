/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See ram.h. Built and given back on one thread. */
#include "vmm/ram.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>

static int check_host(uint64_t bytes, struct err *e)
{
	struct sysinfo info;
	uint64_t host;

	if (sysinfo(&info) < 0) {
		return 0;
	}
	host = ((uint64_t)info.totalram + info.totalswap) * info.mem_unit;
	if (bytes > host) {
		return err_set(e, -ENOMEM,
			       "guest memory of %llu MiB is more than this host has (%llu MiB with "
			       "swap)",
			       (unsigned long long)(bytes >> 20), (unsigned long long)(host >> 20));
	}
	return 0;
}

static int slot_map(struct ram *r, const struct gmem_region *region, struct err *e)
{
	struct ram_slot *slot = &r->slots[r->count];
	char name[32];
	int ret;

	snprintf(name, sizeof(name), "ringside-ram%u", r->count);
	*slot = (struct ram_slot){.fd = -1, .gpa = region->gpa, .bytes = region->size};
	ret = r->ops->memfd(r->ops->ctx, name, slot->bytes);
	if (ret < 0) {
		return err_errno(e, ret, "cannot make a memory file of %llu bytes for guest memory",
				 (unsigned long long)slot->bytes);
	}
	slot->fd = ret;
	r->count++;
	ret = r->ops->mmap(r->ops->ctx, NULL, slot->bytes, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_NORESERVE, slot->fd, 0, &slot->host);
	if (ret < 0) {
		return err_errno(e, ret, "cannot map %llu bytes of guest memory",
				 (unsigned long long)slot->bytes);
	}
	/* Huge pages, where this host gives them to shared memory, spare most of the faults of a
	 * boot. It is advice: a host that gives none says so here, and small pages serve. */
	(void)madvise(slot->host, slot->bytes, MADV_HUGEPAGE);
	ret = gmem_add(&r->mem, slot->gpa, slot->bytes, slot->host);
	return ret < 0 ? err_errno(e, ret, "guest memory at 0x%llx", (unsigned long long)slot->gpa)
		       : 0;
}

/**
 * ram_init() - lay out and map guest memory
 * @r: to fill; after an error it is as if never initialised
 * @ops: the system calls to use, must outlive @r
 * @bytes: size, a multiple of the page size
 * @e: gets one line
 *
 * Return: 0; −EINVAL or −EOVERFLOW for a size that no machine has; −ENOMEM when the host has less;
 * another −errno.
 * Context: any thread.
 */
int ram_init(struct ram *r, const struct kvm_ops *ops, uint64_t bytes, struct err *e)
{
	struct gmem_region regions[GMEM_LAYOUT_REGIONS];
	unsigned int count;
	int ret;

	*r = (struct ram){.ops = ops};
	gmem_init(&r->mem);
	ret = gmem_layout(bytes, regions, &count);
	if (ret < 0) {
		return err_set(e, ret,
			       "guest memory of %llu bytes: expected a multiple of %llu from %llu "
			       "up to %llu",
			       (unsigned long long)bytes, (unsigned long long)GMEM_PAGE_BYTES,
			       (unsigned long long)GMEM_PAGE_BYTES,
			       (unsigned long long)GMEM_BYTES_MAX);
	}
	ret = check_host(bytes, e);
	for (unsigned int i = 0; i < count && ret == 0; i++) {
		ret = slot_map(r, &regions[i], e);
	}
	if (ret < 0) {
		ram_fini(r);
	}
	return ret;
}

/**
 * ram_fini() - give guest memory back
 * @r: initialised memory, once or again; no VM may use it any more
 *
 * Context: any thread.
 */
void ram_fini(struct ram *r)
{
	gmem_fini(&r->mem);
	while (r->count > 0) {
		struct ram_slot *slot = &r->slots[--r->count];

		if (slot->host) {
			r->ops->munmap(r->ops->ctx, slot->host, slot->bytes);
		}
		r->ops->close(r->ops->ctx, slot->fd);
	}
}

/**
 * ram_add_to_vm() - make the memory the VM's
 * @r: the memory
 * @vm: a VM without memory
 * @e: gets one line
 *
 * Return: 0 or −errno.
 * Context: any thread.
 */
int ram_add_to_vm(const struct ram *r, struct kvm_vm *vm, struct err *e)
{
	for (unsigned int i = 0; i < r->count; i++) {
		const struct ram_slot *slot = &r->slots[i];
		int ret = kvm_vm_set_memslot(vm, i, slot->gpa, slot->bytes, slot->host, e);

		if (ret < 0) {
			return ret;
		}
	}
	return 0;
}
