/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See run_files.h. Main thread, before anything else is started. */
#include "cli/run_files.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

#define DEPTH_MAX     32
#define DEFAULT_PLACE "/tmp"

struct finder {
	struct run_files *files;
	struct closure *closure; /* NULL: the guest's programs find their libraries elsewhere */
	bool rooted;
	unsigned int depth;
};

/*
 * In the archive, before the place in the guest: what is mounted over is put aside, and the agent
 * copies it when that is done.
 */
static const char *prefix_of(const struct finder *x, const char *guest)
{
	bool hidden = text_starts_with(guest, "/tmp/") || text_starts_with(guest, "/run/") ||
		      text_starts_with(guest, "/dev/");

	return x->rooted || hidden ? GUEST_FILES_PATH : "";
}

static int add(struct finder *x, const char *host, const char *guest, const char *target,
	       mode_t perm, struct err *e)
{
	struct run_files *f = x->files;
	struct initramfs_file *more, *file;
	char *name = NULL;

	if (f->count == RUN_FILES_MAX) {
		return err_set(e, -E2BIG, "--file: more than %d files", RUN_FILES_MAX);
	}
	more = realloc(f->files, (f->count + 1) * sizeof(*more));
	if (more) {
		f->files = more;
	}
	if (!more || asprintf(&name, "%s%s", prefix_of(x, guest), guest) < 0) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	file = &more[f->count++];
	/* The archive's names have no slash before them. */
	*file = (struct initramfs_file){
		.name = name + 1,
		.path = strdup(host),
		.target = target ? strdup(target) : NULL,
		.perm = perm,
	};
	return file->path && (file->target || !target) ? 0 : err_set(e, -ENOMEM, "out of memory");
}

static int add_any(struct finder *x, const char *host, const char *guest, struct err *e);

static int add_folder(struct finder *x, const char *host, const char *guest, struct err *e)
{
	DIR *dir = opendir(host);
	const struct dirent *entry;
	int r = 0;

	if (!dir) {
		return err_errno(e, -errno, "--file %s", host);
	}
	if (++x->depth > DEPTH_MAX) {
		r = err_set(e, -ELOOP, "--file %s: more than %d folders deep", host, DEPTH_MAX);
	}
	while (r == 0 && (entry = readdir(dir))) {
		_cleanup_free_ char *from = NULL, *to = NULL;

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) {
			continue;
		}
		if (asprintf(&from, "%s/%s", host, entry->d_name) < 0 ||
		    asprintf(&to, "%s/%s", guest, entry->d_name) < 0) {
			r = err_set(e, -ENOMEM, "out of memory");
			break;
		}
		r = add_any(x, from, to, e);
	}
	x->depth--;
	closedir(dir);
	return r;
}

static int add_link(struct finder *x, const char *host, const char *guest, struct err *e)
{
	char target[PATH_MAX];
	ssize_t n = readlink(host, target, sizeof(target) - 1);

	if (n < 0) {
		return err_errno(e, -errno, "--file %s", host);
	}
	target[n] = '\0';
	return add(x, host, guest, target, 0777, e);
}

/* A program with its libraries, where the guest has none of its own. */
static int add_file(struct finder *x, const char *host, const char *guest, mode_t perm,
		    struct err *e)
{
	_cleanup_free_ char *name = NULL;
	char path[PATH_MAX];

	if (!x->closure || initramfs_program_kind(host) != INITRAMFS_DYNAMIC) {
		return add(x, host, guest, NULL, perm, e);
	}
	if (!realpath(host, path)) {
		return err_errno(e, -errno, "--file %s", host);
	}
	if (asprintf(&name, "%s%s", prefix_of(x, guest), guest) < 0) {
		name = NULL;
		return err_set(e, -ENOMEM, "out of memory");
	}
	return closure_add(x->closure, path, name, e);
}

static int add_any(struct finder *x, const char *host, const char *guest, struct err *e)
{
	struct stat st;

	/* What is named itself may be a link, and is what that points to. */
	if (x->depth ? lstat(host, &st) < 0 : stat(host, &st) < 0) {
		return err_errno(e, -errno, "--file %s", host);
	}
	if (S_ISDIR(st.st_mode)) {
		return add_folder(x, host, guest, e);
	}
	if (S_ISLNK(st.st_mode)) {
		return add_link(x, host, guest, e);
	}
	if (S_ISREG(st.st_mode)) {
		return add_file(x, host, guest, st.st_mode & 07777, e);
	}
	return x->depth ? 0 : err_set(e, -EINVAL, "--file %s: neither a file nor a folder", host);
}

static int split(const char *value, char **ret_host, char **ret_guest, struct err *e)
{
	size_t host = text_host_len(value);
	const char *at = value[host] ? value + host : NULL;
	const char *slash;

	*ret_host = strndup(value, host);
	if (*ret_host && !at) {
		slash = strrchr(*ret_host, '/');
		if (asprintf(ret_guest, DEFAULT_PLACE "/%s", slash ? slash + 1 : *ret_host) < 0) {
			*ret_guest = NULL;
		}
	} else {
		*ret_guest = at ? strdup(at + 1) : NULL;
	}
	if (!*ret_host || !*ret_guest) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	for (size_t len = strlen(*ret_guest); len > 1 && (*ret_guest)[len - 1] == '/'; len--) {
		(*ret_guest)[len - 1] = '\0';
	}
	if (!**ret_host || strcmp(*ret_guest, "/") == 0) {
		return err_set(e, -EINVAL, "--file %s: expected FILE[:PLACE IN THE GUEST]", value);
	}
	return 0;
}

/**
 * run_files_find() - find what is to be copied into the guest
 * @values: of --file: HOST[:GUEST]; a folder is all that is in it
 * @rooted: the command has a root of its own: the agent copies it there
 * @closure: gets programs with the libraries that they need, unless @rooted
 * @ret: set on success; end it with run_files_fini()
 * @e: set on failure, names the file
 *
 * Return: 0, -EINVAL, -E2BIG, -ELOOP, -ENOMEM, as closure_add(), or the errno of stat(2).
 * Context: main thread; reads folders and programs.
 */
int run_files_find(const struct opt_list *values, bool rooted, struct closure *closure,
		   struct run_files *ret, struct err *e)
{
	struct run_files files = {0};
	struct finder x = {
		.files = &files,
		.closure = rooted ? NULL : closure,
		.rooted = rooted,
	};
	int r = 0;

	for (size_t i = 0; r == 0 && i < values->count; i++) {
		_cleanup_free_ char *host = NULL, *guest = NULL;

		r = split(values->items[i], &host, &guest, e);
		if (r == 0) {
			r = add_any(&x, host, guest, e);
		}
	}
	if (r < 0) {
		run_files_fini(&files);
		return r;
	}
	*ret = files;
	return 0;
}

/**
 * run_files_fini() - forget them
 * @f: found, or all zero
 *
 * Context: any thread.
 */
void run_files_fini(struct run_files *f)
{
	for (size_t i = 0; i < f->count; i++) {
		free((char *)f->files[i].name - 1);
		free((char *)f->files[i].path);
		free((char *)f->files[i].target);
	}
	free(f->files);
	*f = (struct run_files){0};
}
