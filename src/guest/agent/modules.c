/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Drivers for this machine's devices, where the kernel has them as modules and the user's initrd
 * brings them along: first the bus, then what was found on it. See agent.h.
 */
#include "guest/agent/agent.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/module.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/io.h"

#define DEP_BYTES_MAX (8u << 20)

/* virtio 1.2, chapter 5: devices by their number, and who drives them in Linux. */
static const struct {
	unsigned int device;
	const char *module;
} drivers[] = {
	{1, "virtio_net"}, {2, "virtio_blk"},   {3, "virtio_console"},
	{4, "virtio_rng"}, {9, "9pnet_virtio"}, {19, "vmw_vsock_virtio_transport"},
	{26, "virtiofs"},
};

/* Names are written with dashes here and underscores there. */
static bool same_char(char a, char b)
{
	return a == b || ((a == '-' || a == '_') && (b == '-' || b == '_'));
}

/* Is a path, len bytes long, the module's? */
static bool is_module(const char *path, size_t len, const char *name)
{
	const char *slash = memrchr(path, '/', len);
	size_t name_len = strlen(name);

	if (slash) {
		len -= (size_t)(slash + 1 - path);
		path = slash + 1;
	}
	if (len < name_len + 3 || memcmp(path + name_len, ".ko", 3) != 0) {
		return false;
	}
	for (size_t i = 0; i < name_len; i++) {
		if (!same_char(path[i], name[i])) {
			return false;
		}
	}
	return true;
}

/**
 * modules_chain() - what is to be loaded for a module
 * @dep: the text of modules.dep, "PATH: PATH...", each behind those that it needs
 * @name: the module
 * @ret: set on success, into @dep
 *
 * Return: 0, -ENOENT when it is not there, -E2BIG when it needs more than MODULES_CHAIN_MAX.
 * Context: any thread.
 */
int modules_chain(const char *dep, const char *name, struct modules_chain *ret)
{
	for (const char *line = dep; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		size_t path_len = strcspn(line, ":\n");
		const char *end = line + strcspn(line, "\n"), *p = line + path_len;
		struct modules_chain c = {.count = 0};

		if (*p != ':' || !is_module(line, path_len, name)) {
			continue;
		}
		/* From the end: the last is needed by all in front of it. */
		while (end > p + 1) {
			const char *from = end;

			while (from > p + 1 && from[-1] != ' ') {
				from--;
			}
			if (from < end) {
				if (c.count == MODULES_CHAIN_MAX - 1) {
					return -E2BIG;
				}
				c.path[c.count] = from;
				c.len[c.count++] = (size_t)(end - from);
			}
			end = from > p + 1 ? from - 1 : from;
		}
		c.path[c.count] = line;
		c.len[c.count++] = path_len;
		*ret = c;
		return 0;
	}
	return -ENOENT;
}

static int load_file(const char *dir, const char *name, size_t len)
{
	_cleanup_close_ int fd = -1;
	char path[PATH_MAX];
	bool plain = len > 3 && memcmp(name + len - 3, ".ko", 3) == 0;

	if ((size_t)snprintf(path, sizeof(path), "%s/%.*s", dir, (int)len, name) >= sizeof(path)) {
		return -ENAMETOOLONG;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		return -errno;
	}
	return syscall(SYS_finit_module, fd, "", plain ? 0 : MODULE_INIT_COMPRESSED_FILE) < 0 &&
			       errno != EEXIST
		       ? -errno
		       : 0;
}

/* The console has what goes wrong: there is no way to the host yet. */
static void load(const char *dir, const char *dep, const char *name)
{
	struct modules_chain c;
	int r = modules_chain(dep, name, &c);

	/* Not there: it may be in the kernel itself, or nobody needs it. */
	for (size_t i = 0; r == 0 && i < c.count; i++) {
		r = load_file(dir, c.path[i], c.len[i]);
		if (r < 0) {
			fprintf(stderr, "ringside-agent: module %.*s: %s\n", (int)c.len[i],
				c.path[i], strerror(-r));
		}
	}
}

/* Whether there is a device of that number on the virtio bus. */
static bool has_device(unsigned int number)
{
	DIR *dir = opendir("/sys/bus/virtio/devices");
	bool found = false;
	struct dirent *d;

	while (dir && (d = readdir(dir))) {
		char path[320];
		_cleanup_free_ char *text = NULL;
		unsigned int n;

		snprintf(path, sizeof(path), "/sys/bus/virtio/devices/%s/device", d->d_name);
		if (d->d_name[0] != '.' && io_read_file(path, 64, &text, NULL, NULL) == 0 &&
		    sscanf(text, "%x", &n) == 1) {
			found |= n == number;
		}
	}
	if (dir) {
		closedir(dir);
	}
	return found;
}

/**
 * modules_load_virtio() - load the drivers of the devices that there are
 *
 * Without /lib/modules of the running kernel, nothing is done: either it needs none, or the host
 * learns that there is no device.
 *
 * Context: the agent, once; sysfs is mounted.
 */
void modules_load_virtio(void)
{
	_cleanup_free_ char *dep = NULL;
	char dir[PATH_MAX], path[PATH_MAX + 16];
	struct utsname u;

	uname(&u);
	snprintf(dir, sizeof(dir), "/lib/modules/%s", u.release);
	snprintf(path, sizeof(path), "%s/modules.dep", dir);
	if (io_read_file(path, DEP_BYTES_MAX, &dep, NULL, NULL) < 0) {
		return;
	}
	load(dir, dep, "virtio_mmio");
	for (size_t i = 0; i < ARRAY_SIZE(drivers); i++) {
		if (has_device(drivers[i].device)) {
			load(dir, dep, drivers[i].module);
		}
	}
}
