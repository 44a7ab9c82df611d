/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See helpers.h. */
#include "cli/helpers.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int path_print(char *ret_path, size_t len, struct err *e, const char *fmt, ...)
	__printf(4, 5);

static int path_print(char *ret_path, size_t len, struct err *e, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(ret_path, len, fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= len) {
		return err_set(e, -ENAMETOOLONG, "%s...: the path is too long", ret_path);
	}
	return 0;
}

/* The folder that this program's file is in. */
static int own_folder(char *ret_path, size_t len, struct err *e)
{
	ssize_t n = readlink("/proc/self/exe", ret_path, len - 1);

	if (n < 0) {
		return err_errno(e, -errno, "/proc/self/exe");
	}
	ret_path[n] = '\0';
	*strrchr(ret_path, '/') = '\0';
	return 0;
}

/**
 * cli_find_helper() - find a companion file of this program
 * @name: its name, such as "ringside-agent" or "firmware/ring3.elf"
 * @ret_path: set on success
 * @len: size of @ret_path, PATH_MAX is enough
 * @e: set on failure
 *
 * A build tree has it beside the program, an installed one in ../libexec/ringside.
 *
 * Return: 0, -ENOENT when it is in neither place, -ENAMETOOLONG, or the errno of readlink(2).
 * Context: any thread.
 */
int cli_find_helper(const char *name, char *ret_path, size_t len, struct err *e)
{
	static const char *const places[] = {"", "/../libexec/ringside"};
	char exe[PATH_MAX];
	int r = own_folder(exe, sizeof(exe), e);

	if (r < 0) {
		return r;
	}
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		r = path_print(ret_path, len, e, "%s%s/%s", exe, places[i], name);
		if (r < 0) {
			return r;
		}
		if (access(ret_path, R_OK) == 0) {
			return 0;
		}
	}
	return err_set(e, -ENOENT,
		       "%s is neither in %s nor in %s/../libexec/ringside: build it with "
		       "ninja, or install ringside whole",
		       name, exe, exe);
}

/**
 * cli_cache_dir() - the folder where kernel images and results are kept
 * @ret_path: set on success; it need not exist yet
 * @len: size of @ret_path
 * @e: set on failure
 *
 * Return: 0, -ENOENT when neither XDG_CACHE_HOME nor HOME is set, -ENAMETOOLONG.
 * Context: any thread.
 */
int cli_cache_dir(char *ret_path, size_t len, struct err *e)
{
	const char *base = getenv("XDG_CACHE_HOME");

	if (base && *base) {
		return path_print(ret_path, len, e, "%s/ringside", base);
	}
	base = getenv("HOME");
	if (!base || !*base) {
		return err_set(e, -ENOENT,
			       "neither XDG_CACHE_HOME nor HOME is set: there is no place for "
			       "ringside's cache of kernels and results; set one of them, or "
			       "name files by their paths (--kernel FILE, --out DIR)");
	}
	return path_print(ret_path, len, e, "%s/.cache/ringside", base);
}

/**
 * cli_find_kernel_script() - find the program that builds guest kernels
 * @ret_path: set on success
 * @len: size of @ret_path, PATH_MAX is enough
 * @e: set on failure
 *
 * It is the file "build" of the folder that RINGSIDE_KERNEL_CONFIG names, else of the source tree
 * that this program was built in, else of what was installed with it. A folder of configuration
 * alone has none; the script finds that by itself.
 *
 * Return: 0, -ENOENT when it is in none of these places, -ENAMETOOLONG, or the errno of
 * readlink(2). Context: any thread.
 */
int cli_find_kernel_script(char *ret_path, size_t len, struct err *e)
{
	static const char *const places[] = {"/..", "/../share/ringside"};
	const char *config = getenv("RINGSIDE_KERNEL_CONFIG");
	char exe[PATH_MAX];
	int r = own_folder(exe, sizeof(exe), e);

	if (r == 0 && config && *config) {
		r = path_print(ret_path, len, e, "%s/build", config);
		if (r == 0 && access(ret_path, X_OK) == 0) {
			return 0;
		}
	}
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(places); i++) {
		r = path_print(ret_path, len, e, "%s%s/guest-kernel-config/build", exe, places[i]);
		if (r == 0 && access(ret_path, X_OK) == 0) {
			return 0;
		}
	}
	return r < 0 ? r
		     : err_set(e, -ENOENT,
			       "guest-kernel-config/build is neither in %s/.. nor in "
			       "%s/../share/ringside: install ringside whole, or name its folder by "
			       "RINGSIDE_KERNEL_CONFIG",
			       exe, exe);
}

/**
 * cli_check_file() - whether a path can be opened and mapped without waiting for anybody
 * @option: the option that it was given to, for the message
 * @path: the path
 * @e: set on failure
 *
 * Opening a pipe blocks until somebody writes to it, and a device may never end.
 *
 * Return: 0, -EINVAL for what is no regular file or empty, or the errno of stat(2).
 * Context: any thread.
 */
