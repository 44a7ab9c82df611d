/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What difference is taken for no change, as people write it: "2cycles", "0.5%", or both with a
 * comma between them, of which the larger one counts. The unit is that of the machine's class; one
 * that is named must be it.
 */
#ifndef ENGINE_MARGIN_H
#define ENGINE_MARGIN_H

#include <stddef.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "engine/benchmarks.h"
#include "samples/class.h"

#define MARGIN_UNITS_DEFAULT   0.1
#define MARGIN_PERCENT_DEFAULT 0.1
#define MARGIN_TEXT_MAX        96
#define MARGIN_UNIT_MAX        16
#define MARGIN_BENCHES_ALL     UINT64_MAX

struct margin {
	benchmark_set benches;      /* that it is of */
	double units;               /* above 0 */
	double percent;             /* of A's median, 0 or more */
	char unit[MARGIN_UNIT_MAX]; /* of @units, as it was written; empty: whatever they are */
};

int margin_parse(const char *text, struct margin *ret, struct err *e) __must_check;
const char *margin_text(const struct margin *m, char *buf, size_t len);
int margin_check_class(const struct margin *m, enum exec_class class, struct err *e) __must_check;
struct margin margin_of(const struct margin *list, size_t n, size_t bench);

#endif
