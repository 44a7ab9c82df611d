/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The windows of a boot: what the VMM's counters did during each batch. They are most of a record's
 * text, a flat row for each batch, so the rows as ringside writes them are read without a JSON
 * tree; whatever looks otherwise goes the long way and means the same.
 */
#ifndef SAMPLES_WINDOWS_H
#define SAMPLES_WINDOWS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/err.h"

enum window_count {
	WINDOW_OPEN_TSC,
	WINDOW_EXITS,
	WINDOW_KVM_EXITS,
	WINDOW_IRQS,
	WINDOW_STEAL_NS,
	WINDOW_NIVCSW,
	WINDOW_COUNTS,
};

/* A count that is not there, or not known, is 0. */
struct window {
	uint64_t v[WINDOW_COUNTS];
};

struct windows {
	size_t count, room;
	struct window *rows;
};

int windows_load(const char *line, size_t len, json_t **ret_root, struct windows *ret,
		 struct err *e) __must_check;
void windows_fini(struct windows *w);

#endif
