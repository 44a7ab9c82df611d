/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is made of counters once they are copied: the cost of timing, quantiles, and the JSON that
 * stands in a boot's record. Pure: works on the copy alone.
 */
#include <assert.h>
#include <errno.h>

#include "samples/calltime.h"

/**
 * calltime_empty_ticks() - what timing itself adds to each sample of a probe
 * @c: the copy
 * @bank: below calltime_banks()
 * @probe: below calltime_probes()
 * @ret_ticks: the fastest empty pair that the guest measured for @bank, times the probe's pairs
 *
 * Return: whether the guest measured it.
 * Context: any thread.
 */
bool calltime_empty_ticks(const struct calltime *c, uint32_t bank, uint32_t probe,
			  uint64_t *ret_ticks)
{
	struct calltime_stats empty;
	uint32_t pairs = calltime_probe_pairs(c, probe);

	calltime_merged_stats(c, bank, CALLTIME_EMPTY_PROBE, &empty);
	if (empty.count == 0 || empty.min > UINT64_MAX / pairs) {
		return false;
	}
	*ret_ticks = empty.min * pairs;
	return true;
}

/**
 * calltime_quantile() - quantile of the samples, by the histogram
 * @s: the samples
 * @q: 0 to 1
 *
 * The middle of the bucket that holds the sample of rank ceil(q * n), kept within min and max: off
 * by at most 1/64 of the value, for samples below 2^32 ticks.
 *
 * Return: ticks; 0 when there are no samples.
 * Context: any thread.
 */
uint64_t calltime_quantile(const struct calltime_stats *s, double q)
{
	uint64_t total = 0;
	uint64_t seen = 0;
	uint64_t rank;
	uint64_t value = s->max;

	assert(q >= 0 && q <= 1);
	for (uint32_t i = 0; i < CALLTIME_HIST_BUCKETS; i++) {
		total += s->hist[i];
	}
	rank = (uint64_t)(q * (double)total);
	rank += (double)rank < q * (double)total || rank == 0;
	for (uint32_t i = 0; i < CALLTIME_HIST_BUCKETS; i++) {
		seen += s->hist[i];
		if (seen >= rank && total > 0) {
			uint64_t low = calltime_bucket_low(i);
			uint64_t next = i + 1 < CALLTIME_HIST_BUCKETS ? calltime_bucket_low(i + 1)
								      : UINT64_C(1) << 32;

			value = low + (next - 1 - low) / 2;
			break;
		}
	}
	value = value < s->min ? s->min : value;
	return value > s->max ? s->max : value;
}

/* JSON integers are signed. */
static json_t *json_ticks(uint64_t v)
{
	return json_integer(v > INT64_MAX ? INT64_MAX : (json_int_t)v);
}

static json_t *hist_to_json(const struct calltime_stats *s)
{
	json_t *hist = json_array();

	for (uint32_t i = 0; hist && i < CALLTIME_HIST_BUCKETS; i++) {
		if (s->hist[i] != 0 &&
		    json_array_append_new(hist,
					  json_pack("[o, o]", json_ticks(calltime_bucket_low(i)),
						    json_ticks(s->hist[i]))) < 0) {
			json_decref(hist);
			return NULL;
		}
	}
	return hist;
}

static json_t *probe_to_json(const struct calltime *c, uint32_t bank, uint32_t probe,
			     const struct calltime_stats *s)
{
	uint64_t empty;
	bool has_empty = calltime_empty_ticks(c, bank, probe, &empty);

	return json_pack("{s:I, s:s, s:o, s:o, s:o, s:o, s:I, s:o, s:b, s:o}", "bank",
			 (json_int_t)bank, "probe", calltime_probe_name(c, probe), "count",
			 json_ticks(s->count), "sum", json_ticks(s->sum), "min", json_ticks(s->min),
			 "max", json_ticks(s->max), "pairs",
			 (json_int_t)calltime_probe_pairs(c, probe), "empty_min",
			 has_empty ? json_ticks(empty) : json_null(), "torn", (int)s->torn, "hist",
			 hist_to_json(s));
}

/**
 * calltime_to_json() - the counters as they stand in a boot's record
 * @c: the copy
 * @ret: new array, one object for each (bank, probe) that has samples: bank, probe, count, sum,
 * min, max, pairs, empty_min (ticks to take off a sample, null when not measured), torn, hist
 * [[lowest ticks of the bucket, samples], ...]; the caller owns the reference
 *
 * Return: 0 or -ENOMEM.
 * Context: any thread.
 */
int calltime_to_json(const struct calltime *c, json_t **ret)
{
	json_t *array = json_array();

	for (uint32_t bank = 0; array && bank < calltime_banks(c); bank++) {
		for (uint32_t probe = 0; probe < calltime_probes(c); probe++) {
			struct calltime_stats s;

			calltime_merged_stats(c, bank, probe, &s);
			if (s.count != 0 &&
			    json_array_append_new(array, probe_to_json(c, bank, probe, &s)) < 0) {
				json_decref(array);
				return -ENOMEM;
			}
		}
	}
	if (!array) {
		return -ENOMEM;
	}
	*ret = array;
	return 0;
}
