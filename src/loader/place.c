/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A plan carried out. Whole pages of a file that lie on whole pages of RAM are mapped privately
 * over it: nothing is copied, and pages that the guest never touches are never read. The rest is
 * read straight into guest RAM; so is everything when the request says so, because others look at
 * the files that RAM is in. RAM is expected to be fresh, all zeros: bss is not written.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/io.h"
#include "loader/loader_priv.h"

/**
 * load_mappable() - the whole pages within a piece of a file that can be mapped into guest RAM
 * @gpa: where its first byte goes
 * @file_offset: where its first byte is
 * @file_bytes: how long it is
 * @ret: set when there are any
 *
 * Return: whether there are any: offset and address must be alike within a page.
 * Context: any thread.
 */
bool load_mappable(uint64_t gpa, uint64_t file_offset, uint64_t file_bytes, struct load_range *ret)
{
	uint64_t first = PAGE_UP(gpa);
	uint64_t last = PAGE_DOWN(gpa + file_bytes);

	if ((gpa ^ file_offset) % GMEM_PAGE_BYTES != 0 || first >= last) {
		return false;
	}
	*ret = (struct load_range){.gpa = first, .bytes = last - first};
	return true;
}

static int copy_piece(const struct gmem *g, int fd, uint64_t gpa, uint64_t offset, uint64_t bytes,
		      struct load_placed *placed, struct err *e)
{
	void *host;
	int r;

	if (bytes == 0) {
		return 0;
	}
	r = gmem_host_range(g, gpa, bytes, &host);
	if (r < 0) {
		return err_set(e, r, "0x%" PRIx64 "-0x%" PRIx64 " is not guest memory", gpa,
			       gpa + bytes);
	}
	r = io_pread_exact(fd, host, bytes, offset);
	if (r == -EIO) {
		return err_set(e, r,
			       "the file ended before 0x%" PRIx64
			       ": it got shorter while it was read, or the disk failed",
			       offset + bytes);
	}
	if (r < 0) {
		return err_errno(e, r, "read at 0x%" PRIx64, offset);
	}
	placed->copied_bytes += bytes;
	return 0;
}

/* A file that cannot be mapped (some file systems cannot) is copied: that always works. */
static bool map_piece(const struct gmem *g, int fd, const struct load_range *range, uint64_t offset,
		      struct load_placed *placed)
{
	void *host;

	if (gmem_host_range(g, range->gpa, range->bytes, &host) < 0 ||
	    mmap(host, range->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, fd,
		 (off_t)offset) == MAP_FAILED) {
		return false;
	}
	placed->mapped_bytes += range->bytes;
	return true;
}

static int place_file(const struct load_plan *p, const struct gmem *g, int fd, uint64_t gpa,
		      uint64_t offset, uint64_t bytes, struct load_placed *placed, struct err *e)
{
	struct load_range whole;
	uint64_t before;
	uint64_t after;
	struct stat st;
	int r;

	if (p->copy || !load_mappable(gpa, offset, bytes, &whole) ||
	    !map_piece(g, fd, &whole, offset + (whole.gpa - gpa), placed)) {
		return copy_piece(g, fd, gpa, offset, bytes, placed, e);
	}
	before = whole.gpa - gpa;
	after = bytes - before - whole.bytes;
	r = copy_piece(g, fd, gpa, offset, before, placed, e);
	if (!r) {
		r = copy_piece(g, fd, gpa + bytes - after, offset + bytes - after, after, placed,
			       e);
	}
	if (r < 0) {
		return r;
	}
	/* Mapped pages past the end of a file that got shorter would fault only later. */
	if (fstat(fd, &st) < 0 || (uint64_t)st.st_size < offset + bytes) {
		return err_set(e, -EIO,
			       "the file ended before 0x%" PRIx64
			       ": it got shorter while it was read",
			       offset + bytes);
	}
	return 0;
}

static int place_part(const struct load_plan *p, const struct gmem *g, const struct load_part *part,
		      uint64_t gpa, struct load_placed *placed, struct err *e)
{
	int r;

	if (part->data) {
		r = gmem_write(g, gpa, part->data, part->bytes);
		if (r < 0) {
			return err_set(e, r, "0x%" PRIx64 "-0x%" PRIx64 " is not guest memory", gpa,
				       gpa + part->bytes);
		}
		placed->copied_bytes += part->bytes;
		return 0;
	}
	return place_file(p, g, part->fd, gpa, 0, part->bytes, placed, e);
}

/**
 * load_plan_place() - put everything into guest RAM
 * @p: the plan
 * @g: the RAM it was made for, all zeros, each region mapped on a page boundary; parts of it are
 *     mapped anew, at the same host addresses
 * @ret: set on success: what was mapped and what copied
 * @e: set on failure: one line; not NULL. RAM is then of no use
 *
 * Return: 0, -EIO when a file got shorter since it was opened, -EFAULT when @g is not the RAM that
 * the plan was made for, or the errno of a read.
 * Context: before any vCPU runs; a thread that may block.
 */
int load_plan_place(const struct load_plan *p, const struct gmem *g, struct load_placed *ret,
		    struct err *e)
{
	const struct load_image *img = p->image;
	struct load_placed placed = {0};
	int r;

	for (unsigned int i = 0; i < img->segment_count; i++) {
		const struct load_segment *s = &img->segments[i];

		r = place_file(p, g, img->fd, s->gpa, s->file_offset, s->file_bytes, &placed, e);
		if (r < 0) {
			err_prefix(e, "kernel");
			return r;
		}
	}
	for (unsigned int i = 0; i < p->part_count; i++) {
		r = place_part(p, g, &p->parts[i], p->part_gpa[i], &placed, e);
		if (r < 0) {
			err_prefix(e, "initrd %s", p->parts[i].name);
			return r;
		}
	}
	r = gmem_write(g, LOAD_CMDLINE_GPA, p->cmdline, strlen(p->cmdline) + 1);
	if (!r) {
		r = p->pvh ? gmem_write(g, LOAD_BOOT_PARAMS_GPA, &p->pvh_page, sizeof(p->pvh_page))
			   : gmem_write(g, LOAD_BOOT_PARAMS_GPA, &p->boot_params,
					sizeof(p->boot_params));
	}
	if (r < 0) {
		return err_set(e, r, "boot parameters: 0x%" PRIx64 " is not guest memory",
			       LOAD_BOOT_PARAMS_GPA);
	}
	*ret = placed;
	return 0;
}
