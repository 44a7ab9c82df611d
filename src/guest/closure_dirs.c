/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * /etc/ld.so.conf: the directories that ldconfig(8) makes ld.so's cache from. One a line, "include
 * PATTERN" reads more files, '#' begins a comment. Any thread.
 */
#include <ctype.h>
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/io.h"
#include "base/text.h"
#include "guest/closure_priv.h"

#define CONF_BYTES_MAX 65536
#define DIRS_MAX       256
#define DEPTH_MAX      4 /* of includes, which ldconfig does not stop from going round */

static int read_conf(const char *root, const char *path, int depth, struct closure_dirs *d,
		     struct err *e);

static int add_dir(struct closure_dirs *d, const char *dir, struct err *e)
{
	if (dir[0] != '/' || d->n == DIRS_MAX) {
		return 0;
	}
	d->dirs[d->n] = strdup(dir);
	if (!d->dirs[d->n]) {
		return err_errno(e, -ENOMEM, "%s", dir);
	}
	d->n++;
	return 0;
}

static int include(const char *root, const char *pattern, int depth, struct closure_dirs *d,
		   struct err *e)
{
	char full[PATH_MAX];
	glob_t found;
	int r = 0;

	if ((size_t)snprintf(full, sizeof(full), "%s%s%s", root, pattern[0] == '/' ? "" : "/etc/",
			     pattern) >= sizeof(full) ||
	    glob(full, 0, NULL, &found) != 0) {
		return 0;
	}
	for (size_t i = 0; r == 0 && i < found.gl_pathc; i++) {
		r = read_conf(root, found.gl_pathv[i], depth + 1, d, e);
	}
	globfree(&found);
	return r;
}

static int take_line(const char *root, char *line, int depth, struct closure_dirs *d, struct err *e)
{
	size_t len;

	line[strcspn(line, "#")] = '\0';
	line += strspn(line, " \t");
	len = strlen(line);
	while (len > 0 && isspace((unsigned char)line[len - 1])) {
		line[--len] = '\0';
	}
	if (text_starts_with(line, "include") && (line[7] == ' ' || line[7] == '\t')) {
		return include(root, line + 7 + strspn(line + 7, " \t"), depth, d, e);
	}
	return add_dir(d, line, e);
}

static int read_conf(const char *root, const char *path, int depth, struct closure_dirs *d,
		     struct err *e)
{
	_cleanup_free_ char *text = NULL;
	char *next;
	int r;

	if (depth > DEPTH_MAX) {
		return 0;
	}
	r = io_read_file(path, CONF_BYTES_MAX, &text, NULL, e);
	if (r < 0) {
		return r == -ENOENT ? 0 : r;
	}
	next = text;
	for (char *line; r == 0 && (line = strsep(&next, "\n"));) {
		r = take_line(root, line, depth, d, e);
	}
	return r;
}

/**
 * closure_dirs_read() - the directories of /etc/ld.so.conf
 * @root: put before every path; "" for this machine
 * @ret: set on success, empty without such a file; end it with closure_dirs_fini()
 * @e: set on failure
 *
 * Return: 0, -ENOMEM, or the errno of reading a file that is there.
 * Context: reads files.
 */
int closure_dirs_read(const char *root, struct closure_dirs *ret, struct err *e)
{
	struct closure_dirs d = {.dirs = calloc(DIRS_MAX, sizeof(*d.dirs))};
	char path[PATH_MAX];
	int r;

	if (!d.dirs) {
		return err_errno(e, -ENOMEM, "ld.so.conf");
	}
	snprintf(path, sizeof(path), "%s/etc/ld.so.conf", root);
	r = read_conf(root, path, 0, &d, e);
	if (r < 0) {
		closure_dirs_fini(&d);
		return r;
	}
	*ret = d;
	return 0;
}

/**
 * closure_dirs_fini() - free what closure_dirs_read() allocated
 * @d: all zero is fine
 *
 * Context: any thread.
 */
void closure_dirs_fini(struct closure_dirs *d)
{
	for (size_t i = 0; i < d->n; i++) {
		free(d->dirs[i]);
	}
	free(d->dirs);
	*d = (struct closure_dirs){0};
}
