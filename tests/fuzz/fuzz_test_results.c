/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Results files of test runs. An input that begins with '!' is a file as it stands. Any other has
 * in its first line the ids of a plan, with spaces between them, so that what comes behind need
 * not find a SHA-256 to be looked at. Whatever is read renders in every form, with nothing in it
 * that its readers choke on, and is written as a file that reads back.
 */
#include "fuzz.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/test_baseline.h"
#include "report/test_report.h"
#include "samples/test_set.h"

#define IDS_MAX 16

static void add_plan(struct test_set *s, char *line)
{
	char *ids[IDS_MAX];
	struct test_plan p = {.title = "t", .shard = 1, .shards = 1, .ids = ids};
	struct err e = ERR_INIT;
	char *rest = line, *word;
	json_t *json;
	char *text;

	while (p.id_count < IDS_MAX && (word = strsep(&rest, " "))) {
		ids[p.id_count++] = word;
	}
	/* A word of its own says what else a plan can be. */
	p.until_failure = strcmp(ids[0], "again") == 0;
	p.shards = strcmp(ids[0], "part") == 0 ? 2 : 1;
	json = test_plan_to_json(&p);
	text = json_dumps(json, JSON_COMPACT);
	must(text);
	(void)!test_set_add_line(s, text, strlen(text), &e);
	free(text);
	json_decref(json);
}

/* Each line by itself; those that are refused leave no trace. */
static void add_lines(struct test_set *s, char *text)
{
	struct err e = ERR_INIT;
	bool raw = *text == '!';
	char *rest = text + raw, *line;

	if (!raw && (line = strsep(&rest, "\n"))) {
		add_plan(s, line);
	}
	while ((line = strsep(&rest, "\n"))) {
		(void)!test_set_add_line(s, line, strlen(line), &e);
	}
}

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
	must(lines <= t->count + t->missing_count);
	free(text);
	text = render(test_report_json, t);
	json = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	must(json);
	json_decref(json);
	free(text);
}

/* Nothing has changed since itself. */
static void check_baseline(const struct test_report *t)
{
	struct test_baseline *b;
	struct err e = ERR_INIT;

	must(test_baseline_create(t, t, &b, &e) == 0);
	must(b->count == 0);
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size);
	struct test_report t = {.title = "t"};
	struct err e = ERR_INIT;
	const char **missing;
	struct test_set *s;

	must(text && test_set_create(&s, &e) == 0);
	add_lines(s, text);
	if (test_set_plan(s)) {
		t.results = test_set_results(s, &t.count);
		must(test_set_missing(s, &missing, &t.missing_count, &e) == 0);
		t.missing = missing;
		must(test_report_exit_status(&t) != 0 || t.missing_count == 0);
		check_forms(&t);
		check_baseline(&t);
		check_written(s, t.count);
		free(missing);
	}
	test_set_destroy(s);
	free(text);
	return 0;
}
