/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Direct boot by the PVH note. Source: Xen, docs/misc/pvh.pandoc and
 * xen/include/public/arch-x86/hvm/start_info.h. Any thread.
 */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>

#include "loader/loader_priv.h"

#define MAGIC   0x336ec578
#define VERSION 1 /* the first with a memory map */

static_assert(sizeof(struct pvh_start_info) == 56, "the interface's layout");
static_assert(offsetof(struct pvh_start_info, memory_gpa) == 40, "the interface's layout");
static_assert(sizeof(struct pvh_module) == 32, "the interface's layout");
static_assert(sizeof(struct pvh_memory) == 24, "the interface's layout");
static_assert(sizeof(struct pvh_page) <= GMEM_PAGE_BYTES, "it stands where boot parameters do");

/**
 * pvh_check() - can this file be started by its PVH note?
 * @img: the image
 * @e: set when it cannot
 *
 * Return: 0 or -ENOEXEC.
 * Context: any thread.
 */
int pvh_check(const struct load_image *img, struct err *e)
{
	if (img->pvh_bytes == 0) {
		return err_set(e, -ENOEXEC,
			       "%s without a PVH note (Xen, type 18): it can only be started by "
			       "the 64-bit boot protocol",
			       img->what);
	}
	if (img->pvh_bytes != sizeof(uint32_t) && img->pvh_bytes != sizeof(uint64_t)) {
		return err_set(e, -ENOEXEC, "ELF: its PVH note has %zu bytes, expected 4 or 8",
			       img->pvh_bytes);
	}
	for (unsigned int i = 0; i < img->segment_count; i++) {
		const struct load_segment *s = &img->segments[i];

		if (img->pvh_entry - s->gpa < s->mem_bytes && img->pvh_entry <= UINT32_MAX) {
			return 0;
		}
	}
	return err_set(e, -ENOEXEC,
		       "ELF: its PVH entry 0x%" PRIx64 " is in no PT_LOAD below 4 GiB; they are "
		       "within 0x%" PRIx64 "-0x%" PRIx64,
		       img->pvh_entry, img->start, img->end);
}

/**
 * pvh_fill() - the start info, from what the plan has decided for boot parameters
 * @rq: what the plan is made for
 * @p: the plan, but for its start info
 *
 * Context: any thread.
 */
void pvh_fill(const struct load_request *rq, struct load_plan *p)
{
	const struct boot_params *bp = &p->boot_params;
	struct pvh_page *page = &p->pvh_page;

	assert(bp->e820_entries <= ARRAY_SIZE(page->memory));
	p->pvh = true;
	page->info = (struct pvh_start_info){
		.magic = MAGIC,
		.version = VERSION,
		.cmdline_gpa = LOAD_CMDLINE_GPA,
		.rsdp_gpa = rq->rsdp_gpa,
		.memory_gpa = LOAD_BOOT_PARAMS_GPA + offsetof(struct pvh_page, memory),
		.memory_entries = bp->e820_entries,
	};
	if (p->initrd_bytes > 0) {
		page->info.modules = 1;
		page->info.modules_gpa = LOAD_BOOT_PARAMS_GPA + offsetof(struct pvh_page, initrd);
		page->initrd = (struct pvh_module){.gpa = p->initrd_gpa, .bytes = p->initrd_bytes};
	}
	for (unsigned int i = 0; i < bp->e820_entries; i++) {
		page->memory[i] = (struct pvh_memory){.gpa = bp->e820_table[i].addr,
						      .bytes = bp->e820_table[i].size,
						      .type = bp->e820_table[i].type};
	}
}
