/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A test run as "ringside test --json" writes it: one JSON object, read back as the set that its
 * results file would make. What it says of itself (counts, exit status) is not believed but counted
 * again.
 */
#ifndef SAMPLES_TEST_DOCUMENT_H
#define SAMPLES_TEST_DOCUMENT_H

#include <stdbool.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "samples/test_set.h"

#define TEST_DOCUMENT_TYPE           "test-report"
#define TEST_DOCUMENT_SCHEMA_VERSION 1
#define TEST_DOCUMENT_MAX            (256u << 20) /* bytes */

bool test_document_is_one(const char *path);
int test_document_parse(const char *text, size_t len, struct test_set **ret,
			struct err *e) __must_check;
int test_document_read(const char *path, struct test_set **ret, struct err *e) __must_check;

#endif
