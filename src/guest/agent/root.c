/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the command finds its files: directories that the host shares, and a root of its own, which
 * is one of those or a disk. A root that is only for reading gets a layer in memory on top, so that
 * the command may write what it wants and the host keeps what it had. See agent.h.
 */
#include "guest/agent/agent.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"

#define ROOT           AGENT_NEW_ROOT
#define LOWER          "/newroot.lower"
#define LAYER          "/newroot.layer"

#define VIRTIO_DEVICES "/sys/bus/virtio/devices"
#define VIRTIO_ID_FS   "0x001a"

/* What may be written is not cached: see OPTIONS_RW of lab.c. */
#define OPTIONS_9P "trans=virtio,version=9p2000.L,msize=262144,cache="

/* Without an end-of-line; empty when there is no such file. */
static void read_line(const char *path, char *ret, size_t size)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, ret, size - 1);

	ret[n > 0 ? n : 0] = '\0';
	ret[strcspn(ret, "\n")] = '\0';
}

/* By our own VMM directories come as virtio-fs, under QEMU by 9P. */
static bool has_virtio_fs(void)
{
	DIR *dir = opendir(VIRTIO_DEVICES);
	char path[PATH_MAX], id[16];
	struct dirent *d;
	bool found = false;

	while (dir && !found && (d = readdir(dir))) {
		snprintf(path, sizeof(path), VIRTIO_DEVICES "/%s/device", d->d_name);
		read_line(path, id, sizeof(id));
		found = strcmp(id, VIRTIO_ID_FS) == 0;
	}
	if (dir) {
		closedir(dir);
	}
	return found;
}

static int mount_share(const char *tag, const char *dir, bool read_only, struct err *e)
{
	const unsigned long flags = MS_NOATIME | (read_only ? MS_RDONLY : 0);
	const bool fs = has_virtio_fs();
	const char *type = fs ? "virtiofs" : "9p";
	const char *options = read_only ? OPTIONS_9P "mmap" : OPTIONS_9P "none";

	if (mount(tag, dir, type, flags, fs ? NULL : options) == 0) {
		return 0;
	}
	if (errno == ENODEV) {
		return err_set(e, -ENODEV,
			       "share %s: this kernel has no %s: it was built without "
			       "CONFIG_%s",
			       dir, type, fs ? "VIRTIO_FS" : "9P_FS or CONFIG_NET_9P_VIRTIO");
	}
	return err_errno(e, -errno, "share: mount %s (%s) on %s", tag, type, dir);
}

/* Its first partition when it has any, else the whole. */
static int find_disk(const char *serial, char *ret, size_t size, struct err *e)
{
	char path[64], found[32];

	for (char letter = 'a'; letter <= 'z'; letter++) {
		snprintf(path, sizeof(path), "/sys/block/vd%c/serial", letter);
		read_line(path, found, sizeof(found));
		if (strcmp(found, serial) != 0) {
			continue;
		}
		snprintf(path, sizeof(path), "/sys/block/vd%c/vd%c1", letter, letter);
		snprintf(ret, size, "/dev/vd%c%s", letter, access(path, F_OK) == 0 ? "1" : "");
		return 0;
	}
	return err_set(e, -ENOENT,
		       "root: no disk with the serial %s: is the kernel built with "
		       "CONFIG_VIRTIO_BLK?",
		       serial);
}

static bool try_disk(const char *device, const char *dir, const char *type, bool read_only)
{
	const unsigned long flags = MS_NOATIME | (read_only ? MS_RDONLY : 0);

	/* A journal cannot be replayed where nothing may be written: as it is, then. */
	return mount(device, dir, type, flags, NULL) == 0 ||
	       (read_only && errno == EROFS && mount(device, dir, type, flags, "noload") == 0);
}

/* By every file system that the kernel has for disks; first by the one that it mostly is, which
 * others take for their own and complain of on the console. */
static int mount_disk(const char *device, const char *dir, bool read_only, struct err *e)
{
	_cleanup_free_ char *text = NULL;
	char *line, *rest;
	size_t len;
	int r = io_read_file("/proc/filesystems", 1 << 16, &text, &len, e);

	if (r < 0) {
		return r;
	}
	if (try_disk(device, dir, "ext4", read_only)) {
		return 0;
	}
	rest = text;
	while ((line = strsep(&rest, "\n"))) {
		if (line[0] != '\t' || line[1] == '\0') {
			continue; /* "nodev" stands before the tab */
		}
		if (try_disk(device, dir, line + 1, read_only)) {
			return 0;
		}
	}
	return err_set(e, -EINVAL, "root: %s holds no file system that this kernel knows", device);
}

