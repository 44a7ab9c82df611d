/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file systems and the loopback device. See agent.h. */
#include "guest/agent/agent.h"

#include <errno.h>
#include <limits.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OWN = 1 << 0, GIVEN = 1 << 1, LAB = 1 << 2 };

static const struct {
	const char *type, *dir, *options;
	unsigned long flags;
	unsigned int of; /* which roots have it */
} mounts[] = {
	{"devtmpfs", "/dev", NULL, MS_NOSUID, OWN | GIVEN | LAB},
	{"proc", "/proc", NULL, MS_NOSUID | MS_NODEV | MS_NOEXEC, OWN | GIVEN | LAB},
	{"sysfs", "/sys", NULL, MS_NOSUID | MS_NODEV | MS_NOEXEC, OWN | GIVEN | LAB},
	{"debugfs", "/sys/kernel/debug", NULL, MS_NOSUID | MS_NODEV | MS_NOEXEC, OWN | LAB},
	{"devpts", "/dev/pts", "mode=0620,ptmxmode=0666", MS_NOSUID | MS_NOEXEC, OWN | GIVEN | LAB},
	{"tmpfs", "/dev/shm", "mode=1777", MS_NOSUID | MS_NODEV, OWN | GIVEN | LAB},
	{"tmpfs", "/tmp", "mode=1777", MS_NOSUID | MS_NODEV, OWN | LAB},
	{"tmpfs", "/run", "mode=0755", MS_NOSUID | MS_NODEV, OWN | GIVEN | LAB},
	{"tmpfs", "/var/tmp", "mode=1777", MS_NOSUID | MS_NODEV, LAB},
};

static const struct {
	const char *root;
	unsigned int of;
} roots[] = {
	[SETUP_OWN_ROOT] = {"", OWN},
	[SETUP_GIVEN_ROOT] = {AGENT_NEW_ROOT, GIVEN},
	[SETUP_LAB_ROOT] = {AGENT_LAB_ROOT, LAB},
};

/* The links in /dev that a host's udev would have made. What cannot be made is left out. */
static void make_dev_links(const char *root)
{
	static const struct {
		const char *name, *target;
	} links[] = {
		{"/dev/fd", "/proc/self/fd"},
		{"/dev/stdin", "/proc/self/fd/0"},
		{"/dev/stdout", "/proc/self/fd/1"},
		{"/dev/stderr", "/proc/self/fd/2"},
	};
	char name[64];

	for (size_t i = 0; i < ARRAY_SIZE(links); i++) {
		snprintf(name, sizeof(name), "%s%s", root, links[i].name);
		(void)!symlink(links[i].target, name);
	}
}

/**
 * setup_mounts() - mount what programs expect to be there
 * @which: in which root
 * @e: set on failure, names the mount
 *
 * A file system that the kernel was built without is left out: who needs it will say so. A root
 * where no directory can be made does without those that it has not.
 *
 * Return: 0, or the errno of mkdir(2) or mount(2).
 * Context: the agent, once for each.
 */
int setup_mounts(enum setup_root which, struct err *e)
{
	char dir[64];

	for (size_t i = 0; i < ARRAY_SIZE(mounts); i++) {
		if (!(mounts[i].of & roots[which].of)) {
			continue;
		}
		snprintf(dir, sizeof(dir), "%s%s", roots[which].root, mounts[i].dir);
		/* Where sysfs is, the kernel makes the directories that it supports. */
		if (mkdir(dir, 0755) < 0 && errno != EEXIST && errno != EPERM && errno != EROFS &&
		    errno != ENOENT) {
			return err_errno(e, -errno, "agent: mkdir %s", dir);
		}
		if (mount(mounts[i].type, dir, mounts[i].type, mounts[i].flags, mounts[i].options) <
			    0 &&
		    errno != ENODEV && errno != ENOENT && errno != EBUSY) {
			return err_errno(e, -errno, "agent: mount %s on %s", mounts[i].type, dir);
		}
	}
	if (which != SETUP_OWN_ROOT) {
		make_dev_links(roots[which].root);
	}
	return 0;
}

/**
 * setup_unmount() - take those mounts away again, also where they are in use
 * @which: from which root
 *
 * Context: the agent, at its end.
 */
void setup_unmount(enum setup_root which)
{
	char dir[64];

	for (size_t i = ARRAY_SIZE(mounts); i > 0; i--) {
		if (mounts[i - 1].of & roots[which].of) {
			snprintf(dir, sizeof(dir), "%s%s", roots[which].root, mounts[i - 1].dir);
			umount2(dir, MNT_DETACH);
		}
	}
}

/**
 * setup_make_dirs() - make a directory and those that it is in
 * @path: absolute
 * @e: set on failure
 *
 * Those that are there stay, and so does what cannot be written to: who mounts there finds out.
 *
 * Return: 0, -ENAMETOOLONG, or the errno of mkdir(2).
 */
int setup_make_dirs(const char *path, struct err *e)
{
	char at[PATH_MAX];

	if ((size_t)snprintf(at, sizeof(at), "%s", path) >= sizeof(at)) {
		return err_errno(e, -ENAMETOOLONG, "mkdir %s", path);
	}
	for (char *p = at + 1;; p++) {
		char was = *p;

		if (was != '/' && was != '\0') {
			continue;
		}
		*p = '\0';
		if (mkdir(at, 0755) < 0 && errno != EEXIST && errno != EROFS) {
			return err_errno(e, -errno, "mkdir %s", at);
		}
		*p = was;
		if (was == '\0') {
			return 0;
		}
	}
}

/**
 * setup_loopback() - bring the loopback device up, if there is one
 *
 * Context: the agent, at its start.
 */
void setup_loopback(void)
{
	_cleanup_close_ int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq req = {.ifr_name = "lo"};

	if (fd >= 0 && ioctl(fd, SIOCGIFFLAGS, &req) == 0) {
		req.ifr_flags |= IFF_UP;
		ioctl(fd, SIOCSIFFLAGS, &req);
	}
}
