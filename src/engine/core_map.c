/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See core_map.h. Runs on the event loop's thread, after the machine's end. */
#include "engine/core_map.h"

#include <errno.h>
#include <string.h>

/* SDM 3A 4.5: entries of all levels. */
#define ENTRIES     512
#define PTE_PRESENT (UINT64_C(1) << 0)
#define PTE_LARGE   (UINT64_C(1) << 7)
#define PTE_TRACES  (UINT64_C(3) << 5) /* accessed, dirty: differ where all else is the same */
#define PTE_ADDRESS UINT64_C(0x000ffffffffff000)
#define CR0_PG      (UINT64_C(1) << 31)
#define CR4_LA57    (UINT64_C(1) << 12)
#define EFER_LMA    (UINT64_C(1) << 10)
#define LEVEL_GIB   3 /* from here down an entry may be a page */

/*
 * With page table isolation a process has two top tables: the kernel's, and behind it user mode's,
 * which lacks nearly all of the kernel. Both have the per-CPU entry area in the same slot
 * (Documentation/arch/x86/pti.rst, arch/x86/include/asm/pgtable_64_types.h: CPU_ENTRY_AREA_PGD).
 */
#define PTI_USER_BIT   (UINT64_C(1) << 12)
#define PTI_ENTRY_AREA (UINT64_C(0xfffffe0000000000) >> 39 & (ENTRIES - 1))

/* Where Linux maps its image, which lies at physical address 0 unless it was moved: for what is
 * asked before the kernel has its tables (Documentation/arch/x86/x86_64/mm.rst). */
#define LINUX_IMAGE_START UINT64_C(0xffffffff80000000)
#define LINUX_IMAGE_BYTES (UINT64_C(512) << 20)

struct walk {
	struct core_map *map;
	struct backend *b;
	const struct backend_memory *memory;
	size_t memory_count;
	size_t ranges_max, tables_max;
	int r;
};

static void add(struct walk *w, uint64_t gva, uint64_t gpa, uint64_t bytes)
{
	struct core_map *m = w->map;
	struct core_range *last = m->count ? &m->ranges[m->count - 1] : NULL;

	if (last && last->gva + last->bytes == gva && last->gpa + last->bytes == gpa) {
		last->bytes += bytes;
		return;
	}
	if (m->count >= w->ranges_max) {
		m->cut = true;
		return;
	}
	if (m->count == m->room) {
		size_t room = m->room ? 2 * m->room : 64;
		struct core_range *more = reallocarray(m->ranges, room, sizeof(*more));

		if (!more) {
			w->r = -ENOMEM;
			return;
		}
		m->ranges = more;
		m->room = room;
	}
	m->ranges[m->count++] = (struct core_range){.gva = gva, .gpa = gpa, .bytes = bytes};
}

/* As much of it as is RAM. */
static void add_ram(struct walk *w, uint64_t gva, uint64_t gpa, uint64_t bytes)
{
	for (size_t i = 0; i < w->memory_count; i++) {
		const struct backend_memory *m = &w->memory[i];
		uint64_t from = gpa > m->gpa ? gpa : m->gpa;
		uint64_t end = gpa + bytes < m->gpa + m->bytes ? gpa + bytes : m->gpa + m->bytes;

		if (from < end) {
			add(w, gva + (from - gpa), from, end - from);
		}
	}
}

static bool read_table(struct walk *w, uint64_t gpa, uint64_t *table)
{
	if (w->map->tables >= w->tables_max) {
		w->map->cut = true;
		return false;
	}
	w->map->tables++;
	return w->b->ops->read_gpa(w->b, gpa, table, ENTRIES * sizeof(*table)) == 0;
}

/*
 * A table of one entry over and over maps one page, or what is below it, 512 times: KASAN has
 * terabytes of shadow like that. It is no memory worth having twice.
 */
static bool is_repetition(const uint64_t *table)
{
	for (size_t i = 1; i < ENTRIES; i++) {
		if ((table[i] ^ table[0]) & ~PTE_TRACES) {
			return false;
		}
	}
	return true;
}

static void walk_table(struct walk *w, unsigned int level, uint64_t table_gpa, uint64_t gva)
{
	unsigned int shift = 12 + 9 * (level - 1);
	uint64_t table[ENTRIES];

	if (!read_table(w, table_gpa, table) || is_repetition(table)) {
		return;
	}
	for (uint64_t i = 0; i < ENTRIES && w->r == 0; i++) {
		uint64_t at = gva + (i << shift), to = table[i] & PTE_ADDRESS;

		if (!(table[i] & PTE_PRESENT)) {
			continue;
		}
		if (level == 1 || (level <= LEVEL_GIB && table[i] & PTE_LARGE)) {
			add_ram(w, at, to & ~((UINT64_C(1) << shift) - 1), UINT64_C(1) << shift);
		} else {
			walk_table(w, level - 1, to, at);
		}
	}
}

