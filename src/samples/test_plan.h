/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The first line of a test run's results file: what was to run. It names all cases, also those of
 * other shards, so that what is missing can be told from the files alone.
 */
#ifndef SAMPLES_TEST_PLAN_H
#define SAMPLES_TEST_PLAN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/err.h"

#define TEST_PLAN_TYPE       "test-plan"
#define TEST_PLAN_SHARDS_MAX 65536u

struct test_plan {
	char *ringside_version;
	char *title;        /* of the suite: its name, or its file */
	char *suite;        /* its file as given; empty: a command line */
	char *suite_sha256; /* of the file; empty without one */
	uint64_t seed;      /* of the order in which they run */
	unsigned int shard, shards;
	char *filter;       /* by which some of the suite's cases were chosen, or NULL: all */
	bool until_failure; /* again and again: ids have "#2", "#3" behind them from round 2 on */
	size_t id_count;
	char **ids; /* of all cases, in the suite's order, whatever the seed and the shard */
};

/* The shard, from 1, whose case is the i-th of all. */
static inline unsigned int test_plan_shard_of(size_t i, unsigned int shards)
{
	return (unsigned int)(i % shards) + 1;
}

json_t *test_plan_to_json(const struct test_plan *p);
int test_plan_from_json(const json_t *json, struct test_plan **ret, struct err *e) __must_check;
int test_plan_take_filter(struct test_plan *p, const json_t *json, struct err *e) __must_check;
int test_plan_check_same(const struct test_plan *a, const struct test_plan *b,
			 struct err *e) __must_check;
void test_plan_destroy(struct test_plan *p);
DEFINE_CLEANUP(struct test_plan *, test_plan_destroy)

#endif
