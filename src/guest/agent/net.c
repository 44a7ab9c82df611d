/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The guest's networks as the job has them: no DHCP, the host knows what it gives. See agent.h. */
#include "guest/agent/agent.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <net/if.h>
#include <net/route.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"

#define RESOLV_CONF "/etc/resolv.conf"

/* Interfaces are named in the order in which drivers find them: the address tells which it is. */
static int find_interface(int fd, const char *mac, struct ifreq *ret)
{
	struct if_nameindex *all = if_nameindex();
	int r = -ENODEV;

	for (struct if_nameindex *i = all; i && i->if_index && r < 0; i++) {
		struct ifreq req = {.ifr_name = ""};
		const uint8_t *b = (const uint8_t *)req.ifr_hwaddr.sa_data;
		char text[18];

		snprintf(req.ifr_name, sizeof(req.ifr_name), "%s", i->if_name);
		if (ioctl(fd, SIOCGIFHWADDR, &req) < 0) {
			continue;
		}
		snprintf(text, sizeof(text), "%02x:%02x:%02x:%02x:%02x:%02x", b[0], b[1], b[2],
			 b[3], b[4], b[5]);
		if (strcmp(text, mac) == 0) {
			*ret = (struct ifreq){.ifr_name = ""};
			memcpy(ret->ifr_name, req.ifr_name, sizeof(ret->ifr_name));
			r = 0;
		}
	}
	if (all) {
		if_freenameindex(all);
	}
	return r;
}

static int put_address(struct sockaddr *to, const char *text)
{
	struct sockaddr_in a = {.sin_family = AF_INET};

	if (inet_pton(AF_INET, text, &a.sin_addr) != 1) {
		return -EINVAL;
	}
	memcpy(to, &a, sizeof(a));
	return 0;
}

static int set_address(int fd, struct ifreq *req, const char *address)
{
	char text[INET_ADDRSTRLEN], mask[INET_ADDRSTRLEN];
	unsigned int bits;
	struct in_addr m;

	if (sscanf(address, "%15[0-9.]/%u", text, &bits) != 2 || bits < 1 || bits > 32 ||
	    put_address(&req->ifr_addr, text) < 0) {
		return -EINVAL;
	}
	m.s_addr = htonl(~(uint32_t)0 << (32 - bits));
	if (!inet_ntop(AF_INET, &m, mask, sizeof(mask)) || ioctl(fd, SIOCSIFADDR, req) < 0) {
		return -errno;
	}
	if (put_address(&req->ifr_netmask, mask) < 0 || ioctl(fd, SIOCSIFNETMASK, req) < 0 ||
	    ioctl(fd, SIOCGIFFLAGS, req) < 0) {
		return -errno;
	}
	req->ifr_flags |= IFF_UP;
	return ioctl(fd, SIOCSIFFLAGS, req) < 0 ? -errno : 0;
}

static int set_gateway(int fd, const char *gateway)
{
	struct rtentry route = {.rt_flags = RTF_UP | RTF_GATEWAY};

	if (put_address(&route.rt_gateway, gateway) < 0 ||
	    put_address(&route.rt_dst, "0.0.0.0") < 0 ||
	    put_address(&route.rt_genmask, "0.0.0.0") < 0) {
		return -EINVAL;
	}
	return ioctl(fd, SIOCADDRT, &route) < 0 ? -errno : 0;
}

static int add_dns(const char *dns)
{
	_cleanup_close_ int fd = -1;
	char line[64];

	mkdir("/etc", 0755);
	fd = open(RESOLV_CONF, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (fd < 0) {
		return -errno;
	}
	snprintf(line, sizeof(line), "nameserver %s\n", dns);
	return io_write_all(fd, line, strlen(line));
}

/**
 * net_set_up() - give the guest's interfaces their addresses
 * @job: what they are to be
 * @e: set on failure
 *
 * Return: 0, -ENODEV when an interface is missing, or what the kernel said.
 * Context: the agent, before the job's work.
 */
int net_set_up(const struct job *job, struct err *e)
{
	_cleanup_close_ int fd = -1;
	int r = 0;

	if (job->net_count == 0) {
		return 0;
	}
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0) {
		return err_errno(e, -errno, "agent: network: a kernel without IPv4");
	}
	unlink(RESOLV_CONF);
	for (size_t i = 0; i < job->net_count && r == 0; i++) {
		const struct job_net *n = &job->nets[i];
		struct ifreq req;

		r = find_interface(fd, n->mac, &req);
		if (r == 0) {
			r = set_address(fd, &req, n->address);
		}
		if (r == 0 && n->gateway) {
			r = set_gateway(fd, n->gateway);
		}
		if (r == 0 && n->dns) {
			r = add_dns(n->dns);
		}
		if (r == -ENODEV) {
			err_set(e, r,
				"agent: network %s: no such interface; is CONFIG_VIRTIO_NET in the "
				"kernel?",
				n->mac);
		} else if (r < 0) {
			err_errno(e, r, "agent: network %s", n->address);
		}
	}
	return r;
}

/* A file of its own in place of what stands there, which may be a link to nowhere. */
static int replace_names(const char *path, const char *text, size_t len)
{
	_cleanup_close_ int fd = -1;

	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0) {
		return errno == ENOENT ? 0 : -errno; /* a root without /etc */
	}
	return io_write_all(fd, text, len);
}

/**
 * net_bring_names() - let programs in another root ask the networks' name servers, too
 * @job: what they are
 * @root: where it is mounted
 * @private: what is written there is the guest's alone; else only what a mount hides is changed,
 * and a root whose resolv.conf is no file keeps what it has
 * @e: set on failure
 *
 * Return: 0, or the errno of what failed.
 * Context: the agent, after net_set_up().
 */
int net_bring_names(const struct job *job, const char *root, bool private, struct err *e)
{
	_cleanup_free_ char *text = NULL;
	char path[PATH_MAX];
	bool any = false;
	struct stat st;
	size_t len;
	int r;

	for (size_t i = 0; i < job->net_count; i++) {
		any |= job->nets[i].dns != NULL;
	}
	snprintf(path, sizeof(path), "%s" RESOLV_CONF, root);
	if (!any || (!private && (lstat(path, &st) < 0 || !S_ISREG(st.st_mode)))) {
		return 0;
	}
	if (!private) {
		r = mount(RESOLV_CONF, path, NULL, MS_BIND, NULL) < 0 ? -errno : 0;
	} else {
		r = io_read_file(RESOLV_CONF, 4096, &text, &len, e);
		r = r < 0 ? r : replace_names(path, text, len);
	}
	return r < 0 ? err_errno(e, r, "agent: %s", path) : 0;
}

/**
 * net_leave_names() - undo net_bring_names()
 * @root: where the root is mounted
 *
 * Context: the agent, at its end.
 */
void net_leave_names(const char *root)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s" RESOLV_CONF, root);
	umount2(path, MNT_DETACH | UMOUNT_NOFOLLOW);
}
