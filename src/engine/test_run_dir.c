/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A case's directory. See test_run_priv.h. Main thread. */
#include "engine/test_run_priv.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Of a directory's name, in bytes: file systems take 255. */
#define NAME_MAX_BYTES 200

static const char *const file_names[TEST_FILE_COUNT] = {
	[TEST_FILE_STDOUT] = "stdout",
	[TEST_FILE_STDERR] = "stderr",
	[TEST_FILE_CONSOLE] = "console",
	[TEST_FILE_RECORD] = "record.json",
};

/* An id as the name of a directory that no shell trips over. */
static void make_name(const char *id, char *ret)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "=,._+@#-";
	size_t n = 0;

	for (; *id && n < NAME_MAX_BYTES; id++) {
		if (*id == '[') {
			ret[n++] = '-';
		} else if (*id != ']') {
			ret[n] = strchr(plain, *id) ? *id : '_';
			n++;
		}
	}
	ret[n] = '\0';
	if (ret[0] == '.' || ret[0] == '-') {
		ret[0] = '_';
	}
}

static int set_paths(struct test_dir *d)
{
	for (size_t i = 0; i < TEST_FILE_COUNT; i++) {
		if (asprintf(&d->files[i], "%s/%s", d->path, file_names[i]) < 0) {
			d->files[i] = NULL;
			return -ENOMEM;
		}
	}
	if (asprintf(&d->scratch, "%s/tmp", d->path) < 0) {
		d->scratch = NULL;
		return -ENOMEM;
	}
	if (asprintf(&d->core, "%s/core", d->path) < 0) {
		d->core = NULL;
		return -ENOMEM;
	}
	d->name = strrchr(d->path, '/') + 1;
	return 0;
}

/**
 * test_dir_create() - make the directory of a case
 * @parent: where; must be there
 * @id: the case's id; two ids that make one name get two directories
 * @ret: set on success; end it with test_dir_fini(), which leaves the directory
 * @e: set on failure
 *
 * Return: 0, -ENOMEM, or the errno of mkdir(2).
 * Context: main thread.
 */
int test_dir_create(const char *parent, const char *id, struct test_dir *ret, struct err *e)
{
	char name[NAME_MAX_BYTES + 1];
	struct test_dir d = {0};
	int r = -EEXIST;

	make_name(id, name);
	for (unsigned int i = 1; r == -EEXIST; i++) {
		free(d.path);
		if (i == 1 ? asprintf(&d.path, "%s/%s", parent, name) < 0
			   : asprintf(&d.path, "%s/%s~%u", parent, name, i) < 0) {
			return err_set(e, -ENOMEM, "out of memory");
		}
		r = mkdir(d.path, 0777) < 0 ? -errno : 0;
	}
	if (r < 0) {
		err_errno(e, r, "%s", d.path);
	} else if (set_paths(&d) < 0) {
		r = err_set(e, -ENOMEM, "out of memory");
	} else if (mkdir(d.scratch, 0700) < 0) {
		r = err_errno(e, -errno, "%s", d.scratch);
	}
	if (r < 0) {
		test_dir_fini(&d);
		return r;
	}
	*ret = d;
	return 0;
}

/**
 * test_dir_open() - make a file of a case's directory, for writing
 * @d: the directory
 * @file: which
 * @ret_fd: set on success; the caller's
 * @e: set on failure
 *
 * Return: 0 or the errno of open(2).
 * Context: main thread.
 */
int test_dir_open(const struct test_dir *d, enum test_file file, int *ret_fd, struct err *e)
{
	int fd = open(d->files[file], O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);

	if (fd < 0) {
		return err_errno(e, -errno, "%s", d->files[file]);
	}
	*ret_fd = fd;
	return 0;
}

/* Moves what is there, if it is. */
static int move(const char *from, const char *to_dir, struct err *e)
{
	_cleanup_free_ char *to = NULL;

	if (asprintf(&to, "%s/%s", to_dir, strrchr(from, '/') + 1) < 0) {
		to = NULL;
		return err_set(e, -ENOMEM, "out of memory");
	}
	return rename(from, to) < 0 && errno != ENOENT ? err_errno(e, -errno, "%s", to) : 0;
}

/**
 * test_dir_put_aside() - keep what a try has left, that another one follows
 * @d: the directory
 * @attempt: the number of the try that has ended, from 1: it is in "try-1" then
 * @e: set on failure
 *
 * Return: 0, -ENOMEM, or the errno of mkdir(2) or rename(2).
 * Context: main thread.
 */
int test_dir_put_aside(const struct test_dir *d, unsigned int attempt, struct err *e)
{
	_cleanup_free_ char *dir = NULL, *artifacts = NULL;
	int r = 0;

	if (asprintf(&dir, "%s/try-%u", d->path, attempt) < 0) {
		dir = NULL;
		return err_set(e, -ENOMEM, "out of memory");
	}
	if (asprintf(&artifacts, "%s/artifacts", d->path) < 0) {
		artifacts = NULL;
		return err_set(e, -ENOMEM, "out of memory");
	}
	if (mkdir(dir, 0777) < 0) {
		return err_errno(e, -errno, "%s", dir);
	}
	for (size_t i = 0; r == 0 && i < TEST_FILE_COUNT; i++) {
		r = move(d->files[i], dir, e);
	}
	if (r == 0) {
		r = move(d->core, dir, e);
	}
	return r < 0 ? r : move(artifacts, dir, e);
}

/**
 * test_dir_bytes() - how much was written so far, to see whether more comes
 * @d: the directory
 *
 * Return: bytes of all its outputs.
 * Context: main thread.
 */
uint64_t test_dir_bytes(const struct test_dir *d)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < TEST_FILE_COUNT; i++) {
		struct stat st;

		bytes += stat(d->files[i], &st) == 0 ? (uint64_t)st.st_size : 0;
	}
	return bytes;
}

/* Takes a directory's content away, folder by folder, and never follows a link. */
static void empty(int parent, const char *name)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *entry;

	if (!dir) {
		return;
	}
	while ((entry = readdir(dir))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) {
			continue;
		}
		if (unlinkat(fd, entry->d_name, 0) < 0) {
			empty(fd, entry->d_name);
			(void)unlinkat(fd, entry->d_name, AT_REMOVEDIR);
		}
	}
	closedir(dir);
}

/**
 * test_dir_clean() - take away what is of no use when the case has ended
 * @d: the directory
 *
 * Context: main thread.
 */
void test_dir_clean(const struct test_dir *d)
{
	if (rmdir(d->scratch) < 0 && errno == ENOTEMPTY) {
		empty(AT_FDCWD, d->scratch);
		(void)rmdir(d->scratch);
	}
}

/**
 * test_dir_fini() - forget a directory, which stays
 * @d: made by test_dir_create(), half made, or all zero
 *
 * Context: any thread.
 */
void test_dir_fini(struct test_dir *d)
{
	free(d->path);
	for (size_t i = 0; i < TEST_FILE_COUNT; i++) {
		free(d->files[i]);
	}
	free(d->core);
	free(d->scratch);
	*d = (struct test_dir){0};
}
