/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is shown when a guest has failed: the registers of every vCPU and the last console lines. */
#ifndef ENGINE_FAILURE_H
#define ENGINE_FAILURE_H

#include <stdbool.h>
#include <stdio.h>

#include "engine/backend.h"
#include "engine/backtrace.h"
#include "engine/console_watch.h"

/* Registers of more vCPUs than this are not shown. */
#define FAILURE_CPUS_MAX 64

void failure_report(FILE *out, const struct backend_cpu_state *cpus, size_t cpu_count,
		    int symbols_fd, const struct console_watch *console, bool console_was_shown);
void failure_report_lines(FILE *out, const struct backtrace *b);

#endif
