/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a calltime region out of guest memory. Invariant: a struct calltime only ever holds checked
 * numbers, and copies of the blocks in which something was counted; the others are not kept.
 * No thread of its own: the caller's.
 */
#include "samples/calltime.h"

#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#if __BYTE_ORDER != __LITTLE_ENDIAN
#error "the region is little-endian, and this reader does not swap"
#endif

struct calltime {
	struct calltime_header header;
	struct calltime_block **blocks; /* of (cpu, bank, probe); NULL: nothing was counted */
	bool *torn;
};

static size_t block_number(const struct calltime *c, uint32_t bank, uint32_t cpu, uint32_t probe)
{
	const struct calltime_header *h = &c->header;

	assert(bank < h->banks && cpu < h->cpus && probe < h->probes);
	return ((size_t)cpu * h->banks + bank) * h->probes + probe;
}

/* Bytes of one CPU's area: no product of checked numbers wraps. */
static uint64_t area_bytes(const struct calltime_header *h)
{
	return (uint64_t)h->banks * h->probes * sizeof(struct calltime_block);
}

/* A header field that must have one value. */
static int check_is(struct err *e, const char *field, uint64_t found, uint64_t expected)
{
	if (found == expected) {
		return 0;
	}
	return err_set(e, -EBADMSG, "calltime header: %s is %llu, expected %llu", field,
		       (unsigned long long)found, (unsigned long long)expected);
}

static int check_count(struct err *e, const char *field, uint32_t found, uint32_t limit)
{
	if (found >= 1 && found <= limit) {
		return 0;
	}
	return err_set(e, -EBADMSG, "calltime header: %s is %u, expected 1 to %u", field, found,
		       limit);
}

static bool name_is_plain(const char *name)
{
	size_t n = strnlen(name, CALLTIME_NAME_BYTES);

	if (n == 0 || n == CALLTIME_NAME_BYTES) {
		return false;
	}
	for (size_t i = 0; i < n; i++) {
		if (name[i] <= ' ' || name[i] > '~') {
			return false;
		}
	}
	return true;
}

static int check_probes(const struct calltime_header *h, struct err *e)
{
	int r;

	for (uint32_t i = 0; i < h->probes; i++) {
		if (!name_is_plain(h->probe[i].name)) {
			return err_set(e, -EBADMSG,
				       "calltime header: the name of probe %u is not 1 to %u "
				       "printable characters",
				       i, CALLTIME_NAME_BYTES - 1);
		}
		r = check_count(e, "a probe's pairs", h->probe[i].pairs, CALLTIME_MAX_PAIRS);
		if (r < 0) {
			return r;
		}
	}
	return 0;
}

/* The fields of a version that a newer guest may not change without changing the version. */
static int check_layout(const struct calltime_header *h, struct err *e)
{
	const struct {
		const char *field;
		uint64_t found, expected;
	} rows[] = {
		{"version", h->version, CALLTIME_VERSION},
		{"header_bytes", h->header_bytes, CALLTIME_PAGE_BYTES},
		{"block_bytes", h->block_bytes, sizeof(struct calltime_block)},
		{"hist_buckets", h->hist_buckets, CALLTIME_HIST_BUCKETS},
		{"ring_entries", h->ring_entries, CALLTIME_RING_ENTRIES},
		{"probe_info_offset", h->probe_info_offset,
		 offsetof(struct calltime_header, probe)},
		{"probe_info_bytes", h->probe_info_bytes, sizeof(struct calltime_probe_info)},
		{"area_gpa_offset", h->area_gpa_offset, offsetof(struct calltime_header, area_gpa)},
	};
	int r = 0;

	if (h->magic != CALLTIME_MAGIC) {
		return err_set(e, -EBADMSG,
			       "no calltime region there: magic is 0x%llx, expected 0x%llx",
			       (unsigned long long)h->magic, (unsigned long long)CALLTIME_MAGIC);
	}
	for (size_t i = 0; i < ARRAY_SIZE(rows) && r == 0; i++) {
		r = check_is(e, rows[i].field, rows[i].found, rows[i].expected);
	}
	return r;
}

