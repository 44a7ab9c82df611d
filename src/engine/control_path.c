/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See control_path.h. Runs on the main thread. */
#include "engine/control_path.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>

#define SUFFIX  ".sock"
#define LOCK    ".lock"
#define BACKLOG 16

/**
 * control_name_check() - whether a machine may be called so
 * @name: as the user wrote it
 * @e: set on failure
 *
 * Return: 0 or −EINVAL.
 */
int control_name_check(const char *name, struct err *e)
{
	size_t len = strlen(name);
	bool good = len > 0 && len <= CONTROL_NAME_MAX && isalnum((unsigned char)name[0]);

	for (size_t i = 0; i < len && good; i++) {
		good = isalnum((unsigned char)name[i]) || strchr("-_.", name[i]);
	}
	return good ? 0
		    : err_set(e, -EINVAL,
			      "'%s' is no name for a machine: expected a letter or digit, then up "
			      "to %d letters, digits, '-', '_' and '.'",
			      name, CONTROL_NAME_MAX - 1);
}

/* The folder may lie in /tmp, where others could have made it before us. */
static int check_folder(const char *path, struct err *e)
{
	struct stat st;

	if (lstat(path, &st) < 0) {
		return err_errno(e, -errno, "%s", path);
	}
	if (!S_ISDIR(st.st_mode) || st.st_uid != getuid() || (st.st_mode & 077)) {
		return err_set(e, -EPERM,
			       "%s is not a folder that only its owner, this user, may enter: "
			       "machines are not to be found there",
			       path);
	}
	return 0;
}

/* The folder of all machines of this user, made when it is not there. */
static int open_folder(char *path, size_t size, struct err *e)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	int n;

	if (runtime && runtime[0] == '/') {
		n = snprintf(path, size, "%s/ringside", runtime);
	} else {
		n = snprintf(path, size, "/tmp/ringside-%u", (unsigned int)getuid());
	}
	if (n < 0 || (size_t)n + 1 + CONTROL_NAME_MAX + strlen(SUFFIX) >= size) {
		return err_set(e, -ENAMETOOLONG,
			       "XDG_RUNTIME_DIR is too long for a socket's address: %s", runtime);
	}
	if (mkdir(path, 0700) < 0 && errno != EEXIST) {
		return err_errno(e, -errno, "%s", path);
	}
	return check_folder(path, e);
}

/* Held until it is closed. */
static int take_lock(const char *folder, int *ret_fd, struct err *e)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, LOCK);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0 || flock(fd, LOCK_EX) < 0) {
		int r = -errno;

		if (fd >= 0) {
			close(fd);
		}
		return err_errno(e, r, "%s", path);
	}
	*ret_fd = fd;
	return 0;
}

static void make_address(struct sockaddr_un *a, const char *folder, const char *name)
{
	*a = (struct sockaddr_un){.sun_family = AF_UNIX};
	/* open_folder() has seen to it that this fits. */
	snprintf(a->sun_path, sizeof(a->sun_path), "%.61s/%.*s" SUFFIX, folder, CONTROL_NAME_MAX,
		 name);
}

/* A connected socket, or a negative errno; −ECONNREFUSED: its machine is gone. */
static int try_connect(const struct sockaddr_un *a)
{
	/* A machine that is stopped by job control takes nobody in, and its queue may be full. */
	const struct timeval patience = {.tv_sec = CONTROL_PATIENCE_S};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int r;

	if (fd < 0) {
		return -errno;
	}
	(void)!setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (connect(fd, (const struct sockaddr *)a, sizeof(*a)) < 0) {
		r = -errno;
		close(fd);
		return r;
	}
	return fd;
}

static int bind_socket(const struct sockaddr_un *a, const char *name, struct err *e)
{
	int fd = try_connect(a), r;

	if (fd >= 0) {
		close(fd);
		return err_set(e, -EADDRINUSE, "a machine called '%s' runs already", name);
	}
	if (fd == -ECONNREFUSED) {
		(void)!unlink(a->sun_path);
	} else if (fd != -ENOENT) {
		return err_errno(e, fd, "%s", a->sun_path);
	}
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0) {
		return err_errno(e, -errno, "the socket of '%s'", name);
	}
	if (bind(fd, (const struct sockaddr *)a, sizeof(*a)) < 0 || listen(fd, BACKLOG) < 0) {
		r = -errno;
		close(fd);
		return err_errno(e, r, "%s", a->sun_path);
	}
	return fd;
}

