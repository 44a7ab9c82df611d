/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See histogram.h. Any thread. */
#include "samples/histogram.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "abi/calltime.h"

static struct histogram_bucket *add_buckets(struct histogram *h, size_t more)
{
	if (h->n + more > h->room) {
		size_t room = h->n + more > 2 * h->room ? h->n + more : 2 * h->room;
		struct histogram_bucket *b = realloc(h->buckets, room * sizeof(*b));

		if (!b) {
			return NULL;
		}
		h->buckets = b;
		h->room = room;
	}
	h->n += more;
	return &h->buckets[h->n - more];
}

/* One [lowest tick, samples]; @ret_bucket is its number. */
static bool is_bucket(const json_t *pair, uint32_t *ret_bucket, uint64_t *ret_count)
{
	json_int_t low = json_integer_value(json_array_get(pair, 0));
	json_int_t count = json_integer_value(json_array_get(pair, 1));

	if (json_array_size(pair) != 2 || !json_is_integer(json_array_get(pair, 0)) || low < 0 ||
	    low > UINT32_MAX || count < 1) {
		return false;
	}
	*ret_bucket = calltime_bucket((uint32_t)low);
	*ret_count = (uint64_t)count;
	return calltime_bucket_low(*ret_bucket) == low;
}

/* A limit of all samples, in ticks, where the record has it. */
static double limit(const json_t *row, const char *key, double otherwise)
{
	const json_t *v = json_object_get(row, key);

	return json_is_integer(v) && json_integer_value(v) >= 0 ? (double)json_integer_value(v)
								: otherwise;
}

/* Where a bucket ends; the last one takes all that is larger, too. */
static double end_of(uint32_t bucket)
{
	return bucket + 1 < CALLTIME_HIST_BUCKETS ? calltime_bucket_low(bucket + 1) - 1 : INFINITY;
}

/**
 * histogram_from_json() - read the buckets of a probe
 * @row: of a record's "calltime"; without "hist" there are none
 * @empty_ticks: what timing adds to a sample
 * @ticks_per_unit: above 0
 * @ret: set on success; end it with histogram_fini()
 * @e: set on failure
 *
 * Return: 0, -EBADMSG for what are no buckets in ascending order, -ENOMEM.
 * Context: any thread.
 */
int histogram_from_json(const json_t *row, double empty_ticks, double ticks_per_unit,
			struct histogram *ret, struct err *e)
{
	const json_t *hist = json_object_get(row, "hist");
	double least = limit(row, "min", 0), most = limit(row, "max", UINT32_MAX);
	size_t n = json_array_size(hist);
	struct histogram h = {0};
	uint32_t last = 0;

	if (n > 0 && !add_buckets(&h, n)) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	for (size_t i = 0; i < n; i++) {
		uint64_t count = 0;
		uint32_t at = 0;
		double low, high;

		if (!is_bucket(json_array_get(hist, i), &at, &count) || (i > 0 && at <= last)) {
			histogram_fini(&h);
			return err_set(e, -EBADMSG,
				       "'hist'[%zu] is not [lowest tick, samples] of a bucket "
				       "above the one before it",
				       i);
		}
		last = at;
		low = fmax(calltime_bucket_low(at), least);
		high = fmax(fmin(end_of(at), most), low);
		h.buckets[i] = (struct histogram_bucket){
			.low = (low - empty_ticks) / ticks_per_unit,
			.high = (high - empty_ticks) / ticks_per_unit,
			.count = count,
		};
	}
	*ret = h;
	return 0;
}

/**
 * histogram_add() - take in another histogram
 * @h: the one; to be settled before it is asked for anything
 * @more: the other
 *
 * Return: 0 or -ENOMEM.
 * Context: any thread.
 */
int histogram_add(struct histogram *h, const struct histogram *more)
{
	struct histogram_bucket *to = more->n ? add_buckets(h, more->n) : NULL;

	for (size_t i = 0; to && i < more->n; i++) {
		to[i] = more->buckets[i];
	}
	return to || more->n == 0 ? 0 : -ENOMEM;
}

static int compare_buckets(const void *a, const void *b)
{
	const struct histogram_bucket *x = a, *y = b;

	if (x->low != y->low) {
		return x->low < y->low ? -1 : 1;
	}
	return x->high < y->high ? -1 : x->high > y->high;
}

/**
 * histogram_settle() - put the buckets in order, and those of one range into one
 * @h: the histogram
 *
 * Context: any thread.
 */
void histogram_settle(struct histogram *h)
{
	size_t n = 0;

	if (h->n == 0) {
		return;
	}
	qsort(h->buckets, h->n, sizeof(*h->buckets), compare_buckets);
	for (size_t i = 1; i < h->n; i++) {
		if (compare_buckets(&h->buckets[n], &h->buckets[i]) == 0) {
			h->buckets[n].count += h->buckets[i].count;
		} else {
			h->buckets[++n] = h->buckets[i];
		}
	}
	h->n = n + 1;
}

/**
 * histogram_quantile() - quantile of the samples
 * @h: settled, with buckets
 * @q: 0 to 1
 *
 * Return: the middle of the bucket that holds the sample of rank ceil(q n): off by at most half of
 * the bucket. For 1 the largest sample. Context: any thread.
 */
double histogram_quantile(const struct histogram *h, double q)
{
	double total = 0, seen = 0, most = h->buckets[0].high;

	for (size_t i = 0; i < h->n; i++) {
		total += (double)h->buckets[i].count;
		most = fmax(most, h->buckets[i].high);
	}
	for (size_t i = 0; q < 1 && i < h->n; i++) {
		seen += (double)h->buckets[i].count;
		if (seen >= q * total) {
			return (h->buckets[i].low + h->buckets[i].high) / 2;
		}
	}
	return most;
}

/**
 * histogram_fini() - free the buckets
 * @h: a histogram; all zero is fine
 *
 * Context: any thread.
 */
void histogram_fini(struct histogram *h)
{
	free(h->buckets);
	*h = (struct histogram){0};
}
