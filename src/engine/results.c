/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See results.h. Pure; runs on the event loop's thread. */
#include "engine/results.h"

#include <stdio.h>
#include <string.h>

/**
 * results_init() - nothing was said yet
 * @r: the caller's memory; end it with results_fini()
 * @lines: an array that each line is appended to; stays the caller's
 */
void results_init(struct results *r, json_t *lines)
{
	*r = (struct results){.lines = lines};
}

/**
 * results_fini() - free an unfinished line
 * @r: initialised results
 */
void results_fini(struct results *r)
{
	free(r->line);
	*r = (struct results){.lines = NULL};
}

/* Addresses are written as text, since JSON's numbers do not hold 64 bits everywhere. */
static uint64_t get_u64(json_t *j)
{
	if (json_is_string(j)) {
		return strtoull(json_string_value(j), NULL, 0);
	}
	return json_integer_value(j) > 0 ? (uint64_t)json_integer_value(j) : 0;
}

static void take_agent(struct results *r, json_t *j)
{
	json_t *calltime = json_object_get(j, "calltime");
	const char *uname = json_string_value(json_object_get(j, "uname"));

	r->agent_seen = true;
	snprintf(r->uname, sizeof(r->uname), "%s", uname ? uname : "");
	r->cpus = (unsigned int)json_integer_value(json_object_get(j, "cpus"));
	r->calltime_gpa = get_u64(json_object_get(calltime, "gpa"));
	r->calltime_bytes = get_u64(json_object_get(calltime, "bytes"));
}

static void take_line(struct results *r)
{
	json_t *j = json_loadb(r->line, r->line_len, 0, NULL);
	const char *type = json_string_value(json_object_get(j, "type"));

	r->total += r->line_len;
	if (!type || r->total > RESULTS_TOTAL_MAX) {
		r->dropped++;
		json_decref(j);
		return;
	}
	if (strcmp(type, "agent") == 0) {
		take_agent(r, j);
	} else if (strcmp(type, "kernel") == 0) {
		r->kernel = j;
	} else if (strcmp(type, "exit") == 0 && !json_is_integer(json_object_get(j, "status"))) {
		/* Without a status it is the agent that failed. */
		r->agent_error = json_string_value(json_object_get(j, "error"));
	} else if (strcmp(type, "exit") == 0) {
		r->exit_seen = true;
		r->exit_status = (int)json_integer_value(json_object_get(j, "status"));
		r->exit_signal = (int)json_integer_value(json_object_get(j, "signal"));
	}
	if (json_array_append_new(r->lines, j) < 0) {
		r->kernel = r->kernel == j ? NULL : r->kernel;
		r->agent_error = NULL;
		r->dropped++;
	}
}

static bool add_byte(struct results *r, char c)
{
	if (r->line_len == r->line_room) {
		size_t room = r->line_room ? 2 * r->line_room : 1024;
		char *p = room <= RESULTS_LINE_MAX ? realloc(r->line, room) : NULL;

		if (!p) {
			return false;
		}
		r->line = p;
		r->line_room = room;
	}
	r->line[r->line_len++] = c;
	return true;
}

/**
 * results_feed() - take bytes of the results stream
 * @r: initialised results
 * @data: the bytes; lines may be split over calls anywhere
 * @len: how many
 *
 * A line that is no JSON object with a "type", or too long, is counted and left out.
 */
void results_feed(struct results *r, const void *data, size_t len)
{
	const char *p = data;

	for (size_t i = 0; i < len; i++) {
		if (p[i] == '\n') {
			take_line(r);
			r->line_len = 0;
		} else if (!add_byte(r, p[i])) {
			r->line_len = 0;
			r->dropped++;
		}
	}
}