static void walk_top(struct walk *w, unsigned int levels, const uint64_t *top, uint64_t first)
{
	unsigned int shift = 12 + 9 * (levels - 1);

	for (uint64_t i = first; i < first + ENTRIES / 2 && w->r == 0; i++) {
		uint64_t gva = i << shift;

		if (top[i] & PTE_PRESENT) {
			/* An address is canonical: its upper half begins with ones. */
			gva |= i >= ENTRIES / 2 ? UINT64_MAX << (shift + 9) : 0;
			walk_table(w, levels - 1, top[i] & PTE_ADDRESS, gva);
		}
	}
}

static void prefer_kernel_table(struct walk *w, const struct backend_cpu_state *cpu, uint64_t *top)
{
	uint64_t other[ENTRIES], entry = top[PTI_ENTRY_AREA];

	if ((cpu->regs.cs & 3) == 3 && cpu->cr3 & PTI_USER_BIT && entry & PTE_PRESENT &&
	    read_table(w, (cpu->cr3 ^ PTI_USER_BIT) & PTE_ADDRESS, other) &&
	    ((other[PTI_ENTRY_AREA] ^ entry) & ~PTE_TRACES) == 0) {
		memcpy(top, other, sizeof(other));
	}
}

static void walk_cpu(struct walk *w, const struct backend_cpu_state *cpu)
{
	unsigned int levels = cpu->cr4 & CR4_LA57 ? 5 : 4;
	uint64_t top[ENTRIES];

	if (!(cpu->cr0 & CR0_PG)) {
		for (size_t i = 0; i < w->memory_count; i++) {
			add(w, w->memory[i].gpa, w->memory[i].gpa, w->memory[i].bytes);
		}
	} else if (cpu->efer & EFER_LMA && read_table(w, cpu->cr3 & PTE_ADDRESS, top)) {
		prefer_kernel_table(w, cpu, top);
		/* What is left out for want of room is of a process, not of the kernel. */
		w->ranges_max /= 2;
		w->tables_max /= 2;
		walk_top(w, levels, top, 0);
		w->ranges_max *= 2;
		w->tables_max *= 2;
		walk_top(w, levels, top, ENTRIES / 2);
	}
}

static bool has_image(const struct core_map *map)
{
	for (size_t i = 0; i < map->count; i++) {
		if (map->ranges[i].gva - LINUX_IMAGE_START < LINUX_IMAGE_BYTES) {
			return true;
		}
	}
	return false;
}

/**
 * core_map_read() - find out what a guest has mapped
 * @map: set; core_map_fini() it, also after a failure
 * @b: the machine, which has ended
 * @memory: its RAM
 * @memory_count: pieces of it
 * @cpus: its vCPUs; the address space is that of the first that has one
 * @cpu_count: how many, 0 when they are gone with the machine
 * @tables_max: how many page tables to read at most; some 3 us each
 *
 * The kernel's image is always there, at the place that it is linked to when nothing maps it. No
 * call here makes a system call but to read and for memory.
 *
 * Return: 0 or -ENOMEM. Ranges that are too many are left out, and .cut says so.
 */
int core_map_read(struct core_map *map, struct backend *b, const struct backend_memory *memory,
		  size_t memory_count, const struct backend_cpu_state *cpus, size_t cpu_count,
		  size_t tables_max)
{
	struct walk w = {.map = map,
			 .b = b,
			 .memory = memory,
			 .memory_count = memory_count,
			 .ranges_max = CORE_RANGES_MAX,
			 .tables_max = tables_max};

	*map = (struct core_map){.ranges = NULL};
	for (size_t i = 0; i < cpu_count && map->count == 0 && w.r == 0; i++) {
		walk_cpu(&w, &cpus[i]);
	}
	if (!has_image(map)) {
		add_ram(&w, LINUX_IMAGE_START, 0, LINUX_IMAGE_BYTES);
	}
	return w.r;
}

/**
 * core_map_fini() - free the ranges
 * @map: set by core_map_read()
 */
void core_map_fini(struct core_map *map)
{
	free(map->ranges);
	*map = (struct core_map){.ranges = NULL};
}
