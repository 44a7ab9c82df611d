/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See suite.h: a suite as a file that reads back to the same cases. Nothing is left to defaults,
 * and every path is absolute.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "engine/suite_priv.h"
#include "engine/yprint.h"

static void put_list(struct yprint *p, int map, const char *key, char *const *list)
{
	yprint_put_texts(p, map, key, list, suite_list_count(list));
}

static int add_size(struct yprint *p, uint64_t v)
{
	char text[SUITE_SIZE_MAX];

	return yprint_text(p, suite_size(v, text, sizeof(text)));
}

static void put_numbers(struct yprint *p, int map, const char *key, const struct suite_numbers *v,
			int (*add)(struct yprint *p, uint64_t v))
{
	int list = yprint_list(p, true);

	for (size_t i = 0; i < v->n; i++) {
		yprint_append(p, list, add(p, v->v[i]));
	}
	yprint_put(p, map, key, list);
}

static int add_exclude(struct yprint *p, const struct suite_exclude *x)
{
	int map = yprint_map(p);

	yprint_put_text(p, map, "kernel", x->kernel);
	yprint_put_text(p, map, "cpu", x->cpu);
	if (x->cpus) {
		yprint_put(p, map, "cpus", yprint_number(p, x->cpus));
	}
	if (x->memory_bytes) {
		yprint_put(p, map, "memory", add_size(p, x->memory_bytes));
	}
	yprint_put_text(p, map, "append", x->append);
	return map;
}

static int add_matrix(struct yprint *p, const struct suite_matrix *m)
{
	int map = yprint_map(p);

	yprint_put_texts(p, map, "kernels", m->kernels.v, m->kernels.n);
	yprint_put_texts(p, map, "cpu", m->cpu.v, m->cpu.n);
	put_numbers(p, map, "cpus", &m->cpus, yprint_number);
	put_numbers(p, map, "memory", &m->memory, add_size);
	yprint_put_texts(p, map, "append", m->append.v, m->append.n);
	if (m->exclude_count) {
		int list = yprint_list(p, false);

		for (size_t i = 0; i < m->exclude_count; i++) {
			yprint_append(p, list, add_exclude(p, &m->excludes[i]));
		}
		yprint_put(p, map, "exclude", list);
	}
	return map;
}

static void put_kind(struct yprint *p, int map, const struct suite_test *t)
{
	switch (t->kind) {
	case SUITE_COMMAND:
		put_list(p, map, "command", t->argv);
		break;
	case SUITE_SCRIPT:
		yprint_put_text(p, map, "script", t->path);
		break;
	case SUITE_KSELFTEST:
		yprint_put_text(p, map, "kselftest", t->path);
		break;
	case SUITE_SCRIPTS:
		yprint_put_text(p, map, "scripts", t->path);
		break;
	case SUITE_KUNIT:
		yprint_put_text(p, map, "kunit", t->path ? t->path : SUITE_KUNIT_BUILTIN);
		break;
	case SUITE_FIRMWARE:
		yprint_put_text(p, map, "firmware", t->path);
		break;
	}
	put_list(p, map, "only", t->list);
}

static void put_needs(struct yprint *p, int map, const struct suite_test *t)
{
	int list;

	if (t->need_count == 0) {
		return;
	}
	list = yprint_list(p, true);
	for (size_t i = 0; i < t->need_count; i++) {
		yprint_append(p, list, yprint_text(p, t->needs[i].text));
	}
	yprint_put(p, map, "needs", list);
}

static void put_allows(struct yprint *p, int map, const struct suite_test *t)
{
	int list;

	if (t->allow_count == 0) {
		return;
	}
	list = yprint_list(p, false);
	for (size_t i = 0; i < t->allow_count; i++) {
		int allow = yprint_map(p);

		yprint_put_text(p, allow, "pattern", t->allows[i].pattern);
		yprint_put_text(p, allow, "reason", t->allows[i].reason);
		yprint_append(p, list, allow);
	}
	yprint_put(p, map, "allow", list);
}

static void put_time(struct yprint *p, int map, const char *key, uint64_t ns)
{
	char text[SUITE_SIZE_MAX];

	if (ns == 0) {
		yprint_put_text(p, map, key, "none");
	} else if (ns % NS_PER_SEC == 0) {
		snprintf(text, sizeof(text), "%" PRIu64 "s", ns / NS_PER_SEC);
		yprint_put_text(p, map, key, text);
	} else {
		snprintf(text, sizeof(text), "%" PRIu64 "ms", ns / NS_PER_MSEC);
		yprint_put_text(p, map, key, text);
	}
}

static int add_timeouts(struct yprint *p, const struct suite_test *t)
{
	int map = yprint_map(p);

	put_time(p, map, "boot", t->boot_timeout_ns);
	put_time(p, map, "idle", t->idle_timeout_ns);
	put_time(p, map, "whole", t->timeout_ns);
	return map;
}

static int add_test(struct yprint *p, const struct suite_entry *entry)
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
	int map = yprint_map(p);

	yprint_put_text(p, map, "name", t->name);
	yprint_put(p, map, "matrix", add_matrix(p, &entry->matrix));
	put_kind(p, map, t);
	put_list(p, map, "files", t->files);
	put_list(p, map, "env", t->env);
	yprint_put_text(p, map, "root", t->root);
	put_list(p, map, "shares", t->shares);
	put_list(p, map, "initrds", t->initrds);
	put_list(p, map, "artifacts", t->artifacts);
	put_needs(p, map, t);
	put_allows(p, map, t);
	yprint_put_text(p, map, "fail_on", t->fail_on ? t->fail_on : SUITE_FAIL_ON_NONE);
	yprint_put(p, map, "timeouts", add_timeouts(p, t));
	if (t->kind == SUITE_COMMAND || t->kind == SUITE_SCRIPT || t->kind == SUITE_FIRMWARE) {
		yprint_put_text(p, map, "format", formats[t->format]);
	}
	yprint_put_text(p, map, "expect", expects[t->expect]);
	if (t->known) {
		int known = yprint_map(p);

		yprint_put_text(p, known, "reason", t->known);
		yprint_put_text(p, known, "until", t->known_until);
		yprint_put(p, map, "known", known);
	}
	yprint_put(p, map, "retries", yprint_number(p, t->retries));
	put_list(p, map, "tags", t->tags);
	return map;
}

static void add_suite(struct yprint *p, const struct suite *s)
{
	int map = yprint_map(p); /* the first node is the root */
	int list = yprint_list(p, false);

	yprint_put_text(p, map, "name", s->name);
	for (size_t i = 0; i < s->count; i++) {
		yprint_append(p, list, add_test(p, &s->entries[i]));
	}
	yprint_put(p, map, "tests", list);
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
	struct yprint p;
	int r = yprint_init(&p, e);

	if (r < 0) {
		return r;
	}
	add_suite(&p, s);
	return yprint_write(&p, "the suite", out, e);
}
