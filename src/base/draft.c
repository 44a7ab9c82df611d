/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See draft.h. One thread. */
#include "base/draft.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Guest memory, say, is nobody else's business. */
#define DRAFT_MODE 0600

static int open_folder(struct draft *d, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	_cleanup_free_ char *folder =
		slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");

	/* Room for what stands around it while it is not published. */
	if (snprintf(d->name, sizeof(d->name), "%s", name) >= NAME_MAX - 16) {
		return -ENAMETOOLONG;
	}
	if (!*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
		return -EISDIR;
	}
	if (!folder) {
		return -ENOMEM;
	}
	d->dir_fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return d->dir_fd < 0 ? -errno : 0;
}

/* What stands there must be something that a file can take the place of. */
static int check_place(const struct draft *d)
{
	struct stat st;

	if (fstatat(d->dir_fd, d->name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		return errno == ENOENT ? 0 : -errno;
	}
	return S_ISREG(st.st_mode)   ? 0
	       : S_ISDIR(st.st_mode) ? -EISDIR
	       : S_ISLNK(st.st_mode) ? -ELOOP
				     : -EEXIST;
}

static int open_file(struct draft *d)
{
	d->fd = openat(d->dir_fd, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, DRAFT_MODE);
	if (d->fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) {
		d->fd = openat(d->dir_fd, d->aside,
			       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, DRAFT_MODE);
		d->named = d->fd >= 0;
	}
	return d->fd < 0 ? -errno : 0;
}

/**
 * draft_open() - begin a file
 * @d: set, also on failure; draft_close() it
 * @what: what wants it, such as an option
 * @path: where it is to be; its folder exists; lives as long as @d
 * @e: gets one line that begins with @what and @path
 *
 * Return: 0, or a negative errno: -ELOOP for a symbolic link, -EISDIR for a folder, -EEXIST for
 * what else is no regular file, or what open(2) said.
 */
int draft_open(struct draft *d, const char *what, const char *path, struct err *e)
{
	int r;

	*d = (struct draft){.dir_fd = -1, .fd = -1, .path = path};
	r = open_folder(d, path);
	if (r == 0) {
		snprintf(d->aside, sizeof(d->aside), ".%.*s.%d", NAME_MAX - 16, d->name,
			 (int)getpid());
		r = check_place(d);
	}
	if (r == 0) {
		r = open_file(d);
	}
	if (r == -ELOOP) {
		return err_set(e, r, "%s %s: is a symbolic link, and none is followed", what, path);
	}
	return r < 0 ? err_errno(e, r, "%s %s", what, path) : 0;
}

/**
 * draft_publish() - give the file its name, whole as it is
 * @d: a file that was written
 *
 * Return: 0, or the negative errno of linkat(2) or renameat(2); then the name is as it was before.
 */
int draft_publish(struct draft *d)
{
	char self[32];

	if (!d->named) {
		snprintf(self, sizeof(self), "/proc/self/fd/%d", d->fd);
		if (linkat(AT_FDCWD, self, d->dir_fd, d->aside, AT_SYMLINK_FOLLOW) < 0) {
			return -errno;
		}
		d->named = true;
	}
	if (renameat(d->dir_fd, d->aside, d->dir_fd, d->name) < 0) {
		return -errno;
	}
	d->named = false;
	return 0;
}

/**
 * draft_close() - let go of the file; one that was not published is gone
 * @d: begun, or one whose draft_open() failed; closed once or again
 */
void draft_close(struct draft *d)
{
	if (d->named) {
		(void)!unlinkat(d->dir_fd, d->aside, 0);
		d->named = false;
	}
	if (d->fd >= 0) {
		close(d->fd);
	}
	if (d->dir_fd >= 0) {
		close(d->dir_fd);
	}
	d->fd = d->dir_fd = -1;
}
