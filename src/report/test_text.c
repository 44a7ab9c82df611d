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

/* One line of any bytes, wrapped where it does not fit. */
static void put_line(const struct page *p, size_t at, size_t indent, const char *s, size_t len)
{
	_cleanup_free_ char *line = strndup(s, len);
	_cleanup_free_ char *safe = NULL;
	size_t safe_len = 0;
	FILE *f = line ? open_memstream(&safe, &safe_len) : NULL;

	if (!f) {
		fputs("[out of memory]\n", p->out);
		return;
	}
	test_put(f, line, TEST_TITLE_MAX, put_text);
	if (fclose(f) != 0) {
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
		if (t->dir && *t->dir) {
			test_put_plain(p->out, t->dir, TEST_TITLE_MAX);
			fputc('/', p->out);
		}
		test_put_plain(p->out, r->dir, TEST_TITLE_MAX);
		fputc('\n', p->out);
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
		if (s->message && *s->message) {
			fprintf(p->out, "%*s", INDENT + 2, "");
			put_lines(p, INDENT + 2, INDENT + 2, s->message);
		}
	}
	if (failed > shown) {
		fprintf(p->out, "%*sand %zu more of %zu\n", INDENT, "", failed - shown,
			r->sub_count);
	}
}

static void put_result(const struct page *p, const struct test_report *t,
		       const struct test_result *r)
{
	put_label(p, r->verdict, looks[r->verdict].label);
	test_put_plain(p->out, r->id, TEST_TITLE_MAX);
	if (r->verdict == TEST_SKIPPED) {
		fprintf(p->out, "\n%*s", INDENT, "");
		put_lines(p, INDENT, INDENT, test_why(r));
		return;
	}
	fprintf(p->out, ": %s, %.2f s", test_outcome_name(r->outcome),
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
	for (size_t i = 0; i < r->warning_count; i++) {
		put_field(p, "found", r->warnings[i]);
	}
	put_place(p, t, r);
}

static void put_count(FILE *out, size_t n, const char *what, bool *first)
{
	if (n > 0) {
		fprintf(out, "%s%zu %s", *first ? ": " : ", ", n, what);
		*first = false;
	}
}

static void put_head(const struct page *p, const struct test_report *t)
{
	size_t cases = t->count + t->missing_count;
	struct test_counts n;
	bool first = true;

	test_report_count(t, &n);
	test_put_plain(p->out, t->title ? t->title : "ringside test", TEST_TITLE_MAX);
	if (t->shards > 1) {
		fprintf(p->out, ", shard %u of %u", t->shard, t->shards);
	}
	fprintf(p->out, ": %zu case%s", cases, cases == 1 ? "" : "s");
	put_count(p->out, n.by_verdict[TEST_NOT_OK], "not ok", &first);
	put_count(p->out, n.missing, "not run", &first);
	put_count(p->out, n.by_verdict[TEST_FLAKY], "flaky", &first);
	put_count(p->out, n.by_verdict[TEST_KNOWN], "known", &first);
	put_count(p->out, n.by_verdict[TEST_SKIPPED], "skipped", &first);
	put_count(p->out, n.by_verdict[TEST_OK], "ok", &first);
	fputc('\n', p->out);
}

static void put_all(const struct page *p, const struct test_report *t, enum test_verdict v)
{
	bool first = true;

	for (size_t i = 0; i < t->count; i++) {
		if (t->results[i]->verdict == v) {
			fputs(first ? "\n" : "", p->out);
			first = false;
			put_result(p, t, t->results[i]);
		}
	}
}

/* What passed is listed only where something in it was found and allowed. */
static void put_warned(const struct page *p, const struct test_report *t)
{
	bool first = true;

	for (size_t i = 0; i < t->count; i++) {
		const struct test_result *r = t->results[i];

		if (r->verdict == TEST_OK && r->warning_count > 0) {
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

	put_head(&p, t);
	put_all(&p, t, TEST_NOT_OK);
	if (t->missing_count > 0) {
		fputc('\n', out);
	}
	for (size_t i = 0; i < t->missing_count; i++) {
		put_label(&p, TEST_NOT_OK, "not run");
		test_put_plain(out, t->missing[i], TEST_TITLE_MAX);
		fputc('\n', out);
	}
	put_all(&p, t, TEST_FLAKY);
	put_all(&p, t, TEST_KNOWN);
	put_all(&p, t, TEST_SKIPPED);
	put_warned(&p, t);
	return test_finish(out);
}
