/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See boot_clock.h. Pure. */
#include "samples/boot_clock.h"

#include <errno.h>
#include <math.h>

/* Of a shorter loop most are the time stamps themselves. */
#define LEAST_TICKS 500

/* A core's clock changes in steps of 100 MHz; the time stamps vary by some tens of ticks. */
#define MOVED 0.05

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/**
 * boot_clock_mark() - mark the batches that the processor's clock changed for
 * @b: the benchmark, with what else disturbed its batches; its empty_ticks is set: the median of
 * the undisturbed ones, or 0 where the loop is too short to tell
 * @empty: ticks of the empty loop, an array of as many numbers as there are batches; of anything
 *         else nothing is known
 *
 * A batch's own time is not looked at.
 *
 * Return: 0 or -ENOMEM.
 * Context: any thread.
 */
int boot_clock_mark(struct boot_bench *b, const json_t *empty)
{
	_cleanup_free_ double *clean = calloc(b->batch_count + 1, sizeof(*clean));
	size_t n = 0;

	if (!clean) {
		return -ENOMEM;
	}
	for (size_t i = 0; json_is_array(empty) && i < b->batch_count; i++) {
		if (!b->dirty[i]) {
			clean[n++] = json_number_value(json_array_get(empty, i));
		}
	}
	qsort(clean, n, sizeof(*clean), compare);
	b->empty_ticks = n > 0 && clean[n / 2] >= LEAST_TICKS ? clean[n / 2] : 0;
	for (size_t i = 0; b->empty_ticks > 0 && i < b->batch_count; i++) {
		double x = json_number_value(json_array_get(empty, i));

		if (!b->dirty[i] && fabs(x - b->empty_ticks) > MOVED * b->empty_ticks) {
			b->dirty[i] |= 1u << DISTURBED_CLOCK;
		}
	}
	return 0;
}
