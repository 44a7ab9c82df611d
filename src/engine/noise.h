/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What this host makes of no difference: the effects that its comparisons of an arm with itself
 * have found, kept in a file for each host, and of each benchmark the 95th percentile of their
 * sizes, the noise floor. The floors of the moment are written into a comparison's results, so that
 * its report is the same wherever and whenever it is made.
 */
#ifndef ENGINE_NOISE_H
#define ENGINE_NOISE_H

#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "report/report.h"
#include "samples/class.h"

#define NOISE_SCHEMA_VERSION 1

/* The type of the line with the floors in a comparison's results. */
#define NOISE_LINE "noise-floor"

/* Fewer comparisons than this have no 95th percentile but their largest effect. */
#define NOISE_LEAST 20u

struct noise_floor {
	char *name; /* of the benchmark */
	double value;
	size_t comparisons; /* that it is of */
	size_t blocks[2];   /* that they had, the fewest and the most */
};

struct noise {
	size_t n;
	struct noise_floor *floors;
};

/* Which effects can be held against one another. */
struct noise_key {
	const char *cpu;
	enum exec_class class;
	uint64_t ticks_per_unit;
};

int noise_read(const char *path, const struct noise_key *key, struct noise *ret, size_t *ret_bad,
	       struct err *e) __must_check;
int noise_add(const char *path, const struct noise_key *key, const char *plan,
	      const struct report_set *set, struct err *e) __must_check;
int noise_line(const struct noise *n, char **ret, struct err *e) __must_check;
int noise_parse(const char *text, size_t len, struct noise *ret, struct err *e) __must_check;
const struct noise_floor *noise_find(const struct noise *n, const char *name);
void noise_fini(struct noise *n);

#endif
