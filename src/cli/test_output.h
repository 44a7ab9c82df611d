/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is left of a test run: its directory with results.ndjson and a directory for each case, and
 * the reports. The results are whole lines at any moment; a report is there whole or not at all.
 */
#ifndef CLI_TEST_OUTPUT_H
#define CLI_TEST_OUTPUT_H

#include <limits.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "cli/test_files.h"
#include "cli/test_machine.h"
#include "cli/test_options.h"
#include "engine/suite.h"
#include "samples/results.h"
#include "samples/test_result.h"

struct test_output {
	char dir[PATH_MAX]; /* absolute */
	struct results *file;
	struct test_files files; /* what is in the file, once it is read for the reports */
};

int test_output_check(const struct test_options *o, const struct test_machine *m,
		      struct err *e) __must_check;
int test_output_open(struct test_output *out, const struct test_options *o, const struct suite *s,
		     struct err *e) __must_check;
int test_output_add(struct test_output *out, const struct test_result *r,
		    struct err *e) __must_check;
int test_output_report(struct test_output *out, const struct test_options *o,
		       struct err *e) __must_check;
void test_output_close(struct test_output *out);

#endif
