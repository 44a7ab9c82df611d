/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file systems and the loopback device. See agent.h. */
#include "guest/agent/agent.h"

#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/**
 * setup_mounts() - mount what programs expect to be there
 * @e: set on failure, names the mount
 *
 * A file system that the kernel was built without is left out: who needs it will say so.
 *
 * Return: 0, or the errno of mkdir(2) or mount(2).
 * Context: the agent, at its start.
 */
int setup_mounts(struct err *e)
{
	static const struct {
		const char *type, *dir, *options;
		unsigned long flags;
	} mounts[] = {
		{"devtmpfs", "/dev", NULL, MS_NOSUID},
		{"proc", "/proc", NULL, MS_NOSUID | MS_NODEV | MS_NOEXEC},
		{"sysfs", "/sys", NULL, MS_NOSUID | MS_NODEV | MS_NOEXEC},
		{"debugfs", "/sys/kernel/debug", NULL, MS_NOSUID | MS_NODEV | MS_NOEXEC},
		{"devpts", "/dev/pts", "mode=0620,ptmxmode=0666", MS_NOSUID | MS_NOEXEC},
		{"tmpfs", "/dev/shm", "mode=1777", MS_NOSUID | MS_NODEV},
		{"tmpfs", "/tmp", "mode=1777", MS_NOSUID | MS_NODEV},
		{"tmpfs", "/run", "mode=0755", MS_NOSUID | MS_NODEV},
	};

	for (size_t i = 0; i < ARRAY_SIZE(mounts); i++) {
		const char *dir = mounts[i].dir;

		/* Where sysfs is, the kernel makes the directories that it supports. */
		if (mkdir(dir, 0755) < 0 && errno != EEXIST && errno != EPERM) {
			return err_errno(e, -errno, "agent: mkdir %s", dir);
		}
		if (mount(mounts[i].type, dir, mounts[i].type, mounts[i].flags, mounts[i].options) <
			    0 &&
		    errno != ENODEV && errno != ENOENT && errno != EBUSY) {
			return err_errno(e, -errno, "agent: mount %s on %s", mounts[i].type, dir);
		}
	}
	return 0;
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

/**
 * setup_dev_links() - the links in /dev that a host's udev would have made
 * @root: of which /dev; empty for the agent's own
 *
 * Each is a convenience: what cannot be made is left out.
 *
 * Context: the agent, once devtmpfs is there.
 */
void setup_dev_links(const char *root)
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
