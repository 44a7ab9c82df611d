/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What guest memory is made of: --pages, --prefault, --lock-memory. */
#ifndef CLI_RUN_MEMORY_H
#define CLI_RUN_MEMORY_H

#include <jansson.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "vmm/vmm.h"

int run_pages_parse(const char *value, struct machine_memory *ret, struct err *e) __must_check;
json_t *run_memory_to_json(uint64_t bytes, const struct machine_memory *how);

#endif
