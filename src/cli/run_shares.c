/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See run_shares.h. Runs on the main thread. */
#include "cli/run_shares.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "samples/record.h"

/* Takes ",rw" off the end of a value of len bytes; a name's own commas stay. */
static bool take_rw(const char *value, size_t *len)
{
	if (*len <= 3 || memcmp(value + *len - 3, ",rw", 3) != 0) {
		return false;
	}
	*len -= 3;
	return true;
}

/* Adds a directory by its full name. */
static int add_share(struct run_shares *s, const char *option, const char *dir, bool rw,
		     struct err *e)
{
	struct stat st;
	char *path;

	if (s->count == BACKEND_SHARES_MAX) {
		return err_set(e, -E2BIG, "%s %s: more than %d directories, the root among them",
			       option, dir, BACKEND_SHARES_MAX);
	}
	path = realpath(dir, NULL);
	if (!path) {
		return err_errno(e, -errno, "%s %s", option, dir);
	}
	if (stat(path, &st) < 0 || !S_ISDIR(st.st_mode)) {
		free(path);
		return err_set(e, -ENOTDIR, "%s %s: no directory", option, dir);
	}
	s->share[s->count++] = (struct backend_share){.path = path, .read_only = !rw};
	return 0;
}

/* Of DIR:MOUNT the part from the colon on; a mount is absolute, so a name's own colons stay. */
static const char *find_mount(const char *value, size_t len)
{
	for (size_t i = len; i > 1; i--) {
		if (value[i - 1] == ':' && value[i] == '/' && i < len) {
			return value + i - 1;
		}
	}
	return NULL;
}

static int add_mount(struct run_shares *s, const char *mount, size_t mount_len, bool rw,
		     struct err *e)
{
	const char *path = s->share[s->count - 1].path;
	const char *base = strrchr(path, '/') + 1;
	char *tag, *at;
	int bad;

	bad = mount ? asprintf(&at, "%.*s", (int)mount_len, mount) < 0
		    : asprintf(&at, "/mnt/%s", *base ? base : "root") < 0;
	if (bad) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	if (asprintf(&tag, "share%zu", s->count - 1) < 0) {
		free(at);
		return err_set(e, -ENOMEM, "out of memory");
	}
	s->at[s->at_count++] = (struct job_share){.tag = tag, .at = at, .read_only = !rw};
	for (size_t i = 0; i + 1 < s->at_count; i++) {
		if (strcmp(s->at[i].at, at) == 0) {
			return err_set(e, -EEXIST,
				       "--share: two directories at %s; give one of them another "
				       "place, DIR:MOUNT",
				       at);
		}
	}
	return 0;
}

static int parse_share(const char *value, struct run_shares *s, struct err *e)
{
	size_t len = strlen(value);
	bool rw = take_rw(value, &len);
	const char *mount = find_mount(value, len);
	size_t dir_len = mount ? (size_t)(mount - value) : len;
	_cleanup_free_ char *dir = strndup(value, dir_len);
	int r;

	if (!dir) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	if (dir_len == 0 || value[0] == ',') {
		return err_set(e, -EINVAL, "--share: expected DIR[:MOUNT][,rw], got '%s'", value);
	}
	if (mount && memchr(mount, ',', len - dir_len)) {
		return err_set(e, -EINVAL,
			       "--share %s: a comma in the guest's place: only ',rw' may stand "
			       "behind it; without it, it is for reading only",
			       value);
	}
	r = add_share(s, "--share", dir, rw, e);
	return r < 0 ? r : add_mount(s, mount ? mount + 1 : NULL, len - dir_len - 1, rw, e);
}

/**
 * run_shares_parse() - read the values of --share
 * @values: as they were given
 * @ret: set, also on failure; end it with run_shares_fini()
 * @e: set on failure
 *
 * Return: 0; -EINVAL for a value without a directory, -ENOTDIR or another errno for one that is
 * none, -EEXIST for two at one place, -E2BIG for too many, -ENOMEM.
 */
int run_shares_parse(const struct opt_list *values, struct run_shares *ret, struct err *e)
{
	int r = 0;

	*ret = (struct run_shares){.count = 0};
	for (size_t i = 0; i < values->count && r == 0; i++) {
		r = parse_share(values->items[i], ret, e);
	}
	return r;
}

