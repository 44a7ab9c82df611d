/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See results.h. One thread. */
#include "samples/results.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"

struct results {
	int fd;
	uint64_t len; /* bytes of whole lines */
	char *path;
	bool created; /* here, and not found */
};

/*
 * Lines of a file, from its start on. It takes no more memory than a record may have, also for a
 * file without lines, such as /dev/zero.
 */
struct reader {
	int fd;
	char *buf;
	size_t room, begin, end;
};

static void reader_fini(struct reader *r)
{
	free(r->buf);
}

/* Reads more behind what is there; 0 at the end of the file. */
static ssize_t read_more(struct reader *r)
{
	ssize_t n;

	if (r->begin > 0) {
		memmove(r->buf, r->buf + r->begin, r->end - r->begin);
		r->end -= r->begin;
		r->begin = 0;
	}
	if (r->end == r->room) {
		size_t room = r->room ? 2 * r->room : 64 * 1024;
		char *buf = realloc(r->buf, room);

		if (!buf) {
			return -ENOMEM;
		}
		r->buf = buf;
		r->room = room;
	}
	do {
		n = read(r->fd, r->buf + r->end, r->room - r->end);
	} while (n < 0 && errno == EINTR);
	r->end += n > 0 ? (size_t)n : 0;
	return n < 0 ? -errno : n;
}

/* A line with its end, if it has one; of length 0 at the end of the file. */
static int read_line(struct reader *r, char **ret_text, size_t *ret_len)
{
	size_t seen = 0;

	for (;;) {
		size_t there = r->end - r->begin;
		char *text = r->buf + r->begin;
		char *newline = there > seen ? memchr(text + seen, '\n', there - seen) : NULL;
		ssize_t n = 1;

		if (!newline && there <= RESULTS_LINE_MAX) {
			seen = there;
			n = read_more(r);
		}
		if (n < 0) {
			return (int)n;
		}
		if (newline || n == 0 || there > RESULTS_LINE_MAX) {
			*ret_text = r->buf + r->begin;
			*ret_len = newline ? (size_t)(newline - text) + 1 : there;
			r->begin += *ret_len;
			return 0;
		}
	}
}

/* Reads the lines of an open file that stands at its start. */
static int read_lines(int fd, const char *path, results_line_fn fn, void *ctx,
		      struct results_scan *ret, struct err *e)
{
	_cleanup_(reader_fini) struct reader reader = {.fd = fd};
	struct results_scan scan = {0};
	size_t n = 0;
	char *text;
	int r;

	for (;;) {
		r = read_line(&reader, &text, &n);
		if (r < 0) {
			return err_errno(e, r, "%s: reading", path);
		}
		if (n == 0) {
			break;
		}
		if (n > RESULTS_LINE_MAX) {
			return err_set(e, -EFBIG,
				       "%s: line %zu is longer than the %u bytes a record may have",
				       path, scan.lines + 1, RESULTS_LINE_MAX);
		}
		if (text[n - 1] != '\n') {
			scan.dropped = n;
			break;
		}
		scan.whole_len += n;
		scan.lines++;
		text[--n] = '\0';
		r = fn ? fn(ctx, scan.lines, text, n, e) : 0;
		if (r < 0) {
			err_prefix(e, "%s: line %zu", path, scan.lines);
			return r;
		}
	}
	*ret = scan;
	return 0;
}

/**
 * results_read() - read a results file without touching it
 * @path: the file
 * @fn: called for each whole line
 * @ctx: handed to @fn
 * @ret: set on success
 * @e: set on failure, names the file and the line
 *
 * Return: 0, -EFBIG for a line that is too long, what @fn returned, or the errno of open(2).
 * Context: any thread.
 */
int results_read(const char *path, results_line_fn fn, void *ctx, struct results_scan *ret,
		 struct err *e)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0) {
		return err_errno(e, -errno, "%s", path);
	}
	return read_lines(fd, path, fn, ctx, ret, e);
}

/*
 * Takes the lock of a file. A writer that was killed may have left a process behind that still has
 * its descriptors, just after fork(2): it ends within moments, and so long we wait.
 */
static int lock(int fd)
{
	const struct timespec pause = {0, 10 * 1000 * 1000};
	int r = flock(fd, LOCK_EX | LOCK_NB);

	for (int i = 0; i < 100 && r < 0 && errno == EWOULDBLOCK; i++) {
		nanosleep(&pause, NULL);
		r = flock(fd, LOCK_EX | LOCK_NB);
	}
	return r;
}

