/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The words of "ringside test". */
#ifndef CLI_TEST_OPTIONS_H
#define CLI_TEST_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "cli/options.h"
#include "engine/suite.h"

#define TEST_NOT_GIVEN UINT64_MAX

struct test_options {
	const char *suite; /* file, or NULL: a command */
	/* of a command */
	struct opt_list kernels, append;
	const char *cpu;
	uint64_t cpus, memory_bytes, timeout_ns, boot_timeout_ns; /* 0: the default */
	/* which cases */
	bool list, print_suite;
	const char *filter;
	uint64_t repeat, shuffle; /* TEST_NOT_GIVEN: as the suite has them */
	const char *shard_text;
	unsigned int shard, shards;
	/* how */
	bool until_failure, fail_fast, require_kvm, bisect, cores;
	const char *jobs_text;
	unsigned int jobs; /* 0: auto */
	const char *backend, *runner;
	uint64_t icount;
	/* what is left of it */
	const char *out, *json, *junit, *tap, *github, *baseline;
	struct opt_rest rest;
};

int test_options_parse(struct test_options *o, int argc, char **argv, struct err *e) __must_check;
int test_options_suite(const struct test_options *o, struct suite **ret,
		       struct err *e) __must_check;
struct suite_select test_options_select(const struct test_options *o);

#endif