static int check_areas(const struct calltime_header *h, struct err *e)
{
	for (uint32_t cpu = 0; cpu < h->cpus; cpu++) {
		uint64_t gpa = h->area_gpa[cpu];

		if (gpa % CALLTIME_PAGE_BYTES != 0 || gpa > UINT64_MAX - area_bytes(h)) {
			return err_set(e, -EBADMSG,
				       "calltime header: the area of cpu %u is at 0x%llx: not on a "
				       "page boundary, or past the address space",
				       cpu, (unsigned long long)gpa);
		}
	}
	return 0;
}

static int check_header(const struct calltime_header *h, uint64_t gpa, uint64_t bytes,
			struct err *e)
{
	int r;

	r = check_layout(h, e);
	if (r == 0) {
		r = check_count(e, "cpus", h->cpus, CALLTIME_MAX_CPUS);
	}
	if (r == 0) {
		r = check_count(e, "probes", h->probes, CALLTIME_MAX_PROBES);
	}
	if (r == 0) {
		r = check_count(e, "banks", h->banks, CALLTIME_MAX_BANKS);
	}
	if (r < 0) {
		return r;
	}
	r = check_is(e, "region_gpa", h->region_gpa, gpa);
	if (r == 0) {
		r = check_is(e, "region_bytes", h->region_bytes,
			     CALLTIME_PAGE_BYTES + h->cpus * area_bytes(h));
	}
	if (r == 0) {
		r = check_is(e, "region_bytes", h->region_bytes, bytes);
	}
	if (r == 0) {
		r = check_areas(h, e);
	}
	return r < 0 ? r : check_probes(h, e);
}

static int check_place(uint64_t gpa, uint64_t bytes, struct err *e)
{
	if (gpa % CALLTIME_PAGE_BYTES != 0) {
		return err_set(e, -EINVAL, "calltime region at 0x%llx: not on a page boundary",
			       (unsigned long long)gpa);
	}
	if (bytes < CALLTIME_PAGE_BYTES || bytes > CALLTIME_MAX_REGION_BYTES ||
	    bytes % CALLTIME_PAGE_BYTES != 0) {
		return err_set(e, -EINVAL,
			       "calltime region of %llu bytes: expected pages, %u to %llu bytes",
			       (unsigned long long)bytes, CALLTIME_PAGE_BYTES,
			       (unsigned long long)CALLTIME_MAX_REGION_BYTES);
	}
	if (gpa > UINT64_MAX - bytes) {
		return err_set(e, -EINVAL,
			       "calltime region at 0x%llx of %llu bytes: past the address space",
			       (unsigned long long)gpa, (unsigned long long)bytes);
	}
	return 0;
}

/*
 * One block, whole if the guest lets us. The sequence number is read on its own on both sides of
 * the copy: the order of bytes within a copy is not ours to say.
 */
static int read_block(calltime_read_fn read, void *ctx, uint64_t gpa, struct calltime_block *b,
		      bool *ret_torn)
{
	uint32_t before, after;
	int r;

	for (int i = 0; i < CALLTIME_READ_TRIES; i++) {
		r = read(ctx, gpa, &before, sizeof(before));
		if (r < 0) {
			return r;
		}
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		r = read(ctx, gpa, b, sizeof(*b));
		if (r < 0) {
			return r;
		}
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		r = read(ctx, gpa, &after, sizeof(after));
		if (r < 0) {
			return r;
		}
		if (before == after && before % 2 == 0) {
			*ret_torn = false;
			return 0;
		}
	}
	*ret_torn = true;
	return 0;
}

/* A whole block must agree with itself; a torn one may be between two states. */
static int check_block(const struct calltime_block *b, bool torn, uint32_t bank, uint32_t cpu,
		       uint32_t probe, struct err *e)
{
	uint64_t total = 0;

	if (b->bank != bank || b->cpu != cpu || b->probe != probe) {
		return err_set(e, -EBADMSG,
			       "calltime block of bank %u, cpu %u, probe %u says that it is "
			       "%u, %u, %u",
			       bank, cpu, probe, b->bank, b->cpu, b->probe);
	}
	for (size_t i = 0; i < CALLTIME_HIST_BUCKETS; i++) {
		total += b->hist[i];
	}
	/* Buckets have 32 bits and wrap. */
	if (!torn && b->count <= UINT32_MAX && (total != b->count || (total && b->min > b->max))) {
		return err_set(
			e, -EBADMSG,
			"calltime block of bank %u, cpu %u, probe %u is damaged: count %llu, "
			"histogram %llu, min %llu, max %llu",
			bank, cpu, probe, (unsigned long long)b->count, (unsigned long long)total,
			(unsigned long long)b->min, (unsigned long long)b->max);
	}
	return 0;
}

