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

#include "calltime_fixture.h"
#include "samples/histogram.h"

#define BANKS  2u
#define BLOCKS (BANKS * FIXTURE_PROBES)

static struct calltime_fixture guest;

static void put_right(void)
{
	fixture_init(&guest, 1, BANKS);
	for (uint32_t i = 0; i < BLOCKS; i++) {
		fixture_record(&guest.block[i], 56);
		fixture_record(&guest.block[i], 64);
	}
}

static int read_guest(void *ctx, uint64_t gpa, void *buf, size_t len)
{
	const uint8_t *at;

	must(len <= CALLTIME_PAGE_BYTES && gpa % CALLTIME_PAGE_BYTES + len <= CALLTIME_PAGE_BYTES);
	at = fixture_at(&guest, gpa, len);
	if (!at) {
		return -EFAULT;
	}
	memcpy(buf, at, len);
	return 0;
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
	if (calltime_load(read_guest, NULL, FIXTURE_GPA, bytes, &c, &e) < 0) {
		must(*e.text);
		return 0;
	}
	must(calltime_banks(c) * calltime_probes(c) * calltime_cpus(c) <= BLOCKS);
	check_json(c);
	calltime_destroy(c);
	return 0;
}
