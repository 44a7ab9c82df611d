/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See tick.h. The tick shows itself in CLOCK_MONOTONIC_COARSE, which moves with it and is read
 * without a system call. The measuring thread only.
 */
#include "tick.h"

#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "tsc.h"

/* Turns of the loop below before it is believed that the clock stands still (a tickless CPU). */
#define TURNS_MAX 20000000

/* Wait for the clock to move. Return the TSC then, or 0. */
static uint64_t next_tick(void)
{
	struct timespec first, now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &first);
	for (unsigned int i = 0; i < TURNS_MAX; i++) {
		clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
		if (now.tv_nsec != first.tv_nsec || now.tv_sec != first.tv_sec) {
			return tsc_end();
		}
	}
	return 0;
}

/**
 * tick_measure() - find out how far apart timer ticks are
 *
 * The clock also moves when the kernel takes another clock source, and a tick may be seen late: the
 * middle one of three distances is right.
 *
 * Return: TSC ticks, or 0 when they cannot be seen.
 * Context: takes up to five ticks.
 */
uint64_t tick_measure(void)
{
	uint64_t seen[4];
	uint64_t a, b, c, low, high;

	for (size_t i = 0; i < ARRAY_SIZE(seen); i++) {
		seen[i] = next_tick();
		if (seen[i] == 0) {
			return 0;
		}
	}
	a = seen[1] - seen[0];
	b = seen[2] - seen[1];
	c = seen[3] - seen[2];
	low = a < b ? a : b;
	high = a < b ? b : a;
	return c < low ? low : c > high ? high : c;
}

/**
 * tick_measure_tsc_hz() - how fast the TSC counts, by the kernel's clock
 *
 * Return: ticks a second, to about one in 10,000.
 * Context: spins for 20 ms.
 */
uint64_t tick_measure_tsc_hz(void)
{
	struct timespec begin, now;
	uint64_t ticks, ns;

	clock_gettime(CLOCK_MONOTONIC_RAW, &begin);
	ticks = tsc_begin();
	do {
		clock_gettime(CLOCK_MONOTONIC_RAW, &now);
		ns = (uint64_t)(now.tv_sec - begin.tv_sec) * NS_PER_SEC + (uint64_t)now.tv_nsec -
		     (uint64_t)begin.tv_nsec;
	} while (ns < 20 * NS_PER_MSEC);
	ticks = tsc_end() - ticks;
	return (uint64_t)((double)ticks * (double)NS_PER_SEC / (double)ns);
}

/**
 * tick_is_in_the_way() - would a piece of work meet a tick?
 * @t: a tick that was seen (or 0), and their distance
 * @now: TSC
 * @need: how long the work takes, TSC ticks
 *
 * Return: true when a tick is due before @now + @need and waiting for it helps, which it does not
 * for work that is longer than what is between two of them. Context: pure.
 */
bool tick_is_in_the_way(const struct tick *t, uint64_t now, uint64_t need)
{
	if (t->length == 0 || need >= t->length) {
		return false;
	}
	return t->last == 0 || t->length - (now - t->last) % t->length <= need;
}

/**
 * tick_avoid() - return when work can be done before the next tick
 * @t: what is known of the tick; updated
 * @need: how long the work takes, TSC ticks
 *
 * Context: the measuring thread; spins, for sleeping would cool the caches.
 */
void tick_avoid(struct tick *t, uint64_t need)
{
	if (tick_is_in_the_way(t, tsc_end(), need)) {
		uint64_t seen = next_tick();

		if (seen) {
			t->last = seen;
		} else {
			t->length = 0;
		}
	}
}
