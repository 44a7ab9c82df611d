/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The host's reader of the per-call counters that a guest kernel keeps in its memory
 * (firmware/abi/calltime.h). The guest is not trusted: every number of it is checked against a
 * named limit before it is used, and what is read is copied first. Reading never stops the guest.
 */
#ifndef SAMPLES_CALLTIME_H
#define SAMPLES_CALLTIME_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/calltime.h"
#include "base/cleanup.h"
#include "base/err.h"

/* What the host is willing to read: 16 CPUs, 8 banks and 64 probes take half of it. */
#define CALLTIME_MAX_REGION_BYTES (UINT64_C(64) << 20)
#define CALLTIME_MAX_PAIRS        16U
/* Copies of a block that is being written, before the last one is taken and marked torn. */
#define CALLTIME_READ_TRIES 16

/**
 * calltime_read_fn - copy guest memory
 * @ctx: the caller's
 * @gpa: guest-physical address
 * @buf: where to
 * @len: bytes, at most a page, never across one
 *
 * Return: 0, or a negative errno when the guest has no memory there.
 */
typedef int (*calltime_read_fn)(void *ctx, uint64_t gpa, void *buf, size_t len);

/* Samples of one probe, of one CPU or of all of them. */
struct calltime_stats {
	uint64_t count;
	uint64_t sum; /* ticks */
	uint64_t min; /* ticks; 0 while count is 0 */
	uint64_t max; /* ticks */
	bool torn;    /* a writer was caught in the middle: may be off by one sample */
	uint64_t hist[CALLTIME_HIST_BUCKETS];
};

struct calltime;

int calltime_load(calltime_read_fn read, void *ctx, uint64_t gpa, uint64_t bytes,
		  struct calltime **ret, struct err *e) __must_check;
void calltime_destroy(struct calltime *c);
DEFINE_CLEANUP(struct calltime *, calltime_destroy)

uint32_t calltime_banks(const struct calltime *c);
uint32_t calltime_cpus(const struct calltime *c);
uint32_t calltime_probes(const struct calltime *c);
uint32_t calltime_tsc_khz(const struct calltime *c);
const char *calltime_probe_name(const struct calltime *c, uint32_t probe);
uint32_t calltime_probe_pairs(const struct calltime *c, uint32_t probe);

void calltime_cpu_stats(const struct calltime *c, uint32_t bank, uint32_t cpu, uint32_t probe,
			struct calltime_stats *ret);
void calltime_merged_stats(const struct calltime *c, uint32_t bank, uint32_t probe,
			   struct calltime_stats *ret);
bool calltime_empty_ticks(const struct calltime *c, uint32_t bank, uint32_t probe,
			  uint64_t *ret_ticks);
uint64_t calltime_quantile(const struct calltime_stats *s, double q);

int calltime_to_json(const struct calltime *c, json_t **ret) __must_check;

#endif
