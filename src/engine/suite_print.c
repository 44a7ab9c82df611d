/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See suite.h: a suite as a file that reads back to the same cases. Nothing is left to defaults,
 * and every path is absolute. libyaml quotes what has to be.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <yaml.h>

#include "base/text.h"
#include "engine/suite_priv.h"

/* Nodes of the document are numbers from 1. */
struct printer {
	yaml_document_t doc;
	bool failed;   /* no memory, unless: */
	bool not_utf8; /* a text that YAML cannot hold */
};

static int node(struct printer *p, int id)
{
	p->failed |= id == 0;
	return id;
}

static int add_map(struct printer *p)
{
	return node(p, yaml_document_add_mapping(&p->doc, NULL, YAML_BLOCK_MAPPING_STYLE));
}

static int add_list(struct printer *p, yaml_sequence_style_t style)
{
	return node(p, yaml_document_add_sequence(&p->doc, NULL, style));
}

static bool is_utf8(const char *s)
{
	_cleanup_free_ char *copy = strdup(s);

	if (copy) {
		text_make_utf8(copy);
	}
	return !copy || strcmp(copy, s) == 0;
}

static int add_text(struct printer *p, const char *s)
{
	yaml_scalar_style_t style = *s ? YAML_ANY_SCALAR_STYLE : YAML_SINGLE_QUOTED_SCALAR_STYLE;

	p->not_utf8 |= !is_utf8(s);
	return node(p, yaml_document_add_scalar(&p->doc, NULL, (const yaml_char_t *)s,
						(int)strlen(s), style));
}

static void put(struct printer *p, int map, const char *key, int value)
{
	int k = add_text(p, key);

	if (!p->failed) {
		p->failed = !yaml_document_append_mapping_pair(&p->doc, map, k, value);
	}
}

static void put_text(struct printer *p, int map, const char *key, const char *s)
{
	if (s) {
		put(p, map, key, add_text(p, s));
	}
}

static void append(struct printer *p, int list, int item)
{
	if (!p->failed) {
		p->failed = !yaml_document_append_sequence_item(&p->doc, list, item);
	}
}

static void put_texts(struct printer *p, int map, const char *key, char *const *v, size_t n)
{
	int list;

	if (n == 0 || !v[0]) {
		return;
	}
	list = add_list(p, YAML_FLOW_SEQUENCE_STYLE);
	for (size_t i = 0; i < n; i++) {
		append(p, list, add_text(p, v[i]));
	}
	put(p, map, key, list);
}

static void put_list(struct printer *p, int map, const char *key, char *const *list)
{
	put_texts(p, map, key, list, suite_list_count(list));
}

static int add_number(struct printer *p, uint64_t v)
{
	char text[SUITE_SIZE_MAX];

	snprintf(text, sizeof(text), "%" PRIu64, v);
	return add_text(p, text);
}

static int add_size(struct printer *p, uint64_t v)
{
	char text[SUITE_SIZE_MAX];

	return add_text(p, suite_size(v, text, sizeof(text)));
}

static void put_numbers(struct printer *p, int map, const char *key, const struct suite_numbers *v,
			int (*add)(struct printer *p, uint64_t v))
{
	int list = add_list(p, YAML_FLOW_SEQUENCE_STYLE);

	for (size_t i = 0; i < v->n; i++) {
		append(p, list, add(p, v->v[i]));
	}
	put(p, map, key, list);
}

static int add_exclude(struct printer *p, const struct suite_exclude *x)
{
	int map = add_map(p);

	put_text(p, map, "kernel", x->kernel);
	put_text(p, map, "cpu", x->cpu);
	if (x->cpus) {
		put(p, map, "cpus", add_number(p, x->cpus));
	}
	if (x->memory_bytes) {
		put(p, map, "memory", add_size(p, x->memory_bytes));
	}
	put_text(p, map, "append", x->append);
	return map;
}

static int add_matrix(struct printer *p, const struct suite_matrix *m)
{
	int map = add_map(p);

	put_texts(p, map, "kernels", m->kernels.v, m->kernels.n);
	put_texts(p, map, "cpu", m->cpu.v, m->cpu.n);
	put_numbers(p, map, "cpus", &m->cpus, add_number);
	put_numbers(p, map, "memory", &m->memory, add_size);
	put_texts(p, map, "append", m->append.v, m->append.n);
	if (m->exclude_count) {
		int list = add_list(p, YAML_BLOCK_SEQUENCE_STYLE);

		for (size_t i = 0; i < m->exclude_count; i++) {
			append(p, list, add_exclude(p, &m->excludes[i]));
		}
		put(p, map, "exclude", list);
	}
	return map;
}

static void put_kind(struct printer *p, int map, const struct suite_test *t)
{
	switch (t->kind) {
	case SUITE_COMMAND:
		put_list(p, map, "command", t->argv);
		break;
	case SUITE_SCRIPT:
		put_text(p, map, "script", t->path);
		break;
	case SUITE_KSELFTEST:
		put_text(p, map, "kselftest", t->path);
		break;
	case SUITE_SCRIPTS:
		put_text(p, map, "scripts", t->path);
		break;
	case SUITE_KUNIT:
		put_text(p, map, "kunit", t->path ? t->path : SUITE_KUNIT_BUILTIN);
		break;
	case SUITE_FIRMWARE:
		put_text(p, map, "firmware", t->path);
		break;
	}
	put_list(p, map, "only", t->list);
}

static void put_needs(struct printer *p, int map, const struct suite_test *t)
{
	int list;

	if (t->need_count == 0) {
		return;
	}
	list = add_list(p, YAML_FLOW_SEQUENCE_STYLE);
	for (size_t i = 0; i < t->need_count; i++) {
		append(p, list, add_text(p, t->needs[i].text));
	}
	put(p, map, "needs", list);
}

