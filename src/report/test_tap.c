/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A test run as KTAP version 1, which readers of TAP take too: a result for each case, and before
 * it, two columns further in, a document of its own with what the guest reported. What is known
 * to fail is a TODO, which fails no run; a case without a result is an ERROR.
 */
#include <string.h>

#include "base/text.h"
#include "report/test_report_priv.h"

/* '#' would begin a directive. */
static void put_tap(FILE *out, uint32_t c, unsigned char byte)
{
	if (c == '#' || c == '\\') {
		fputc('\\', out);
	}
	test_put_escape(out, c, byte);
}

static void put_line(FILE *out, const char *indent, bool ok, size_t n, const char *name,
		     const char *directive, const char *reason)
{
	fprintf(out, "%s%s %zu ", indent, ok ? "ok" : "not ok", n);
	test_put(out, name, TEST_TITLE_MAX, put_tap);
	if (directive) {
		fprintf(out, " # %s", directive);
	}
	if (directive && reason && *reason) {
		fputc(' ', out);
		test_put(out, reason, TEST_TITLE_MAX, put_tap);
	}
	fputc('\n', out);
}

/* Lines that no reader takes for anything. */
static void put_remarks(FILE *out, const char *indent, const char *s)
{
	while (s && *s) {
		size_t len = strcspn(s, "\n");
		_cleanup_free_ char *line = strndup(s, len);

		fprintf(out, "%s# ", indent);
		test_put_plain(out, line, TEST_TITLE_MAX);
		fputc('\n', out);
		s += len;
		s += *s == '\n';
	}
}

/* What stands behind the word of a directive. */
static const char *behind(const char *directive, const char *word)
{
	if (!directive || !text_starts_with(directive, word)) {
		return directive;
	}
	directive += strlen(word);
	return directive + strspn(directive, " ");
}

static void put_sub(FILE *out, const struct test_result *r, size_t i)
{
	const struct test_sub *s = &r->subs[i];
	const char *name = s->name;

	put_remarks(out, "  ", s->message);
	switch (test_sub_counts_as(r, s)) {
	case TEST_NOT_OK:
		put_line(out, "  ", false, i + 1, name, NULL, NULL);
		break;
	case TEST_KNOWN:
		put_line(out, "  ", false, i + 1, name, "TODO", behind(s->directive, "TODO"));
		break;
	case TEST_SKIPPED:
		put_line(out, "  ", true, i + 1, name, "SKIP", behind(s->directive, "SKIP"));
		break;
	default:
		put_line(out, "  ", true, i + 1, name, NULL, NULL);
	}
}

static void put_not_ok(FILE *out, const struct test_result *r, size_t n)
{
	const char *directive = r->outcome == TEST_TIMEOUT ? "TIMEOUT" : "ERROR";

	if (r->outcome == TEST_FAIL || r->outcome == TEST_PASS) {
		directive = NULL;
	}
	put_line(out, "", false, n, r->id, directive, test_outcome_name(r->outcome));
}

static void put_case(FILE *out, const struct test_report *t, size_t n)
{
	const struct test_result *r = t->results[n - 1];

	if (r->sub_count > 0) {
		fprintf(out, "  KTAP version 1\n  1..%zu\n", r->sub_count);
	}
	for (size_t i = 0; i < r->sub_count; i++) {
		put_sub(out, r, i);
	}
	put_remarks(out, "", test_note_of(t, n - 1)->text);
	put_remarks(out, "", r->message);
	for (size_t i = 0; i < r->warning_count; i++) {
		put_remarks(out, "", r->warnings[i]);
	}
	if (r->dir && *r->dir) {
		fputs("# files: ", out);
		test_put_dir(out, t, r, test_put_escape);
		fputc('\n', out);
	}
	switch (r->verdict) {
	case TEST_NOT_OK:
		put_not_ok(out, r, n);
		break;
	case TEST_KNOWN:
		put_line(out, "", false, n, r->id, "TODO", r->known);
		break;
	case TEST_SKIPPED:
		put_line(out, "", true, n, r->id, "SKIP", test_why(r));
		break;
	case TEST_FLAKY:
		fprintf(out, "# flaky: %u attempts\n", r->attempts);
		put_line(out, "", true, n, r->id, NULL, NULL);
		break;
	default:
		put_line(out, "", true, n, r->id, NULL, NULL);
	}
}

/**
 * test_report_tap() - write a run as KTAP
 * @t: the run
 * @out: where to
 *
 * Return: 0, or -EIO where @out has failed.
 * Context: any thread that owns @out.
 */
int test_report_tap(const struct test_report *t, FILE *out)
{
	size_t n = t->count + t->missing_count;

	fprintf(out, "KTAP version 1\n1..%zu", n + t->gone_count);
	fputs(t->since && n + t->gone_count == 0 ? " # SKIP nothing has changed\n# " : "\n# ", out);
	test_put_head(out, t, TEST_TITLE_MAX, test_put_escape);
	fputc('\n', out);
	put_remarks(out, "", t->since);
	for (size_t i = 0; i < t->count; i++) {
		put_case(out, t, i + 1);
	}
	for (size_t i = 0; i < t->missing_count; i++) {
		put_line(out, "", false, t->count + i + 1, t->missing[i], "ERROR",
			 "it was to run and has no result");
	}
	for (size_t i = 0; i < t->gone_count; i++) {
		put_line(out, "", true, n + i + 1, t->gone[i], "SKIP", TEST_GONE);
	}
	return test_finish(out);
}
