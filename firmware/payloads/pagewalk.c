/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pagewalk.elf: touches pages that the host has to look up anew each time. One page table of 512
 * pages stands at the end of four levels of its own. A turn touches each page, takes it out of the
 * table and the TLB, and puts it back into the table: under shadow paging INVLPG alone would let
 * KVM keep what it knows. So each touch is a page fault that KVM answers by walking the four
 * levels.
 *
 * "pagewalk=N" on the command line is how many touches (PAGEWALK_TOUCHES by default, 0 for none),
 * rounded up to whole turns. It says how many it made, and ends with a status of abi/pagewalk.h. In
 * ring 3, where there is no INVLPG, it does nothing.
 */
#include "fw.h"

#include "abi/pagewalk.h"

#define PAGES        PAGEWALK_OF_TURN
#define PTE_PRESENT  0x001
#define PTE_WRITABLE 0x002
#define PTE_ADDRESS  UINT64_C(0x000ffffffffff000)

/* Where nothing is mapped before: the second entry of the top level. */
#define WINDOW      (UINT64_C(1) << 39)
#define WINDOW_SLOT 1

/*
 * After so many it looks at COM1: a guest that neither takes interrupts nor leaves for the VMM's
 * user space is taken for hung after some seconds.
 */
#define TOUCHES_OF_LIFE_SIGN 8192

/* Few frames, each in the window many times: what is walked are the tables. */
#define FRAMES 4

static uint64_t pdpt[PAGES] __attribute__((aligned(4096)));
static uint64_t pd[PAGES] __attribute__((aligned(4096)));
static uint64_t pt[PAGES] __attribute__((aligned(4096)));
static uint64_t frames[FRAMES][PAGES] __attribute__((aligned(4096)));

static void set_page(unsigned int i, uint64_t entry)
{
	*(volatile uint64_t *)&pt[i] = entry;
}

static uint64_t entry_of(unsigned int i)
{
	return (uintptr_t)frames[i % FRAMES] | PTE_PRESENT | PTE_WRITABLE;
}

static void map_window(void)
{
	const uint64_t flags = PTE_PRESENT | PTE_WRITABLE;
	uint64_t *pml4;
	uint64_t cr3;

	for (unsigned int i = 0; i < PAGES; i++) {
		set_page(i, entry_of(i));
	}
	for (unsigned int i = 0; i < FRAMES; i++) {
		frames[i][0] = i;
	}
	pd[0] = (uintptr_t)pt | flags;
	pdpt[0] = (uintptr_t)pd | flags;
	__asm__ volatile("mov %%cr3, %0" : "=r"(cr3));
	pml4 = (uint64_t *)(uintptr_t)(cr3 & PTE_ADDRESS);
	pml4[WINDOW_SLOT] = (uintptr_t)pdpt | flags;
	__asm__ volatile("mov %0, %%cr3" : : "r"(cr3) : "memory");
}

static bool turn(void)
{
	bool good = true;

	for (unsigned int i = 0; i < PAGES; i++) {
		volatile uint64_t *page = (volatile uint64_t *)(WINDOW + UINT64_C(4096) * i);

		good = *page == i % FRAMES && good;
		set_page(i, 0);
		__asm__ volatile("invlpg %0" : : "m"(*page) : "memory");
		set_page(i, entry_of(i));
	}
	return good;
}

uint64_t payload_main(void)
{
	uint64_t touches = fw_cmdline_number(PAGEWALK_PARAMETER, PAGEWALK_TOUCHES);
	uint64_t done = 0;
	bool good = true;

	if (fw_ring() != 0) {
		return PAGEWALK_NO_RING_0;
	}
	map_window();
	while (done < touches) {
		good = turn() && good;
		done += PAGES;
		if (done % TOUCHES_OF_LIFE_SIGN == 0) {
			fw_getc();
		}
	}
	fw_printf(PAGEWALK_SAYS "\n", done);
	return good ? PAGEWALK_OK : PAGEWALK_WRONG;
}