static int mount_root_source(const struct job_root *root, const char *dir, struct err *e)
{
	char device[16];
	int r;

	if (root->share) {
		return mount_share(root->share, dir, root->read_only, e);
	}
	r = find_disk(root->disk, device, sizeof(device), e);
	return r < 0 ? r : mount_disk(device, dir, root->read_only, e);
}

static int mount_layer(struct err *e)
{
	int r = setup_make_dirs(LAYER, e);

	if (r < 0) {
		return r;
	}
	if (mount("layer", LAYER, "tmpfs", 0, "mode=0755") < 0 || mkdir(LAYER "/upper", 0755) < 0 ||
	    mkdir(LAYER "/work", 0755) < 0) {
		return err_errno(e, -errno, "root: a layer in memory");
	}
	if (mount("root", ROOT, "overlay", MS_NOATIME,
		  "lowerdir=" LOWER ",upperdir=" LAYER "/upper,workdir=" LAYER "/work") < 0) {
		return errno == ENODEV ? err_set(e, -ENODEV,
						 "root: this kernel was built without "
						 "CONFIG_OVERLAY_FS, which a root that is not rw "
						 "needs")
				       : err_errno(e, -errno, "root: mount overlay");
	}
	return 0;
}

static int enter_root(const struct job *job, struct err *e)
{
	const struct job_root *root = &job->root;
	int r = setup_make_dirs(ROOT, e);

	if (r == 0 && root->read_only) {
		r = setup_make_dirs(LOWER, e);
	}
	if (r == 0) {
		r = mount_root_source(root, root->read_only ? LOWER : ROOT, e);
	}
	if (r == 0 && root->read_only) {
		r = mount_layer(e);
	}
	if (r == 0) {
		r = setup_mounts(SETUP_GIVEN_ROOT, e);
	}
	return r < 0 ? r : net_bring_names(job, ROOT, root->read_only, e);
}

/**
 * root_enter() - mount the job's root and shares
 * @job: the job
 * @ret_root: set on success: what the command is to be run in; NULL: the agent's own root
 * @e: set on failure, names the mount, and the kernel's option when that lacks
 *
 * Return: 0, or the errno of what failed.
 * Context: the agent, once.
 */
int root_enter(const struct job *job, const char **ret_root, struct err *e)
{
	const bool own = !job->root.share && !job->root.disk;
	char to[PATH_MAX];
	int r = own ? 0 : enter_root(job, e);

	for (size_t i = 0; r == 0 && i < job->share_count; i++) {
		const struct job_share *s = &job->shares[i];

		if ((size_t)snprintf(to, sizeof(to), "%s%s", own ? "" : ROOT, s->at) >=
		    sizeof(to)) {
			return err_errno(e, -ENAMETOOLONG, "share %s", s->at);
		}
		r = setup_make_dirs(to, e);
		if (r == 0) {
			r = mount_share(s->tag, to, s->read_only, e);
		}
	}
	*ret_root = own ? NULL : ROOT;
	return r;
}

/**
 * root_leave() - make sure that what was written is on the host's disk or directory, and clean
 * @job: the job, after its command ended
 *
 * What still runs in the root is killed: it could hold it open. Not so where an init reigns: what
 * was written is synced later, and the journal has the rest.
 *
 * Context: the agent, as the first process, once.
 */
void root_leave(const struct job *job)
{
	char at[PATH_MAX];

	if ((!job->root.share && !job->root.disk) || job->root.read_only || job->root.init) {
		return;
	}
	kill(-1, SIGKILL);
	while (waitpid(-1, NULL, 0) > 0) {
	}
	for (size_t i = job->share_count; i > 0; i--) {
		snprintf(at, sizeof(at), ROOT "%s", job->shares[i - 1].at);
		umount2(at, 0);
	}
	net_leave_names(ROOT);
	setup_unmount(SETUP_GIVEN_ROOT);
	if (umount2(ROOT, 0) < 0) {
		mount(NULL, ROOT, NULL, MS_REMOUNT | MS_RDONLY, NULL);
	}
}