static int results_open(const char *path, int flags, struct results **ret, struct err *e)
{
	_cleanup_(results_close_p) struct results *r = calloc(1, sizeof(*r));
	struct stat st;

	if (!r) {
		return err_errno(e, -ENOMEM, "%s", path);
	}
	r->fd = open(path, flags | O_RDWR | O_CLOEXEC, 0644);
	if (r->fd < 0) {
		return err_errno(e, -errno, "%s", path);
	}
	/* A pipe would have us wait for ourselves. */
	if (fstat(r->fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		return err_set(e, -EOPNOTSUPP, "%s: expected a regular file", path);
	}
	r->path = strdup(path);
	if (!r->path) {
		return err_errno(e, -ENOMEM, "%s", path);
	}
	if (lock(r->fd) < 0) {
		if (errno == EWOULDBLOCK) {
			return err_set(e, -EBUSY,
				       "%s: another ringside is writing it; wait for it "
				       "or choose another --results file",
				       path);
		}
		return err_errno(e, -errno, "%s: flock", path);
	}
	*ret = TAKE_PTR(r);
	return 0;
}

/* Makes the file's name durable; a file system that cannot sync a folder does without. */
static void sync_folder(const char *path)
{
	_cleanup_free_ char *folder = strdup(path);
	char *slash = folder ? strrchr(folder, '/') : NULL;
	_cleanup_close_ int fd = -1;

	if (slash) {
		slash[slash == folder] = '\0';
	}
	fd = open(slash ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0 && fsync(fd) < 0 && errno != EINVAL) {
		/* The records themselves are synced one by one; this is all that can be tried. */
		return;
	}
}

/**
 * results_create() - begin a new results file
 * @path: must not exist yet: results are never overwritten
 * @ret: set on success; end it with results_close()
 * @e: set on failure
 *
 * Return: 0, -EEXIST, -EBUSY, -ENOMEM, or the errno of open(2).
 * Context: any thread.
 */
int results_create(const char *path, struct results **ret, struct err *e)
{
	int r = results_open(path, O_CREAT | O_EXCL, ret, e);

	if (r == -EEXIST) {
		return err_set(e, r,
			       "%s exists and is never overwritten: go on with it by "
			       "--resume, or choose another --results file or --seed",
			       path);
	}
	if (r == 0) {
		(*ret)->created = true;
		sync_folder(path);
	}
	return r;
}

/**
 * results_reopen() - go on with a results file
 * @path: an existing file
 * @fn: called for each whole line
 * @ctx: handed to @fn
 * @ret: set on success, at the end of the last whole line; end it with results_close()
 * @ret_scan: set on success; a partial last line was cut off when its dropped is not 0
 * @e: set on failure; nothing was changed in the file then
 *
 * Return: 0, -ENOENT, -EBUSY, -EFBIG, what @fn returned, or the errno of open(2) or ftruncate(2).
 * Context: any thread.
 */
int results_reopen(const char *path, results_line_fn fn, void *ctx, struct results **ret,
		   struct results_scan *ret_scan, struct err *e)
{
	_cleanup_(results_close_p) struct results *res = NULL;
	struct results_scan scan;
	int r = results_open(path, 0, &res, e);

	if (r < 0) {
		return r;
	}
	r = read_lines(res->fd, path, fn, ctx, &scan, e);
	if (r < 0) {
		return r;
	}
	if (scan.dropped > 0 && ftruncate(res->fd, (off_t)scan.whole_len) < 0) {
		return err_errno(e, -errno, "%s: cutting off a partial last record", path);
	}
	if (lseek(res->fd, (off_t)scan.whole_len, SEEK_SET) < 0) {
		return err_errno(e, -errno, "%s", path);
	}
	res->len = scan.whole_len;
	*ret_scan = scan;
	*ret = TAKE_PTR(res);
	return 0;
}

/**
 * results_append() - add a line and wait until it is on the disk
 * @r: the file
 * @text: the line, without a newline in it
 * @len: its length, bytes
 * @e: set on failure; the file ends with the line before then
 *
 * A file that was made here and whose first line cannot be written is removed: it holds nothing,
 * and would be in the way of the next try.
 *
 * Return: 0, -ENOMEM, or the errno of write(2) or fsync(2), -ENOSPC among them.
 * Context: a thread that may block.
 */
int results_append(struct results *r, const char *text, size_t len, struct err *e)
{
	_cleanup_free_ char *line = malloc(len + 1);
	int code;

	if (!line) {
		return err_errno(e, -ENOMEM, "%s", r->path);
	}
	memcpy(line, text, len);
	line[len] = '\n';
	code = io_write_all(r->fd, line, len + 1);
	/* A file system that cannot sync was chosen by the user. */
	if (code == 0 && fsync(r->fd) < 0 && errno != EINVAL && errno != EROFS) {
		code = -errno;
	}
	if (code < 0 && r->created && r->len == 0) {
		unlink(r->path);
		return err_errno(e, code, "%s: writing the first record", r->path);
	}
	if (code < 0) {
		if (ftruncate(r->fd, (off_t)r->len) < 0 ||
		    lseek(r->fd, (off_t)r->len, SEEK_SET) < 0) {
			return err_set(e, code,
				       "%s: writing a record: %s; its partial line is dropped when "
				       "the file is read",
				       r->path, strerror(-code));
		}
		return err_set(e, code, "%s: writing a record: %s; the records before it are kept",
			       r->path, strerror(-code));
	}
	r->len += len + 1;
	return 0;
}

/**
 * results_path() - the file's path
 * @r: the file
 *
 * Return: as it was given, valid until results_close().
 * Context: any thread.
 */
const char *results_path(const struct results *r)
{
	return r->path;
}

/**
 * results_close() - let the file go
 * @r: the file, or NULL
 *
 * Context: any thread.
 */
void results_close(struct results *r)
{
	if (!r) {
		return;
	}
	if (r->fd >= 0) {
		close(r->fd);
	}
	free(r->path);
	free(r);
}
