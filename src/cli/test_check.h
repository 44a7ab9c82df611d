/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What can be told of a test run's cases before any of them boots. */
#ifndef CLI_TEST_CHECK_H
#define CLI_TEST_CHECK_H

#include "base/err.h"
#include "cli/test_machine.h"
#include "cli/test_options.h"
#include "engine/test_run.h"

int test_check(const struct test_options *o, struct test_machine *m,
	       const struct test_run_config *cfg, struct err *e) __must_check;

#endif
