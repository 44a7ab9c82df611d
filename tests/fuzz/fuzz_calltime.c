/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Per-call counters in the memory of a hostile guest: each step of an input overwrites four or
 * eight bytes of a header and its blocks that were right. Whatever is read becomes a record whose
 * histograms are read back, and nothing outside the guest's memory is asked for.
 */
#include "fuzz.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>

#include "samples/calltime.h"
#include "samples/histogram.h"

#define GPA      UINT64_C(0x100000)
#define AREA_GPA UINT64_C(0x200000)
#define BANKS    2u
#define PROBES   2u
#define BLOCKS   (BANKS * PROBES)

static struct guest {
	union {
		struct calltime_header header;
		uint8_t page[CALLTIME_PAGE_BYTES];
	};
	struct calltime_block block[BLOCKS];
} guest;

static void put_right(void)
{
	guest = (struct guest){
		.header = {
			.magic = CALLTIME_MAGIC,
			.version = CALLTIME_VERSION,
			.header_bytes = CALLTIME_PAGE_BYTES,
			.block_bytes = sizeof(struct calltime_block),
			.cpus = 1,
			.probes = PROBES,
			.banks = BANKS,
			.region_bytes = CALLTIME_PAGE_BYTES * (1 + BLOCKS),
			.region_gpa = GPA,
			.tsc_khz = 2000000,
			.hist_buckets = CALLTIME_HIST_BUCKETS,
			.ring_entries = CALLTIME_RING_ENTRIES,
			.probe_info_offset = offsetof(struct calltime_header, probe),
			.probe_info_bytes = sizeof(struct calltime_probe_info),
			.area_gpa_offset = offsetof(struct calltime_header, area_gpa),
			.probe = {{.name = "calltime.empty", .pairs = 1},
				  {.name = "p", .pairs = 2}},
			.area_gpa = {AREA_GPA},
		}};
	for (uint32_t i = 0; i < BLOCKS; i++) {
		struct calltime_block *b = &guest.block[i];

		*b = (struct calltime_block){
			.seq = 4, .count = 2, .sum = 120, .min = 56, .max = 64};
		b->bank = i / PROBES;
		b->probe = i % PROBES;
		b->hist[calltime_bucket(56)] = 1;
		b->hist[calltime_bucket(64)] = 1;
	}
}

static int read_guest(void *ctx, uint64_t gpa, void *buf, size_t len)
{
	must(len <= CALLTIME_PAGE_BYTES && gpa % CALLTIME_PAGE_BYTES + len <= CALLTIME_PAGE_BYTES);
	if (gpa >= GPA && gpa - GPA <= sizeof(guest.page) - len) {
		memcpy(buf, guest.page + (gpa - GPA), len);
		return 0;
	}
	if (gpa >= AREA_GPA && gpa - AREA_GPA <= sizeof(guest.block) - len) {
		memcpy(buf, (const uint8_t *)guest.block + (gpa - AREA_GPA), len);
		return 0;
	}
	return -EFAULT;
}

/* Overwrites what a step says. */
static void spoil(const struct fuzz_step *s)
{
	size_t len = s->op & 1 ? 8 : 4;
	uint64_t value = s->op & 2 ? (uint64_t)s->b << (s->c & 63) : (uint32_t)s->b << 16 | s->c;
	size_t at = s->a % (CALLTIME_PAGE_BYTES - len);
	uint8_t *page =
		s->i % (BLOCKS + 1) ? (uint8_t *)&guest.block[s->i % (BLOCKS + 1) - 1] : guest.page;

	memcpy(page + (s->op & 4 ? at : at & ~(size_t)3), &value, len);
}

/* Each row of a record is one that the reader of records takes. */
static void check_json(const struct calltime *c)
{
	json_t *rows, *row;
	size_t i;

	must(calltime_to_json(c, &rows) == 0);
	json_array_foreach (rows, i, row) {
		struct err e = ERR_INIT;
		struct histogram h;

		must(histogram_from_json(row, 0, 1, &h, &e) == 0);
		histogram_settle(&h);
		must(h.n == 0 || histogram_quantile(&h, .5) <= histogram_quantile(&h, 1));
		histogram_fini(&h);
	}
	json_decref(rows);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err e = ERR_INIT;
	struct fuzz_step step;
	struct calltime *c;
	uint64_t bytes;

	put_right();
	bytes = guest.header.region_bytes;
	while (fuzz_next(&data, &size, &step)) {
		spoil(&step);
	}
	if (calltime_load(read_guest, NULL, GPA, bytes, &c, &e) < 0) {
		must(*e.text);
		return 0;
	}
	must(calltime_banks(c) * calltime_probes(c) * calltime_cpus(c) <= BLOCKS);
	check_json(c);
	calltime_destroy(c);
	return 0;
}
