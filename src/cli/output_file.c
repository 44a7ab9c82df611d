/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See output_file.h. Main thread. */
#include "cli/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/draft.h"
#include "cli/helpers.h"

/* A file, or nothing yet: something that a draft can take the place of. */
static bool is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) < 0 ? errno == ENOENT : S_ISREG(st.st_mode);
}

/* Where a path leads to, also one whose last part is still to come; NULL: nowhere. */
static char *place_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	_cleanup_free_ char *folder =
		slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
	_cleanup_free_ char *at = NULL;
	char *place = realpath(path, NULL);

	if (place || errno != ENOENT || !folder) {
		return place;
	}
	at = realpath(folder, NULL);
	return at && asprintf(&place, "%s/%s", at, slash ? slash + 1 : path) >= 0 ? place : NULL;
}

/* A record is one line; a report of ours, and any other JSON made to be read, begins otherwise. */
static bool begins_with_record(const char *path)
{
	_cleanup_close_ int fd = is_file(path) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	char head[2];

	return fd >= 0 && read(fd, head, sizeof(head)) == (ssize_t)sizeof(head) &&
	       memcmp(head, "{\"", sizeof(head)) == 0;
}

/**
 * output_check_inputs() - refuse a place where something stands that is still to be read
 * @option: that names it, "--html"
 * @path: where the output is to be; NULL or "-": none
 * @inputs: what is read, files that may still be to come; NULL among them: none
 * @n: how many
 * @e: set on failure
 *
 * Return: 0 or -EINVAL.
 * Context: main thread.
 */
int output_check_inputs(const char *option, const char *path, const char *const *inputs, size_t n,
			struct err *e)
{
	_cleanup_free_ char *place = path && !cli_is_stdout(path) ? place_of(path) : NULL;

	for (size_t i = 0; place && i < n; i++) {
		_cleanup_free_ char *input = inputs[i] ? place_of(inputs[i]) : NULL;

		if (input && strcmp(input, place) == 0) {
			return err_set(e, -EINVAL,
				       "%s %s: that file is read here, and would be "
				       "overwritten: give another name",
				       option, path);
		}
	}
	return 0;
}

/**
 * output_check() - the same, and refuse any file of records
 * @option: that names it, "--html"
 * @path: where the report is to be; NULL or "-": none
 * @inputs: what the report is made of, as for output_check_inputs()
 * @n: how many
 * @e: set on failure
 *
 * Return: 0 or -EINVAL.
 * Context: main thread.
 */
int output_check(const char *option, const char *path, const char *const *inputs, size_t n,
		 struct err *e)
{
	int r = output_check_inputs(option, path, inputs, n, e);

	return r == 0 && path && !cli_is_stdout(path) && begins_with_record(path)
		       ? err_set(e, -EINVAL,
				 "%s %s: there are records in that file, and they are never "
				 "overwritten: give another name",
				 option, path)
		       : r;
}

/* As open(2) would have made it, or as the file is whose place it takes. */
static int set_mode(int fd, const char *place)
{
	struct stat st;
	mode_t mask = umask(0);

	umask(mask);
	return fchmod(fd, stat(place, &st) < 0 ? 0666 & ~mask : st.st_mode & 0777) < 0 ? -errno : 0;
}

/* Closes @f. */
static int write_to(FILE *f, output_fn fn, const void *ctx)
{
	int r;

	errno = 0;
	r = fn(ctx, f);
	if (fflush(f) == EOF || ferror(f)) {
		r = errno ? -errno : -EIO;
	}
	return fclose(f) == EOF && r == 0 ? -errno : r;
}

static int write_draft(const char *place, output_fn fn, const void *ctx)
{
	struct err e = ERR_INIT;
	struct draft d;
	FILE *f = NULL;
	int fd = -1;
	int r = draft_open(&d, "", place, &e);

	if (r == 0) {
		r = set_mode(d.fd, place);
	}
	if (r == 0) {
		fd = fcntl(d.fd, F_DUPFD_CLOEXEC, 0);
		f = fd >= 0 ? fdopen(fd, "w") : NULL;
		r = f ? write_to(f, fn, ctx) : -errno;
	}
	if (!f && fd >= 0) {
		close(fd);
	}
	r = r == 0 ? draft_publish(&d) : r;
	draft_close(&d);
	return r;
}

/**
 * output_write() - write a report into a file
 * @path: where to; what is no regular file is written as it is
 * @fn: writes it; its errors are taken from errno and from the stream
 * @ctx: for @fn
 *
 * Return: 0, or the negative errno of what could not be done; then a regular file is as it was.
 * Context: main thread.
 */
int output_write(const char *path, output_fn fn, const void *ctx)
{
	_cleanup_free_ char *place = NULL;
	FILE *f;

	if (is_file(path)) {
		place = place_of(path);
		return place ? write_draft(place, fn, ctx) : -errno;
	}
	f = fopen(path, "we");
	return f ? write_to(f, fn, ctx) : -errno;
}
