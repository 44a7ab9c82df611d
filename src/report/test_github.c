/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A test run as annotations of GitHub Actions: a workflow command a line, an error for what is not
 * ok or has no result, a warning for what is flaky, a notice for what is known. Each points to the
 * test in its suite file. Workflow commands: docs.github.com, "Workflow commands for GitHub
 * Actions".
 */
#include <string.h>

#include "report/test_report_priv.h"

#define SUBS_MAX        10 /* of one case */
#define TRACE_LINES_MAX 20 /* likewise */

/**
 * test_put_data() - a character of a message of a workflow command
 * @out: where to
 * @c: the character, as test_put() hands it on
 * @byte: the byte that it is, where it is none
 *
 * "%" and the ends of lines are the only ones that a message cannot have as they are.
 *
 * Context: any thread that owns @out.
 */
void test_put_data(FILE *out, uint32_t c, unsigned char byte)
{
	if (c == '%' || c == '\n') {
		fprintf(out, "%%%02X", (unsigned int)c);
	} else if (c == '\t') {
		fputc('\t', out);
	} else {
		test_put_escape(out, c, byte);
	}
}

/**
 * test_put_property() - a character of a property of a workflow command
 * @out: where to
 * @c: the character, as test_put() hands it on
 * @byte: the byte that it is, where it is none
 *
 * A property ends at a comma or a colon.
 *
 * Context: any thread that owns @out.
 */
void test_put_property(FILE *out, uint32_t c, unsigned char byte)
{
	if (c == ',' || c == ':') {
		fprintf(out, "%%%02X", (unsigned int)c);
	} else {
		test_put_data(out, c, byte);
	}
}

static void put_end_of_line(FILE *out)
{
	test_put_data(out, '\n', '\n');
}

static void put_subs(FILE *out, const struct test_result *r)
{
	size_t failed = 0;

	for (size_t i = 0; i < r->sub_count; i++) {
		if (test_sub_counts_as(r, &r->subs[i]) != TEST_NOT_OK) {
			continue;
		}
		if (++failed <= SUBS_MAX) {
			put_end_of_line(out);
			fputs("not ok: ", out);
			test_put(out, r->subs[i].name, TEST_TITLE_MAX, test_put_data);
		}
	}
	if (failed > SUBS_MAX) {
		put_end_of_line(out);
		fprintf(out, "and %zu more of %zu", failed - SUBS_MAX, r->sub_count);
	}
}

static void put_bytes(FILE *out, const char *s, size_t len)
{
	_cleanup_free_ char *line = strndup(s, len);

	test_put(out, line, TEST_TITLE_MAX, test_put_data);
}

/* An annotation is short: as many lines as one looks at. */
static void put_backtrace(FILE *out, const struct test_result *r)
{
	const char *line = r->backtrace;

	for (size_t i = 0; line && *line; i++) {
		size_t len = strcspn(line, "\n");

		put_end_of_line(out);
		if (i == TRACE_LINES_MAX) {
			fputs("[more in its files]", out);
			return;
		}
		put_bytes(out, line, len);
		line += len + (line[len] == '\n');
	}
}

static void annotate(FILE *out, const struct test_report *t, size_t which, const char *command)
{
	const struct test_result *r = t->results[which];
	const struct test_note *note = test_note_of(t, which);

	fprintf(out, "::%s ", command);
	if (r->file && *r->file) {
		fputs("file=", out);
		test_put(out, r->file, TEST_TITLE_MAX, test_put_property);
		fprintf(out, ",line=%u,col=%u,", r->line, r->column);
	}
	fputs("title=", out);
	test_put(out, r->id, TEST_TITLE_MAX, test_put_property);
	fputs("::", out);
	if (note->text) {
		fprintf(out, "%s: ", note->text);
	}
	fputs(r->verdict == TEST_FLAKY ? "flaky" : test_outcome_name(r->outcome), out);
	fputs(test_by_environment(r), out);
	if (r->message && *r->message) {
		fputs(": ", out);
		test_put(out, r->message, TEST_TITLE_MAX, test_put_data);
	}
	if (r->verdict == TEST_KNOWN) {
		put_end_of_line(out);
		fputs("known: ", out);
		test_put(out, r->known, TEST_TITLE_MAX, test_put_data);
	}
	put_subs(out, r);
	put_backtrace(out, r);
	if (r->dir && *r->dir) {
		put_end_of_line(out);
		fputs("files: ", out);
		test_put_dir(out, t, r, test_put_data);
	}
	fputc('\n', out);
}

static void annotate_all(FILE *out, const struct test_report *t, enum test_verdict v,
			 const char *command)
{
	for (size_t i = 0; i < t->count; i++) {
		if (t->results[i]->verdict == v) {
			annotate(out, t, i, command);
		}
	}
}

/* What is as expected and is to be looked at all the same. */
static void annotate_noted(FILE *out, const struct test_report *t, bool worse, const char *command)
{
	for (size_t i = 0; i < t->count; i++) {
		const struct test_result *r = t->results[i];
		const struct test_note *note = test_note_of(t, i);
		bool known = test_result_is_known_but_ok(r);

		if ((r->verdict == TEST_OK || r->verdict == TEST_SKIPPED) &&
		    (note->text || known) && (note->worse || known) == worse) {
			annotate(out, t, i, command);
		}
	}
}

/**
 * test_report_github() - write a run as annotations of GitHub Actions
 * @t: the run
 * @out: where to; an action's stdout takes them
 *
 * GitHub shows ten of each kind a step: what failed first stands first.
 *
 * Return: 0, or -EIO where @out has failed.
 * Context: any thread that owns @out.
 */
int test_report_github(const struct test_report *t, FILE *out)
{
	annotate_all(out, t, TEST_NOT_OK, "error");
	for (size_t i = 0; i < t->missing_count; i++) {
		fputs("::error title=", out);
		test_put(out, t->missing[i], TEST_TITLE_MAX, test_put_property);
		fputs("::it was to run and has no result\n", out);
	}
	annotate_all(out, t, TEST_FLAKY, "warning");
	annotate_noted(out, t, true, "warning");
	annotate_all(out, t, TEST_KNOWN, "notice");
	annotate_noted(out, t, false, "notice");
	for (size_t i = 0; i < t->gone_count; i++) {
		fputs("::notice title=", out);
		test_put(out, t->gone[i], TEST_TITLE_MAX, test_put_property);
		fputs("::" TEST_GONE "\n", out);
	}
	return test_finish(out);
}