static int load_block(struct calltime *c, calltime_read_fn read, void *ctx, uint32_t bank,
		      uint32_t cpu, uint32_t probe, struct err *e)
{
	size_t n = block_number(c, bank, cpu, probe);
	uint64_t gpa = c->header.area_gpa[cpu] +
		       ((uint64_t)bank * c->header.probes + probe) * sizeof(struct calltime_block);
	struct calltime_block b;
	int r;

	r = read_block(read, ctx, gpa, &b, &c->torn[n]);
	if (r < 0) {
		return err_errno(e, r, "reading the calltime block at 0x%llx",
				 (unsigned long long)gpa);
	}
	r = check_block(&b, c->torn[n], bank, cpu, probe, e);
	if (r < 0) {
		return r;
	}
	if (b.count == 0) {
		return 0;
	}
	c->blocks[n] = malloc(sizeof(b));
	if (!c->blocks[n]) {
		return err_errno(e, -ENOMEM, "calltime");
	}
	*c->blocks[n] = b;
	return 0;
}

static int load_blocks(struct calltime *c, calltime_read_fn read, void *ctx, struct err *e)
{
	const struct calltime_header *h = &c->header;
	size_t n = (size_t)h->banks * h->cpus * h->probes;
	int r = 0;

	c->blocks = calloc(n, sizeof(*c->blocks));
	c->torn = calloc(n, sizeof(*c->torn));
	if (!c->blocks || !c->torn) {
		return err_errno(e, -ENOMEM, "calltime");
	}
	for (uint32_t cpu = 0; cpu < h->cpus; cpu++) {
		for (uint32_t bank = 0; bank < h->banks; bank++) {
			for (uint32_t probe = 0; probe < h->probes && r == 0; probe++) {
				r = load_block(c, read, ctx, bank, cpu, probe, e);
			}
		}
	}
	return r;
}

/**
 * calltime_load() - copy a region out of guest memory
 * @read: copies guest memory
 * @ctx: for @read
 * @gpa: guest-physical address of the region, as the guest announced it
 * @bytes: its size, as the guest announced it
 * @ret: the copy; the caller destroys it
 * @e: what is wrong with the region
 *
 * Works on a guest that runs, and on one that died: a block whose writer never finished is taken as
 * it is and marked torn.
 *
 * Return: 0; -EINVAL when the announced place cannot be; -EBADMSG when what is there is no region
 * of this version or contradicts itself; -ENOMEM; or what @read returned. Context: any thread that
 * may call @read.
 */
int calltime_load(calltime_read_fn read, void *ctx, uint64_t gpa, uint64_t bytes,
		  struct calltime **ret, struct err *e)
{
	_cleanup_(calltime_destroy_p) struct calltime *c = NULL;
	int r;

	r = check_place(gpa, bytes, e);
	if (r < 0) {
		return r;
	}
	c = calloc(1, sizeof(*c));
	if (!c) {
		return err_errno(e, -ENOMEM, "calltime");
	}
	r = read(ctx, gpa, &c->header, sizeof(c->header));
	if (r < 0) {
		return err_errno(e, r, "reading the calltime header at 0x%llx",
				 (unsigned long long)gpa);
	}
	r = check_header(&c->header, gpa, bytes, e);
	if (r < 0) {
		return r;
	}
	r = load_blocks(c, read, ctx, e);
	if (r < 0) {
		return r;
	}
	*ret = TAKE_PTR(c);
	return 0;
}

/**
 * calltime_destroy() - free a copy
 * @c: the copy, half-built ones too, or NULL
 *
 * Context: any thread.
 */
