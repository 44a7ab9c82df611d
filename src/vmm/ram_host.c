/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the host has for guest memory: asked before any of it is taken, so that a machine that
 * cannot have it does not end in the middle of a boot. Any thread. */
#include "vmm/ram.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysinfo.h>

#include "base/io.h"
#include "base/text.h"

#define SHMEM_THP   "/sys/kernel/mm/transparent_hugepage/shmem_enabled"
#define HUGETLB_DIR "/sys/kernel/mm/hugepages/hugepages-%llukB/%s"
#define SETTING_MAX 256

static int check_size(uint64_t bytes, struct err *e)
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

/* Guest memory is shared memory, which has a setting of its own. */
static int check_thp(struct err *e)
{
	_cleanup_free_ char *text = NULL;
	size_t len;

	if (io_read_file(SHMEM_THP, SETTING_MAX, &text, &len, NULL) < 0) {
		return err_set(e, -ENODEV,
			       "--pages thp: this kernel has no transparent huge pages");
	}
	if (strstr(text, "[never]") || strstr(text, "[deny]")) {
		return err_set(e, -ENODEV,
			       "--pages thp: this host gives shared memory no huge pages; "
			       "'echo advise >%s' (as root) changes that",
			       SHMEM_THP);
	}
	return 0;
}

static int read_count(uint64_t page_bytes, const char *name, uint64_t *ret)
{
	_cleanup_free_ char *text = NULL;
	char path[128];
	size_t len;
	int r;

	snprintf(path, sizeof(path), HUGETLB_DIR, (unsigned long long)(page_bytes >> 10), name);
	r = io_read_file(path, SETTING_MAX, &text, &len, NULL);
	if (r == 0) {
		text[strcspn(text, "\n")] = '\0';
		r = text_parse_u64(text, ret);
	}
	return r;
}

static int check_hugetlb(uint64_t bytes, uint64_t page_bytes, struct err *e)
{
	char size[32], path[128];
	uint64_t free_pages = 0, reserved = 0, needed = bytes / page_bytes;

	text_bytes(page_bytes, size, sizeof(size));
	if (read_count(page_bytes, "free_hugepages", &free_pages) < 0) {
		return err_set(e, -ENODEV, "--pages hugetlb: this host has no pages of %s", size);
	}
	if (bytes % page_bytes) {
		return err_set(e, -EINVAL,
			       "--pages hugetlb: guest memory of %llu bytes is no multiple of %s",
			       (unsigned long long)bytes, size);
	}
	(void)!read_count(page_bytes, "resv_hugepages", &reserved);
	free_pages -= reserved < free_pages ? reserved : free_pages;
	if (free_pages < needed) {
		snprintf(path, sizeof(path), HUGETLB_DIR, (unsigned long long)(page_bytes >> 10),
			 "nr_hugepages");
		return err_set(e, -ENOMEM,
			       "--pages hugetlb: guest memory takes %llu pages of %s, and %llu are "
			       "free; %s says how many there are",
			       (unsigned long long)needed, size, (unsigned long long)free_pages,
			       path);
	}
	return 0;
}

/**
 * ram_host_check() - can this host give that memory
 * @bytes: its size
 * @how: what it is to be made of
 * @e: gets one line
 *
 * Return: 0; −ENOMEM: too little; −ENODEV: no such pages; −EINVAL: no multiple of such a page.
 * Context: any thread; reads /sys.
 */
int ram_host_check(uint64_t bytes, const struct machine_memory *how, struct err *e)
{
	int r = check_size(bytes, e);

	if (r == 0 && how->pages == MACHINE_PAGES_THP) {
		r = check_thp(e);
	}
	if (r == 0 && how->pages == MACHINE_PAGES_HUGETLB) {
		r = check_hugetlb(bytes, how->huge_page_bytes, e);
	}
	return r;
}
