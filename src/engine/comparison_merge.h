/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Several results files of one plan, put together: shards, of one machine or of machines alike, and
 * the same plan on several hosts. Files of one host belong together. Those of other hosts join them
 * when they are alike and no block is of two hosts: a difference is one inside a block, so that
 * what parts two hosts cancels. Else they are a comparison of their own, host by host. What is of
 * another plan, class or unit, or stands in two files, is refused with both places.
 */
#ifndef ENGINE_COMPARISON_MERGE_H
#define ENGINE_COMPARISON_MERGE_H

#include <stdint.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "engine/comparison.h"
#include "samples/results.h"

/* Where a line stands. */
struct merge_place {
	size_t file; /* 0 upwards */
	size_t line; /* 1 upwards; 0: there is none */
	uint64_t at; /* bytes */
	size_t len;
};

/* One host's boots, or those of several alike that make one comparison. */
struct merge_host {
	struct comparison c;        /* of all blocks, whatever the shards of its files */
	struct merge_place *places; /* a slot */
	struct merge_place floors;  /* the calibration, or the line that says why there is none */
	struct merge_place noise;   /* what the host makes of no difference */
	char name[64];      /* in its network; of several the first one's; empty: not known */
	unsigned int count; /* hosts: 1 or more */
};

struct merge_file {
	const char *path;
	struct stat st;
	unsigned int shard, shards; /* 0: all blocks */
	size_t share, recorded;     /* boots that are to be in it, and those that count */
	uint64_t dropped;           /* bytes of a last record that is cut off */
	size_t host;                /* which of the merge's */
};

struct merge {
	struct merge_file *files;
	size_t file_count;
	struct merge_host *hosts; /* in the order of the files */
	size_t host_count;
};

int merge_read(struct merge *m, char *const *paths, size_t n, struct err *e) __must_check;
int merge_write(const struct merge *m, FILE *out, struct err *e) __must_check;
void merge_fini(struct merge *m);

#endif
