/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Device addresses below 4 GiB. In ring 0 a missing mapping is added to the page tables that the
 * VMM left us; in ring 3 it must have been there from the start.
 */
#include "fw.h"

#define PTE_PRESENT  0x001
#define PTE_WRITABLE 0x002
#define PTE_LARGE    0x080
#define PTE_ADDRESS  UINT64_C(0x000ffffffffff000)
#define LARGE_PAGE   UINT64_C(0x200000)

static uint64_t directory[512] __attribute__((aligned(4096)));
static uint64_t *directory_slot;

static uint64_t *table_at(uint64_t entry)
{
	return (uint64_t *)(uintptr_t)(entry & PTE_ADDRESS);
}

/**
 * fw_map_mmio() - make an address below 512 GiB reachable one to one
 * @gpa: guest-physical address
 *
 * One GiB that had no directory can be opened up in this way (SDM 3A 4.5.4).
 *
 * Return: false when it cannot be done.
 */
bool fw_map_mmio(uint64_t gpa)
{
	uint64_t cr3, *pdpt_entry, *pd_entry, *pml4;

	if (fw_ring() != 0) {
		return gpa < UINT64_C(1) << 32;
	}
	__asm__ volatile("mov %%cr3, %0" : "=r"(cr3));
	pml4 = table_at(cr3);
	if (gpa >= UINT64_C(1) << 39 || !(pml4[0] & PTE_PRESENT)) {
		return false;
	}
	pdpt_entry = &table_at(pml4[0])[gpa >> 30];
	if (!(*pdpt_entry & PTE_PRESENT)) {
		if (directory_slot) {
			return false;
		}
		directory_slot = pdpt_entry;
		*pdpt_entry = (uintptr_t)directory | PTE_PRESENT | PTE_WRITABLE;
	}
	if (*pdpt_entry & PTE_LARGE) {
		return true;
	}
	pd_entry = &table_at(*pdpt_entry)[gpa / LARGE_PAGE % 512];
	if (!(*pd_entry & PTE_PRESENT)) {
		*pd_entry = (gpa & ~(LARGE_PAGE - 1)) | PTE_PRESENT | PTE_WRITABLE | PTE_LARGE;
		__asm__ volatile("mov %0, %%cr3" : : "r"(cr3) : "memory");
	}
	return true;
}
