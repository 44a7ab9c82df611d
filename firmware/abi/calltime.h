/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calltime: layout of the per-call counters in guest RAM.
 *
 * The region is a header page, and for each CPU a physically contiguous area of its own, whose
 * place stands in the header: one 4 KiB block for each (bank, probe). So the largest piece that a
 * guest must find grows with the probes, and not with the CPUs. The guest kernel writes (its build
 * copies this very file to include/linux/calltime_abi.h), the host reads guest memory while the
 * guest runs or after it died; nobody takes a lock. All fields are little-endian and naturally
 * aligned; ticks are TSC ticks.
 *
 * Writer, on the block of its own CPU with interrupts off: seq + 1 (odd), write barrier, update,
 * write barrier, seq + 1 (even). Reader: read seq, copy, read seq again; the copy is good when both
 * are the same even number. A guest that stopped in the middle leaves an odd seq: the copy is then
 * torn, by at most one sample.
 */
#ifndef CALLTIME_ABI_H
#define CALLTIME_ABI_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdint.h>
#endif

#define CALLTIME_MAGIC      0x4d49544c4c414343ULL /* "CCALLTIM" */
#define CALLTIME_VERSION    2U
#define CALLTIME_PAGE_BYTES 4096U

/* The host's limits on what a header may claim; the guest kernel stays within them. */
#define CALLTIME_MAX_CPUS   128U
#define CALLTIME_MAX_PROBES 64U
#define CALLTIME_MAX_BANKS  64U

#define CALLTIME_BANKS      8U /* what the kernel provides */
#define CALLTIME_NAME_BYTES 32U

/* Probe 0 times an empty begin/end pair: what each pair of another probe costs by itself. */
#define CALLTIME_EMPTY_PROBE  0U
#define CALLTIME_EMPTY_ROUNDS 1024U

/*
 * Histogram: values below 32 have a bucket each, every octave above is cut into 32 buckets, so a
 * bucket is no wider than 1/32 of its lowest value. 2^32 - 1 falls into the last bucket, and so
 * does all that is larger.
 */
#define CALLTIME_SUB_BITS     5U
#define CALLTIME_SUB_BUCKETS  32U
#define CALLTIME_HIST_BUCKETS 896U

#define CALLTIME_RING_ENTRIES 112U

struct calltime_probe_info {
	char name[CALLTIME_NAME_BYTES]; /* NUL-terminated */
	uint32_t pairs;                 /* begin/end pairs that one sample is made of, from 1 */
	uint32_t reserved;
};

struct calltime_header {
	uint64_t magic;
	uint32_t version;
	uint32_t header_bytes;
	uint32_t block_bytes;
	uint32_t cpus;
	uint32_t probes;
	uint32_t banks;
	uint64_t region_bytes; /* header and all areas */
	uint64_t region_gpa;   /* guest-physical address of this header */
	uint32_t tsc_khz;      /* what the guest takes its TSC frequency for; 0: unknown */
	uint32_t hist_buckets;
	uint32_t ring_entries;
	uint32_t probe_info_offset; /* from the start of the region */
	uint32_t probe_info_bytes;  /* size of one entry */
	uint32_t bank;              /* the bank that samples go to now */
	uint32_t area_gpa_offset;   /* from the start of the header */
	uint8_t reserved[44];
	struct calltime_probe_info probe[CALLTIME_MAX_PROBES];
	uint64_t area_gpa[CALLTIME_MAX_CPUS]; /* guest-physical address of each CPU's area */
};

/* Block of (bank, probe) in its CPU's area: number bank * probes + probe. */
struct calltime_block {
	uint32_t seq;
	uint32_t flags; /* none defined: 0 */
	uint64_t count;
	uint64_t sum;  /* ticks; wraps */
	uint64_t min;  /* ticks; no meaning while count is 0 */
	uint64_t max;  /* ticks */
	uint32_t bank; /* the block's own coordinates */
	uint32_t cpu;
	uint32_t probe;
	uint32_t reserved[3];
	uint32_t hist[CALLTIME_HIST_BUCKETS];
	/* Last samples, cut to 32 bits; sample n (from 0) is in entry n % CALLTIME_RING_ENTRIES. */
	uint32_t ring[CALLTIME_RING_ENTRIES];
};

_Static_assert(sizeof(struct calltime_probe_info) == 40, "size is ABI");
_Static_assert(__builtin_offsetof(struct calltime_header, region_bytes) == 32, "offset is ABI");
_Static_assert(__builtin_offsetof(struct calltime_header, tsc_khz) == 48, "offset is ABI");
_Static_assert(__builtin_offsetof(struct calltime_header, bank) == 68, "offset is ABI");
_Static_assert(__builtin_offsetof(struct calltime_header, probe) == 120, "offset is ABI");
_Static_assert(__builtin_offsetof(struct calltime_header, area_gpa) == 2680, "offset is ABI");
_Static_assert(sizeof(struct calltime_header) <= CALLTIME_PAGE_BYTES, "the header is one page");
_Static_assert(__builtin_offsetof(struct calltime_block, count) == 8, "offset is ABI");
_Static_assert(__builtin_offsetof(struct calltime_block, bank) == 40, "offset is ABI");
_Static_assert(__builtin_offsetof(struct calltime_block, hist) == 64, "offset is ABI");
_Static_assert(__builtin_offsetof(struct calltime_block, ring) == 3648, "offset is ABI");
_Static_assert(sizeof(struct calltime_block) == CALLTIME_PAGE_BYTES, "a block is one page");

/**
 * calltime_bucket() - histogram bucket of a sample
 * @ticks: sample, 0 to 2^32 - 1 (larger ones: pass UINT32_MAX)
 *
 * Return: 0 to CALLTIME_HIST_BUCKETS - 1.
 */
static inline uint32_t calltime_bucket(uint32_t ticks)
{
	uint32_t octave;

	if (ticks < CALLTIME_SUB_BUCKETS) {
		return ticks;
	}
	octave = 31U - (uint32_t)__builtin_clz(ticks) - CALLTIME_SUB_BITS;
	return (octave + 1U) * CALLTIME_SUB_BUCKETS +
	       ((ticks >> octave) & (CALLTIME_SUB_BUCKETS - 1U));
}

/**
 * calltime_bucket_low() - lowest sample that falls into a bucket
 * @bucket: 0 to CALLTIME_HIST_BUCKETS - 1
 *
 * Return: ticks.
 */
static inline uint32_t calltime_bucket_low(uint32_t bucket)
{
	uint32_t octave;

	if (bucket < CALLTIME_SUB_BUCKETS) {
		return bucket;
	}
	octave = bucket / CALLTIME_SUB_BUCKETS - 1U;
	return (CALLTIME_SUB_BUCKETS + bucket % CALLTIME_SUB_BUCKETS) << octave;
}

#endif
