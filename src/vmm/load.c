/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See load.h. Runs once, on the owner's thread, before any vCPU does. */
#include "vmm/load.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/log.h"
#include "loader/loader.h"
#include "vmm/acpi.h"
#include "vmm/virtio.h"

/* Pieces of the page cache's reading are no smaller, mostly larger. */
#define READ_AHEAD_TOUCH 65536
/* So far apart are the looks whether it is there: a dozen and a half for a kernel. */
#define READ_AHEAD_LOOK (UINT64_C(1) << 20)

static int place(const struct load_image *image, const struct ram *ram,
		 const struct machine_config *cfg, const char *cmdline, struct err *e)
{
	struct load_part parts[LOAD_PARTS_MAX];
	const struct load_request request = {
		.ram = ram->mem.regions,
		.ram_count = ram->mem.count,
		.cmdline = cmdline,
		.parts = parts,
		.part_count = (unsigned int)cfg->initrd_count,
		.rsdp_gpa = acpi_rsdp(cfg),
		.pvh = cfg->entry == MACHINE_ENTRY_PVH,
		.copy = cfg->share_count > 0 || cfg->ram_in_files,
	};
	struct load_placed placed;
	struct load_plan *plan;
	int r;

	if (cfg->initrd_count > LOAD_PARTS_MAX) {
		return err_set(e, -E2BIG, "the initrd has %zu pieces, at most %d can be loaded",
			       cfg->initrd_count, LOAD_PARTS_MAX);
	}
	for (size_t i = 0; i < cfg->initrd_count; i++) {
		parts[i] = (struct load_part){
			.name = "initrd",
			.data = cfg->initrd[i].data,
			.fd = cfg->initrd[i].fd,
			.bytes = cfg->initrd[i].bytes,
		};
	}
	plan = malloc(sizeof(*plan));
	if (!plan) {
		return err_set(e, -ENOMEM, "no memory to plan the guest's memory");
	}
	r = load_plan_make(image, &request, plan, e);
	if (r == 0) {
		r = load_plan_place(plan, &ram->mem, &placed, e);
	}
	free(plan);
	return r;
}

/*
 * What is mapped is read when the guest touches it, page by page and while its vCPU waits in the
 * kernel, where no request reaches it. On a slow or remote file system that takes seconds. So the
 * page cache is asked for all of it, in large pieces, and then touched here and there, which waits
 * for those that are still on their way. A failing read is nothing to report: the loader's own do.
 */
static bool touch_all(const struct load_image *image, uint64_t step, int flags)
{
	char byte;
	const struct iovec to = {.iov_base = &byte, .iov_len = 1};

	for (unsigned int i = 0; i < image->segment_count; i++) {
		const struct load_segment *s = &image->segments[i];

		for (uint64_t at = 0; at < s->file_bytes; at += step) {
			if (preadv2(image->fd, &to, 1, (off_t)(s->file_offset + at), flags) != 1 &&
			    flags) {
				return false;
			}
		}
	}
	return true;
}

static void read_ahead(const struct load_image *image)
{
	/* Mostly it is all there. */
	if (touch_all(image, READ_AHEAD_LOOK, RWF_NOWAIT)) {
		return;
	}
	for (unsigned int i = 0; i < image->segment_count; i++) {
		const struct load_segment *s = &image->segments[i];

		posix_fadvise(image->fd, (off_t)s->file_offset, (off_t)s->file_bytes,
			      POSIX_FADV_WILLNEED);
	}
	(void)touch_all(image, READ_AHEAD_TOUCH, 0);
}

/* Without, reports show addresses alone. */
static void open_symbols(const struct machine_config *cfg, const struct load_image *image,
			 struct loaded *ret)
{
	_cleanup_close_ int fd = -1;

	if (cfg->symbols_path) {
		fd = open(cfg->symbols_path, O_RDONLY | O_CLOEXEC);
	}
	if (symbols_open(fd >= 0 ? fd : image->fd, &ret->symbols) < 0) {
		ret->symbols = NULL;
	}
}

/**
 * load_guest() - make guest memory ready for the first instruction
 * @ram: guest memory, untouched
 * @cfg: kernel, command line, initrd
 * @ret: set on success
 * @e: gets one line; not NULL
 *
 * Return: 0, or −errno of the loader.
 * Context: the owner.
 */
int load_guest(const struct ram *ram, const struct machine_config *cfg, struct loaded *ret,
	       struct err *e)
{
	_cleanup_free_ char *cmdline = NULL;
	struct load_image image;
	int r = virtio_slots_cmdline(cfg, &cmdline);

	if (r < 0) {
		return err_set(e, r, "no memory for the command line");
	}
	r = load_image_open(cfg->kernel_path, &image, e);
	if (r < 0) {
		return r;
	}
	read_ahead(&image);
	*ret = (struct loaded){.entry = cfg->entry == MACHINE_ENTRY_PVH ? image.pvh_entry
									: image.entry,
			       .boot_params = LOAD_BOOT_PARAMS_GPA};
	r = place(&image, ram, cfg, cmdline, e);
	if (r == 0) {
		log_debug("load", "%s: starts at 0x%llx; command line: %s", cfg->kernel_path,
			  (unsigned long long)ret->entry, cmdline);
		open_symbols(cfg, &image, ret);
	}
	load_image_close(&image);
	return r;
}
