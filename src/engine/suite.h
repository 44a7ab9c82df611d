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
#include "base/clock.h"
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

/* How a command, a script or a payload reports results. */
enum suite_format {
	SUITE_FORMAT_AUTO, /* as KTAP or TAP, if its output begins so; else by its status alone */
	SUITE_FORMAT_TAP,  /* as TAP with all of its stdout: a report is due */
	SUITE_FORMAT_NONE, /* by its status alone, whatever it prints */
};

enum suite_expect {
	SUITE_EXPECT_PASS,
	SUITE_EXPECT_FAIL,
	SUITE_EXPECT_PANIC,
	SUITE_EXPECT_SKIP,
};

#define SUITE_CASES_MAX       10000u /* of a suite, before they are filtered and repeated */
#define SUITE_REPEAT_MAX      10000u
#define SUITE_PLAN_MAX        1000000u /* cases times repetitions */

#define SUITE_MEMORY_BYTES    (UINT64_C(512) << 20) /* of a case that does not say */
#define SUITE_BOOT_TIMEOUT_NS (60 * NS_PER_SEC)
#define SUITE_TIMEOUT_NS      (600 * NS_PER_SEC)
#define SUITE_FAIL_ON         "oops,kasan,lockdep,rcu,lockup,hung"

enum suite_need_kind {
	SUITE_NEED_KVM,    /* "kvm": /dev/kvm that runs kernels */
	SUITE_NEED_CLASS,  /* "class=native" */
	SUITE_NEED_CONFIG, /* "config=KUNIT", "config=KUNIT=m": an option of the kernel; y or m */
	SUITE_NEED_FILE,   /* "file=/usr/bin/x": on this machine */
	SUITE_NEED_CPUS,   /* "cpus=2": processors of this machine */
	SUITE_NEED_MEMORY, /* "memory=4G": of this machine */
};

/* What is needed for a case to run; what is missing makes it a skip with that as its reason. */
struct suite_need {
	char *text;
	enum suite_need_kind kind;
	const char *value; /* into @text, behind the '='; NULL: none */
	uint64_t number;   /* of SUITE_NEED_CPUS; bytes of SUITE_NEED_MEMORY; enum exec_class */
	struct ymap_pos pos;
};

/* What on the console is no failure, with its reason. */
struct suite_allow {
	char *pattern; /* POSIX extended regular expression, on one line */
	char *reason;
};

/*
 * Lists are NULL-terminated, or NULL when there is nothing in them. Every path of this machine is
 * absolute: it was found from the suite file's folder.
 */
struct suite_test {
	char *name; /* letters, digits and ._+-; unique in the suite */
	struct ymap_pos pos;
	enum suite_kind kind;
	char **argv;  /* SUITE_COMMAND */
	char *path;   /* of script, directory or payload; of KUnit's modules, NULL: built in */
	char **list;  /* programs of a directory, modules, or one glob of KUnit suites; NULL: all */
	char **files; /* "HOST:GUEST", copied into the guest; the last ":/" parts them */
	char **env;   /* NAME=VALUE; each NAME once */
	char **shares; /* "DIR:MOUNT[,rw]", as --share */
	char *root;    /* as --root, or NULL: the initramfs */
	char **initrds;
	char **artifacts; /* guest paths brought back */
	struct suite_need *needs;
	size_t need_count;
	struct suite_allow *allows;
	size_t allow_count;
	char *fail_on;                        /* as --fail-on; NULL: nothing */
	uint64_t boot_timeout_ns, timeout_ns; /* never 0 */
	uint64_t idle_timeout_ns;             /* 0: none */
	struct ymap_pos boot_timeout_pos, timeout_pos, idle_timeout_pos; /* line 0: not in a file */
	enum suite_format format;
	enum suite_expect expect;
	char *known;       /* reason of a failure that is known, or NULL */
	char *known_until; /* YYYY-MM-DD, or NULL: for ever */
	unsigned int retries;
	char **tags;
};

struct suite;

/* One boot. Points into the suite, which must outlive it. */
struct suite_case {
	char *id; /* owned; unique in a plan, one line */
	const struct suite_test *test;
	const char *kernel; /* as --kernel; NULL: the default, or a firmware payload instead */
	const char *cpu;    /* as --cpu, or NULL */
	const char *append; /* or NULL; may be empty */
	uint64_t cpus;
	uint64_t memory_bytes;
	unsigned int repeat; /* from 1 */
};

/* Which cases, and in which order. */
struct suite_select {
	const char *filter;  /* expression, or NULL: ringside-test(1) */
	unsigned int repeat; /* 0 counts as 1 */
	bool shuffle;
	uint64_t seed;
	unsigned int shard, shards; /* shard 1 to shards; 0 of 0 or 1 of 1: all */
};

struct suite_plan {
	struct suite_case *cases;
	size_t count;
};

/* One command without a file. What is 0 or NULL is the default. */
struct suite_single {
	const char *const *kernels; /* NULL-terminated; NULL or empty: the default */
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
const char *suite_title(const struct suite *s);
int suite_print(const struct suite *s, FILE *out, struct err *e) __must_check; /* effective YAML */

int suite_expand(const struct suite *s, const struct suite_select *sel, struct suite_plan *ret,
		 struct err *e) __must_check;
void suite_plan_fini(struct suite_plan *p);

#endif
