/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table through which every system call of the machine goes that makes, maps, asks or gives
 * back a kernel object: the KVM interface, guest memory, eventfds. Tests put a fake in its place
 * that fails the N-th call. Calls return −errno instead of setting errno.
 */
#ifndef KVM_OPS_H
#define KVM_OPS_H

#include <stddef.h>
#include <stdint.h>

struct kvm_ops {
	int (*open)(void *ctx, const char *path, int flags);
	int (*close)(void *ctx, int fd);
	/* @arg is the pointer or, cast, the number that the request takes. */
	int (*ioctl)(void *ctx, int fd, unsigned long request, void *arg);
	int (*mmap)(void *ctx, void *at, size_t bytes, int prot, int flags, int fd, uint64_t offset,
		    void **ret);
	int (*munmap)(void *ctx, void *at, size_t bytes);
	/* Bytes read, 0 at the end. */
	int64_t (*pread)(void *ctx, int fd, void *buf, size_t bytes, uint64_t offset);
	/* A named memory file of @bytes, sparse; in pages of hugetlbfs of that size, or 0. */
	int (*memfd)(void *ctx, const char *name, uint64_t bytes, uint64_t huge_page_bytes);
	int (*eventfd)(void *ctx);
	void *ctx;
};

extern const struct kvm_ops kvm_ops_real;

#endif
