/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See stats.h. The kernel's answers are checked like any input: a bad offset is −EPROTO. */
#include "kvm/stats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kvm/types.h"

static int read_exact(const struct kvm_stats *s, void *buf, size_t bytes, uint64_t offset)
{
	int64_t n = s->ops->pread(s->ops->ctx, s->fd, buf, bytes, offset);

	if (n < 0) {
		return (int)n;
	}
	return (size_t)n == bytes ? 0 : -EPROTO;
}

static int read_descriptors(struct kvm_stats *s, const struct kvm_stats_header *h)
{
	size_t stride = sizeof(struct kvm_stats_desc) + h->name_size;
	_cleanup_free_ char *block = malloc(stride * h->num_desc);
	int r;

	s->stats = calloc(h->num_desc, sizeof(*s->stats));
	if (!block || !s->stats) {
		return -ENOMEM;
	}
	r = read_exact(s, block, stride * h->num_desc, h->desc_offset);
	if (r < 0) {
		return r;
	}
	for (uint32_t i = 0; i < h->num_desc; i++) {
		struct kvm_stat *stat = &s->stats[i];
		struct kvm_stats_desc desc;
		size_t name_bytes;

		memcpy(&desc, block + i * stride, sizeof(desc));
		name_bytes = strnlen(block + i * stride + sizeof(desc), h->name_size);
		if (name_bytes >= sizeof(stat->name) || desc.offset > KVM_STATS_DATA_MAX ||
		    desc.size == 0 || desc.size > (KVM_STATS_DATA_MAX - desc.offset) / 8) {
			return -EPROTO;
		}
		memcpy(stat->name, block + i * stride + sizeof(desc), name_bytes);
		stat->offset = desc.offset;
		stat->items = desc.size;
		stat->flags = desc.flags;
		stat->exponent = desc.exponent;
		stat->bucket_size = desc.bucket_size;
		if (desc.offset + desc.size * 8 > s->data_bytes) {
			s->data_bytes = desc.offset + desc.size * 8;
		}
	}
	s->count = h->num_desc;
	return 0;
}

/**
 * kvm_stats_init() - open the statistics of a VM or vCPU and read their descriptors
 * @s: to fill
 * @ops: the system calls to use, must outlive @s
 * @owner_fd: the VM's or vCPU's descriptor
 *
 * Return: 0; −EPROTO for descriptors that make no sense or are past the limits of stats.h; −ENOMEM;
 * another −errno (−ENOTTY: a KVM older than Linux 5.14).
 * Context: any thread.
 */
int kvm_stats_init(struct kvm_stats *s, const struct kvm_ops *ops, int owner_fd)
{
	struct kvm_stats_header h;
	int r;

	*s = (struct kvm_stats){.ops = ops, .fd = -1};
	r = ops->ioctl(ops->ctx, owner_fd, KVM_GET_STATS_FD, NULL);
	if (r < 0) {
		return r;
	}
	s->fd = r;
	r = read_exact(s, &h, sizeof(h), 0);
	if (r == 0 && (h.num_desc == 0 || h.num_desc > KVM_STATS_MAX || h.name_size == 0 ||
		       h.name_size > KVM_STATS_NAME_MAX)) {
		r = -EPROTO;
	}
	if (r == 0) {
		s->data_offset = h.data_offset;
		r = read_descriptors(s, &h);
	}
	if (r < 0) {
		kvm_stats_fini(s);
	}
	return r;
}

/**
 * kvm_stats_fini() - close the statistics
 * @s: opened, failed or closed statistics
 *
 * Context: any thread, while no other samples them.
 */
void kvm_stats_fini(struct kvm_stats *s)
{
	free(s->stats);
	s->stats = NULL;
	s->count = 0;
	if (s->fd >= 0) {
		s->ops->close(s->ops->ctx, s->fd);
		s->fd = -1;
	}
}

static const struct kvm_stat *stat_find(const struct kvm_stats *s, const char *name)
{
	for (size_t i = 0; i < s->count; i++) {
		if (strcmp(s->stats[i].name, name) == 0) {
			return &s->stats[i];
		}
	}
	return NULL;
}

