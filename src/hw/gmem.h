/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Guest RAM, checked. The one way to touch guest bytes: a guest physical address and a length go
 * in, and nothing outside the regions of the table can be reached, whatever the numbers are. A
 * guest address is never a host pointer; gmem_host_range() is for what the host hands to a system
 * call (a memory slot, a read into guest RAM), not for reading guest data through.
 *
 * The table is built before the first vCPU runs and only read afterwards, so any thread may use it
 * without a lock. The bytes behind it belong to the guest, which may write them at any time: copy
 * once, validate the copy, use the copy.
 */
#ifndef HW_GMEM_H
#define HW_GMEM_H

#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

#define GMEM_PAGE_BYTES     UINT64_C(4096)
#define GMEM_REGIONS_MAX    8
#define GMEM_LAYOUT_REGIONS 2

/* Below 4 GiB the last gigabyte is left to devices: RAM ends here and goes on at GMEM_HIGH. */
#define GMEM_HOLE (UINT64_C(3) << 30)
#define GMEM_HIGH (UINT64_C(4) << 30)

/* The most RAM that can be laid out: the widest physical address x86 has is 52 bits. */
#define GMEM_BYTES_MAX ((UINT64_C(1) << 52) - (GMEM_HIGH - GMEM_HOLE))

struct gmem_region {
	uint64_t gpa;
	uint64_t size; /* bytes, not 0 */
	uint8_t *host; /* borrowed: the machine maps and unmaps it */
};

struct gmem {
	struct gmem_region regions[GMEM_REGIONS_MAX]; /* by gpa, not overlapping */
	unsigned int count;
};

void gmem_init(struct gmem *g);
void gmem_fini(struct gmem *g);
int gmem_add(struct gmem *g, uint64_t gpa, uint64_t size, void *host) __must_check;

int gmem_read(const struct gmem *g, uint64_t gpa, void *buf, uint64_t len) __must_check;
int gmem_write(const struct gmem *g, uint64_t gpa, const void *buf, uint64_t len) __must_check;
int gmem_fill(const struct gmem *g, uint64_t gpa, uint8_t byte, uint64_t len) __must_check;
int gmem_check(const struct gmem *g, uint64_t gpa, uint64_t len) __must_check;
int gmem_load16(const struct gmem *g, uint64_t gpa, uint16_t *ret) __must_check;
int gmem_store16(const struct gmem *g, uint64_t gpa, uint16_t value) __must_check;
int gmem_host_range(const struct gmem *g, uint64_t gpa, uint64_t len, void **ret) __must_check;

int gmem_layout(uint64_t memory_bytes, struct gmem_region ret_regions[GMEM_LAYOUT_REGIONS],
		unsigned int *ret_count) __must_check;

#endif
