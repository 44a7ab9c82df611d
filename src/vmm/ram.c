/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See ram.h. Built and given back on one thread. */
#include "vmm/ram.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>

static const char *const slot_names[GMEM_LAYOUT_REGIONS] = {"ringside-ram-low",
							    "ringside-ram-high"};

/* Below and above the hole; /proc/PID/maps has the name. */
static const char *name_of(const struct gmem_region *region)
{
	return slot_names[region->gpa >= GMEM_HIGH];
}

static int advise(const struct ram_slot *slot, enum machine_pages pages, struct err *e)
{
	int advice = pages == MACHINE_PAGES_NORMAL ? MADV_NOHUGEPAGE : MADV_HUGEPAGE;

	if (pages == MACHINE_PAGES_HUGETLB) {
		return 0;
	}
	/* Huge pages spare most of the faults of a boot. Unasked for, it is advice that may fail.
	 */
	if (madvise(slot->host, slot->bytes, advice) < 0 && pages == MACHINE_PAGES_THP) {
		return err_errno(e, -errno, "--pages thp: this kernel has no such pages");
	}
	return 0;
}

static int slot_map(struct ram *r, const struct gmem_region *region,
		    const struct machine_memory *how, struct err *e)
{
	struct ram_slot *slot = &r->slots[r->count];
	const bool huge = how->pages == MACHINE_PAGES_HUGETLB;
	int ret;

	*slot = (struct ram_slot){.fd = -1, .gpa = region->gpa, .bytes = region->size};
	ret = r->ops->memfd(r->ops->ctx, name_of(region), slot->bytes,
			    huge ? how->huge_page_bytes : 0);
	if (ret < 0) {
		return err_errno(e, ret, "cannot make a memory file of %llu bytes for guest memory",
				 (unsigned long long)slot->bytes);
	}
	slot->fd = ret;
	r->count++;
	ret = r->ops->mmap(r->ops->ctx, NULL, slot->bytes, PROT_READ | PROT_WRITE,
			   MAP_SHARED | (huge ? 0 : MAP_NORESERVE), slot->fd, 0, &slot->host);
	if (ret < 0) {
		return err_errno(e, ret, "cannot map %llu bytes of guest memory",
				 (unsigned long long)slot->bytes);
	}
	ret = advise(slot, how->pages, e);
	if (ret < 0) {
		return ret;
	}
	ret = gmem_add(&r->mem, slot->gpa, slot->bytes, slot->host);
	return ret < 0 ? err_errno(e, ret, "guest memory at 0x%llx", (unsigned long long)slot->gpa)
		       : 0;
}

/**
 * ram_init() - lay out and map guest memory
 * @r: to fill; after an error it is as if never initialised
 * @ops: the system calls to use, must outlive @r
 * @bytes: size, a multiple of the page size, and of the huge pages that are asked for
 * @how: what it is made of; prefault and lock are ram_settle()'s
 * @e: gets one line
 *
 * Return: 0; −EINVAL or −EOVERFLOW for a size that no machine has; −ENOMEM when the host has less,
 * or fewer huge pages; −ENODEV when it has no such pages at all; another −errno.
 * Context: any thread.
 */
int ram_init(struct ram *r, const struct kvm_ops *ops, uint64_t bytes,
	     const struct machine_memory *how, struct err *e)
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
	ret = ram_host_check(bytes, how, e);
	for (unsigned int i = 0; i < count && ret == 0; i++) {
		ret = slot_map(r, &regions[i], how, e);
	}
	if (ret < 0) {
		ram_fini(r);
	}
	return ret;
}

/**
 * ram_settle() - have the pages there, and keep them there, as far as that is asked for
 * @r: memory with the guest in it
 * @how: what is asked for
 * @e: gets one line
 *
 * The pages of the kernel's file that lie over it get copies of their own by this.
 *
 * Return: 0, or −errno: −ENOMEM or −EPERM when the host does not let us.
 * Context: any thread, before any vCPU runs.
 */
int ram_settle(const struct ram *r, const struct machine_memory *how, struct err *e)
{
	for (unsigned int i = 0; i < r->count; i++) {
		const struct ram_slot *slot = &r->slots[i];
		struct rlimit limit = {0};

		if (how->prefault && madvise(slot->host, slot->bytes, MADV_POPULATE_WRITE) < 0) {
			return err_errno(e, -errno, "--prefault: %llu MiB of guest memory",
					 (unsigned long long)(slot->bytes >> 20));
		}
		if (how->lock &&
		    mlock2(slot->host, slot->bytes, how->prefault ? 0 : MLOCK_ONFAULT) < 0) {
			int error = -errno;

			getrlimit(RLIMIT_MEMLOCK, &limit);
			return err_errno(
				e, error,
				"--lock-memory: %llu MiB of guest memory; this process may "
				"lock %llu MiB (ulimit -l)",
				(unsigned long long)(slot->bytes >> 20),
				(unsigned long long)(limit.rlim_cur >> 20));
		}
	}
	return 0;
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
