/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a vCPU's stack says of how it got where it is, without the guest's help: every word on it
 * that points into the kernel's code, as the kernel's own traces mark by "?". Some are of calls
 * that have returned. For a guest that says nothing itself any more.
 */
#ifndef ENGINE_STACK_SCAN_H
#define ENGINE_STACK_SCAN_H

#include "base/cleanup.h"
#include "engine/backend.h"

#define STACK_SCAN_MAX 16 /* that are worth to be shown of a vCPU */

struct stack_scan {
	uint64_t calls[STACK_SCAN_MAX]; /* return addresses, the last call first */
	size_t count;
};

int stack_scan_all(struct backend *b, const struct backend_cpu_state *cpus, size_t cpu_count,
		   int symbols_fd, struct stack_scan *ret) __must_check;

#endif
