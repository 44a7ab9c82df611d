/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A test run for people: one line of what it came to, then what is not as expected, in the order in
 * which it ended, each with why and where to look; what is known, flaky or skipped behind it. What
 * passed is counted and not listed. 80 columns, but for names and paths that are longer.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "report/report_priv.h"
#include "report/test_report_priv.h"

#define INDENT     9  /* below a verdict */
#define LINES_MAX  12 /* of one message */
#define SUBS_MAX   20 /* of one case */
#define RESET      "\033[0m"
#define COLUMN_MAX REPORT_COLUMNS

static const struct {
	const char *colour;
	const char *label; /* INDENT columns with its spaces */
} looks[TEST_VERDICT_COUNT] = {
	[TEST_OK] = {"\033[32m", "ok"},        [TEST_NOT_OK] = {"\033[31m", "not ok"},
	[TEST_KNOWN] = {"\033[33m", "known"},  [TEST_FLAKY] = {"\033[33m", "flaky"},
	[TEST_SKIPPED] = {"\033[36m", "skip"},
};

struct page {
	FILE *out;
	bool colour;
};

static void put_label(const struct page *p, enum test_verdict v, const char *label)
{
	fprintf(p->out, "%s%s%s%*s", p->colour ? looks[v].colour : "", label,
		p->colour ? RESET : "", (int)(INDENT - strlen(label)), "");
}

static void put_text(FILE *out, uint32_t c, unsigned char byte)
{
	if (c == '\t') {
		fputs("    ", out);
	} else {
		test_put_escape(out, c, byte);
	}
}

/*
 * Logs of GitHub Actions take "::" at the start of a line, and "##[" anywhere, for commands: a
 * guest must not give any. Wrapping makes the start of a line of any word.
 */
static void put_no_command(FILE *out, const char *s)
{
	bool start = true;

	for (; *s; s++) {
		if (start && s[0] == ':' && s[1] == ':') {
			fputs("\\x3a", out);
		} else if (text_starts_with(s, "##[")) {
			fputs("\\x23", out);
		} else {
			fputc(*s, out);
		}
		start = *s == ' ';
	}
}

static void put_visible(FILE *out, const char *s)
{
	test_put(out, s, TEST_TITLE_MAX, put_text);
}

