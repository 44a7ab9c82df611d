/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See walk.h. The walk is bounded by the number of levels; each entry is copied once. */
#include "arch/x86/walk.h"

#include <errno.h>

#include "arch/x86/boot.h"

#define PTE_PRESENT UINT64_C(0x1)
#define PTE_LARGE   UINT64_C(0x80)
#define PTE_ADDRESS UINT64_C(0x000ffffffffff000)

/**
 * x86_walk() - guest-virtual to guest-physical
 * @mem: guest RAM
 * @s: the vCPU's control registers
 * @gva: virtual address, any
 * @ret_gpa: gets the physical one, which need not be RAM
 *
 * Return: 0; −EFAULT when it is not mapped, not canonical, or a table lies outside RAM; −ENOTSUP
 * for 32-bit paging.
 * Context: any thread. SDM 3A 4.5.
 */
int x86_walk(const struct gmem *mem, const struct kvm_sregs *s, uint64_t gva, uint64_t *ret_gpa)
{
	int level = s->cr4 & X86_CR4_LA57 ? 5 : 4;
	uint64_t table = s->cr3 & PTE_ADDRESS;
	unsigned int shift = 12 + 9 * (unsigned int)level;
	uint64_t sign = gva >> (shift - 1);

	if (!(s->cr0 & X86_CR0_PG)) {
		*ret_gpa = gva;
		return 0;
	}
	if (!(s->efer & X86_EFER_LMA)) {
		return -ENOTSUP;
	}
	if (sign != 0 && sign != UINT64_MAX >> (shift - 1)) {
		return -EFAULT;
	}
	for (; level > 0; level--) {
		uint64_t entry;
		uint64_t page_mask;

		shift -= 9;
		if (gmem_read(mem, table + (gva >> shift & 511) * 8, &entry, sizeof(entry)) < 0 ||
		    !(entry & PTE_PRESENT)) {
			return -EFAULT;
		}
		table = entry & PTE_ADDRESS;
		if (level == 1 || (level <= 3 && entry & PTE_LARGE)) {
			page_mask = (UINT64_C(1) << shift) - 1;
			*ret_gpa = (table & ~page_mask) | (gva & page_mask);
			return 0;
		}
	}
	return -EFAULT;
}

/**
 * x86_read_virtual() - copy bytes at a guest-virtual address, as far as they are mapped
 * @mem: guest RAM
 * @s: the vCPU's control registers
 * @gva: virtual address, any
 * @buf: gets the bytes
 * @bytes: how many at most
 *
 * Return: bytes copied, 0 to @bytes: up to the first page that is not mapped or not RAM.
 * Context: any thread.
 */
size_t x86_read_virtual(const struct gmem *mem, const struct kvm_sregs *s, uint64_t gva, void *buf,
			size_t bytes)
{
	size_t done = 0;

	while (done < bytes) {
		uint64_t at = gva + done;
		size_t n = (size_t)(GMEM_PAGE_BYTES - at % GMEM_PAGE_BYTES);
		uint64_t gpa;

		if (n > bytes - done) {
			n = bytes - done;
		}
		if (x86_walk(mem, s, at, &gpa) < 0 ||
		    gmem_read(mem, gpa, (char *)buf + done, n) < 0) {
			break;
		}
		done += n;
	}
	return done;
}
