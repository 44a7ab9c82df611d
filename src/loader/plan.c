/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where everything goes, and the boot parameters that say so. Nothing is read or written here.
 * Source: Linux, Documentation/arch/x86/boot.rst and zero-page.rst.
 */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "loader/loader_priv.h"

#define MIB             (UINT64_C(1) << 20)
#define E820_RAM        1
#define E820_RESERVED   2
#define LOADER_UNKNOWN  0xff
#define SIZE_TEXT_BYTES 32

static_assert(sizeof(struct boot_params) == 4096, "the zero page is a page");
static_assert(offsetof(struct boot_params, e820_entries) == 0x1e8, "UAPI layout");
static_assert(offsetof(struct boot_params, hdr) == 0x1f1, "UAPI layout");
static_assert(offsetof(struct boot_params, e820_table) == 0x2d0, "UAPI layout");
static_assert(LOAD_CMDLINE_GPA + LOAD_CMDLINE_MAX < LOAD_LOW_RAM_END, "the command line is in RAM");

/* Every part starts on a page: one in a file can be mapped then, and zeros between are skipped. */
static int parts_bytes(const struct load_part *parts, unsigned int count, uint64_t *ret)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < count; i++) {
		if (parts[i].bytes > GMEM_BYTES_MAX) {
			return -E2BIG;
		}
		sum = PAGE_UP(sum) + parts[i].bytes;
	}
	*ret = sum;
	return 0;
}

/**
 * load_minimum_bytes() - the least RAM that a kernel and its initrd fit into
 * @img: the kernel
 * @parts: the parts of the initrd
 * @count: how many
 *
 * Return: bytes, a whole number of MiB. To start is not to run: the kernel needs more.
 * Context: any thread.
 */
uint64_t load_minimum_bytes(const struct load_image *img, const struct load_part *parts,
			    unsigned int count)
{
	uint64_t initrd;

	if (parts_bytes(parts, count, &initrd) < 0) {
		return GMEM_BYTES_MAX;
	}
	return (PAGE_UP(img->end) + PAGE_UP(initrd) + MIB - 1) / MIB * MIB;
}

/* The end of the RAM that holds gpa, or gpa itself when none does. */
static uint64_t ram_end(const struct load_request *rq, uint64_t gpa)
{
	for (unsigned int i = 0; i < rq->ram_count; i++) {
		if (gpa - rq->ram[i].gpa < rq->ram[i].size) {
			return rq->ram[i].gpa + rq->ram[i].size;
		}
	}
	return gpa;
}

static int check_kernel(const struct load_image *img, const struct load_request *rq, struct err *e)
{
	uint64_t minimum = load_minimum_bytes(img, rq->parts, rq->part_count);
	char size[SIZE_TEXT_BYTES];

	for (unsigned int i = 0; i < img->segment_count; i++) {
		const struct load_segment *s = &img->segments[i];
		uint64_t end = ram_end(rq, s->gpa);

		if (end - s->gpa >= s->mem_bytes) {
			continue;
		}
		if (img->end > GMEM_HOLE) {
			return err_set(e, -ENOSPC,
				       "kernel: it needs 0x%" PRIx64 "-0x%" PRIx64
				       ", which is not in RAM (0x0-0x%" PRIx64
				       "), whatever its size",
				       s->gpa, s->gpa + s->mem_bytes, ram_end(rq, 0));
		}
		return err_set(e, -ENOSPC,
			       "kernel: it needs 0x%" PRIx64 "-0x%" PRIx64
			       ", memory is 0x0-0x%" PRIx64 "; kernel and initrd need at least %s",
			       s->gpa, s->gpa + s->mem_bytes, ram_end(rq, 0),
			       text_bytes(minimum, size, sizeof(size)));
	}
	return 0;
}

static int plan_cmdline(const struct load_image *img, const char *cmdline, struct load_plan *p,
			struct err *e)
{
	size_t len = strlen(cmdline);
	size_t max = img->header.cmdline_size;

	max = max < LOAD_CMDLINE_MAX ? max : LOAD_CMDLINE_MAX;
	if (len > max) {
		return err_set(
			e, -E2BIG,
			"command line: %zu bytes, the kernel takes at most %zu; nothing is cut",
			len, max);
	}
	memcpy(p->cmdline, cmdline, len + 1);
	return 0;
}

/* As high as it may be: the kernel grows from below. */
static int plan_initrd(const struct load_image *img, const struct load_request *rq,
		       struct load_plan *p, struct err *e)
{
	uint64_t limit = (uint64_t)img->header.initrd_addr_max + 1;
	uint64_t top = PAGE_DOWN(ram_end(rq, 0) < limit ? ram_end(rq, 0) : limit);
	/* A kernel that starts above all of this leaves everything from 1 MiB up. */
	uint64_t bottom = img->start < top ? PAGE_UP(img->end) : LOAD_KERNEL_GPA_MIN;
	char size[SIZE_TEXT_BYTES];
	uint64_t bytes;

