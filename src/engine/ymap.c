/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See ymap.h. libyaml makes the tree; all judging is done here. Pure but for reading the file. */
#include "engine/ymap.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

#include "base/io.h"

struct reader {
	const char *path;
	yaml_document_t *doc;
	struct err *e;
};

static struct ymap_pos pos_of(const yaml_mark_t *mark)
{
	return (struct ymap_pos){(unsigned int)mark->line + 1, (unsigned int)mark->column + 1};
}

/**
 * ymap_fail() - an error that says where it stands
 * @path: of the file
 * @pos: of what is wrong
 * @e: set
 * @fmt: what is wrong, without a newline; as for vprintf()
 * @ap: its arguments
 *
 * Return: -EINVAL.
 * Context: any thread.
 */
int ymap_fail(const char *path, struct ymap_pos pos, struct err *e, const char *fmt, va_list ap)
{
	char text[ERR_TEXT_MAX];

	vsnprintf(text, sizeof(text), fmt, ap);
	return err_set(e, -EINVAL, "%s:%u:%u: %s", path, pos.line, pos.column, text);
}

__printf(3, 4) static int fail(const struct reader *r, const yaml_node_t *at, const char *fmt, ...)
{
	va_list ap;
	int code;

	va_start(ap, fmt);
	code = ymap_fail(r->path, pos_of(&at->start_mark), r->e, fmt, ap);
	va_end(ap);
	return code;
}

static const char *keys_of(const struct ymap *map, char *buf, size_t len)
{
	size_t n = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < map->count && n < len; i++) {
		n += (size_t)snprintf(buf + n, len - n, "%s%s", i ? ", " : "", map->fields[i].key);
	}
	return buf;
}

static const char *shape_of(const yaml_node_t *node)
{
	switch (node->type) {
	case YAML_SEQUENCE_NODE:
		return "a list";
	case YAML_MAPPING_NODE:
		return "a mapping";
	default:
		return !node->data.scalar.length ? "nothing"
		       : strlen((const char *)node->data.scalar.value) < node->data.scalar.length
			       ? "a text with a NUL in it"
			       : "a text";
	}
}

/* A scalar's text; NULL for what is none, is empty, or holds a NUL. */
static const char *scalar_of(const yaml_node_t *node)
{
	const char *s = (const char *)node->data.scalar.value;

	if (node->type != YAML_SCALAR_NODE || !*s || strlen(s) != node->data.scalar.length) {
		return NULL;
	}
	return s;
}

/* Whether it is a text of no length: one in quotes. */
static bool is_empty_text(const yaml_node_t *node)
{
	return node->type == YAML_SCALAR_NODE && node->data.scalar.length == 0 &&
	       node->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
}

static bool is_choice(const char *choices, const char *s)
{
	size_t len = strlen(s);

	for (const char *p = choices;; p++) {
		size_t n = strcspn(p, "|");

		if (n == len && strncmp(p, s, len) == 0) {
			return true;
		}
		p += n;
		if (!*p) {
			return false;
		}
	}
}

static int read_text(const struct reader *r, const struct ymap_field *f, const yaml_node_t *node,
		     struct ymap_text *ret)
{
	const char *s = f->empty && is_empty_text(node) ? "" : scalar_of(node);

	if (!s) {
		return fail(r, node, "'%s': expected a text, got %s", f->key, shape_of(node));
	}
	if (f->choices && !is_choice(f->choices, s)) {
		return fail(r, node, "'%s': '%s' is none of %s", f->key, s, f->choices);
	}
	ret->pos = pos_of(&node->start_mark);
	ret->s = strdup(s);
	return ret->s ? 0 : err_set(r->e, -ENOMEM, "out of memory");
}

static int read_uint(const struct reader *r, const struct ymap_field *f, const yaml_node_t *node,
		     struct ymap_uint *ret)
{
	const char *s = scalar_of(node);
	unsigned long long v = 0;
	char *end = NULL;

	errno = 0;
	if (s && *s >= '0' && *s <= '9') {
		v = strtoull(s, &end, 10);
	}
	if (!end || *end || errno || (double)v < f->min || (double)v > f->max) {
		return fail(r, node, "'%s': expected a whole number from %.0f to %.0f, got %s%s%s",
			    f->key, f->min, f->max, s ? "'" : "", s ? s : shape_of(node),
			    s ? "'" : "");
	}
	*ret = (struct ymap_uint){true, v, pos_of(&node->start_mark)};
	return 0;
}

