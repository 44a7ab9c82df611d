/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The real system calls behind struct kvm_ops. Any thread. */
#include "kvm/ops.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/memfd.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

static int real_open(void *ctx, const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int real_close(void *ctx, int fd)
{
	return close(fd) < 0 ? -errno : 0;
}

static int real_ioctl(void *ctx, int fd, unsigned long request, void *arg)
{
	int r = ioctl(fd, request, arg);

	return r < 0 ? -errno : r;
}

static int real_mmap(void *ctx, void *at, size_t bytes, int prot, int flags, int fd,
		     uint64_t offset, void **ret)
{
	void *p = mmap(at, bytes, prot, flags, fd, (off_t)offset);

	if (p == MAP_FAILED) {
		return -errno;
	}
	*ret = p;
	return 0;
}

static int real_munmap(void *ctx, void *at, size_t bytes)
{
	return munmap(at, bytes) < 0 ? -errno : 0;
}

static int64_t real_pread(void *ctx, int fd, void *buf, size_t bytes, uint64_t offset)
{
	ssize_t n = pread(fd, buf, bytes, (off_t)offset);

	return n < 0 ? -errno : n;
}

static int real_memfd(void *ctx, const char *name, uint64_t bytes, uint64_t huge_page_bytes)
{
	/* memfd_create(2): the base-2 logarithm of the size stands in the flags. */
	unsigned int huge = huge_page_bytes
				    ? MFD_HUGETLB | (unsigned int)__builtin_ctzll(huge_page_bytes)
							    << MFD_HUGE_SHIFT
				    : 0;
	int fd = memfd_create(name, MFD_CLOEXEC | huge);
	int r;

	if (fd < 0) {
		return -errno;
	}
	if (ftruncate(fd, (off_t)bytes) < 0) {
		r = -errno;
		close(fd);
		return r;
	}
	return fd;
}

static int real_eventfd(void *ctx)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	return fd < 0 ? -errno : fd;
}

const struct kvm_ops kvm_ops_real = {
	.open = real_open,
	.close = real_close,
	.ioctl = real_ioctl,
	.mmap = real_mmap,
	.munmap = real_munmap,
	.pread = real_pread,
	.memfd = real_memfd,
	.eventfd = real_eventfd,
};