static void put_allows(struct printer *p, int map, const struct suite_test *t)
{
	int list;

	if (t->allow_count == 0) {
		return;
	}
	list = add_list(p, YAML_BLOCK_SEQUENCE_STYLE);
	for (size_t i = 0; i < t->allow_count; i++) {
		int allow = add_map(p);

		put_text(p, allow, "pattern", t->allows[i].pattern);
		put_text(p, allow, "reason", t->allows[i].reason);
		append(p, list, allow);
	}
	put(p, map, "allow", list);
}

static void put_time(struct printer *p, int map, const char *key, uint64_t ns)
{
	char text[SUITE_SIZE_MAX];

	if (ns == 0) {
		put_text(p, map, key, "none");
	} else if (ns % NS_PER_SEC == 0) {
		snprintf(text, sizeof(text), "%" PRIu64 "s", ns / NS_PER_SEC);
		put_text(p, map, key, text);
	} else {
		snprintf(text, sizeof(text), "%" PRIu64 "ms", ns / NS_PER_MSEC);
		put_text(p, map, key, text);
	}
}

static int add_timeouts(struct printer *p, const struct suite_test *t)
{
	int map = add_map(p);

	put_time(p, map, "boot", t->boot_timeout_ns);
	put_time(p, map, "idle", t->idle_timeout_ns);
	put_time(p, map, "whole", t->timeout_ns);
	return map;
}

static int add_test(struct printer *p, const struct suite_entry *entry)
{
	static const char *const expects[] = {
		[SUITE_EXPECT_PASS] = "pass",
		[SUITE_EXPECT_FAIL] = "fail",
		[SUITE_EXPECT_PANIC] = "panic",
		[SUITE_EXPECT_SKIP] = "skip",
	};
	static const char *const formats[] = {
		[SUITE_FORMAT_AUTO] = "auto",
		[SUITE_FORMAT_TAP] = "tap",
		[SUITE_FORMAT_NONE] = "none",
	};
	const struct suite_test *t = &entry->test;
	int map = add_map(p);

	put_text(p, map, "name", t->name);
	put(p, map, "matrix", add_matrix(p, &entry->matrix));
	put_kind(p, map, t);
	put_list(p, map, "files", t->files);
	put_list(p, map, "env", t->env);
	put_text(p, map, "root", t->root);
	put_list(p, map, "shares", t->shares);
	put_list(p, map, "initrds", t->initrds);
	put_list(p, map, "artifacts", t->artifacts);
	put_needs(p, map, t);
	put_allows(p, map, t);
	put_text(p, map, "fail_on", t->fail_on ? t->fail_on : SUITE_FAIL_ON_NONE);
	put(p, map, "timeouts", add_timeouts(p, t));
	if (t->kind == SUITE_COMMAND || t->kind == SUITE_SCRIPT || t->kind == SUITE_FIRMWARE) {
		put_text(p, map, "format", formats[t->format]);
	}
	put_text(p, map, "expect", expects[t->expect]);
	if (t->known) {
		int known = add_map(p);

		put_text(p, known, "reason", t->known);
		put_text(p, known, "until", t->known_until);
		put(p, map, "known", known);
	}
	put(p, map, "retries", add_number(p, t->retries));
	put_list(p, map, "tags", t->tags);
	return map;
}

static void add_suite(struct printer *p, const struct suite *s)
{
	int map = add_map(p); /* the first node is the root */
	int list = add_list(p, YAML_BLOCK_SEQUENCE_STYLE);

	put_text(p, map, "name", s->name);
	for (size_t i = 0; i < s->count; i++) {
		append(p, list, add_test(p, &s->entries[i]));
	}
	put(p, map, "tests", list);
}

/* The document is gone afterwards. */
static int emit(struct printer *p, FILE *out, struct err *e)
{
	yaml_emitter_t emitter;
	int code = 0;

	if (!yaml_emitter_initialize(&emitter)) {
		yaml_document_delete(&p->doc);
		return err_set(e, -ENOMEM, "out of memory");
	}
	yaml_emitter_set_output_file(&emitter, out);
	yaml_emitter_set_unicode(&emitter, 1);
	yaml_emitter_set_width(&emitter, -1);
	if (!yaml_emitter_open(&emitter) || !yaml_emitter_dump(&emitter, &p->doc) ||
	    !yaml_emitter_close(&emitter)) {
		code = emitter.error == YAML_MEMORY_ERROR
			       ? err_set(e, -ENOMEM, "out of memory")
			       : err_set(e, -EIO, "the suite cannot be written");
	}
	yaml_emitter_delete(&emitter);
	return code;
}

/**
 * suite_print() - write the whole of a suite as YAML, which reads back to the same cases
 * @s: the suite
 * @out: where to; not flushed
 * @e: set on failure
 *
 * Return: 0, -EIO, -EILSEQ for a text of a command line that is no UTF-8, -ENOMEM.
 * Context: a thread that may block.
 */
int suite_print(const struct suite *s, FILE *out, struct err *e)
{
	struct printer p = {0};

	if (!yaml_document_initialize(&p.doc, NULL, NULL, NULL, 1, 1)) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	add_suite(&p, s);
	if (p.failed) {
		yaml_document_delete(&p.doc);
		return p.not_utf8 ? err_set(e, -EILSEQ, "a text in the suite is no UTF-8")
				  : err_set(e, -ENOMEM, "out of memory");
	}
	return emit(&p, out, e);
}