/**
 * kvm_stats_pick() - choose statistics to sample
 * @s: statistics; closed ones have none of the names
 * @names: their names
 * @count: how many, at most KVM_STATS_PICK_MAX (more are left out)
 * @ret: gets the choice
 *
 * Context: any thread.
 */
void kvm_stats_pick(const struct kvm_stats *s, const char *const *names, size_t count,
		    struct kvm_stats_pick *ret)
{
	*ret = (struct kvm_stats_pick){.count = count, .first = UINT32_MAX};
	if (ret->count > KVM_STATS_PICK_MAX) {
		ret->count = KVM_STATS_PICK_MAX;
	}
	for (size_t i = 0; i < ret->count; i++) {
		const struct kvm_stat *stat = stat_find(s, names[i]);

		ret->offset[i] = stat ? stat->offset : UINT32_MAX;
		if (!stat) {
			continue;
		}
		if (stat->offset < ret->first) {
			ret->first = stat->offset;
		}
		if (stat->offset + 8 > ret->end) {
			ret->end = stat->offset + 8;
		}
	}
}

/**
 * kvm_stats_sample() - read the chosen statistics, by one pread
 * @s: open statistics
 * @p: the choice
 * @ret_values: gets @p->count values, KVM_STATS_NO_VALUE for those that this KVM lacks
 *
 * Return: 0 or −errno.
 * Context: any thread; allocates nothing.
 */
int kvm_stats_sample(const struct kvm_stats *s, const struct kvm_stats_pick *p,
		     uint64_t *ret_values)
{
	char buf[KVM_STATS_DATA_MAX];
	int r;

	if (p->end > 0) {
		r = read_exact(s, buf, p->end - p->first, s->data_offset + p->first);
		if (r < 0) {
			return r;
		}
	}
	for (size_t i = 0; i < p->count; i++) {
		ret_values[i] = KVM_STATS_NO_VALUE;
		if (p->offset[i] != UINT32_MAX) {
			memcpy(&ret_values[i], buf + (p->offset[i] - p->first), 8);
		}
	}
	return 0;
}

/**
 * kvm_stats_each() - read all statistics; of a histogram the sum of its buckets
 * @s: open statistics
 * @fn: called once for each
 * @ctx: its first argument
 *
 * Return: 0 or −errno.
 * Context: any thread; allocates nothing.
 */
int kvm_stats_each(const struct kvm_stats *s, kvm_stats_fn fn, void *ctx)
{
	char buf[KVM_STATS_DATA_MAX];
	int r = read_exact(s, buf, s->data_bytes, s->data_offset);

	if (r < 0) {
		return r;
	}
	for (size_t i = 0; i < s->count; i++) {
		uint64_t sum = 0;

		for (uint32_t item = 0; item < s->stats[i].items; item++) {
			uint64_t value;

			memcpy(&value, buf + s->stats[i].offset + item * 8, 8);
			sum += value;
		}
		fn(ctx, s->stats[i].name, sum);
	}
	return 0;
}

/**
 * kvm_stats_items_each() - read all statistics, every bucket of them
 * @s: open statistics
 * @fn: called once for each, with as many values as it has items
 * @ctx: its first argument
 *
 * Return: 0 or −errno.
 * Context: any thread; allocates nothing.
 */
int kvm_stats_items_each(const struct kvm_stats *s, kvm_stats_items_fn fn, void *ctx)
{
	uint64_t values[KVM_STATS_DATA_MAX / 8];
	char buf[KVM_STATS_DATA_MAX];
	int r = read_exact(s, buf, s->data_bytes, s->data_offset);

	if (r < 0) {
		return r;
	}
	for (size_t i = 0; i < s->count; i++) {
		memcpy(values, buf + s->stats[i].offset, (size_t)s->stats[i].items * 8);
		fn(ctx, &s->stats[i], values);
	}
	return 0;
}
