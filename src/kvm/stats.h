/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * KVM's binary statistics of a VM or a vCPU: descriptors are read once, values by one pread each
 * time, so that a sample costs no allocation and one system call.
 * Documentation/virt/kvm/api.rst, 4.133 (KVM_GET_STATS_FD).
 */
#ifndef KVM_STATS_H
#define KVM_STATS_H

#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "kvm/ops.h"

#define KVM_STATS_MAX      512  /* descriptors; Linux has about 60 a vCPU */
#define KVM_STATS_NAME_MAX 48   /* with the zero byte, which is what Linux gives them */
#define KVM_STATS_DATA_MAX 8192 /* bytes of values */
#define KVM_STATS_PICK_MAX 16
#define KVM_STATS_NO_VALUE UINT64_MAX

struct kvm_stat {
	char name[KVM_STATS_NAME_MAX];
	uint32_t offset; /* into the values */
	uint32_t items;  /* above 1: a histogram */
	uint32_t flags;  /* KVM_STATS_TYPE_*, _UNIT_*, _BASE_* of linux/kvm.h */
	int16_t exponent;
	uint32_t bucket_size; /* of a linear histogram */
};

struct kvm_stats {
	const struct kvm_ops *ops;
	int fd;
	uint64_t data_offset;
	uint32_t data_bytes;
	size_t count;
	struct kvm_stat *stats;
};

#define KVM_STATS_INIT   \
	{                \
		.fd = -1 \
	}

/* A few statistics chosen beforehand; missing ones read as KVM_STATS_NO_VALUE. */
struct kvm_stats_pick {
	size_t count;
	uint32_t first, end; /* span of the values, in bytes; end 0: none of them exists */
	uint32_t offset[KVM_STATS_PICK_MAX];
};

typedef void (*kvm_stats_fn)(void *ctx, const char *name, uint64_t value);
typedef void (*kvm_stats_items_fn)(void *ctx, const struct kvm_stat *stat, const uint64_t *items);

int kvm_stats_init(struct kvm_stats *s, const struct kvm_ops *ops, int owner_fd) __must_check;
void kvm_stats_fini(struct kvm_stats *s);
void kvm_stats_pick(const struct kvm_stats *s, const char *const *names, size_t count,
		    struct kvm_stats_pick *ret);
int kvm_stats_sample(const struct kvm_stats *s, const struct kvm_stats_pick *p,
		     uint64_t *ret_values) __must_check;
int kvm_stats_items_each(const struct kvm_stats *s, kvm_stats_items_fn fn, void *ctx) __must_check;
int kvm_stats_each(const struct kvm_stats *s, kvm_stats_fn fn, void *ctx) __must_check;

#endif
