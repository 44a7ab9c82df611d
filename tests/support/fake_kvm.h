/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A KVM for tests without /dev/kvm. It keeps what it was told, plays exits from a script, counts
 * descriptors and mappings that are still open, and fails the N-th call with a chosen errno. Memory
 * files, eventfds and mappings of guest memory are real, KVM's own descriptors are numbers of ours.
 */
#ifndef TESTS_FAKE_KVM_H
#define TESTS_FAKE_KVM_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kvm/ops.h"
#include "kvm/types.h"

#define FAKE_FDS      64
#define FAKE_FD_BASE  10000
#define FAKE_VCPUS    4
#define FAKE_MAPS     64
#define FAKE_EVENTS   16
#define FAKE_LOG      512
#define FAKE_STATS    4
#define FAKE_RUN_SIZE (3 * 4096)

enum fake_stat { FAKE_EXITS, FAKE_IRQS, FAKE_BLOCKING, FAKE_HISTOGRAM };

struct fake_kvm;

/* Plays one KVM_RUN: fills the shared page and returns 0, or returns −errno. */
typedef int (*fake_run_fn)(struct fake_kvm *k, unsigned int vcpu, struct kvm_run *run);

struct fake_vcpu {
	int fd;
	struct kvm_run *run;
	struct kvm_regs regs;
	struct kvm_sregs sregs;
	struct kvm_lapic_state lapic;
	struct kvm_msr_table msrs;
	struct kvm_cpuid_table cpuid;
	uint32_t mp_state;
	unsigned int nmis; /* given to it */
	struct kvm_guest_debug debug;
	struct kvm_vcpu_events events;
	unsigned int runs;
	uint64_t stats[FAKE_STATS + 2]; /* the histogram has three items */
};

struct fake_kvm {
	struct kvm_ops ops;
	pthread_mutex_t lock;

	/* Behaviour, set by the test. */
	unsigned int fail_at; /* number of the call to fail, from 1; 0: none */
	int fail_errno;
	int api_version;
	int missing_cap; /* capability that is denied; −1: none */
	uint32_t refused_msr;
	uint32_t bad_stat_offset; /* added to the first descriptor's offset */
	fake_run_fn run;
	void *run_ctx;

	/* What happened. */
	unsigned int calls; /* made so far that can fail */
	unsigned long failed_request;
	unsigned int fds_open;
	unsigned int maps_open;
	unsigned int slots;
	uint64_t slot_bytes;
	bool irqchip;
	bool pit;
	bool pmu_disabled;
	unsigned int clock_ctrls; /* vCPUs that were told of a pause */
	unsigned int irq_edges[24];
	bool irq_level[24];
	unsigned int ioeventfds, irqfds; /* tied so far */
	struct kvm_ioeventfd ioeventfd[FAKE_EVENTS];
	struct kvm_irqfd irqfd[FAKE_EVENTS];
	unsigned int vcpu_count;
	struct fake_vcpu vcpus[FAKE_VCPUS];

	/* Private. */
	char kind[FAKE_FDS]; /* 'd'evice, 'v'm, 'c'pu, 's'tats; 0: free */
	unsigned char owner[FAKE_FDS];
	bool real_fd[1024];
	struct {
		void *at;
		size_t bytes;
	} maps[FAKE_MAPS];
};

void fake_kvm_init(struct fake_kvm *k);
void fake_kvm_fini(struct fake_kvm *k);

#endif
