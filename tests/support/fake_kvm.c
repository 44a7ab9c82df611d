/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See fake_kvm.h. One lock guards it all, but is not held while a script plays a run. */
#include "support.h"

#include "fake_kvm.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"

/* True when the test wants this call to fail. Called with the lock held. */
static bool fails(struct fake_kvm *k, unsigned long request)
{
	k->calls++;
	if (k->calls != k->fail_at) {
		return false;
	}
	k->failed_request = request;
	return true;
}

static int fd_new(struct fake_kvm *k, char kind, unsigned int owner)
{
	for (int i = 0; i < FAKE_FDS; i++) {
		if (!k->kind[i]) {
			k->kind[i] = kind;
			k->owner[i] = (unsigned char)owner;
			k->fds_open++;
			return FAKE_FD_BASE + i;
		}
	}
	return -EMFILE;
}

static bool is_fake(int fd)
{
	return fd >= FAKE_FD_BASE && fd < FAKE_FD_BASE + FAKE_FDS;
}

static int fake_open(void *ctx, const char *path, int flags)
{
	struct fake_kvm *k = ctx;
	int r;

	pthread_mutex_lock(&k->lock);
	if (fails(k, 0)) {
		r = -k->fail_errno;
	} else {
		r = strcmp(path, "/dev/kvm") == 0 ? fd_new(k, 'd', 0) : -ENOENT;
	}
	pthread_mutex_unlock(&k->lock);
	return r;
}

static int fake_close(void *ctx, int fd)
{
	struct fake_kvm *k = ctx;
	int r = 0;

	pthread_mutex_lock(&k->lock);
	if (is_fake(fd)) {
		assert_true(k->kind[fd - FAKE_FD_BASE] != 0);
		if (k->kind[fd - FAKE_FD_BASE] == 'v') {
			k->ioeventfds = k->irqfds = 0;
		}
		k->kind[fd - FAKE_FD_BASE] = 0;
		k->fds_open--;
	} else {
		assert_in_range(fd, 0, 1023);
		assert_true(k->real_fd[fd]);
		k->real_fd[fd] = false;
		k->fds_open--;
		r = close(fd) < 0 ? -errno : 0;
	}
	pthread_mutex_unlock(&k->lock);
	return r;
}

static int supported_cpuid(struct kvm_cpuid_table *t)
{
	static const struct kvm_cpuid_entry2 leaves[] = {
		{.function = 0, .eax = 0xd, .ebx = 0x756e6547},
		{.function = 1, .ebx = 0x05100800, .ecx = 1u << 21 | 1u << 26 | 1u << 28},
		{.function = 7, .flags = 1, .ebx = 1u << 0 | 1u << 5, .edx = 1u << 29},
		{.function = 0xa, .eax = 0x08300402, .edx = 3},
		{.function = 0xb, .index = 0, .flags = 1, .eax = 1, .ebx = 2, .ecx = 0x100},
		{.function = 0xb, .index = 1, .flags = 1, .eax = 4, .ebx = 8, .ecx = 0x201},
		{.function = 0xd, .index = 0, .flags = 1, .eax = 7, .ebx = 832, .ecx = 832},
		{.function = 0x40000000, .eax = 0x40000001, .ebx = 0x4b4d564b},
		{.function = 0x40000001, .eax = 0x01000ffb},
		{.function = 0x80000008, .eax = 0x3030, .ecx = 7},
	};

	if (t->head.nent < ARRAY_SIZE(leaves)) {
		return -E2BIG;
	}
	t->head.nent = ARRAY_SIZE(leaves);
	memcpy(t->entries, leaves, sizeof(leaves));
	return 0;
}

static int device_ioctl(struct fake_kvm *k, unsigned long request, void *arg)
{
	switch (request) {
	case KVM_GET_API_VERSION:
		return k->api_version;
	case KVM_GET_VCPU_MMAP_SIZE:
		return FAKE_RUN_SIZE;
	case KVM_CHECK_EXTENSION:
		if ((int)(uintptr_t)arg == k->missing_cap) {
			return 0;
		}
		return (uintptr_t)arg == KVM_CAP_MAX_VCPUS ? FAKE_VCPUS : 1;
	case KVM_GET_SUPPORTED_CPUID:
		return supported_cpuid(arg);
	case KVM_CREATE_VM:
		return fd_new(k, 'v', 0);
	default:
		return -ENOTTY;
	}
}