static int read_number(const struct reader *r, const struct ymap_field *f, const yaml_node_t *node,
		       struct ymap_number *ret)
{
	const char *s = scalar_of(node);
	char *end = NULL;
	double v = s ? strtod(s, &end) : NAN;

	if (!s || *end || !(v >= f->min && v <= f->max)) {
		return fail(r, node, "'%s': expected a number from %g to %g, got %s%s%s", f->key,
			    f->min, f->max, s ? "'" : "", s ? s : shape_of(node), s ? "'" : "");
	}
	*ret = (struct ymap_number){true, v, pos_of(&node->start_mark)};
	return 0;
}

static int read_map(const struct reader *r, const struct ymap *map, const yaml_node_t *node,
		    void *into);

static int read_list(const struct reader *r, const struct ymap_field *f, const yaml_node_t *node,
		     struct ymap_list *ret)
{
	size_t bytes = f->map ? f->map->bytes : sizeof(struct ymap_text);
	const char *of = f->map ? f->map->what : "text";
	size_t n;

	if (node->type != YAML_SEQUENCE_NODE) {
		return fail(r, node, "'%s': expected a list (%s), got %s%s", f->key, of,
			    shape_of(node),
			    !f->map && scalar_of(node) ? "; one alone stands in [ ], too" : "");
	}
	n = (size_t)(node->data.sequence.items.top - node->data.sequence.items.start);
	if ((double)n < f->min || (double)n > f->max) {
		return fail(r, node, "'%s': expected a list of %.0f to %.0f (%s), got %zu", f->key,
			    f->min, f->max, of, n);
	}
	ret->pos = pos_of(&node->start_mark);
	ret->items = calloc(n + 1, bytes);
	if (!ret->items) {
		return err_set(r->e, -ENOMEM, "out of memory");
	}
	while (ret->n < n) {
		const yaml_node_t *item =
			yaml_document_get_node(r->doc, node->data.sequence.items.start[ret->n]);
		/* Counted first, so that one that is half read is freed too. */
		void *into = (char *)ret->items + bytes * ret->n++;
		int code = f->map ? read_map(r, f->map, item, into) : read_text(r, f, item, into);

		if (code < 0) {
			return code;
		}
	}
	return 0;
}

static int read_field(const struct reader *r, const struct ymap_field *f, const yaml_node_t *node,
		      void *member)
{
	switch (f->type) {
	case YMAP_TEXT:
		return read_text(r, f, node, member);
	case YMAP_UINT:
		return read_uint(r, f, node, member);
	case YMAP_NUMBER:
		return read_number(r, f, node, member);
	case YMAP_MAP:
		return read_map(r, f->map, node, member);
	case YMAP_TEXTS:
	case YMAP_MAPS:
		break;
	}
	return read_list(r, f, node, member);
}

static int read_map(const struct reader *r, const struct ymap *map, const yaml_node_t *node,
		    void *into)
{
	uint64_t seen = 0;
	char keys[512];

	assert(map->count <= 64);
	if (node->type != YAML_MAPPING_NODE) {
		return fail(r, node, "expected a mapping (%s), got %s; its keys are: %s", map->what,
			    shape_of(node), keys_of(map, keys, sizeof(keys)));
	}
	*(struct ymap_pos *)into = pos_of(&node->start_mark);
	for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
	     pair < node->data.mapping.pairs.top; pair++) {
		const yaml_node_t *key = yaml_document_get_node(r->doc, pair->key);
		const yaml_node_t *value = yaml_document_get_node(r->doc, pair->value);
		const char *name = scalar_of(key);
		size_t i = 0;
		int code;

		while (i < map->count && (!name || strcmp(map->fields[i].key, name) != 0)) {
			i++;
		}
		if (i == map->count) {
			return fail(r, key, "%s: '%s' is no key of it; its keys are: %s", map->what,
				    name ? name : shape_of(key), keys_of(map, keys, sizeof(keys)));
		}
		if (seen >> i & 1) {
			return fail(r, key, "%s: '%s' stands twice in it", map->what, name);
		}
		seen |= UINT64_C(1) << i;
		code = read_field(r, &map->fields[i], value, (char *)into + map->fields[i].at);
		if (code < 0) {
			return code;
		}
	}
	for (size_t i = 0; i < map->count; i++) {
		if (map->fields[i].required && !(seen >> i & 1)) {
			return fail(r, node, "%s: '%s' is missing; its keys are: %s", map->what,
				    map->fields[i].key, keys_of(map, keys, sizeof(keys)));
		}
	}
	return 0;
}

