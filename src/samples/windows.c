/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See windows.h. Any thread. */
#include "samples/windows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define KEY        "\"windows\":"
#define MARK       "-1" /* stands where the rows were; no record has a number there */
#define DIGITS_MAX 18   /* of a number that surely fits JSON's integers */

static const char *const names[WINDOW_COUNTS] = {
	[WINDOW_OPEN_TSC] = "open_tsc",   [WINDOW_EXITS] = "exits",
	[WINDOW_KVM_EXITS] = "kvm_exits", [WINDOW_IRQS] = "irqs",
	[WINDOW_STEAL_NS] = "steal_ns",   [WINDOW_NIVCSW] = "nivcsw",
};

/* What is left to read of a text. */
struct scan {
	const char *at, *end;
};

static bool take(struct scan *s, const char *word)
{
	size_t len = strlen(word);

	if ((size_t)(s->end - s->at) < len || memcmp(s->at, word, len) != 0) {
		return false;
	}
	s->at += len;
	return true;
}

static bool scan_number(struct scan *s, uint64_t *ret)
{
	const char *first = s->at;
	uint64_t v = 0;

	if (take(s, "null")) {
		*ret = 0;
		return true;
	}
	while (s->at < s->end && *s->at >= '0' && *s->at <= '9' && s->at - first < DIGITS_MAX) {
		v = 10 * v + (uint64_t)(*s->at++ - '0');
	}
	*ret = v;
	return s->at - first == 1 || (s->at > first && *first != '0');
}

/* {"exits":0,...}: keys that are known, in their order, each once at most. */
static bool scan_row(struct scan *s, struct window *ret)
{
	const char *between = "{\"";

	*ret = (struct window){0};
	for (size_t i = 0; i < WINDOW_COUNTS; i++) {
		struct scan key = *s;

		if (take(&key, between) && take(&key, names[i]) && take(&key, "\":")) {
			*s = key;
			if (!scan_number(s, &ret->v[i])) {
				return false;
			}
			between = ",\"";
		}
	}
	return *between == ',' && take(s, "}");
}

static struct window *add_row(struct windows *w)
{
	if (w->count == w->room) {
		size_t room = w->room ? 2 * w->room : 64;
		struct window *rows = realloc(w->rows, room * sizeof(*rows));

		if (!rows) {
			return NULL;
		}
		w->rows = rows;
		w->room = room;
	}
	return &w->rows[w->count++];
}

/* [{...},{...}]: false where it is anything else, or memory is short. */
static bool scan_rows(struct scan *s, struct windows *ret)
{
	const char *between = "[";

	while (take(s, between)) {
		struct window *row = add_row(ret);

		if (!row || !scan_row(s, row)) {
			return false;
		}
		between = ",";
	}
	return *between == ',' && take(s, "]");
}

/* The line with MARK in place of what stands from @from to @to. */
static json_t *load_without(const char *line, size_t len, const char *from, const char *to)
{
	size_t head = (size_t)(from - line), mark = strlen(MARK);
	size_t tail = len - (size_t)(to - line);
	_cleanup_free_ char *rest = malloc(head + mark + tail);

	if (!rest) {
		return NULL;
	}
	memcpy(rest, line, head);
	memcpy(rest + head, MARK, mark);
	memcpy(rest + head + mark, to, tail);
	return json_loadb(rest, head + mark + tail, JSON_REJECT_DUPLICATES, NULL);
}

/* Reads the first windows of a line by themselves. NULL where they are not the record's own. */
static json_t *load_fast(const char *line, size_t len, struct windows *ret)
{
	const char *key = memmem(line, len, KEY, strlen(KEY));
	const char *rows = key ? key + strlen(KEY) : NULL;
	struct scan s = {.at = rows, .end = line + len};
	json_t *root;

	if (!key || !scan_rows(&s, ret)) {
		return NULL;
	}
	root = load_without(line, len, rows, s.at);
	if (!json_is_integer(json_object_get(root, "windows"))) {
		json_decref(root);
		return NULL;
	}
	return root;
}

static int row_from_json(const json_t *o, struct window *ret, struct err *e)
{
	*ret = (struct window){0};
	for (size_t i = 0; i < WINDOW_COUNTS; i++) {
		const json_t *v = json_object_get(o, names[i]);

		if (!v || json_is_null(v)) {
			continue;
		}
		if (!json_is_integer(v) || json_integer_value(v) < 0) {
			return err_set(e, -EBADMSG, "'%s' is not a whole number of 0 or more",
				       names[i]);
		}
		ret->v[i] = (uint64_t)json_integer_value(v);
	}
	return 0;
}

static int rows_from_json(const json_t *rows, struct windows *ret, struct err *e)
{
	const json_t *o;
	size_t i;

	json_array_foreach (rows, i, o) {
		struct window *row = add_row(ret);
		int r = row ? row_from_json(o, row, e) : err_set(e, -ENOMEM, "out of memory");

		if (r < 0) {
			return r;
		}
	}
	return 0;
}

/**
 * windows_load() - read a record as JSON, and its windows as rows
 * @line: one line
 * @len: its length, bytes
 * @ret_root: set on success, a new reference: the record; what it has as windows is not to be used
 * @ret: set on success; end it with windows_fini()
 * @e: set on failure
 *
 * Return: 0, -EBADMSG for what is no JSON or has windows that are none, -ENOMEM.
 * Context: any thread.
 */
int windows_load(const char *line, size_t len, json_t **ret_root, struct windows *ret,
		 struct err *e)
{
	struct windows w = {0};
	json_error_t je;
	json_t *root = load_fast(line, len, &w);
	int r;

	if (!root) {
		w.count = 0;
		root = json_loadb(line, len, JSON_REJECT_DUPLICATES, &je);
		r = root ? rows_from_json(json_object_get(root, "windows"), &w, e)
			 : err_set(e, -EBADMSG, "not a record: column %d: %s", je.column, je.text);
		if (r < 0) {
			windows_fini(&w);
			json_decref(root);
			return r;
		}
	}
	*ret = w;
	*ret_root = root;
	return 0;
}

/**
 * windows_fini() - free the rows
 * @w: windows; all zero is fine
 *
 * Context: any thread.
 */
void windows_fini(struct windows *w)
{
	free(w->rows);
	*w = (struct windows){0};
}
