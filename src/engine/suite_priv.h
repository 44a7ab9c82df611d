/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of a suite share: reading, expanding, filtering, printing. */
#ifndef ENGINE_SUITE_PRIV_H
#define ENGINE_SUITE_PRIV_H

#include "engine/suite.h"

/* Values of one axis; a NULL stands alone and means that the axis is not given. */
struct suite_texts {
	char **v;
	size_t n;
};

struct suite_numbers {
	uint64_t *v;
	size_t n;
};

/* A combination, whole or in part, that is not run. */
struct suite_exclude {
	struct ymap_pos pos;
	char *kernel, *cpu, *append; /* NULL: any */
	uint64_t cpus, memory_bytes; /* 0: any */
};

struct suite_matrix {
	struct suite_texts kernels, cpu, append;
	struct suite_numbers cpus, memory;
	struct suite_exclude *excludes;
	size_t exclude_count;
};

struct suite_entry {
	struct suite_test test;
	struct suite_matrix matrix; /* whole: each axis has a value */
};

struct suite {
	char *path, *name;
	bool named; /* the file says the name */
	struct suite_entry *entries;
	size_t count;
};

#define SUITE_NAME "command" /* of the suite and the test that a command line makes */

/* Words of the file. */
#define SUITE_KUNIT_BUILTIN "builtin"
#define SUITE_FAIL_ON_NONE  "none"

/* suite.c */
void suite_test_init(struct suite_test *t);
int suite_list_add(char ***list, const char *text) __must_check;
size_t suite_list_count(char *const *list);
int suite_texts_add(struct suite_texts *t, const char *text) __must_check;
int suite_numbers_add(struct suite_numbers *n, uint64_t v) __must_check;
int suite_matrix_complete(struct suite_matrix *m) __must_check;
void suite_exclude_fini(struct suite_exclude *x);

/* suite_expand.c */
uint64_t suite_matrix_size(const struct suite_matrix *m);
void suite_matrix_at(const struct suite_matrix *m, uint64_t i, struct suite_case *ret);
bool suite_exclude_matches(const struct suite_exclude *x, const struct suite_case *c);

/* Enough for any size that suite_size() writes. */
#define SUITE_SIZE_MAX 24

const char *suite_size(uint64_t bytes, char *buf, size_t len);

#endif
