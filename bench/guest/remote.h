/* SPDX-License-Identifier: GPL-2.0-or-later */
/* System calls made by another process, for what only the process itself can ask the kernel. */
#ifndef BENCH_REMOTE_H
#define BENCH_REMOTE_H

#include <sys/types.h>

#include "base/cleanup.h"
#include "base/err.h"

int remote_nopti_get(pid_t pid, unsigned long *ret_bits, struct err *e) __must_check;

#endif