void calltime_destroy(struct calltime *c)
{
	if (!c) {
		return;
	}
	if (c->blocks) {
		size_t n = (size_t)c->header.banks * c->header.cpus * c->header.probes;

		for (size_t i = 0; i < n; i++) {
			free(c->blocks[i]);
		}
	}
	free(c->blocks);
	free(c->torn);
	free(c);
}

/**
 * calltime_banks() - how many banks a region has
 * @c: what calltime_load() made
 *
 * Return: number of banks, 1 to CALLTIME_MAX_BANKS.
 * Context: any thread.
 */
uint32_t calltime_banks(const struct calltime *c)
{
	return c->header.banks;
}

/**
 * calltime_cpus() - how many CPUs have blocks
 * @c: what calltime_load() made
 *
 * Return: number of CPUs, 1 to CALLTIME_MAX_CPUS.
 * Context: any thread.
 */
uint32_t calltime_cpus(const struct calltime *c)
{
	return c->header.cpus;
}

/**
 * calltime_probes() - how many probes a region has
 * @c: what calltime_load() made
 *
 * Return: number of probes, 1 to CALLTIME_MAX_PROBES; 0 is the empty pair.
 * Context: any thread.
 */
uint32_t calltime_probes(const struct calltime *c)
{
	return c->header.probes;
}

/**
 * calltime_tsc_khz() - the guest's idea of its TSC frequency
 * @c: what calltime_load() made
 *
 * Return: kHz, 0 when it has none.
 * Context: any thread.
 */
uint32_t calltime_tsc_khz(const struct calltime *c)
{
	return c->header.tsc_khz;
}

/**
 * calltime_probe_name() - the name of a probe
 * @c: what calltime_load() made
 * @probe: one of its probes, from 0
 *
 * Return: a text that lives as long as @c.
 * Context: any thread.
 */
const char *calltime_probe_name(const struct calltime *c, uint32_t probe)
{
	assert(probe < c->header.probes);
	return c->header.probe[probe].name;
}

/**
 * calltime_probe_pairs() - the time-stamp pairs in a sample of a probe
 * @c: what calltime_load() made
 * @probe: one of its probes, from 0
 *
 * Return: their number, 1 to CALLTIME_MAX_PAIRS.
 * Context: any thread.
 */
uint32_t calltime_probe_pairs(const struct calltime *c, uint32_t probe)
{
	assert(probe < c->header.probes);
	return c->header.probe[probe].pairs;
}

static void stats_add(struct calltime_stats *s, const struct calltime_block *b, bool torn)
{
	s->torn |= torn;
	if (!b) {
		return;
	}
	s->min = s->count == 0 || b->min < s->min ? b->min : s->min;
	s->max = b->max > s->max ? b->max : s->max;
	s->count += b->count;
	s->sum += b->sum;
	for (size_t i = 0; i < CALLTIME_HIST_BUCKETS; i++) {
		s->hist[i] += b->hist[i];
	}
}

/**
 * calltime_cpu_stats() - samples of a probe on one CPU
 * @c: the copy
 * @bank: below calltime_banks()
 * @cpu: below calltime_cpus()
 * @probe: below calltime_probes()
 * @ret: the samples; count 0 when there were none
 *
 * Context: any thread.
 */
void calltime_cpu_stats(const struct calltime *c, uint32_t bank, uint32_t cpu, uint32_t probe,
			struct calltime_stats *ret)
{
	size_t n = block_number(c, bank, cpu, probe);

	memset(ret, 0, sizeof(*ret));
	stats_add(ret, c->blocks[n], c->torn[n]);
}

/**
 * calltime_merged_stats() - samples of a probe on all CPUs
 * @c: the copy
 * @bank: below calltime_banks()
 * @probe: below calltime_probes()
 * @ret: the samples; count 0 when there were none
 *
 * Context: any thread.
 */
void calltime_merged_stats(const struct calltime *c, uint32_t bank, uint32_t probe,
			   struct calltime_stats *ret)
{
	memset(ret, 0, sizeof(*ret));
	for (uint32_t cpu = 0; cpu < c->header.cpus; cpu++) {
		size_t n = block_number(c, bank, cpu, probe);

		stats_add(ret, c->blocks[n], c->torn[n]);
	}
}
