/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A test run as its results file has it, or the files of all its shards: the plan and what has
 * ended. It is filled line by line, and each result is held against the plan: none that was not
 * to run there, none twice.
 */
#ifndef SAMPLES_TEST_SET_H
#define SAMPLES_TEST_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "samples/test_plan.h"
#include "samples/test_result.h"

struct test_set;

int test_set_create(struct test_set **ret, struct err *e) __must_check;
int test_set_add_line(struct test_set *s, const char *text, size_t len, struct err *e) __must_check;
int test_set_read(const char *path, struct test_set **ret, uint64_t *ret_dropped,
		  struct err *e) __must_check;
int test_set_begin_merge(struct test_set *s, struct err *e) __must_check;
int test_set_merge(struct test_set *into, struct test_set *from, struct err *e) __must_check;
void test_set_destroy(struct test_set *s);
DEFINE_CLEANUP(struct test_set *, test_set_destroy)

const struct test_plan *test_set_plan(const struct test_set *s);
const struct test_result *const *test_set_results(const struct test_set *s, size_t *ret_count);
const char *test_set_dir(const struct test_set *s);
bool test_set_has_shard(const struct test_set *s, unsigned int shard);
int test_set_missing(const struct test_set *s, const char ***ret, size_t *ret_count,
		     struct err *e) __must_check;
int test_set_write(const struct test_set *s, FILE *out, struct err *e) __must_check;

bool test_set_is_one(const char *path);

#endif
