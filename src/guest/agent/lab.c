/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lab: the command runs in the real machine's root directory, shared read-only over 9p, with
 * fresh /tmp, /run and /var/tmp, this guest's own /dev, /proc and /sys, and the shares that the job
 * allows to be written. What the job names below one of the fresh directories (its working
 * directory, its programs and files) is bound back, read-only like the rest. See agent.h.
 */
#include "guest/agent/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROOT      AGENT_LAB_ROOT
#define BELOW     "/lab.below" /* the host's root once more, where nothing is mounted over it */

#define FILES_MAX 65536 /* descriptors a command may have */

/* The host's root does not change under a boot in any way that matters here, so it may be cached.
 */
#define OPTIONS_RO "trans=virtio,version=9p2000.L,msize=262144,cache=loose"
/*
 * What is written is not cached: a look at a file by one program, while another appends to it,
 * takes back a size that the host has not heard of yet, and what was appended is lost (Linux 6.12,
 * v9fs_vfs_getattr_dotl()).
 */
#define OPTIONS_RW "trans=virtio,version=9p2000.L,msize=262144,cache=none"

static const char *const fresh[] = {"/tmp", "/run", "/var/tmp"};

static bool is_below(const char *path, const char *dir)
{
	size_t len = strlen(dir);

	return strncmp(path, dir, len) == 0 && (path[len] == '/' || path[len] == '\0');
}

/* Something in a fresh directory; the directory itself is fresh as a whole. */
static bool is_in_fresh(const char *path)
{
	for (size_t i = 0; i < ARRAY_SIZE(fresh); i++) {
		if (is_below(path, fresh[i]) && path[strlen(fresh[i])] != '\0') {
			return true;
		}
	}
	return false;
}

static int join(char *ret, size_t room, const char *root, const char *path, struct err *e)
{
	if ((size_t)snprintf(ret, room, "%s%s", root, path) >= room) {
		return err_errno(e, -ENAMETOOLONG, "lab: %s", path);
	}
	return 0;
}

static int mount_at(const char *source, const char *dir, const char *type, unsigned long flags,
		    const char *options, struct err *e)
{
	if (mount(source, dir, type, flags, options) < 0) {
		return err_errno(e, -errno, "lab: mount %s (%s) on %s", source, type, dir);
	}
	return 0;
}

static int share(const char *path, size_t number, struct err *e)
{
	char to[PATH_MAX], tag[24];
	int r = join(to, sizeof(to), ROOT, path, e);

	if (r < 0) {
		return r;
	}
	r = setup_make_dirs(to, e);
	if (r < 0) {
		return err_prefix(e, "lab");
	}
	snprintf(tag, sizeof(tag), "rw%zu", number);
	return mount_at(tag, to, "9p", MS_NOATIME, OPTIONS_RW, e);
}

/*
 * Bind @path from below when it is in a fresh directory, exists there, and no share will have it.
 * An earlier binding may have brought it already: then it is the same file.
 */
static int bring_back(const struct job *job, const char *path, struct err *e)
{
	char from[PATH_MAX], to[PATH_MAX];
	struct stat st, now;
	char *slash;
	int r;

	if (path[0] != '/' || !is_in_fresh(path)) {
		return 0;
	}
	for (size_t i = 0; job->lab.rw[i]; i++) {
		if (is_below(path, job->lab.rw[i])) {
			return 0;
		}
	}
	if (join(from, sizeof(from), BELOW, path, e) < 0 ||
	    join(to, sizeof(to), ROOT, path, e) < 0) {
		return e->code;
	}
	if (stat(from, &st) < 0 ||
	    (stat(to, &now) == 0 && now.st_dev == st.st_dev && now.st_ino == st.st_ino)) {
		return 0;
	}
	if (!S_ISDIR(st.st_mode)) {
		slash = strrchr(to, '/');
		*slash = '\0';
		r = setup_make_dirs(to, e);
		*slash = '/';
		if (r == 0) {
			_cleanup_close_ int fd = open(to, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

			r = fd < 0 ? -errno : 0;
		}
	} else {
		r = setup_make_dirs(to, e);
	}
	if (r < 0) {
		return err_errno(e, r, "lab: making %s", path);
	}
	return mount_at(from, to, "none", MS_BIND, NULL, e);
}

/* The program's directory rather than the program: it may have companions there. */
static int bring_back_program(const struct job *job, struct err *e)
{
	const char *slash = strrchr(job->command[0], '/');
	char dir[PATH_MAX];

	if (!slash || slash == job->command[0] ||
	    (size_t)(slash - job->command[0]) >= sizeof(dir)) {
		return 0;
	}
	snprintf(dir, sizeof(dir), "%.*s", (int)(slash - job->command[0]), job->command[0]);
	return bring_back(job, dir, e);
}

static int bring_back_named(const struct job *job, struct err *e)
{
	int r = bring_back(job, job->lab.cwd, e);

	if (r == 0) {
		r = bring_back_program(job, e);
	}
	for (size_t i = 1; r == 0 && job->command[0] && job->command[i]; i++) {
		r = bring_back(job, job->command[i], e);
	}
	for (size_t i = 0; r == 0 && job->env && job->env[i]; i++) {
		r = bring_back(job, strchr(job->env[i], '=') + 1, e);
	}
	return r;
}

/* Guest memory of a VMM in here is shared memory: let it have the huge pages it asks for. Without
 * them a lab is a lab all the same. */
static void allow_huge_pages(void)
{
	int fd = open(ROOT "/sys/kernel/mm/transparent_hugepage/shmem_enabled",
		      O_WRONLY | O_CLOEXEC);
	if (fd >= 0) {
		(void)!write(fd, "advise", strlen("advise"));
		close(fd);
	}
}

/**
 * lab_enter() - set the lab's file system up
 * @job: a lab job with a command
 * @ret_root: set: the agent itself is in the root that the command is to be run in
 * @e: set on failure, names the mount
 *
 * Return: 0, or the errno of mkdir(2) or mount(2).
 * Context: the agent, once.
 */
int lab_enter(const struct job *job, const char **ret_root, struct err *e)
{
	const struct rlimit files = {.rlim_cur = FILES_MAX, .rlim_max = FILES_MAX};
	int r;

	setrlimit(RLIMIT_NOFILE, &files);
	mkdir(ROOT, 0755);
	mkdir(BELOW, 0755);
	r = mount_at("hostroot", ROOT, "9p", MS_RDONLY, OPTIONS_RO, e);
	if (r == 0) {
		r = mount_at(ROOT, BELOW, "none", MS_BIND, NULL, e);
	}
	if (r == 0) {
		r = setup_mounts(SETUP_LAB_ROOT, e);
	}
	if (r == 0) {
		allow_huge_pages();
	}
	/* Shares last: they may be inside of what is brought back. */
	if (r == 0) {
		r = bring_back_named(job, e);
	}
	for (size_t i = 0; r == 0 && job->lab.rw[i]; i++) {
		r = share(job->lab.rw[i], i, e);
	}
	/*
	 * In the place of the first root, and not a chroot(2): in one of those nobody may make a
	 * user namespace, and programs that lock themselves up do.
	 */
	if (r == 0 &&
	    (chdir(ROOT) < 0 || mount(".", "/", NULL, MS_MOVE, NULL) < 0 || chroot(".") < 0)) {
		r = err_errno(e, -errno, "lab: make %s the root", ROOT);
	}
	*ret_root = NULL;
	return r;
}
