/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The results stream of a guest's agent: lines of JSON, kept for the record, of which the first
 * ("agent") and the last ("exit") are understood here. What a guest can make us keep is bounded.
 */
#ifndef ENGINE_RESULTS_H
#define ENGINE_RESULTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

#define RESULTS_LINE_MAX  (4U << 20)  /* bytes of one line */
#define RESULTS_TOTAL_MAX (64U << 20) /* bytes of all */

struct results {
	json_t *lines; /* array; borrowed from the record */
	char *line;
	size_t line_len, line_room, total;
	uint64_t dropped; /* lines that were no JSON object, or too much */

	bool agent_seen;
	char uname[128];
	unsigned int cpus;                     /* online in the guest; 0: not said */
	uint64_t calltime_gpa, calltime_bytes; /* 0: there is none */

	const json_t
		*kernel; /* what the agent found in the kernel's log; one of the lines, or NULL */

	bool exit_seen;
	int exit_status, exit_signal;
	const char *agent_error; /* why there is no status; in one of the lines, or NULL */
};

void results_init(struct results *r, json_t *lines);
void results_fini(struct results *r);
void results_feed(struct results *r, const void *data, size_t len);

#endif
