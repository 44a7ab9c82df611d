/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See gmem.h. Built by one thread, read by any. */
#include "hw/gmem.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

/**
 * gmem_init() - an empty table
 * @g: the caller's memory
 *
 * Context: before any vCPU runs.
 */
void gmem_init(struct gmem *g)
{
	memset(g, 0, sizeof(*g));
}

/**
 * gmem_fini() - forget every region; the mappings stay with whoever made them
 * @g: a table, used or not
 *
 * Context: after the last vCPU thread has ended.
 */
void gmem_fini(struct gmem *g)
{
	memset(g, 0, sizeof(*g));
}

/**
 * gmem_add() - add a region of RAM
 * @g: the table
 * @gpa: guest physical address of its first byte
 * @size: bytes, 1 and up; @gpa + @size may be 2^64 at most
 * @host: where it is mapped; borrowed until gmem_fini()
 *
 * Return: 0, -EINVAL for an empty region or one that wraps, -EEXIST for one that overlaps another,
 * -ENOSPC after GMEM_REGIONS_MAX.
 * Context: before any vCPU runs.
 */
int gmem_add(struct gmem *g, uint64_t gpa, uint64_t size, void *host)
{
	unsigned int at = 0;

	if (size == 0 || size - 1 > UINT64_MAX - gpa || !host) {
		return -EINVAL;
	}
	while (at < g->count && g->regions[at].gpa < gpa) {
		at++;
	}
	if (at > 0 && gpa - g->regions[at - 1].gpa < g->regions[at - 1].size) {
		return -EEXIST;
	}
	if (at < g->count && g->regions[at].gpa - gpa < size) {
		return -EEXIST;
	}
	if (g->count == GMEM_REGIONS_MAX) {
		return -ENOSPC;
	}
	memmove(&g->regions[at + 1], &g->regions[at], (g->count - at) * sizeof(g->regions[0]));
	g->regions[at] = (struct gmem_region){.gpa = gpa, .size = size, .host = host};
	g->count++;
	return 0;
}

/* The region that holds the byte at gpa, or NULL. There are two as a rule: a search is not worth
 * it. */
static const struct gmem_region *region_of(const struct gmem *g, uint64_t gpa)
{
	for (unsigned int i = 0; i < g->count; i++) {
		/* For gpa below the region the difference wraps to more than any size. */
		if (gpa - g->regions[i].gpa < g->regions[i].size) {
			return &g->regions[i];
		}
	}
	return NULL;
}

/* Is every byte of the range RAM? Regions that touch count as one. */
static int check_range(const struct gmem *g, uint64_t gpa, uint64_t len)
{
	if (len == 0) {
		return 0;
	}
	if (len - 1 > UINT64_MAX - gpa) {
		return -EFAULT;
	}
	for (;;) {
		const struct gmem_region *r = region_of(g, gpa);
		uint64_t room;

		if (!r) {
			return -EFAULT;
		}
		room = r->size - (gpa - r->gpa);
		if (len <= room) {
			return 0;
		}
		gpa += room;
		len -= room;
	}
}

/* The host bytes at gpa, and how many of len are there in one piece. The range was checked. */
static uint8_t *piece_at(const struct gmem *g, uint64_t gpa, uint64_t len, uint64_t *ret_len)
{
	const struct gmem_region *r = region_of(g, gpa);
	uint64_t offset;

	assert(r);
	offset = gpa - r->gpa;
	*ret_len = len < r->size - offset ? len : r->size - offset;
	return r->host + offset;
}

/**
 * gmem_read() - copy bytes out of guest RAM
 * @g: the table
 * @gpa: guest physical address of the first byte, any value
 * @buf: room for @len bytes; untouched on failure
 * @len: bytes, any value
 *
 * Return: 0, or -EFAULT when any byte of the range is not RAM or the range wraps.
 * Context: any thread. The guest may write the same bytes meanwhile.
 */
int gmem_read(const struct gmem *g, uint64_t gpa, void *buf, uint64_t len)
{
	int r = check_range(g, gpa, len);
	uint8_t *to = buf;

	while (!r && len > 0) {
		uint64_t n;
		const uint8_t *from = piece_at(g, gpa, len, &n);

		memcpy(to, from, n);
		to += n;
		gpa += n;
		len -= n;
	}
	return r;
}

/**
 * gmem_write() - copy bytes into guest RAM
 * @g: the table
 * @gpa: guest physical address of the first byte, any value
 * @buf: @len bytes
 * @len: bytes, any value
 *
 * Return: 0, or -EFAULT when any byte of the range is not RAM or the range wraps; then nothing was
 * written.
 * Context: any thread.
 */
int gmem_write(const struct gmem *g, uint64_t gpa, const void *buf, uint64_t len)
{
	int r = check_range(g, gpa, len);
	const uint8_t *from = buf;

	while (!r && len > 0) {
		uint64_t n;
		uint8_t *to = piece_at(g, gpa, len, &n);

		memcpy(to, from, n);
		from += n;
		gpa += n;
		len -= n;
	}
	return r;
}

