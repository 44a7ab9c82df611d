/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See yprint.h. Any thread that owns the document. */
#include "engine/yprint.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static int node(struct yprint *p, int id)
{
	p->failed |= id == 0;
	return id;
}

/**
 * yprint_init() - begin a document
 * @p: set; yprint_write() ends it
 * @e: set on failure
 *
 * Return: 0 or -ENOMEM.
 */
int yprint_init(struct yprint *p, struct err *e)
{
	*p = (struct yprint){0};
	return yaml_document_initialize(&p->doc, NULL, NULL, NULL, 1, 1)
		       ? 0
		       : err_set(e, -ENOMEM, "out of memory");
}

/**
 * yprint_map() - a mapping
 * @p: the document
 *
 * Return: its node.
 */
int yprint_map(struct yprint *p)
{
	return node(p, yaml_document_add_mapping(&p->doc, NULL, YAML_BLOCK_MAPPING_STYLE));
}

/**
 * yprint_list() - a list
 * @p: the document
 * @in_line: on one line, between brackets
 *
 * Return: its node.
 */
int yprint_list(struct yprint *p, bool in_line)
{
	return node(p, yaml_document_add_sequence(&p->doc, NULL,
						  in_line ? YAML_FLOW_SEQUENCE_STYLE
							  : YAML_BLOCK_SEQUENCE_STYLE));
}

static bool is_utf8(const char *s)
{
	_cleanup_free_ char *copy = strdup(s);

	if (copy) {
		text_make_utf8(copy);
	}
	return !copy || strcmp(copy, s) == 0;
}

/**
 * yprint_text() - a text
 * @p: the document
 * @s: the text; an empty one is quoted
 *
 * Return: its node.
 */
int yprint_text(struct yprint *p, const char *s)
{
	yaml_scalar_style_t style = *s ? YAML_ANY_SCALAR_STYLE : YAML_SINGLE_QUOTED_SCALAR_STYLE;

	p->not_utf8 |= !is_utf8(s);
	for (const char *at = s; *at; at++) {
		p->controls |= text_control_len(at) > 0;
	}
	return node(p, yaml_document_add_scalar(&p->doc, NULL, (const yaml_char_t *)s,
						(int)strlen(s), style));
}

/**
 * yprint_number() - a whole number
 * @p: the document
 * @v: the number
 *
 * Return: its node.
 */
int yprint_number(struct yprint *p, uint64_t v)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, v);
	return yprint_text(p, text);
}

/**
 * yprint_put() - give a mapping a key
 * @p: the document
 * @map: its node
 * @key: which
 * @value: the node that it holds
 */
void yprint_put(struct yprint *p, int map, const char *key, int value)
{
	int k = yprint_text(p, key);

	if (!p->failed) {
		p->failed = !yaml_document_append_mapping_pair(&p->doc, map, k, value);
	}
}

/**
 * yprint_append() - give a list an item
 * @p: the document
 * @list: its node
 * @item: the item's
 */
void yprint_append(struct yprint *p, int list, int item)
{
	if (!p->failed) {
		p->failed = !yaml_document_append_sequence_item(&p->doc, list, item);
	}
}

/**
 * yprint_put_text() - give a mapping a text
 * @p: the document
 * @map: its node
 * @key: which
 * @s: the text, or NULL for none
 */
void yprint_put_text(struct yprint *p, int map, const char *key, const char *s)
{
	if (s) {
		yprint_put(p, map, key, yprint_text(p, s));
	}
}

/**
 * yprint_put_texts() - give a mapping a list of texts
 * @p: the document
 * @map: its node
 * @key: which
 * @v: the texts; where the first is NULL there is none
 * @n: how many
 */
void yprint_put_texts(struct yprint *p, int map, const char *key, char *const *v, size_t n)
{
	int list;

	if (n == 0 || !v[0]) {
		return;
	}
	list = yprint_list(p, true);
	for (size_t i = 0; i < n; i++) {
		yprint_append(p, list, yprint_text(p, v[i]));
	}
	yprint_put(p, map, key, list);
}

/**
 * yprint_put_real() - give a mapping a number, in as few digits as read back to it
 * @p: the document
 * @map: its node
 * @key: which
 * @v: the number; NaN for none
 */
void yprint_put_real(struct yprint *p, int map, const char *key, double v)
{
	char text[TEXT_REAL_MAX];

	if (!isnan(v)) {
		yprint_put_text(p, map, key, text_real(v, text, sizeof(text)));
	}
}

/**
 * yprint_write() - write a document and free it
 * @p: the document
 * @what: what it is, for messages: "the suite"
 * @out: where to; not flushed
 * @e: set on failure
 *
 * Return: 0, -EIO, -EILSEQ for a text that is no UTF-8, -ENOMEM.
 * Context: a thread that may block.
 */
int yprint_write(struct yprint *p, const char *what, FILE *out, struct err *e)
{
	yaml_emitter_t emitter;
	int code = 0;

	if (p->failed || p->not_utf8 || !yaml_emitter_initialize(&emitter)) {
		yaml_document_delete(&p->doc);
		return p->not_utf8 ? err_set(e, -EILSEQ, "a text in %s is no UTF-8", what)
				   : err_set(e, -ENOMEM, "out of memory");
	}
	yaml_emitter_set_output_file(&emitter, out);
	yaml_emitter_set_unicode(&emitter, !p->controls);
	yaml_emitter_set_width(&emitter, -1);
	/* The document is gone after it was dumped. */
	if (!yaml_emitter_open(&emitter) || !yaml_emitter_dump(&emitter, &p->doc) ||
	    !yaml_emitter_close(&emitter)) {
		code = emitter.error == YAML_MEMORY_ERROR
			       ? err_set(e, -ENOMEM, "out of memory")
			       : err_set(e, -EIO, "%s cannot be written", what);
	}
	yaml_emitter_delete(&emitter);
	return code;
}
