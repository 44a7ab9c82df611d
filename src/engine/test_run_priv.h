/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One case under way: its directory, the words of its "ringside run", its result. */
#ifndef ENGINE_TEST_RUN_PRIV_H
#define ENGINE_TEST_RUN_PRIV_H

#include <limits.h>

#include "engine/spawn.h"
#include "engine/test_run.h"

/* The files of a case's directory. */
enum test_file {
	TEST_FILE_STDOUT,
	TEST_FILE_STDERR,
	TEST_FILE_CONSOLE,
	TEST_FILE_RECORD,
	TEST_FILE_COUNT,
};

struct test_dir {
	char *path;       /* from where we are */
	const char *name; /* its last part: where it is from the results */
	char *files[TEST_FILE_COUNT];
	char *core;    /* where that of the guest is to be */
	char *scratch; /* for what the process wants to put somewhere; gone afterwards */
};

int test_dir_create(const char *parent, const char *id, struct test_dir *ret,
		    struct err *e) __must_check;
int test_dir_put_aside(const struct test_dir *d, unsigned int attempt, struct err *e) __must_check;
int test_dir_open(const struct test_dir *d, enum test_file file, int *ret_fd,
		  struct err *e) __must_check;
uint64_t test_dir_bytes(const struct test_dir *d);
void test_dir_clean(const struct test_dir *d);
void test_dir_fini(struct test_dir *d);

/* Words of a command line; each is owned. */
struct test_words {
	char **v; /* NULL-terminated */
	size_t count;
	bool failed; /* no memory for one */
};

int test_words_make(const struct test_run_config *cfg, const struct suite_case *c,
		    const struct test_dir *d, struct test_words *ret, struct err *e) __must_check;
bool test_words_have_core(const struct test_run_config *cfg, const struct suite_case *c);
void test_words_fini(struct test_words *w);

/* What did not come back, and why, a line each; NULL: nothing is missing. */
int test_artifacts_take(const struct test_dir *d, struct spawn_result *s, char **ret_missing,
			struct err *e) __must_check;

int test_result_begin(const struct test_run_config *cfg, const struct suite_case *c, const char *id,
		      struct test_result **ret, struct err *e) __must_check;
void test_result_say(struct test_result *r, char *text);
int test_result_warn(struct test_result *r, const char *lines, struct err *e) __must_check;

/* Where what a test needs is in the guest. */
#define TEST_GUEST_SCRIPT "/ringside/script"
#define TEST_GUEST_TESTS  "/ringside/tests"
#define TEST_GUEST_RUNNER "/ringside/runner"

bool test_job_has_runner(const struct suite_test *t);
int test_job_make(const struct suite_case *c, char **ret_text, size_t *ret_len,
		  struct err *e) __must_check;

#endif
