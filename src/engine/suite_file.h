/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A suite's file as it stands there, before anything in it is judged. */
#ifndef ENGINE_SUITE_FILE_H
#define ENGINE_SUITE_FILE_H

#include "engine/suite.h"
#include "engine/suite_priv.h"
#include "engine/ymap.h"

#define SUITE_FILES_FOLDER "/tmp" /* of the guest */

#define SUITE_TESTS_MAX    1000
#define SUITE_LIST_MAX     256
#define SUITE_AXIS_MAX     1000
#define SUITE_RETRIES_MAX  10
#define SUITE_SECONDS_MAX  86400
#define SUITE_CPUS_MAX     1024 /* as --cpus */

struct suite_file_exclude {
	struct ymap_pos pos;
	struct ymap_text kernel, cpu, memory, append;
	struct ymap_uint cpus;
};

struct suite_file_matrix {
	struct ymap_pos pos;
	struct ymap_list kernels, cpu, cpus, memory, append, exclude;
};

struct suite_file_allow {
	struct ymap_pos pos;
	struct ymap_text pattern, reason;
};

struct suite_file_timeouts {
	struct ymap_pos pos;
	struct ymap_text boot, idle, whole;
};

struct suite_file_known {
	struct ymap_pos pos;
	struct ymap_text reason, until;
};

struct suite_file_test {
	struct ymap_pos pos;
	struct ymap_text name, script, kselftest, scripts, kunit, firmware;
	struct ymap_list command, only;
	struct suite_file_matrix matrix;
	/* Only what follows may also stand in the defaults. */
	struct ymap_list files, env, shares, initrds, artifacts, needs, allow, tags;
	struct ymap_text root, fail_on, format, expect;
	struct suite_file_timeouts timeouts;
	struct suite_file_known known;
	struct ymap_uint retries;
};

struct suite_file {
	struct ymap_pos pos;
	struct ymap_text name;
	struct suite_file_test defaults;
	struct suite_file_matrix matrix;
	struct ymap_list tests;
};

extern const struct ymap suite_file_map;

/* One file that is made into a suite. */
struct suite_reading {
	const char *path;
	char *folder; /* that the file is in, absolute */
	struct suite *to;
	struct err *e;
};

__printf(3, 4) int suite_fail(const struct suite_reading *r, struct ymap_pos pos, const char *fmt,
			      ...);
int suite_no_memory(const struct suite_reading *r);

/* suite_check.c: one text each; what they return is the caller's to free. */
enum suite_path_kind { SUITE_PATH_ANY, SUITE_PATH_FILE, SUITE_PATH_FOLDER, SUITE_PATH_ROOT };

int suite_check_name(const struct suite_reading *r, const char *key,
		     const struct ymap_text *t) __must_check;
int suite_check_line(const struct suite_reading *r, const char *key,
		     const struct ymap_text *t) __must_check;
int suite_find_path(const struct suite_reading *r, const char *key, struct ymap_pos pos,
		    const char *name, enum suite_path_kind kind, char **ret) __must_check;
int suite_take_file(const struct suite_reading *r, const struct ymap_text *t,
		    char **ret) __must_check;
int suite_take_share(const struct suite_reading *r, const struct ymap_text *t,
		     char **ret) __must_check;
int suite_take_root(const struct suite_reading *r, const struct ymap_text *t,
		    char **ret) __must_check;
int suite_take_initrd(const struct suite_reading *r, const struct ymap_text *t,
		      char **ret) __must_check;
int suite_take_env(const struct suite_reading *r, const struct ymap_text *t,
		   char **ret) __must_check;
int suite_take_artifact(const struct suite_reading *r, const struct ymap_text *t,
			char **ret) __must_check;
int suite_take_tag(const struct suite_reading *r, const struct ymap_text *t,
		   char **ret) __must_check;
int suite_take_fail_on(const struct suite_reading *r, const struct ymap_text *t,
		       char **ret) __must_check;
int suite_check_pattern(const struct suite_reading *r, const struct ymap_text *t) __must_check;
int suite_check_date(const struct suite_reading *r, const struct ymap_text *t) __must_check;
int suite_take_time(const struct suite_reading *r, const char *key, const struct ymap_text *t,
		    bool may_be_none, uint64_t *ret_ns) __must_check;
int suite_take_memory(const struct suite_reading *r, const struct ymap_text *t,
		      uint64_t *ret_bytes) __must_check;

/* suite_test.c */
int suite_take_test(const struct suite_reading *r, const struct suite_file *f,
		    const struct suite_file_test *from, struct suite_test *to) __must_check;

#endif
