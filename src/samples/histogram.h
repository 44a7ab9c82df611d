/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the samples of a guest's per-call counter are spread: the buckets of firmware/abi/calltime.h
 * that have any, in units per sample and less the cost of an empty pair. A bucket is at most 1/32
 * of its lowest tick wide, and no wider than the smallest and the largest sample leave it.
 */
#ifndef SAMPLES_HISTOGRAM_H
#define SAMPLES_HISTOGRAM_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/err.h"

struct histogram_bucket {
	double low, high; /* equal where all its samples are one value */
	uint64_t count;
};

struct histogram {
	size_t n, room;
	struct histogram_bucket *buckets;
};

int histogram_from_json(const json_t *row, double empty_ticks, double ticks_per_unit,
			struct histogram *ret, struct err *e) __must_check;
int histogram_add(struct histogram *h, const struct histogram *more) __must_check;
void histogram_settle(struct histogram *h);
double histogram_quantile(const struct histogram *h, double q);
void histogram_fini(struct histogram *h);

#endif
