/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What "ringside test" found, one record a case: what happened, what it counts as, and the results
 * that the guest reported inside it. A results file of a test run is NDJSON like a comparison's
 * (samples/results.h): line 1 is the plan, each further line one case that has ended. Every output
 * (JUnit, TAP, annotations, what changed) is made from that file and nothing else.
 */
#ifndef SAMPLES_TEST_RESULT_H
#define SAMPLES_TEST_RESULT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "samples/class.h"

#define TEST_RESULT_SCHEMA_VERSION 1

/* What happened. The statuses of "ringside run" above 239 map to one each. */
enum test_outcome {
	TEST_PASS,
	TEST_FAIL,      /* the command's status, or a result that it reported */
	TEST_BROKEN,    /* its report cannot be believed: plan not met, cut short, none at all */
	TEST_PANIC,     /* 240 */
	TEST_OOPS,      /* 241 */
	TEST_BOOT,      /* 242 */
	TEST_HANG,      /* 243 */
	TEST_TIMEOUT,   /* 244, or one of the suite's own */
	TEST_NO_STATUS, /* 245 */
	TEST_KVM_ERROR, /* 246 */
	TEST_NO_KVM,    /* 247 */
	TEST_VMM_FAULT, /* 248, or the VMM was killed */
	TEST_USAGE,     /* 249: the case cannot be run here as it is written */
	TEST_SKIP,      /* the case or its command said so, with a reason */
	TEST_OUTCOME_COUNT
};

/* What it counts as. Only TEST_NOT_OK makes the run's exit status 1. */
enum test_verdict {
	TEST_OK,      /* as expected */
	TEST_NOT_OK,  /* not as expected */
	TEST_KNOWN,   /* not as expected, and the suite says why and until when */
	TEST_FLAKY,   /* as expected in a later try only */
	TEST_SKIPPED, /* not run, or told so by the guest */
	TEST_VERDICT_COUNT
};

/* One result that the guest reported: a line of KTAP. */
struct test_sub {
	char *name; /* of nested tests with the outer ones: "list/list_add" */
	enum test_verdict verdict;
	char *directive; /* "SKIP no device", "TODO ...", or NULL */
	char *message;   /* its diagnostic lines, joined by newlines, or NULL; bounded */
};

struct test_result {
	/* which case */
	char *id;   /* unique in a run: "smoke[kernel=base,cpus=2]", "#3" behind it when repeated */
	char *test; /* the test's name in the suite */
	char *kernel, *cpu, *append; /* of the matrix; empty: the default */
	uint64_t cpus, memory_bytes;
	char *file; /* the suite file as given, and where the test stands in it */
	unsigned int line, column;
	size_t tag_count;
	char **tags;

	/* what happened */
	enum test_outcome outcome;
	enum test_verdict verdict;
	char *message; /* one sentence: why; empty for a plain pass */
	char *known;   /* the suite's reason, also where it holds no more; or NULL */
	/* Of one that is not as expected, lines; NULL: there are none. */
	char *backtrace;    /* where its guest was, if it failed as a machine */
	char *console_tail; /* what its kernel said last */
	int status;         /* exit status of the last "ringside run"; -1: none was started */
	unsigned int attempts;
	size_t warning_count; /* what was found and allowed: "WARNING ... allowed: reason" */
	char **warnings;
	size_t sub_count;
	struct test_sub *subs;

	/* where and how long */
	uint64_t started_unix_ns, duration_ns; /* of all attempts */
	uint64_t boot_ns;                      /* to user space, of the last; 0: not reached */
	bool has_class;
	enum exec_class exec_class;
	char *backend;       /* "kvm", "qemu"; empty: none was started */
	char *kernel_sha256; /* or empty */
	char *dir; /* console, stdout, stderr, record, artifacts; relative to the results */
};

const char *test_outcome_name(enum test_outcome o);
bool test_outcome_is_environment(enum test_outcome o);
bool test_result_is_known_but_ok(const struct test_result *r);
const char *test_verdict_name(enum test_verdict v);

json_t *test_result_to_json(const struct test_result *r);
int test_result_from_json(const json_t *json, struct test_result **ret, struct err *e) __must_check;
void test_result_destroy(struct test_result *r);
DEFINE_CLEANUP(struct test_result *, test_result_destroy)

#endif
