/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See noise.h: the floors, and their line in a comparison's results. Any thread. */
#include "engine/noise.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_t *floor_to_json(const struct noise_floor *f)
{
	return json_pack("{s:s, s:f, s:I, s:[I, I]}", "benchmark", f->name, "value", f->value,
			 "comparisons", (json_int_t)f->comparisons, "blocks",
			 (json_int_t)f->blocks[0], (json_int_t)f->blocks[1]);
}

/**
 * noise_line() - the floors as a line of a results file
 * @n: the floors
 * @ret: set on success, without a newline; the caller frees it
 * @e: set on failure
 *
 * Return: 0 or -ENOMEM.
 */
int noise_line(const struct noise *n, char **ret, struct err *e)
{
	json_t *list = json_array();
	json_t *root;

	for (size_t i = 0; list && i < n->n; i++) {
		if (json_array_append_new(list, floor_to_json(&n->floors[i])) < 0) {
			json_decref(list);
			list = NULL;
		}
	}
	root = list ? json_pack("{s:i, s:s, s:o}", "schema_version", NOISE_SCHEMA_VERSION, "type",
				NOISE_LINE, "floors", list)
		    : NULL;
	*ret = root ? json_dumps(root, JSON_COMPACT) : NULL;
	json_decref(root);
	return *ret ? 0 : err_set(e, -ENOMEM, "out of memory");
}

static int floor_from_json(const json_t *o, struct noise_floor *ret, struct err *e)
{
	const char *name = json_string_value(json_object_get(o, "benchmark"));
	const json_t *value = json_object_get(o, "value");
	const json_t *comparisons = json_object_get(o, "comparisons");
	const json_t *blocks = json_object_get(o, "blocks");
	json_int_t least = json_integer_value(json_array_get(blocks, 0));
	json_int_t most = json_integer_value(json_array_get(blocks, 1));

	if (!name || !*name || !json_is_number(value) || !(json_number_value(value) >= 0) ||
	    json_integer_value(comparisons) < 1 || least < 1 || most < least) {
		return err_set(e, -EBADMSG,
			       "a noise floor without a benchmark, a value of 0 or "
			       "more, comparisons and blocks");
	}
	*ret = (struct noise_floor){
		.name = strdup(name),
		.value = json_number_value(value),
		.comparisons = (size_t)json_integer_value(comparisons),
		.blocks = {(size_t)least, (size_t)most},
	};
	return ret->name ? 0 : err_set(e, -ENOMEM, "out of memory");
}

static int floors_from_json(const json_t *root, struct noise *ret, struct err *e)
{
	const json_t *list = json_object_get(root, "floors");
	json_int_t version = json_integer_value(json_object_get(root, "schema_version"));
	const json_t *o;
	size_t i;
	int r = 0;

	if (!json_is_array(list) || version < 1) {
		return err_set(e, -EBADMSG, "no line of noise floors");
	}
	if (version > NOISE_SCHEMA_VERSION) {
		return err_set(e, -EPROTO,
			       "schema version %" JSON_INTEGER_FORMAT " is newer than the %d this "
			       "ringside reads: use the one that wrote it",
			       version, NOISE_SCHEMA_VERSION);
	}
	ret->floors = calloc(json_array_size(list) + 1, sizeof(*ret->floors));
	if (!ret->floors) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	json_array_foreach (list, i, o) {
		r = r < 0 ? r : floor_from_json(o, &ret->floors[ret->n], e);
		ret->n += r == 0;
	}
	return r;
}

/**
 * noise_parse() - the floors of a line of a results file
 * @text: the line
 * @len: its length, bytes
 * @ret: set on success; end it with noise_fini()
 * @e: set on failure
 *
 * Return: 0, -EBADMSG for what is no such line, -EPROTO for a newer schema, -ENOMEM.
 */
int noise_parse(const char *text, size_t len, struct noise *ret, struct err *e)
{
	json_t *root = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
	struct noise n = {0};
	int r = floors_from_json(root, &n, e);

	json_decref(root);
	if (r < 0) {
		noise_fini(&n);
		return r;
	}
	*ret = n;
	return 0;
}

/**
 * noise_find() - the floor of a benchmark
 * @n: floors, also none
 * @name: the benchmark
 *
 * Return: it, or NULL.
 */
const struct noise_floor *noise_find(const struct noise *n, const char *name)
{
	for (size_t i = 0; i < n->n; i++) {
		if (strcmp(n->floors[i].name, name) == 0) {
			return &n->floors[i];
		}
	}
	return NULL;
}

/**
 * noise_fini() - free floors
 * @n: them; all zero is fine
 */
void noise_fini(struct noise *n)
{
	for (size_t i = 0; i < n->n; i++) {
		free(n->floors[i].name);
	}
	free(n->floors);
	*n = (struct noise){0};
}
