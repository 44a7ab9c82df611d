/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A test run as one JSON object: docs/test-results.schema.json. */
#include <errno.h>

#include "report/test_report_priv.h"
#include "samples/record.h"
#include "samples/test_document.h"

static json_t *results_to_json(const struct test_report *t)
{
	json_t *list = json_array();

	for (size_t i = 0; i < t->count; i++) {
		if (json_array_append_new(list, test_result_to_json(t->results[i])) < 0) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

static json_t *missing_to_json(const struct test_report *t)
{
	json_t *list = json_array();

	for (size_t i = 0; i < t->missing_count; i++) {
		json_array_append_new(list, record_text_to_json(t->missing[i]));
	}
	return list;
}

static json_t *counts_to_json(const struct test_report *t)
{
	json_t *counts = json_object();
	struct test_counts n;

	test_report_count(t, &n);
	for (int i = 0; i < TEST_VERDICT_COUNT; i++) {
		json_object_set_new(counts, test_verdict_name((enum test_verdict)i),
				    json_integer((json_int_t)n.by_verdict[i]));
	}
	json_object_set_new(counts, "known-but-ok", json_integer((json_int_t)n.known_but_ok));
	json_object_set_new(counts, "missing", json_integer((json_int_t)n.missing));
	return counts;
}

/**
 * test_put_json() - write an object and a newline
 * @out: where to
 * @take: the object, whose reference is taken; NULL where memory ran out
 *
 * Return: 0, -ENOMEM, or -EIO where @out has failed.
 * Context: any thread that owns @out.
 */
int test_put_json(FILE *out, json_t *take)
{
	int r = take ? json_dumpf(take, out, JSON_INDENT(2)) : -1;

	if (!take) {
		return -ENOMEM;
	}
	json_decref(take);
	if (r == 0) {
		fputc('\n', out);
	}
	return r < 0 ? -EIO : test_finish(out);
}

/**
 * test_report_json() - write a run as one JSON object
 * @t: the run
 * @out: where to
 *
 * Return: 0, -ENOMEM, or -EIO where @out has failed.
 * Context: any thread that owns @out.
 */
int test_report_json(const struct test_report *t, FILE *out)
{
	json_t *root = json_pack(
		"{s:i, s:s, s:o, s:o, s:I, s:i, s:i, s:o, s:o, s:o, s:o, s:i}", "schema_version",
		TEST_DOCUMENT_SCHEMA_VERSION, "type", TEST_DOCUMENT_TYPE, "title",
		record_text_to_json(t->title ? t->title : ""), "ringside",
		record_text_to_json(t->ringside_version ? t->ringside_version : ""), "seed",
		(json_int_t)t->seed, "shard", t->shards ? (int)t->shard : 1, "shards",
		t->shards ? (int)t->shards : 1, "dir", record_text_to_json(t->dir), "counts",
		counts_to_json(t), "results", results_to_json(t), "missing", missing_to_json(t),
		"exit_status", test_report_exit_status(t));

	if (root && t->filter) {
		json_object_set_new(root, "filter", record_text_to_json(t->filter));
	}
	return test_put_json(out, root);
}
