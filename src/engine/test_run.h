/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs the cases of a plan: some at once, each as a process of its own, and hands each result on
 * when it is final. Owns nothing that is left behind: interrupted at any moment, no process, mount
 * or lock stays, and what was handed on is whole.
 */
#ifndef ENGINE_TEST_RUN_H
#define ENGINE_TEST_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "engine/suite.h"
#include "samples/test_result.h"

struct test_run_config {
	const struct suite_plan *plan;
	const char *program;      /* of ringside itself */
	const char *dir;          /* a directory per case is made in it */
	const char *backend;      /* "auto", "kvm", "qemu" */
	const char *machine_skip; /* NULL, or why no case can run here (a class, no KVM) */
	unsigned int jobs;        /* at once, 1 or more */
	uint64_t memory_bytes;    /* that all guests together may have; 0: no limit */
	bool fail_fast;           /* no further case after one that is not ok */
	bool until_failure;       /* the plan again and again, until one is not ok */
	int (*done)(void *ctx, const struct test_result *r,
		    struct err *e); /* in order of their end */
	void (*begun)(void *ctx, const struct suite_case *c, unsigned int attempt);
	void (*tick)(void *ctx); /* once a second, or NULL */
	void *ctx;
};

struct test_run_end {
	size_t by_verdict[TEST_VERDICT_COUNT];
	size_t not_run;
	int signal; /* that ended it, or 0 */
};

int test_run(const struct test_run_config *cfg, struct test_run_end *ret,
	     struct err *e) __must_check;

#endif