static int new_vcpu(struct fake_kvm *k, unsigned int index)
{
	struct fake_vcpu *v;
	int fd;

	if (index >= FAKE_VCPUS) {
		return -EINVAL;
	}
	fd = fd_new(k, 'c', index);
	v = &k->vcpus[index];
	memset(v, 0, sizeof(*v));
	v->fd = fd;
	k->vcpu_count = index + 1 > k->vcpu_count ? index + 1 : k->vcpu_count;
	return fd;
}

static int vm_ioctl(struct fake_kvm *k, unsigned long request, void *arg)
{
	switch (request) {
	case KVM_SET_IDENTITY_MAP_ADDR:
	case KVM_SET_TSS_ADDR:
		return 0;
	case KVM_IRQFD:
		if (k->irqfds == FAKE_EVENTS) {
			return -ENOSPC;
		}
		k->irqfd[k->irqfds++] = *(const struct kvm_irqfd *)arg;
		return 0;
	case KVM_IOEVENTFD:
		if (k->ioeventfds == FAKE_EVENTS) {
			return -ENOSPC;
		}
		k->ioeventfd[k->ioeventfds++] = *(const struct kvm_ioeventfd *)arg;
		return 0;
	case KVM_ENABLE_CAP: {
		const struct kvm_enable_cap *cap = arg;

		k->pmu_disabled |=
			cap->cap == KVM_CAP_PMU_CAPABILITY && cap->args[0] == KVM_PMU_CAP_DISABLE;
		return 0;
	}
	case KVM_CREATE_IRQCHIP:
		k->irqchip = true;
		return 0;
	case KVM_CREATE_PIT2:
		k->pit = true;
		return 0;
	case KVM_SET_USER_MEMORY_REGION:
		k->slots++;
		k->slot_bytes += ((struct kvm_userspace_memory_region *)arg)->memory_size;
		return 0;
	case KVM_IRQ_LINE: {
		const struct kvm_irq_level *line = arg;

		k->irq_edges[line->irq] += line->level && !k->irq_level[line->irq];
		k->irq_level[line->irq] = line->level;
		return 0;
	}
	case KVM_CREATE_VCPU:
		return new_vcpu(k, (unsigned int)(uintptr_t)arg);
	case KVM_GET_STATS_FD:
		return fd_new(k, 's', 0);
	default:
		return -ENOTTY;
	}
}

static int set_msrs(struct fake_kvm *k, struct fake_vcpu *v, const struct kvm_msr_table *t)
{
	for (uint32_t i = 0; i < t->head.nmsrs; i++) {
		if (t->entries[i].index == k->refused_msr) {
			return (int)i;
		}
	}
	memcpy(&v->msrs, t, sizeof(t->head) + t->head.nmsrs * sizeof(t->entries[0]));
	return (int)t->head.nmsrs;
}

