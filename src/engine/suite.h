/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A suite of regression tests: which kernels, on which virtual CPUs, with which command lines, run
 * what. Read from YAML (ringside-suite(5)) or made of one command line; expanded to cases, each of
 * which is one boot of "ringside run". Pure: no process is started here.
 */
#ifndef ENGINE_SUITE_H
#define ENGINE_SUITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "engine/ymap.h"
#include "samples/test_result.h"

enum suite_kind {
	SUITE_COMMAND,   /* argv, run by the agent */
	SUITE_SCRIPT,    /* a shell script of the host's, with files, run by the guest's busybox */
	SUITE_KSELFTEST, /* a directory of kselftests: each listed program, its KTAP */
	SUITE_SCRIPTS,   /* a directory of LTP-like scripts: each executable one, by its status */
	SUITE_KUNIT,     /* the kernel's own tests: built in, or modules to load */
	SUITE_FIRMWARE,  /* a payload instead of a kernel */
};

enum suite_expect {
	SUITE_EXPECT_PASS,
	SUITE_EXPECT_FAIL,
	SUITE_EXPECT_PANIC,
	SUITE_EXPECT_SKIP,
};

/* What is needed for a case to run; what is missing makes it a skip with that as its reason. */
struct suite_need {
	char *text; /* "kvm", "class=native", "config=KUNIT", "file=/usr/bin/x", "cpus=2" */
	struct ymap_pos pos;
};

/* What on the console is no failure, with its reason. */
struct suite_allow {
	char *pattern; /* POSIX extended regular expression, on one line */
	char *reason;
};

struct suite_test {
	char *name;
	struct ymap_pos pos;
	enum suite_kind kind;
	char **argv;   /* SUITE_COMMAND; NULL-terminated */
	char *path;    /* of script, directory or payload, found from the suite file's folder */
	char **list;   /* programs of a directory, KUnit suites or modules; NULL: all */
	char **files;  /* "HOST[:GUEST]", copied into the guest */
	char **env;    /* NAME=VALUE */
	char **shares; /* as --share */
	char *root;    /* as --root, or NULL: the initramfs */
	char **initrds;
	char **artifacts; /* guest paths brought back */
	struct suite_need *needs;
	size_t need_count;
	struct suite_allow *allows;
	size_t allow_count;
	char *fail_on; /* as --fail-on; default "oops,kasan,lockdep" */
	uint64_t boot_timeout_ns, idle_timeout_ns, timeout_ns;
	enum suite_expect expect;
	char *known;       /* reason of a failure that is known, or NULL */
	char *known_until; /* YYYY-MM-DD, or NULL: for ever */
	unsigned int retries;
	char **tags;
};

struct suite;

/* One boot. Points into the suite, which must outlive it. */
struct suite_case {
	char *id; /* owned */
	const struct suite_test *test;
	const char *kernel; /* file or image name; NULL: the default */
	const char *cpu;    /* as --cpu, or NULL */
	const char *append; /* or NULL */
	uint64_t cpus;
	uint64_t memory_bytes;
	unsigned int repeat; /* from 1 */
};

/* Which cases, and in which order. */
struct suite_select {
	const char *filter;  /* expression, or NULL: ringside-test(1) */
	unsigned int repeat; /* 1 or more */
	bool shuffle;
	uint64_t seed;
	unsigned int shard, shards; /* shard 1 to shards; 1 of 1: all */
};

struct suite_plan {
	struct suite_case *cases;
	size_t count;
};

/* One command without a file. */
struct suite_single {
	const char *const *kernels; /* NULL-terminated; empty: the default */
	const char *cpu, *append;
	uint64_t cpus, memory_bytes;
	uint64_t timeout_ns, boot_timeout_ns;
	char *const *argv;
};

int suite_read(const char *path, struct suite **ret, struct err *e) __must_check;
int suite_single(const struct suite_single *s, struct suite **ret, struct err *e) __must_check;
void suite_destroy(struct suite *s);
DEFINE_CLEANUP(struct suite *, suite_destroy)

const char *suite_path(const struct suite *s); /* as given; NULL: of a command line */
const char *suite_name(const struct suite *s);
int suite_print(const struct suite *s, FILE *out, struct err *e) __must_check; /* effective YAML */

int suite_expand(const struct suite *s, const struct suite_select *sel, struct suite_plan *ret,
		 struct err *e) __must_check;
void suite_plan_fini(struct suite_plan *p);

#endif