	for (unsigned int i = 0; i < rq->part_count; i++) {
		if (rq->parts[i].bytes == 0) {
			return err_set(e, -EINVAL, "initrd %s: it is empty", rq->parts[i].name);
		}
	}
	if (parts_bytes(rq->parts, rq->part_count, &bytes) < 0 || bytes > UINT32_MAX) {
		return err_set(e, -E2BIG, "initrd: longer than the 4 GiB that a kernel takes");
	}
	if (bytes == 0) {
		return 0;
	}
	if (top < bottom || PAGE_UP(bytes) > top - bottom) {
		return err_set(
			e, -ENOSPC,
			"initrd: 0x%" PRIx64 " bytes below 0x%" PRIx64 " (%s) would overlap the "
			"kernel at 0x%" PRIx64 "-0x%" PRIx64 "; together they need at least %s",
			bytes, top, top < limit ? "the end of memory" : "initrd_addr_max",
			img->start, img->end,
			text_bytes(load_minimum_bytes(img, rq->parts, rq->part_count), size,
				   sizeof(size)));
	}
	p->initrd_gpa = top - PAGE_UP(bytes);
	p->initrd_bytes = bytes;
	p->part_count = rq->part_count;
	for (uint64_t i = 0, at = p->initrd_gpa; i < rq->part_count; i++) {
		p->parts[i] = rq->parts[i];
		p->part_gpa[i] = at;
		at = PAGE_UP(at + rq->parts[i].bytes);
	}
	return 0;
}

static void add_e820(struct boot_params *bp, uint64_t gpa, uint64_t end, uint32_t type)
{
	if (end > gpa) {
		bp->e820_table[bp->e820_entries++] =
			(struct boot_e820_entry){.addr = gpa, .size = end - gpa, .type = type};
	}
}

static void fill_boot_params(const struct load_request *rq, struct load_plan *p)
{
	struct boot_params *bp = &p->boot_params;

	bp->hdr = p->image->header;
	bp->hdr.type_of_loader = LOADER_UNKNOWN;
	bp->hdr.loadflags |= LOADED_HIGH;
	bp->hdr.cmd_line_ptr = (uint32_t)LOAD_CMDLINE_GPA;
	bp->hdr.ramdisk_image = (uint32_t)p->initrd_gpa;
	bp->hdr.ramdisk_size = (uint32_t)p->initrd_bytes;
	bp->acpi_rsdp_addr = rq->rsdp_gpa;
	/* The BIOS's part of the first megabyte: tables are there, and nothing else. */
	add_e820(bp, 0, LOAD_LOW_RAM_END, E820_RAM);
	add_e820(bp, LOAD_LOW_RAM_END, LOAD_KERNEL_GPA_MIN, E820_RESERVED);
	for (unsigned int i = 0; i < rq->ram_count; i++) {
		const struct gmem_region *r = &rq->ram[i];

		add_e820(bp, i == 0 ? LOAD_KERNEL_GPA_MIN : r->gpa, r->gpa + r->size, E820_RAM);
	}
}

/**
 * load_plan_make() - decide where kernel, initrd, command line and boot parameters go
 * @img: the kernel; borrowed by the plan
 * @rq: what the machine has and what is to be loaded; what it points to is borrowed by the plan
 * @ret: set on success
 * @e: set on failure: one line that names both ranges or both lengths; not NULL
 *
 * Return: 0, -ENOSPC when RAM is too small, -E2BIG for what is too long or too many, -EINVAL for an
 * empty part or less RAM than the first megabyte, -ENOEXEC for a PVH start that @img does not
 * offer. Context: any thread.
 */
int load_plan_make(const struct load_image *img, const struct load_request *rq,
		   struct load_plan *ret, struct err *e)
{
	struct load_plan p = {.image = img, .copy = rq->copy};
	int r;

	if (rq->part_count > LOAD_PARTS_MAX) {
		return err_set(e, -E2BIG, "initrd: %u parts, accepted are at most %u",
			       rq->part_count, LOAD_PARTS_MAX);
	}
	if (rq->ram_count == 0 || rq->ram[0].gpa != 0 || rq->ram[0].size <= LOAD_KERNEL_GPA_MIN) {
		char size[SIZE_TEXT_BYTES];
		uint64_t minimum = load_minimum_bytes(img, rq->parts, rq->part_count);

		return err_set(e, -EINVAL,
			       "memory: 0x%" PRIx64 " bytes are too few; kernel and initrd need at "
			       "least %s",
			       rq->ram_count ? rq->ram[0].size : 0,
			       text_bytes(minimum, size, sizeof(size)));
	}
	r = rq->pvh ? pvh_check(img, e) : 0;
	if (!r) {
		r = check_kernel(img, rq, e);
	}
	if (!r) {
		r = plan_cmdline(img, rq->cmdline, &p, e);
	}
	if (!r) {
		r = plan_initrd(img, rq, &p, e);
	}
	if (r < 0) {
		return r;
	}
	fill_boot_params(rq, &p);
	if (rq->pvh) {
		pvh_fill(rq, &p);
	}
	*ret = p;
	return 0;
}
