/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See test_files.h. Main thread. */
#include "cli/test_files.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "samples/test_document.h"

static bool is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* The results in a run's directory, where the path is one. */
static const char *file_of(const char *path, char *buf, size_t len)
{
	if (!is_folder(path) || snprintf(buf, len, "%s/" TEST_FILES_NAME, path) >= (int)len) {
		return path;
	}
	return buf;
}

/* A pipe's bytes come once: it cannot be looked into before it is read. */
static bool is_pipe(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
}

/**
 * test_files_are() - whether a path is of a test run, not of a comparison
 * @path: a file, or the directory of a run
 * @otherwise: what it is taken for where it cannot be told: a pipe
 *
 * Return: whether. A folder can be no other, even where there are no results in it.
 * Context: main thread.
 */
bool test_files_are(const char *path, bool otherwise)
{
	char buf[PATH_MAX];
	const char *file = file_of(path, buf, sizeof(buf));

	if (is_pipe(file)) {
		return otherwise;
	}
	return is_folder(path) || test_set_is_one(file) || test_document_is_one(file);
}

static int read_one(const char *path, struct test_set **ret, struct err *e)
{
	char buf[PATH_MAX];
	const char *file = file_of(path, buf, sizeof(buf));
	uint64_t dropped = 0;
	int r;

	if (file != path && access(file, F_OK) < 0) {
		return err_set(e, -ENOENT,
			       "%s: there is no " TEST_FILES_NAME
			       " in it, so it is not the directory of a test run",
			       path);
	}
	r = !is_pipe(file) && test_document_is_one(file) ? test_document_read(file, ret, e)
							 : test_set_read(file, ret, &dropped, e);

	if (r == 0 && dropped > 0) {
		log_warn("%s: the last record is cut off after %" PRIu64 " bytes, and left out",
			 file, dropped);
	}
	return r;
}

static int merge_one(struct test_files *f, const char *path, struct err *e)
{
	_cleanup_(test_set_destroy_p) struct test_set *other = NULL;
	int r = read_one(path, &other, e);

	if (r == 0) {
		r = test_set_merge(f->set, other, e);
		if (r < 0) {
			err_prefix(e, "%s", path);
		}
	}
	return r;
}

static int fill_report(struct test_files *f, bool merged, struct err *e)
{
	const struct test_plan *p = test_set_plan(f->set);
	struct test_report *t = &f->report;

	*t = (struct test_report){
		.title = *p->title ? p->title : p->suite,
		.ringside_version = p->ringside_version,
		.seed = p->seed,
		.shard = merged ? 1 : p->shard,
		.shards = merged ? 1 : p->shards,
		.dir = test_set_dir(f->set),
		.filter = p->filter,
	};
	t->results = test_set_results(f->set, &t->count);
	if (test_set_missing(f->set, &f->missing, &t->missing_count, e) < 0) {
		return -ENOMEM;
	}
	t->missing = f->missing;
	return 0;
}

static void warn_of_shards(const struct test_set *s)
{
	unsigned int shards = test_set_plan(s)->shards;

	for (unsigned int i = 1; i <= shards; i++) {
		if (!test_set_has_shard(s, i)) {
			log_warn("shard %u of %u is missing", i, shards);
		}
	}
}

/**
 * test_files_open() - read results files of a test run
 * @f: set; end it with test_files_close(), also on failure
 * @paths: files, or directories of runs
 * @n: how many, 1 or more; more than one only to merge
 * @merge: they are the shards of one run; those that are missing are warned of
 * @e: set on failure, names the file
 *
 * Return: 0, or as test_set_read() and test_set_merge().
 * Context: main thread.
 */
int test_files_open(struct test_files *f, char *const *paths, size_t n, bool merge, struct err *e)
{
	int r;

	*f = (struct test_files){.set = NULL};
	r = read_one(paths[0], &f->set, e);
	if (r == 0 && merge) {
		r = test_set_begin_merge(f->set, e);
	}
	for (size_t i = 1; r == 0 && i < n; i++) {
		r = merge_one(f, paths[i], e);
	}
	if (r == 0 && merge) {
		warn_of_shards(f->set);
	}
	return r < 0 ? r : fill_report(f, merge, e);
}

/**
 * test_files_close() - let them go
 * @f: opened, or half opened
 *
 * Context: main thread.
 */
void test_files_close(struct test_files *f)
{
	test_set_destroy(f->set);
	free(f->missing);
	*f = (struct test_files){.set = NULL};
}
