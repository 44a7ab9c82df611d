/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the host did to a vCPU's thread: one pread and one system call a look, no allocation. */
#ifndef VMM_THREAD_COUNTERS_H
#define VMM_THREAD_COUNTERS_H

#include <stdint.h>

#include "kvm/ops.h"

/* In place of a counter that this host does not have. */
#define COUNTER_NONE UINT64_MAX

/* The file of the thread that opens it. */
#define THREAD_SCHEDSTAT_PATH "/proc/thread-self/schedstat"

struct thread_counters {
	uint64_t steal_ns; /* it waited for a CPU, or COUNTER_NONE */
	uint64_t nivcsw;   /* it was preempted, or COUNTER_NONE */
};

void thread_counters_read(const struct kvm_ops *ops, int schedstat_fd, struct thread_counters *ret);
uint64_t counter_advance(uint64_t from, uint64_t to, uint64_t own);

#endif
