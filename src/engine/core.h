/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A guest as an ELF core (ET_CORE) that gdb opens together with the vmlinux: each vCPU is a thread,
 * and memory stands at the virtual addresses that the guest has it at. RAM is in the file once and
 * sparse, however often it is mapped; pages of zeroes are holes.
 */
#ifndef ENGINE_CORE_H
#define ENGINE_CORE_H

#include "base/cleanup.h"
#include "base/err.h"
#include "engine/backend.h"

int core_write(int fd, struct backend *b, const struct backend_cpu_state *cpus, size_t cpu_count,
	       const char *kernel_path, struct err *e) __must_check;

#endif