/**
 * control_socket_open() - take a name, and listen under it
 * @name: a name that control_name_check() likes
 * @ret: set on success; end it with control_socket_close()
 * @e: set on failure
 *
 * Return: 0; −EADDRINUSE when a running machine has the name; another negative errno.
 */
int control_socket_open(const char *name, struct control_socket *ret, struct err *e)
{
	char folder[sizeof(ret->path)];
	_cleanup_close_ int lock = -1;
	struct sockaddr_un a;
	int r = open_folder(folder, sizeof(folder), e);

	if (r == 0) {
		r = take_lock(folder, &lock, e);
	}
	if (r < 0) {
		return r;
	}
	make_address(&a, folder, name);
	r = bind_socket(&a, name, e);
	if (r < 0) {
		return r;
	}
	ret->fd = r;
	memcpy(ret->path, a.sun_path, sizeof(ret->path));
	return 0;
}

/**
 * control_socket_close() - give the name back
 * @s: from control_socket_open(), or one whose fd is −1
 */
void control_socket_close(struct control_socket *s)
{
	if (s->fd >= 0) {
		(void)!unlink(s->path);
		close(s->fd);
		s->fd = -1;
	}
}

/**
 * control_connect() - reach a running machine
 * @name: its name
 * @ret_fd: gets a connected socket, the caller's to close
 * @e: set on failure
 *
 * Return: 0; −ENOENT when no machine of this name runs; another negative errno.
 */
int control_connect(const char *name, int *ret_fd, struct err *e)
{
	char folder[sizeof(((struct sockaddr_un *)0)->sun_path)];
	struct sockaddr_un a;
	int r = control_name_check(name, e);

	if (r == 0) {
		r = open_folder(folder, sizeof(folder), e);
	}
	if (r < 0) {
		return r;
	}
	make_address(&a, folder, name);
	r = try_connect(&a);
	if (r == -ENOENT || r == -ECONNREFUSED) {
		return err_set(e, -ENOENT, "no machine called '%s' runs", name);
	}
	if (r < 0) {
		return err_errno(e, r, "%s", a.sun_path);
	}
	*ret_fd = r;
	return 0;
}

/* The socket's name without its suffix, when it is one. */
static bool is_machine(const char *file, char *name, size_t size)
{
	size_t len = strlen(file);
	struct err e = ERR_INIT;

	if (len <= strlen(SUFFIX) || strcmp(file + len - strlen(SUFFIX), SUFFIX) != 0) {
		return false;
	}
	snprintf(name, size, "%.*s", (int)(len - strlen(SUFFIX)), file);
	return control_name_check(name, &e) == 0;
}

static int compare_names(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/**
 * control_each() - call a function for each running machine of this user
 * @fn: called in the order of names, with a connected socket, which is closed afterwards
 * @ctx: its first argument
 * @e: set on failure
 *
 * Sockets without a machine are taken away.
 *
 * Return: 0 or a negative errno.
 */
int control_each(control_name_fn fn, void *ctx, struct err *e)
{
	char folder[sizeof(((struct sockaddr_un *)0)->sun_path)], name[CONTROL_NAME_MAX + 1];
	_cleanup_close_ int lock = -1;
	struct dirent **files;
	int r = open_folder(folder, sizeof(folder), e), n;

	if (r == 0) {
		r = take_lock(folder, &lock, e);
	}
	if (r < 0) {
		return r;
	}
	n = scandir(folder, &files, NULL, compare_names);
	if (n < 0) {
		return err_errno(e, -errno, "%s", folder);
	}
	for (int i = 0; i < n; i++) {
		struct sockaddr_un a;
		int fd;

		if (is_machine(files[i]->d_name, name, sizeof(name))) {
			make_address(&a, folder, name);
			fd = try_connect(&a);
			if (fd >= 0) {
				fn(ctx, name, fd);
				close(fd);
			} else if (fd == -ECONNREFUSED) {
				(void)!unlink(a.sun_path);
			}
		}
		free(files[i]);
	}
	free(files);
	return 0;
}
