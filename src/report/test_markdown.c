/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A test run as Markdown, for the summary of a job or a comment: what it came to, and a table of
 * what did not simply pass.
 */
#include <string.h>

#include "report/test_report_priv.h"

#define WHY_MAX 300

/* As a character of HTML, whatever it means in Markdown, in HTML or to a forge: "|", "<", "@". */
static void put_markdown(FILE *out, uint32_t c, unsigned char byte)
{
	static const char plain[] = " ,;'/=";

	if (c == '\n') {
		fputs("<br>", out);
	} else if (c > ' ' && c < 0x7f && !strchr(plain, (int)c) && !(c >= '0' && c <= '9') &&
		   !(c >= 'A' && c <= 'Z') && !(c >= 'a' && c <= 'z')) {
		fprintf(out, "&#%u;", c);
	} else {
		test_put_escape(out, c, byte);
	}
}

static void put_row(FILE *out, const char *verdict, const char *id, const char *outcome,
		    const char *note, const char *why)
{
	fprintf(out, "| %s | ", verdict);
	test_put(out, id, TEST_TITLE_MAX, put_markdown);
	fprintf(out, " | %s | ", outcome);
	if (note) {
		test_put(out, note, WHY_MAX, put_markdown);
		fputs(why && *why ? ": " : "", out);
	}
	test_put(out, why, WHY_MAX, put_markdown);
	fputs(" |\n", out);
}

static void put_rows(FILE *out, const struct test_report *t, enum test_verdict v, const char *label)
{
	for (size_t i = 0; i < t->count; i++) {
		const struct test_result *r = t->results[i];
		const char *note = test_note_of(t, i)->text;
		const char *why = v == TEST_KNOWN && r->known ? r->known : r->message;
		bool known = test_result_is_known_but_ok(r);

		/* What is simply ok is counted, and no row. */
		if (r->verdict == v && (v != TEST_OK || note || known)) {
			put_row(out, label, r->id, test_outcome_name(r->outcome), note, why);
		}
	}
}

static void put_absent(FILE *out, const char *const *ids, size_t n, const char *label,
		       const char *why)
{
	for (size_t i = 0; i < n; i++) {
		put_row(out, label, ids[i], "", NULL, why);
	}
}

/**
 * test_report_markdown() - write a run as Markdown
 * @t: the run
 * @out: where to
 *
 * Return: 0, or -EIO where @out has failed.
 * Context: any thread that owns @out.
 */
int test_report_markdown(const struct test_report *t, FILE *out)
{
	struct test_counts n;

	test_report_count(t, &n);
	fputs("### ", out);
	test_put_head(out, t, TEST_TITLE_MAX, put_markdown);
	fputc('\n', out);
	if (t->since) {
		fprintf(out, "\n%s\n", t->since);
	}
	if ((t->since ? t->count == 0 : n.by_verdict[TEST_OK] - n.known_but_ok == t->count) &&
	    t->missing_count + t->gone_count == 0) {
		return test_finish(out);
	}
	fputs("\n| | case | outcome | why |\n|---|---|---|---|\n", out);
	put_rows(out, t, TEST_NOT_OK, "**not ok**");
	put_absent(out, t->missing, t->missing_count, "**not run**",
		   "it was to run and has no result");
	put_rows(out, t, TEST_FLAKY, "flaky");
	put_rows(out, t, TEST_KNOWN, "known");
	put_rows(out, t, TEST_SKIPPED, "skipped");
	put_rows(out, t, TEST_OK, "ok");
	put_absent(out, t->gone, t->gone_count, "vanished", TEST_GONE);
	return test_finish(out);
}