static int vcpu_ioctl(struct fake_kvm *k, struct fake_vcpu *v, unsigned int index,
		      unsigned long request, void *arg)
{
	switch (request) {
	case KVM_SET_CPUID2:
		memcpy(&v->cpuid, arg, sizeof(v->cpuid));
		return 0;
	case KVM_SET_FPU:
	case KVM_SET_XCRS:
		return 0;
	case KVM_GET_REGS:
		memcpy(arg, &v->regs, sizeof(v->regs));
		return 0;
	case KVM_SET_REGS:
		memcpy(&v->regs, arg, sizeof(v->regs));
		return 0;
	case KVM_GET_SREGS:
		memcpy(arg, &v->sregs, sizeof(v->sregs));
		return 0;
	case KVM_SET_SREGS:
		memcpy(&v->sregs, arg, sizeof(v->sregs));
		return 0;
	case KVM_GET_LAPIC:
		memcpy(arg, &v->lapic, sizeof(v->lapic));
		return 0;
	case KVM_SET_LAPIC:
		memcpy(&v->lapic, arg, sizeof(v->lapic));
		return 0;
	case KVM_SET_MSRS:
		return set_msrs(k, v, arg);
	case KVM_GET_MSRS:
		((struct kvm_msr_table *)arg)->entries[0].data = 0x1234;
		return 1;
	case KVM_SET_GUEST_DEBUG:
		v->debug = *(const struct kvm_guest_debug *)arg;
		return 0;
	case KVM_GET_VCPU_EVENTS:
		*(struct kvm_vcpu_events *)arg = v->events;
		return 0;
	case KVM_SET_VCPU_EVENTS:
		v->events = *(const struct kvm_vcpu_events *)arg;
		return 0;
	case KVM_GET_XSAVE:
		memset(arg, 0, sizeof(struct kvm_xsave));
		return 0;
	case KVM_SET_XSAVE:
		return 0;
	case KVM_KVMCLOCK_CTRL:
		k->clock_ctrls++;
		return 0;
	case KVM_NMI:
		v->nmis++;
		return 0;
	case KVM_GET_MP_STATE:
		((struct kvm_mp_state *)arg)->mp_state = v->mp_state;
		return 0;
	case KVM_GET_DEVICE_ATTR:
		*(uint64_t *)(uintptr_t)((struct kvm_device_attr *)arg)->addr = 1000;
		return 0;
	case KVM_GET_STATS_FD:
		return fd_new(k, 's', index);
	default:
		return -ENOTTY;
	}
}

static int fake_ioctl(void *ctx, int fd, unsigned long request, void *arg)
{
	struct fake_kvm *k = ctx;
	unsigned int owner;
	char kind;
	int r;

	assert_true(is_fake(fd));
	pthread_mutex_lock(&k->lock);
	kind = k->kind[fd - FAKE_FD_BASE];
	owner = k->owner[fd - FAKE_FD_BASE];
	if (fails(k, request)) {
		r = -k->fail_errno;
	} else if (kind == 'd') {
		r = device_ioctl(k, request, arg);
	} else if (kind == 'v') {
		r = vm_ioctl(k, request, arg);
	} else if (kind == 'c' && request == KVM_RUN) {
		struct fake_vcpu *v = &k->vcpus[owner];

		v->runs++;
		pthread_mutex_unlock(&k->lock);
		if (__atomic_load_n(&v->run->immediate_exit, __ATOMIC_SEQ_CST) || !k->run) {
			return -EINTR;
		}
		return k->run(k, owner, v->run);
	} else {
		r = kind == 'c' ? vcpu_ioctl(k, &k->vcpus[owner], owner, request, arg) : -EBADF;
	}
	pthread_mutex_unlock(&k->lock);
	return r;
}

