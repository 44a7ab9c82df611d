/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a guest has mapped: its page tables from the top to the pages, as ranges. They are the
 * guest's words, so all of it is bounded: how many tables are read, and how many ranges come of it.
 */
#ifndef ENGINE_CORE_MAP_H
#define ENGINE_CORE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "engine/backend.h"

#define CORE_RANGES_MAX 60000 /* what an ELF file can have as headers, with room for others */
#define CORE_TABLES_MAX 262144

struct core_range {
	uint64_t gva, gpa, bytes;
};

struct core_map {
	struct core_range *ranges; /* by gva, but for an image that was added */
	size_t count, room;
	size_t tables; /* read */
	bool cut;      /* there is more than the limits allow */
};

int core_map_read(struct core_map *map, struct backend *b, const struct backend_memory *memory,
		  size_t memory_count, const struct backend_cpu_state *cpus, size_t cpu_count,
		  size_t tables_max) __must_check;
void core_map_fini(struct core_map *map);

#endif