/**
 * gmem_fill() - set bytes of guest RAM to one value
 * @g: the table
 * @gpa: guest physical address of the first byte, any value
 * @byte: the value
 * @len: bytes, any value
 *
 * Return: 0, or -EFAULT when any byte of the range is not RAM or the range wraps; then nothing was
 * written.
 * Context: any thread.
 */
int gmem_fill(const struct gmem *g, uint64_t gpa, uint8_t byte, uint64_t len)
{
	int r = check_range(g, gpa, len);

	while (!r && len > 0) {
		uint64_t n;
		uint8_t *to = piece_at(g, gpa, len, &n);

		memset(to, byte, n);
		gpa += n;
		len -= n;
	}
	return r;
}

/**
 * gmem_check() - is a range guest RAM
 * @g: the table
 * @gpa: guest physical address of the first byte, any value
 * @len: bytes, any value
 *
 * Return: 0, or -EFAULT when any byte of the range is not RAM or the range wraps.
 * Context: any thread.
 */
int gmem_check(const struct gmem *g, uint64_t gpa, uint64_t len)
{
	return check_range(g, gpa, len);
}

static int word_at(const struct gmem *g, uint64_t gpa, uint16_t **ret)
{
	void *at;
	int r = gpa % sizeof(uint16_t) ? -EINVAL : gmem_host_range(g, gpa, sizeof(uint16_t), &at);

	if (r == 0) {
		*ret = at;
	}
	return r;
}

/**
 * gmem_load16() - read a word that the guest may be writing, in one piece
 * @g: the table
 * @gpa: guest physical address, any value
 * @ret: set on success
 *
 * What is read of guest RAM after this is at least as new as the word (an acquire).
 *
 * Return: 0, -EINVAL for an odd address, -EFAULT when it is not RAM.
 * Context: any thread.
 */
int gmem_load16(const struct gmem *g, uint64_t gpa, uint16_t *ret)
{
	uint16_t *word;
	int r = word_at(g, gpa, &word);

	if (r == 0) {
		*ret = __atomic_load_n(word, __ATOMIC_ACQUIRE);
	}
	return r;
}

/**
 * gmem_store16() - write a word that the guest may be reading, in one piece
 * @g: the table
 * @gpa: guest physical address, any value
 * @value: any value
 *
 * A guest that sees the word sees all that was written to its RAM before (a release).
 *
 * Return: 0, -EINVAL for an odd address, -EFAULT when it is not RAM.
 * Context: any thread.
 */
int gmem_store16(const struct gmem *g, uint64_t gpa, uint16_t value)
{
	uint16_t *word;
	int r = word_at(g, gpa, &word);

	if (r == 0) {
		__atomic_store_n(word, value, __ATOMIC_RELEASE);
	}
	return r;
}

/**
 * gmem_host_range() - where a range of guest RAM is mapped
 * @g: the table
 * @gpa: guest physical address of the first byte, any value
 * @len: bytes, 1 and up
 * @ret: set on success: @len bytes in one piece, valid until the machine unmaps the region
 *
 * Return: 0, -EINVAL for a @len of 0, -EFAULT when the range is not within one region.
 * Context: any thread.
 */
int gmem_host_range(const struct gmem *g, uint64_t gpa, uint64_t len, void **ret)
{
	const struct gmem_region *r = region_of(g, gpa);

	if (len == 0) {
		return -EINVAL;
	}
	if (!r || len > r->size - (gpa - r->gpa)) {
		return -EFAULT;
	}
	*ret = r->host + (gpa - r->gpa);
	return 0;
}

/**
 * gmem_layout() - where so much RAM goes: up to the hole, the rest from 4 GiB up
 * @memory_bytes: a whole number of pages, 1 page to GMEM_BYTES_MAX
 * @ret_regions: set on success, by address; their host pointers are NULL
 * @ret_count: set on success, 1 or 2
 *
 * Return: 0, -EINVAL for 0 or a part of a page, -E2BIG for more than GMEM_BYTES_MAX.
 * Context: any thread.
 */
int gmem_layout(uint64_t memory_bytes, struct gmem_region ret_regions[GMEM_LAYOUT_REGIONS],
		unsigned int *ret_count)
{
	uint64_t low = memory_bytes < GMEM_HOLE ? memory_bytes : GMEM_HOLE;

	if (memory_bytes == 0 || memory_bytes % GMEM_PAGE_BYTES != 0) {
		return -EINVAL;
	}
	if (memory_bytes > GMEM_BYTES_MAX) {
		return -E2BIG;
	}
	ret_regions[0] = (struct gmem_region){.gpa = 0, .size = low};
	ret_regions[1] = (struct gmem_region){.gpa = GMEM_HIGH, .size = memory_bytes - low};
	*ret_count = memory_bytes > low ? 2 : 1;
	return 0;
}
