/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What has changed since a baseline, for people and as JSON: see test_baseline.h. */
#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "report/test_baseline.h"
#include "report/test_report_priv.h"
#include "samples/record.h"

static double seconds(uint64_t ns)
{
	return (double)ns / 1e9;
}

static void put_change(FILE *out, const struct test_report *now, const struct test_change *c,
		       bool colour)
{
	bool shows = c->kind == TEST_CHANGE_BROKEN || c->kind == TEST_CHANGE_FLAKY ||
		     c->kind == TEST_CHANGE_SKIPPED;

	if (c->sub) {
		test_put_sub(out, c->now, c->sub, colour);
		return;
	}
	if (shows && c->now) {
		test_put_result(out, now, c->now, colour);
		return;
	}
	fputs(shows ? "not run  " : "         ", out);
	test_put_plain(out, c->id, TEST_TITLE_MAX);
	fputc('\n', out);
	if (c->kind == TEST_CHANGE_SLOWER) {
		fputs("         ", out);
		test_put_slower(out, c);
		fputc('\n', out);
	}
}

/**
 * test_put_since() - write in one line what has changed, without its end
 * @out: where to
 * @b: what has changed
 *
 * Context: any thread that owns @out.
 */
void test_put_since(FILE *out, const struct test_baseline *b)
{
	fputs("since the baseline:", out);
	for (int k = 0; k < TEST_CHANGE_NONE; k++) {
		if (b->by_kind[k] > 0) {
			fprintf(out, " %zu %s,", b->by_kind[k],
				test_change_name((enum test_change_kind)k));
		}
	}
	if (b->not_run > 0) {
		fprintf(out, " %zu not run,", b->not_run);
	}
	fprintf(out, " %zu %s", b->by_kind[TEST_CHANGE_NONE], test_change_name(TEST_CHANGE_NONE));
}

/**
 * test_put_slower() - write how long a case took, and before
 * @out: where to
 * @c: a change that is TEST_CHANGE_SLOWER
 *
 * Context: any thread that owns @out.
 */
void test_put_slower(FILE *out, const struct test_change *c)
{
	const struct test_times *a = &c->before, *b = &c->after;

	fprintf(out, "%.3f s, %.3f to %.3f in %zu runs; was %.3f s, %.3f to %.3f in %zu",
		seconds(b->median_ns), seconds(b->low_ns), seconds(b->high_ns), b->n,
		seconds(a->median_ns), seconds(a->low_ns), seconds(a->high_ns), a->n);
}

/**
 * test_baseline_text() - write what has changed for people
 * @b: what has changed
 * @now: the newer run
 * @out: where to
 * @colour: colour the verdicts; see report_wants_colour()
 *
 * Return: 0, or -EIO where @out has failed.
 * Context: any thread that owns @out.
 */
int test_baseline_text(const struct test_baseline *b, const struct test_report *now, FILE *out,
		       bool colour)
{
	test_put_head(out, now, TEST_TITLE_MAX, test_put_escape);
	fputc('\n', out);
	test_put_since(out, b);
	fputc('\n', out);
	for (size_t i = 0; i < b->count && b->changes[i].kind != TEST_CHANGE_NONE; i++) {
		if (i == 0 || b->changes[i].kind != b->changes[i - 1].kind) {
			fprintf(out, "\n%s\n", test_change_name(b->changes[i].kind));
		}
		put_change(out, now, &b->changes[i], colour);
	}
	return test_finish(out);
}

static json_t *times_to_json(const struct test_times *t)
{
	return json_pack("{s:I, s:I, s:I, s:I}", "runs", (json_int_t)t->n, "low_ns",
			 (json_int_t)t->low_ns, "median_ns", (json_int_t)t->median_ns, "high_ns",
			 (json_int_t)t->high_ns);
}

static json_t *change_to_json(const struct test_change *c)
{
	json_t *o = json_pack("{s:s, s:o, s:o}", "change", test_change_name(c->kind), "case",
			      record_text_to_json(c->id), "result",
			      c->now ? test_result_to_json(c->now) : json_null());

	if (c->sub) {
		json_object_set_new(o, "sub", record_text_to_json(c->sub->name));
	}
	if (c->kind == TEST_CHANGE_SLOWER) {
		json_object_set_new(o, "before", times_to_json(&c->before));
		json_object_set_new(o, "after", times_to_json(&c->after));
	}
	return o;
}

/**
 * test_baseline_json() - write what has changed as one JSON object
 * @b: what has changed
 * @now: the newer run
 * @out: where to
 *
 * Return: 0, -ENOMEM, or -EIO where @out has failed.
 * Context: any thread that owns @out.
 */
int test_baseline_json(const struct test_baseline *b, const struct test_report *now, FILE *out)
{
	json_t *list = json_array();
	json_t *root;

	for (size_t i = 0; i < b->count && b->changes[i].kind != TEST_CHANGE_NONE; i++) {
		json_array_append_new(list, change_to_json(&b->changes[i]));
	}
	root = json_pack("{s:i, s:s, s:o, s:o, s:I, s:I, s:i}", "schema_version",
			 TEST_CHANGES_SCHEMA_VERSION, "type", "test-changes", "title",
			 record_text_to_json(now->title ? now->title : ""), "changes", list,
			 "still_not_ok", (json_int_t)b->by_kind[TEST_CHANGE_NONE], "not_run",
			 (json_int_t)b->not_run, "exit_status", test_report_exit_status(now));
	return test_put_json(out, root);
}
