/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The per-call counters of a guest that does everything right: a header, and the areas of its CPUs.
 */
#ifndef TESTS_CALLTIME_FIXTURE_H
#define TESTS_CALLTIME_FIXTURE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "samples/calltime.h"

#define FIXTURE_GPA        UINT64_C(0x100000)
#define FIXTURE_PROBES     2U
#define FIXTURE_BLOCKS_MAX 32U

struct calltime_fixture {
	union {
		struct calltime_header header; /* at FIXTURE_GPA */
		uint8_t page[CALLTIME_PAGE_BYTES];
	};
	uint32_t cpus, banks;
	struct calltime_block block[FIXTURE_BLOCKS_MAX]; /* the areas, one after the other */
};

static inline uint32_t fixture_blocks(const struct calltime_fixture *f)
{
	return f->cpus * f->banks * FIXTURE_PROBES;
}

/* The areas are apart from the header and from each other, and not in the order of the CPUs. */
static inline uint64_t fixture_area_gpa(const struct calltime_fixture *f, uint32_t cpu)
{
	return UINT64_C(0x1000000) * (f->cpus - cpu);
}

static inline struct calltime_block *fixture_block(struct calltime_fixture *f, uint32_t bank,
						   uint32_t cpu, uint32_t probe)
{
	return &f->block[(cpu * f->banks + bank) * FIXTURE_PROBES + probe];
}

/* No more than FIXTURE_BLOCKS_MAX blocks in all, and no sample in any of them. */
static inline void fixture_init(struct calltime_fixture *f, uint32_t cpus, uint32_t banks)
{
	f->cpus = cpus;
	f->banks = banks;
	memset(f->page, 0, sizeof(f->page));
	f->header = (struct calltime_header){
		.magic = CALLTIME_MAGIC,
		.version = CALLTIME_VERSION,
		.header_bytes = CALLTIME_PAGE_BYTES,
		.block_bytes = sizeof(struct calltime_block),
		.cpus = cpus,
		.probes = FIXTURE_PROBES,
		.banks = banks,
		.region_bytes = CALLTIME_PAGE_BYTES * (1 + fixture_blocks(f)),
		.region_gpa = FIXTURE_GPA,
		.tsc_khz = 2000000,
		.hist_buckets = CALLTIME_HIST_BUCKETS,
		.ring_entries = CALLTIME_RING_ENTRIES,
		.probe_info_offset = offsetof(struct calltime_header, probe),
		.probe_info_bytes = sizeof(struct calltime_probe_info),
		.area_gpa_offset = offsetof(struct calltime_header, area_gpa),
		.probe = {{.name = "calltime.empty", .pairs = 1},
			  {.name = "switch_to.fsgs", .pairs = 2}},
	};
	for (uint32_t cpu = 0; cpu < cpus; cpu++) {
		f->header.area_gpa[cpu] = fixture_area_gpa(f, cpu);
	}
	for (uint32_t i = 0; i < fixture_blocks(f); i++) {
		f->block[i] = (struct calltime_block){
			.probe = i % FIXTURE_PROBES,
			.bank = i / FIXTURE_PROBES % banks,
			.cpu = i / FIXTURE_PROBES / banks,
		};
	}
}

/* What the guest kernel does with a sample. */
static inline void fixture_record(struct calltime_block *b, uint64_t ticks)
{
	uint32_t cut = ticks > UINT32_MAX ? UINT32_MAX : (uint32_t)ticks;

	b->seq += 2;
	b->min = b->count == 0 || ticks < b->min ? ticks : b->min;
	b->max = ticks > b->max ? ticks : b->max;
	b->sum += ticks;
	b->hist[calltime_bucket(cut)]++;
	b->ring[b->count % CALLTIME_RING_ENTRIES] = cut;
	b->count++;
}

/* Where the guest has @len bytes, a page at most, at @gpa; or NULL. */
static inline const uint8_t *fixture_at(struct calltime_fixture *f, uint64_t gpa, size_t len)
{
	size_t area_bytes = sizeof(struct calltime_block) * f->banks * FIXTURE_PROBES;

	if (gpa >= FIXTURE_GPA && gpa - FIXTURE_GPA <= sizeof(f->page) - len) {
		return f->page + (gpa - FIXTURE_GPA);
	}
	for (uint32_t cpu = 0; cpu < f->cpus; cpu++) {
		uint64_t area = fixture_area_gpa(f, cpu);

		if (gpa >= area && gpa - area <= area_bytes - len) {
			return (uint8_t *)fixture_block(f, 0, cpu, 0) + (gpa - area);
		}
	}
	return NULL;
}

#endif