static char *render(const char *s, void (*put)(FILE *out, const char *s))
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	if (!f) {
		return NULL;
	}
	put(f, s);
	if (fclose(f) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

/* One line of any bytes, wrapped where it does not fit. */
static void put_line(const struct page *p, size_t at, size_t indent, const char *s, size_t len)
{
	_cleanup_free_ char *line = strndup(s, len);
	_cleanup_free_ char *visible = line ? render(line, put_visible) : NULL;
	_cleanup_free_ char *safe = visible ? render(visible, put_no_command) : NULL;
	size_t safe_len = safe ? strlen(safe) : 0;

	if (!safe) {
		fputs("[out of memory]\n", p->out);
		return;
	}
	if (at + safe_len <= COLUMN_MAX) {
		fprintf(p->out, "%s\n", safe);
	} else {
		report_wrap(p->out, at, indent, safe);
	}
}

/* A text of lines, the first of them behind what stands at column 'at' already. */
static void put_lines(const struct page *p, size_t at, size_t indent, const char *s)
{
	size_t n = 0;

	while (s && *s) {
		size_t len = strcspn(s, "\n");

		if (n == LINES_MAX) {
			fprintf(p->out, "%*s[more in its files]\n", (int)indent, "");
			return;
		}
		if (n > 0) {
			fprintf(p->out, "%*s", (int)indent, "");
		}
		put_line(p, n ? indent : at, indent, s, len);
		n++;
		s += len;
		s += strspn(s, "\n");
	}
	if (n == 0) {
		fputc('\n', p->out);
	}
}

static void put_field(const struct page *p, const char *label, const char *text)
{
	fprintf(p->out, "%*s%s: ", INDENT, "", label);
	put_lines(p, INDENT + strlen(label) + 2, INDENT + 2, text);
}

static void put_place(const struct page *p, const struct test_report *t,
		      const struct test_result *r)
{
	if (r->file && *r->file) {
		fprintf(p->out, "%*stest: ", INDENT, "");
		test_put_plain(p->out, r->file, TEST_TITLE_MAX);
		fprintf(p->out, ":%u:%u\n", r->line, r->column);
	}
	if (r->dir && *r->dir) {
		fprintf(p->out, "%*sfiles: ", INDENT, "");
		test_put_dir(p->out, t, r, test_put_escape);
		fputc('\n', p->out);
	}
}

static void put_sub_message(const struct page *p, const struct test_sub *s)
{
	if (s->message && *s->message) {
		fprintf(p->out, "%*s", INDENT + 2, "");
		put_lines(p, INDENT + 2, INDENT + 2, s->message);
	}
}

static void put_subs(const struct page *p, const struct test_result *r)
{
	size_t shown = 0, failed = 0;

	for (size_t i = 0; i < r->sub_count; i++) {
		const struct test_sub *s = &r->subs[i];

		if (test_sub_counts_as(r, s) != TEST_NOT_OK) {
			continue;
		}
		failed++;
		if (shown == SUBS_MAX) {
			continue;
		}
		shown++;
		put_field(p, "not ok", s->name);
		put_sub_message(p, s);
	}
	if (failed > shown) {
		fprintf(p->out, "%*sand %zu more of %zu\n", INDENT, "", failed - shown,
			r->sub_count);
	}
}

/* Of a text of lines the last ones. */
static const char *last_lines(const char *s, size_t n)
{
	size_t len = strlen(s);

	len -= len && s[len - 1] == '\n';
	while (len && (s[len - 1] != '\n' || --n)) {
		len--;
	}
	return s + len;
}

static void put_result(const struct page *p, const struct test_report *t,
		       const struct test_result *r)
{
	if (test_result_is_known_but_ok(r)) {
		put_label(p, TEST_KNOWN, "passes");
	} else {
		put_label(p, r->verdict, looks[r->verdict].label);
	}
	test_put_plain(p->out, r->id, TEST_TITLE_MAX);
	if (r->verdict == TEST_SKIPPED) {
		fprintf(p->out, "\n%*s", INDENT, "");
		put_lines(p, INDENT, INDENT, test_why(r));
		return;
	}
	fprintf(p->out, ": %s%s, %.2f s", test_outcome_name(r->outcome), test_by_environment(r),
		(double)r->duration_ns / 1e9);
	if (r->attempts > 1) {
		fprintf(p->out, ", %u attempts", r->attempts);
	}
	fputc('\n', p->out);
	if (r->message && *r->message) {
		fprintf(p->out, "%*s", INDENT, "");
		put_lines(p, INDENT, INDENT, r->message);
	}
	if (r->known && *r->known && r->verdict == TEST_KNOWN) {
		put_field(p, "known", r->known);
	}
	put_subs(p, r);
	if (r->backtrace) {
		put_field(p, "backtrace", r->backtrace);
	}
	if (r->console_tail && r->outcome != TEST_FAIL) {
		put_field(p, "console", last_lines(r->console_tail, LINES_MAX));
	}
	for (size_t i = 0; i < r->warning_count; i++) {
		put_field(p, "found", r->warnings[i]);
	}
	put_place(p, t, r);
}

/**
 * test_put_result() - write a case for people: what, why, where
 * @out: where to
 * @t: the run
 * @r: the case
 * @colour: colour the verdict
 *
 * Context: any thread that owns @out.
 */
void test_put_result(FILE *out, const struct test_report *t, const struct test_result *r,
		     bool colour)
{
	const struct page p = {out, colour};

	put_result(&p, t, r);
}

/**
 * test_put_sub() - write for people what failed inside a case
 * @out: where to
 * @r: the case
 * @s: of it
 * @colour: colour the verdict
 *
 * Context: any thread that owns @out.
 */
void test_put_sub(FILE *out, const struct test_result *r, const struct test_sub *s, bool colour)
{
	const struct page p = {out, colour};

	put_label(&p, TEST_NOT_OK, looks[TEST_NOT_OK].label);
	test_put_plain(out, r->id, TEST_TITLE_MAX);
	fputs(": ", out);
	test_put_plain(out, s->name, TEST_TITLE_MAX);
	fputc('\n', out);
	put_sub_message(&p, s);
}

/* What passed is listed only where something in it was found and allowed. */
static bool is_shown_as(const struct test_result *r, enum test_verdict v)
{
	return r->verdict == v &&
	       (v != TEST_OK || (r->warning_count > 0 && !test_result_is_known_but_ok(r)));
}

static void put_all(const struct page *p, const struct test_report *t, enum test_verdict v,
		    bool known_but_ok)
{
	bool first = true;

	for (size_t i = 0; i < t->count; i++) {
		const struct test_result *r = t->results[i];

		if (known_but_ok ? test_result_is_known_but_ok(r) : is_shown_as(r, v)) {
			fputs(first ? "\n" : "", p->out);
			first = false;
			put_result(p, t, r);
		}
	}
}

/**
 * test_report_text() - write a run for people
 * @t: the run
 * @out: where to
 * @colour: colour the verdicts; see report_wants_colour()
 *
 * Return: 0, or -EIO where @out has failed.
 * Context: any thread that owns @out.
 */
int test_report_text(const struct test_report *t, FILE *out, bool colour)
{
	const struct page p = {out, colour};

	test_put_head(out, t, TEST_TITLE_MAX, put_text);
	fputc('\n', out);
	put_all(&p, t, TEST_NOT_OK, false);
	if (t->missing_count > 0) {
		fputc('\n', out);
	}
	for (size_t i = 0; i < t->missing_count; i++) {
		put_label(&p, TEST_NOT_OK, "not run");
		test_put_plain(out, t->missing[i], TEST_TITLE_MAX);
		fputc('\n', out);
	}
	put_all(&p, t, TEST_OK, true);
	put_all(&p, t, TEST_FLAKY, false);
	put_all(&p, t, TEST_KNOWN, false);
	put_all(&p, t, TEST_SKIPPED, false);
	put_all(&p, t, TEST_OK, false);
	return test_finish(out);
}
