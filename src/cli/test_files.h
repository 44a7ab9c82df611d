/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results files of test runs as reports are made of them: one, or those of all shards of a run. */
#ifndef CLI_TEST_FILES_H
#define CLI_TEST_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "report/test_report.h"
#include "samples/test_set.h"

#define TEST_FILES_NAME "results.ndjson" /* in the directory of a run */

struct test_files {
	struct test_set *set;
	const char **missing;
	struct test_report report; /* points into the others */
};

bool test_files_are(const char *path, bool otherwise);
int test_files_open(struct test_files *f, char *const *paths, size_t n, bool merge,
		    struct err *e) __must_check;
void test_files_close(struct test_files *f);

#endif
