/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What must hold of every set of results that was read, whatever from: it renders in every form,
 * with nothing in it that its readers choke on, also as what has changed, and it is written as a
 * file and as a document that read back.
 */
#include "fuzz_set.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "report/test_baseline.h"
#include "report/test_report.h"
#include "samples/test_document.h"

static char *render(int (*fn)(const struct test_report *t, FILE *out), const struct test_report *t)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	must(f && fn(t, f) == 0 && fclose(f) == 0);
	must(strlen(text) == len);
	return text;
}

/* Forms in which a control is never text. JSON may have DEL as it is. */
static char *render_plain(int (*fn)(const struct test_report *t, FILE *out),
			  const struct test_report *t)
{
	char *text = render(fn, t);

	for (const char *p = text; *p; p++) {
		must(((unsigned char)*p >= 0x20 && *p != 0x7f) || *p == '\n' || *p == '\t');
	}
	return text;
}

static int text_form(const struct test_report *t, FILE *out)
{
	return test_report_text(t, out, false);
}

static void check_forms(const struct test_report *t)
{
	char *text = render_plain(test_report_junit, t);
	size_t lines = 0;
	json_t *json;

	must(!strstr(text, "]]>"));
	free(text);
	free(render_plain(test_report_tap, t));
	free(render_plain(test_report_markdown, t));
	free(render_plain(text_form, t));
	text = render_plain(test_report_github, t);
	for (const char *p = text; *p; p = strchr(p, '\n') + 1) {
		must(p[0] == ':' && p[1] == ':');
		lines++;
	}
	must(lines <= t->count + t->missing_count + t->gone_count);
	free(text);
	text = render(test_report_json, t);
	json = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	must(json);
	json_decref(json);
	free(text);
}

/* Nothing has changed since itself, and all that is not missing since nothing. */
static void check_baseline(const struct test_report *then, const struct test_report *now, bool same)
{
	struct test_baseline *b;
	struct test_extract *x;
	struct err e = ERR_INIT;

	must(test_baseline_create(then, now, &b, &e) == 0);
	must(!same || b->count == b->by_kind[TEST_CHANGE_NONE]);
	must(test_extract_create(b, now, &x, &e) == 0);
	check_forms(&x->report);
	test_extract_destroy(x);
	test_baseline_destroy(b);
}

static void check_written(const struct test_set *s, size_t count)
{
	struct test_set *again;
	struct err e = ERR_INIT;
	char *text = NULL, *rest, *line;
	size_t len = 0, n;
	FILE *f = open_memstream(&text, &len);

	must(f && test_set_write(s, f, &e) == 0 && fclose(f) == 0);
	must(test_set_create(&again, &e) == 0);
	rest = text;
	while ((line = strsep(&rest, "\n")) && rest) {
		must(test_set_add_line(again, line, strlen(line), &e) == 0);
	}
	must(test_set_results(again, &n) || n == 0);
	must(n == count);
	test_set_destroy(again);
	free(text);
}

/* What is read from it is what was written. */
static void check_document(const struct test_report *t)
{
	char *text = render(test_report_json, t);
	struct test_set *again;
	struct err e = ERR_INIT;
	size_t n;

	if (t->count + t->missing_count > 0) {
		must(test_document_parse(text, strlen(text), &again, &e) == 0);
		must(test_set_results(again, &n) || n == 0);
		must(n == t->count);
		test_set_destroy(again);
	}
	free(text);
}

void fuzz_check_set(const struct test_set *s)
{
	struct test_report t = {.title = "t", .filter = test_set_plan(s)->filter};
	struct test_report empty = {.title = "t"};
	struct err e = ERR_INIT;
	const char **missing;

	t.results = test_set_results(s, &t.count);
	must(test_set_missing(s, &missing, &t.missing_count, &e) == 0);
	t.missing = missing;
	must(test_report_exit_status(&t) != 0 || t.missing_count == 0);
	check_forms(&t);
	check_baseline(&t, &t, true);
	check_baseline(&empty, &t, false);
	check_baseline(&t, &empty, false);
	check_written(s, t.count);
	if (!test_set_plan(s)->until_failure) {
		check_document(&t);
	}
	free(missing);
}