/* Who works in a directory that the root has too, goes on there. */
static int keep_cwd(struct run_shares *s, struct err *e)
{
	const char *root = s->share[s->count - 1].path;
	size_t len = strcmp(root, "/") == 0 ? 0 : strlen(root);
	char cwd[PATH_MAX];

	if (getcwd(cwd, sizeof(cwd)) && strncmp(cwd, root, len) == 0 && cwd[len] == '/') {
		s->cwd = strdup(cwd + len);
		return s->cwd ? 0 : err_set(e, -ENOMEM, "out of memory");
	}
	return 0;
}

static int add_root_disk(struct run_shares *s, struct run_disks *disks, const char *path, bool rw,
			 struct err *e)
{
	char *copy;

	if (disks->count == BACKEND_DISKS_MAX) {
		return err_set(e, -E2BIG, "--root %s: more than %d disks, the root among them",
			       path, BACKEND_DISKS_MAX);
	}
	copy = strdup(path);
	if (!copy) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	snprintf(s->root_id, sizeof(s->root_id), "ringside-disk%zu", disks->count);
	disks->disk[disks->count++] = (struct backend_disk){.path = copy, .read_only = !rw};
	s->root.disk = s->root_id;
	return 0;
}

/**
 * run_root_parse() - read the value of --root, and add what it names to the shares or disks
 * @value: as it was given, or NULL
 * @init: the root's own init is to be the first process
 * @shares: with the shares that were given; gets the root
 * @disks: with the disks that were given; gets the root's after them
 * @e: set on failure
 *
 * Return: 0, -EINVAL, the errno of what cannot be found, -E2BIG, -ENOMEM.
 */
int run_root_parse(const char *value, bool init, struct run_shares *shares, struct run_disks *disks,
		   struct err *e)
{
	size_t len = value ? strlen(value) : 0;
	bool rw = value && take_rw(value, &len);
	_cleanup_free_ char *path = NULL;
	struct stat st;
	int r;

	if (!value) {
		return 0;
	}
	path = strndup(value, len);
	if (!path) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	if (len == 0 || value[0] == ',') {
		return err_set(e, -EINVAL, "--root: expected DIR|IMAGE[,rw], got '%s'", value);
	}
	if (stat(path, &st) < 0) {
		return err_errno(e, -errno, "--root %s", path);
	}
	shares->root = (struct job_root){.read_only = !rw, .init = init};
	if (!S_ISDIR(st.st_mode)) {
		return add_root_disk(shares, disks, path, rw, e);
	}
	r = add_share(shares, "--root", path, rw, e);
	if (r < 0) {
		return r;
	}
	snprintf(shares->root_id, sizeof(shares->root_id), "share%zu", shares->count - 1);
	shares->root.share = shares->root_id;
	return keep_cwd(shares, e);
}

/**
 * run_shares_to_json() - what the guest was given of the host's files, for the record
 * @s: parsed
 * @disks: those that run_root_parse() was given
 *
 * Return: an object, the caller's; NULL when there is nothing, or no memory.
 */
json_t *run_shares_to_json(const struct run_shares *s, const struct run_disks *disks)
{
	json_t *shares, *root = json_null();

	if (s->count == 0 && !s->root.disk) {
		return NULL;
	}
	shares = json_array();
	for (size_t i = 0; i < s->at_count; i++) {
		json_array_append_new(shares, json_pack("{s:o, s:o, s:b}", "dir",
							record_text_to_json(s->share[i].path), "at",
							record_text_to_json(s->at[i].at), "ro",
							(int)s->at[i].read_only));
	}
	/* The root was added last, to whichever it belongs. */
	if (s->root.share || s->root.disk) {
		root = json_pack("{s:o, s:b, s:b}", "from",
				 record_text_to_json(s->root.share
							     ? s->share[s->count - 1].path
							     : disks->disk[disks->count - 1].path),
				 "ro", (int)s->root.read_only, "init", (int)s->root.init);
	}
	return json_pack("{s:o, s:o}", "shares", shares, "root", root);
}

/**
 * run_shares_fini() - free what run_shares_parse() and run_root_parse() made
 * @s: set by them, or zeroed
 */
void run_shares_fini(struct run_shares *s)
{
	while (s->count > 0) {
		free(s->share[--s->count].path);
	}
	while (s->at_count > 0) {
		s->at_count--;
		free((char *)s->at[s->at_count].tag);
		free((char *)s->at[s->at_count].at);
	}
	free(s->cwd);
	s->cwd = NULL;
}
