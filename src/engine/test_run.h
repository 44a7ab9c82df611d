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

#define TEST_RUN_NO_ICOUNT (-1)

/* What a case boots, and where. */
struct test_run_boot {
	const char *kernel;  /* file of the kernel, or of the payload */
	const char *sha256;  /* its, hex; or NULL: not known yet */
	const char *backend; /* "kvm", "qemu" */
	bool force;          /* as --force */
};

struct test_run_config {
	const struct suite_plan *plan;
	const char *suite;     /* the suite's file as given, for the results; NULL: none */
	const char *program;   /* of ringside itself */
	const char *runner;    /* ringside-runner, for directories of programs */
	const char *dir;       /* a directory per case is made in it */
	int icount;            /* as --icount, or TEST_RUN_NO_ICOUNT */
	unsigned int jobs;     /* at once, 1 or more */
	uint64_t cpus;         /* vCPUs that all guests together may have; 0: no limit */
	uint64_t memory_bytes; /* that all guests together may have; 0: no limit */
	bool fail_fast;        /* no further case after one that is not ok */
	bool cores;            /* keep a core of each guest that failed and was not to */
	bool until_failure;    /* the plan again and again, until one is not ok */
	/* What a case boots; what it points to outlives the run. */
	struct test_run_boot (*boot)(void *ctx, const struct suite_case *c);
	/* Whether a case cannot run on this machine, and why; or NULL. */
	bool (*skip)(void *ctx, const struct suite_case *c, char *ret_why, size_t len);
	/* In the order in which they end; a failure ends the run. */
	int (*done)(void *ctx, const struct test_result *r, struct err *e);
	void (*begun)(void *ctx, const char *id, unsigned int attempt); /* or NULL */
	void (*tick)(void *ctx); /* some times a second, or NULL */
	void *ctx;
};

struct test_run_end {
	size_t by_verdict[TEST_VERDICT_COUNT];
	size_t environment; /* of those that are not ok: test_outcome_is_environment() */
	size_t not_run;
	int signal; /* that ended it, or 0 */
};

/* Judges the words that a case is booted with; @argc of them, the command's name first. */
typedef int (*test_run_check_fn)(void *ctx, const struct suite_case *c, int argc, char **argv,
				 struct err *e);

int test_run_check(const struct test_run_config *cfg, test_run_check_fn check, void *ctx,
		   struct err *e) __must_check;
int test_run(const struct test_run_config *cfg, struct test_run_end *ret,
	     struct err *e) __must_check;

#endif
