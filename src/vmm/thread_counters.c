/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See thread_counters.h. */
#include "vmm/thread_counters.h"

#include <stdlib.h>
#include <sys/resource.h>

/**
 * thread_counters_read() - look at the calling thread's counters
 * @ops: the system calls to use
 * @schedstat_fd: THREAD_SCHEDSTAT_PATH, opened by this thread; −1: not there
 * @ret: always set
 *
 * Context: the thread that runs the vCPU. Documentation/scheduler/sched-stats.rst.
 */
void thread_counters_read(const struct kvm_ops *ops, int schedstat_fd, struct thread_counters *ret)
{
	char text[128];
	char *end;
	struct rusage usage;
	int64_t n = -1;

	*ret = (struct thread_counters){COUNTER_NONE, COUNTER_NONE};
	if (schedstat_fd >= 0) {
		n = ops->pread(ops->ctx, schedstat_fd, text, sizeof(text) - 1, 0);
	}
	if (n > 0) {
		text[n] = '\0';
		strtoull(text, &end, 10); /* time on a CPU */
		ret->steal_ns = strtoull(end, NULL, 10);
	}
	if (getrusage(RUSAGE_THREAD, &usage) == 0) {
		ret->nivcsw = (uint64_t)usage.ru_nivcsw;
	}
}

/**
 * counter_advance() - how far a counter went
 * @from: before
 * @to: after
 * @own: of that is our own doing
 *
 * Return: 0 and up, or COUNTER_NONE when one of the two looks has no value.
 * Context: any thread.
 */
uint64_t counter_advance(uint64_t from, uint64_t to, uint64_t own)
{
	if (from == COUNTER_NONE || to == COUNTER_NONE) {
		return COUNTER_NONE;
	}
	return to - from >= own ? to - from - own : 0;
}