int cli_check_file(const char *option, const char *path, struct err *e)
{
	struct stat st;

	if (stat(path, &st) < 0) {
		return err_errno(e, -errno, "--%s %s", option, path);
	}
	if (!S_ISREG(st.st_mode)) {
		return err_set(e, -EINVAL, "--%s %s: this is a %s, expected a regular file", option,
			       path,
			       S_ISDIR(st.st_mode)    ? "folder"
			       : S_ISFIFO(st.st_mode) ? "pipe"
			       : S_ISSOCK(st.st_mode) ? "socket"
						      : "device");
	}
	if (st.st_size == 0) {
		return err_set(e, -EINVAL, "--%s %s: the file is empty", option, path);
	}
	return 0;
}

/**
 * cli_find_kernel() - the file behind a --kernel value
 * @arg: the name of an image of guest-kernel-config/kernels.yaml that is in the cache, or a path; a
 *       file of the working folder that is called like such an image is ./NAME
 * @ret_path: set on success
 * @len: size of @ret_path
 * @e: set on failure
 *
 * Return: 0, -ENOENT with what to do about it, -EINVAL for what is no regular file, -ENAMETOOLONG.
 * Context: any thread.
 */
int cli_find_kernel(const char *arg, char *ret_path, size_t len, struct err *e)
{
	char cache[PATH_MAX];
	int r;

	if (!strchr(arg, '/')) {
		r = cli_cache_dir(cache, sizeof(cache), e);
		if (r == 0) {
			r = path_print(ret_path, len, e, "%s/kernels/by-name/%s/vmlinux", cache,
				       arg);
		}
		if (r == 0 && access(ret_path, F_OK) == 0) {
			return 0;
		}
		if (access(arg, F_OK) < 0) {
			return r < 0 ? r
				     : err_set(e, -ENOENT,
					       "--kernel %s: neither a file nor an image in the "
					       "cache (%s): build it with 'ringside kernel build %s'",
					       arg, ret_path, arg);
		}
	}
	r = path_print(ret_path, len, e, "%s", arg);
	return r == 0 ? cli_check_file("kernel", ret_path, e) : r;
}

/**
 * cli_end_by_signal() - end this process by a signal: the caller is to see that one did, and which
 * @sig: a deadly one
 *
 * Context: any thread.
 */
void cli_end_by_signal(int sig)
{
	signal(sig, SIG_DFL);
	raise(sig);
}

/**
 * cli_make_parents() - make the folders that a path stands in
 * @path: of a file or folder that need not be there
 * @e: set on failure
 *
 * Return: 0, -ENOMEM, or the errno of mkdir(2).
 * Context: any thread.
 */
int cli_make_parents(const char *path, struct err *e)
{
	_cleanup_free_ char *p = strdup(path);

	if (!p) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	for (char *slash = strchr(p + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(p, 0777) < 0 && errno != EEXIST) {
			return err_errno(e, -errno, "%s", p);
		}
		*slash = '/';
	}
	return 0;
}

/**
 * cli_make_cache_parents() - make the folders that a results file of the cache stands in
 * @path: of a file or folder in the cache that need not be there
 * @e: set on failure, says what to name instead
 *
 * Return: as cli_make_parents().
 * Context: any thread.
 */
int cli_make_cache_parents(const char *path, struct err *e)
{
	struct err why;
	int r = cli_make_parents(path, &why);

	return r == 0 ? 0
		      : err_set(e, r,
				"%s: there is no place for ringside's cache of results; set "
				"XDG_CACHE_HOME or HOME, or name another place (test --out DIR, "
				"compare --results FILE)",
				why.text);
}

/**
 * cli_is_stdout() - whether a report is to go to stdout
 * @path: as given, or NULL for no report
 *
 * Return: whether it is "-".
 * Context: any thread.
 */
bool cli_is_stdout(const char *path)
{
	return path && strcmp(path, "-") == 0;
}

/**
 * cli_in_path() - whether a program can be started by its name alone
 * @name: its name
 *
 * Return: whether a folder of PATH has it.
 * Context: any thread.
 */
bool cli_in_path(const char *name)
{
	const char *path = getenv("PATH");

	for (const char *p = path ? path : ""; *p; p += *p == ':') {
		int len = (int)strcspn(p, ":");
		char file[PATH_MAX];
		struct stat st;

		/* An empty folder is the current one. */
		if (snprintf(file, sizeof(file), "%.*s%s%s", len, p, len ? "/" : "./", name) <
			    (int)sizeof(file) &&
		    stat(file, &st) == 0 && S_ISREG(st.st_mode) && access(file, X_OK) == 0) {
			return true;
		}
		p += len;
	}
	return false;
}
