/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See stack_scan.h. Runs on the event loop's thread, after the machine's end. */
#include "engine/stack_scan.h"

#include <string.h>

#include "engine/core_map.h"
#include "engine/symbols.h"

/* Of a task of the kernel's, at a multiple of it: arch/x86/include/asm/page_64_types.h. */
#define STACK_BYTES UINT64_C(16384)
#define PAGE_BYTES  4096u
#define CODE_MAX    8
#define MEMORY_MAX  8
/* A run may be late by half a second, whatever its guest's tables are like. */
#define TABLES_MAX 16384

struct scan {
	struct backend *b;
	struct core_map map;
	struct symbol_range code[CODE_MAX];
	size_t code_count;
};

static bool is_code(const struct scan *s, uint64_t value)
{
	for (size_t i = 0; i < s->code_count; i++) {
		if (value - s->code[i].address < s->code[i].bytes) {
			return true;
		}
	}
	return false;
}

static bool read_virtual(const struct scan *s, uint64_t gva, void *buf, size_t bytes)
{
	for (size_t i = 0; i < s->map.count; i++) {
		const struct core_range *r = &s->map.ranges[i];

		if (gva - r->gva < r->bytes) {
			return s->b->ops->read_gpa(s->b, r->gpa + (gva - r->gva), buf, bytes) == 0;
		}
	}
	return false;
}

/* Up to the stack's end, or to what is not mapped. */
static void scan_stack(const struct scan *s, uint64_t sp, struct stack_scan *ret)
{
	uint64_t words[PAGE_BYTES / sizeof(uint64_t)];
	uint64_t end = (sp | (STACK_BYTES - 1)) + 1;

	sp &= ~UINT64_C(7);
	while (sp < end && sp && ret->count < STACK_SCAN_MAX) {
		size_t bytes = PAGE_BYTES - sp % PAGE_BYTES;

		if (!read_virtual(s, sp, words, bytes)) {
			return;
		}
		for (size_t i = 0; i < bytes / sizeof(*words) && ret->count < STACK_SCAN_MAX; i++) {
			if (is_code(s, words[i])) {
				ret->calls[ret->count++] = words[i];
			}
		}
		sp += bytes;
	}
}

/**
 * stack_scan_all() - look at the stack of each vCPU that is in the kernel
 * @b: the machine, which has ended
 * @cpus: its registers
 * @cpu_count: how many
 * @symbols_fd: the kernel's file, which says where code is; of one that does not, nothing is found
 * @ret: set, one for each vCPU
 *
 * Return: 0 or -ENOMEM.
 */
int stack_scan_all(struct backend *b, const struct backend_cpu_state *cpus, size_t cpu_count,
		   int symbols_fd, struct stack_scan *ret)
{
	struct scan s = {.b = b};
	struct backend_memory memory[MEMORY_MAX];
	size_t memory_count = b->ops->memory ? b->ops->memory(b, memory, MEMORY_MAX) : 0;
	int r;

	memset(ret, 0, cpu_count * sizeof(*ret));
	s.code_count = symbols_code(symbols_fd, s.code, CODE_MAX);
	if (s.code_count == 0 || cpu_count == 0) {
		return 0;
	}
	r = core_map_read(&s.map, b, memory, memory_count, cpus, cpu_count, TABLES_MAX);
	for (size_t i = 0; i < cpu_count && r == 0; i++) {
		if ((cpus[i].regs.cs & 3) == 0) {
			scan_stack(&s, cpus[i].regs.rsp, &ret[i]);
		}
	}
	core_map_fini(&s.map);
	return r;
}
