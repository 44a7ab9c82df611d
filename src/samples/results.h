/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The results file of a comparison: NDJSON, append-only. Line 1 is the plan, each further line one
 * boot. A line counts once its newline is there, and every line is on the disk before the next boot
 * begins: after a crash at any moment the file is valid but for a partial last line, which is cut
 * off when it is opened again. One process at a time may write (flock).
 */
#ifndef SAMPLES_RESULTS_H
#define SAMPLES_RESULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/err.h"

#define RESULTS_SCHEMA_VERSION 2
#define RESULTS_LINE_MAX       (16u << 20) /* bytes: a longer line is no record of ours */

struct results;

/* What reading found. Lines count from 1. */
struct results_scan {
	size_t lines;       /* whole lines */
	uint64_t whole_len; /* bytes up to and with the last newline */
	uint64_t dropped;   /* bytes behind it: a record whose writer was stopped */
};

/* Called for each whole line, without its newline and with a NUL. A failure ends the reading. */
typedef int (*results_line_fn)(void *ctx, size_t line, const char *text, size_t len, struct err *e);

int results_read(const char *path, results_line_fn fn, void *ctx, struct results_scan *ret,
		 struct err *e) __must_check;

int results_create(const char *path, struct results **ret, struct err *e) __must_check;
int results_reopen(const char *path, results_line_fn fn, void *ctx, struct results **ret,
		   struct results_scan *ret_scan, struct err *e) __must_check;
int results_append(struct results *r, const char *text, size_t len, struct err *e) __must_check;
const char *results_path(const struct results *r);
void results_close(struct results *r);
DEFINE_CLEANUP(struct results *, results_close)

#endif
