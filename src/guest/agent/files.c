/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files that came with the initramfs and belong into what is mounted over it: the command's root,
 * and /tmp and its like.
 * See agent.h.
 */
#include "guest/agent/agent.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#define FROM "/ringside/files" /* GUEST_FILES_PATH */

static int copy_file(const char *from, const char *to, const struct stat *st, struct err *e)
{
	_cleanup_close_ int in = open(from, O_RDONLY | O_CLOEXEC);
	_cleanup_close_ int out = -1;
	ssize_t n = 1;

	if (in < 0) {
		return err_errno(e, -errno, "%s", from);
	}
	/* What is there of the name is another file, and stays so for whoever has it open. */
	unlink(to);
	out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	while (out >= 0 && n > 0) {
		n = sendfile(out, in, NULL, 1 << 20);
	}
	if (out < 0 || n < 0 || fchmod(out, st->st_mode & 07777) < 0) {
		return err_errno(e, -errno, "%s", to);
	}
	return 0;
}

static int copy_link(const char *from, const char *to, struct err *e)
{
	char target[PATH_MAX];
	ssize_t n = readlink(from, target, sizeof(target) - 1);

	if (n < 0) {
		return err_errno(e, -errno, "%s", from);
	}
	target[n] = '\0';
	unlink(to);
	return symlink(target, to) < 0 ? err_errno(e, -errno, "%s", to) : 0;
}

static int copy_folder(const char *from, const char *to, struct err *e)
{
	DIR *dir = opendir(from);
	const struct dirent *entry;
	int r = 0;

	if (!dir) {
		return err_errno(e, -errno, "%s", from);
	}
	if (*to && mkdir(to, 0755) < 0 && errno != EEXIST) {
		r = err_errno(e, -errno, "%s", to);
	}
	while (r == 0 && (entry = readdir(dir))) {
		char in[PATH_MAX], out[PATH_MAX];
		struct stat st;

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) {
			continue;
		}
		if (snprintf(in, sizeof(in), "%s/%s", from, entry->d_name) >= (int)sizeof(in) ||
		    snprintf(out, sizeof(out), "%s/%s", to, entry->d_name) >= (int)sizeof(out)) {
			r = err_errno(e, -ENAMETOOLONG, "%s", to);
		} else if (lstat(in, &st) < 0) {
			r = err_errno(e, -errno, "%s", in);
		} else {
			r = S_ISDIR(st.st_mode)   ? copy_folder(in, out, e)
			    : S_ISLNK(st.st_mode) ? copy_link(in, out, e)
						  : copy_file(in, out, &st, e);
		}
	}
	closedir(dir);
	return r;
}

/**
 * files_enter() - copy the files that are meant for what is mounted
 * @root: where the command's root is; empty: it is the agent's own
 * @e: set on failure, names the file
 *
 * Return: 0, also when there are none, or the errno of what failed.
 * Context: the agent, once all is mounted.
 */
int files_enter(const char *root, struct err *e)
{
	return access(FROM, F_OK) < 0 ? 0 : copy_folder(FROM, root, e);
}