static int fake_mmap(void *ctx, void *at, size_t bytes, int prot, int flags, int fd,
		     uint64_t offset, void **ret)
{
	struct fake_kvm *k = ctx;
	void *p;
	int r = -ENOMEM;

	pthread_mutex_lock(&k->lock);
	if (fails(k, 1)) {
		r = -k->fail_errno;
	} else {
		p = is_fake(fd) ? mmap(at, bytes, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
				: mmap(at, bytes, prot, flags, fd, (off_t)offset);
		r = p == MAP_FAILED ? -errno : 0;
	}
	if (r == 0) {
		*ret = p;
		if (is_fake(fd)) {
			k->vcpus[k->owner[fd - FAKE_FD_BASE]].run = p;
		}
		/* A fixed one lies over one that is counted already. */
		for (int i = 0; i < FAKE_MAPS && !(flags & MAP_FIXED); i++) {
			if (!k->maps[i].at) {
				k->maps[i].at = p;
				k->maps[i].bytes = bytes;
				k->maps_open++;
				break;
			}
		}
	}
	pthread_mutex_unlock(&k->lock);
	return r;
}

static int fake_munmap(void *ctx, void *at, size_t bytes)
{
	struct fake_kvm *k = ctx;
	bool found = false;

	pthread_mutex_lock(&k->lock);
	for (int i = 0; i < FAKE_MAPS; i++) {
		if (k->maps[i].at == at && k->maps[i].bytes == bytes) {
			k->maps[i].at = NULL;
			k->maps_open--;
			found = true;
			break;
		}
	}
	pthread_mutex_unlock(&k->lock);
	assert_true(found);
	return munmap(at, bytes) < 0 ? -errno : 0;
}

/* The file behind a statistics descriptor: header, descriptors, values. */
static size_t stats_file(const struct fake_kvm *k, const uint64_t *values, unsigned char *buf)
{
	static const char *const names[FAKE_STATS] = {"exits", "irq_injections", "blocking",
						      "halt_poll_success_hist"};
	const size_t name_size = 32;
	const size_t stride = sizeof(struct kvm_stats_desc) + name_size;
	struct kvm_stats_header h = {
		.name_size = (uint32_t)name_size,
		.num_desc = FAKE_STATS,
		.desc_offset = sizeof(h),
		.data_offset = (uint32_t)(sizeof(h) + FAKE_STATS * stride),
	};

	memcpy(buf, &h, sizeof(h));
	for (uint32_t i = 0; i < FAKE_STATS; i++) {
		unsigned char *at = buf + sizeof(h) + i * stride;
		struct kvm_stats_desc d = {
			.size = i == FAKE_HISTOGRAM ? 3 : 1,
			.offset = i * 8 + (i == 0 ? k->bad_stat_offset : 0),
		};

		memset(at, 0, stride);
		memcpy(at, &d, sizeof(d));
		memcpy(at + sizeof(d), names[i], strlen(names[i]));
	}
	memcpy(buf + h.data_offset, values, (FAKE_STATS + 2) * sizeof(*values));
	return h.data_offset + (FAKE_STATS + 2) * sizeof(*values);
}

static int64_t fake_pread(void *ctx, int fd, void *buf, size_t bytes, uint64_t offset)
{
	struct fake_kvm *k = ctx;
	unsigned char file[1024];
	size_t size;
	int64_t n;

	pthread_mutex_lock(&k->lock);
	if (fails(k, 2)) {
		n = -k->fail_errno;
	} else if (!is_fake(fd)) {
		n = pread(fd, buf, bytes, (off_t)offset);
		n = n < 0 ? -errno : n;
	} else {
		size = stats_file(k, k->vcpus[k->owner[fd - FAKE_FD_BASE]].stats, file);
		n = offset >= size ? 0 : (int64_t)(size - offset < bytes ? size - offset : bytes);
		memcpy(buf, file + offset, (size_t)n);
	}
	pthread_mutex_unlock(&k->lock);
	return n;
}

static int keep_real(struct fake_kvm *k, int fd)
{
	assert_in_range(fd, 0, 1023);
	k->real_fd[fd] = true;
	k->fds_open++;
	return fd;
}

static int fake_memfd(void *ctx, const char *name, uint64_t bytes, uint64_t huge_page_bytes)
{
	struct fake_kvm *k = ctx;
	int r;

	pthread_mutex_lock(&k->lock);
	r = fails(k, 3) ? -k->fail_errno : kvm_ops_real.memfd(NULL, name, bytes, huge_page_bytes);
	r = r < 0 ? r : keep_real(k, r);
	pthread_mutex_unlock(&k->lock);
	return r;
}

static int fake_eventfd(void *ctx)
{
	struct fake_kvm *k = ctx;
	int r;

	pthread_mutex_lock(&k->lock);
	r = fails(k, 4) ? -k->fail_errno : kvm_ops_real.eventfd(NULL);
	r = r < 0 ? r : keep_real(k, r);
	pthread_mutex_unlock(&k->lock);
	return r;
}

/* A KVM that has everything and fails nothing. */
void fake_kvm_init(struct fake_kvm *k)
{
	memset(k, 0, sizeof(*k));
	pthread_mutex_init(&k->lock, NULL);
	k->api_version = KVM_API_VERSION;
	k->missing_cap = -1;
	k->ops = (struct kvm_ops){
		.open = fake_open,
		.close = fake_close,
		.ioctl = fake_ioctl,
		.mmap = fake_mmap,
		.munmap = fake_munmap,
		.pread = fake_pread,
		.memfd = fake_memfd,
		.eventfd = fake_eventfd,
		.ctx = k,
	};
}

void fake_kvm_fini(struct fake_kvm *k)
{
	pthread_mutex_destroy(&k->lock);
}
