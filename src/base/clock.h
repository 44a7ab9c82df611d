/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Time as a table, so that tests own it. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

struct clock_ops {
	uint64_t (*now_ns)(void *ctx); /* monotonic, nanoseconds */
	void *ctx;
};

extern const struct clock_ops clock_monotonic;

static inline uint64_t clock_now_ns(const struct clock_ops *c)
{
	return c->now_ns(c->ctx);
}

#define NS_PER_SEC  UINT64_C(1000000000)
#define NS_PER_MSEC UINT64_C(1000000)

uint64_t clock_process_start_ns(void);

#endif
