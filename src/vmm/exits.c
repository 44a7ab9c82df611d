/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See exits.h. */
#include "vmm/exits.h"

#include <stddef.h>

/**
 * exits_row() - the row of a port or address
 * @x: counters
 * @access: which way
 * @address: port, or guest-physical address
 *
 * Return: its counter, or NULL when the rows that the key may have are taken by others.
 * Context: the thread of the vCPU that @x belongs to.
 */
struct exit_counter *exits_row(struct exits *x, enum exit_access access, uint64_t address)
{
	/* Ports that belong together differ in their low bits: spread those out. */
	uint64_t hash = (address * 8 + access) * UINT64_C(0x9e3779b97f4a7c15);

	for (unsigned int i = 0; i < EXITS_PROBES; i++) {
		struct exit_row *row = &x->rows[((hash >> 32) + i) % EXITS_ROWS];
		uint32_t taken = atomic_load_explicit(&row->access, memory_order_relaxed);

		if (taken == 0) {
			atomic_store_explicit(&row->address, address, memory_order_relaxed);
			atomic_store_explicit(&row->access, access, memory_order_release);
			return &row->counter;
		}
		if (taken == (uint32_t)access &&
		    atomic_load_explicit(&row->address, memory_order_relaxed) == address) {
			return &row->counter;
		}
	}
	return NULL;
}

/**
 * exits_access_name() - a word for the way of an access
 * @access: enum exit_access
 *
 * Return: "in", "out", "read" or "write".
 * Context: any thread.
 */
const char *exits_access_name(uint32_t access)
{
	switch (access) {
	case EXIT_IN:
		return "in";
	case EXIT_OUT:
		return "out";
	case EXIT_READ:
		return "read";
	default:
		return "write";
	}
}