/* What libyaml itself does not take: no YAML, no UTF-8. */
static int bad_yaml(const char *path, const yaml_parser_t *parser, struct err *e)
{
	struct ymap_pos pos = pos_of(&parser->problem_mark);

	if (parser->error == YAML_MEMORY_ERROR) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	if (parser->error == YAML_READER_ERROR) {
		/* It knows bytes only: a file of bytes that are no text has no columns. */
		return err_set(e, -EINVAL, "%s:1:1: not a YAML text: %s at byte %zu", path,
			       parser->problem, parser->problem_offset);
	}
	return err_set(e, -EINVAL, "%s:%u:%u: not YAML: %s%s%s", path, pos.line, pos.column,
		       parser->context ? parser->context : "", parser->context ? ": " : "",
		       parser->problem ? parser->problem : "it cannot be read");
}

static int read_document(yaml_parser_t *parser, const char *path, const struct ymap *map, void *ret,
			 struct err *e)
{
	yaml_document_t doc;
	struct reader r = {.path = path, .doc = &doc, .e = e};
	const yaml_node_t *root;
	char keys[512];
	int code;

	if (!yaml_parser_load(parser, &doc)) {
		return bad_yaml(path, parser, e);
	}
	root = yaml_document_get_root_node(&doc);
	if (!root || (root->type == YAML_SCALAR_NODE && !root->data.scalar.length)) {
		code = err_set(e, -EINVAL, "%s:1:1: the file is empty; the keys of a %s are: %s",
			       path, map->what, keys_of(map, keys, sizeof(keys)));
	} else {
		code = read_map(&r, map, root, ret);
	}
	yaml_document_delete(&doc);
	if (code < 0) {
		return code;
	}
	if (!yaml_parser_load(parser, &doc)) {
		return bad_yaml(path, parser, e);
	}
	root = yaml_document_get_root_node(&doc);
	if (root) {
		code = fail(&r, root, "a second document: one file is one %s", map->what);
	}
	yaml_document_delete(&doc);
	return code;
}

/**
 * ymap_read() - read a YAML file of one mapping
 * @path: the file
 * @map: what it may hold
 * @ret: the struct that @map fills, all zero; end it with ymap_fini(), also on failure
 * @e: set on failure, with file, line and column
 *
 * Return: 0; -EINVAL for what does not fit; -EFBIG; -ENOMEM; the errno of opening or reading.
 * Context: any thread.
 */
int ymap_read(const char *path, const struct ymap *map, void *ret, struct err *e)
{
	_cleanup_free_ char *text = NULL;
	yaml_parser_t parser;
	size_t len = 0;
	int code = io_read_file(path, YMAP_BYTES_MAX, &text, &len, e);

	if (code < 0) {
		return code;
	}
	if (!yaml_parser_initialize(&parser)) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
	code = read_document(&parser, path, map, ret, e);
	yaml_parser_delete(&parser);
	return code;
}

/**
 * ymap_fini() - free what was read
 * @map: as it was read by
 * @filled: the struct; all zero or half read is fine
 *
 * Context: any thread.
 */
void ymap_fini(const struct ymap *map, void *filled)
{
	for (size_t i = 0; i < map->count; i++) {
		const struct ymap_field *f = &map->fields[i];
		void *member = (char *)filled + f->at;
		struct ymap_list *list = member;

		switch (f->type) {
		case YMAP_TEXT:
			free(((struct ymap_text *)member)->s);
			break;
		case YMAP_UINT:
		case YMAP_NUMBER:
			break;
		case YMAP_TEXTS:
			for (size_t k = 0; k < list->n; k++) {
				free(((struct ymap_text *)list->items)[k].s);
			}
			free(list->items);
			break;
		case YMAP_MAPS:
			for (size_t k = 0; k < list->n; k++) {
				ymap_fini(f->map, (char *)list->items + f->map->bytes * k);
			}
			free(list->items);
			break;
		case YMAP_MAP:
			ymap_fini(f->map, member);
			break;
		}
	}
	memset(filled, 0, map->bytes);
}
