/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Results files of comparisons. An input that begins with '!' is a file as it stands behind that.
 * Any other is of a plan that is made here, a '2' a scenario's, and has the lines behind the plan:
 * where one begins with "@N ", the boot's place and provenance are put before what follows, so that
 * short inputs are whole records. Whatever is read makes a report that renders in every form, with
 * nothing in it that its readers choke on.
 */
#include "fuzz.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "compare_fixture.h"
#include "engine/summary.h"
#include "report/html.h"

#define BOOTS_MAX 200 /* of a report that is made */

static int read_whole(struct comparison *c, const void *bytes, size_t len, struct err *e)
{
	static char path[64];
	static int fd = -1;

	if (fd < 0) {
		struct err why = ERR_INIT;

		must(log_setup("quiet", &why) == 0);
		fd = memfd_create("results", MFD_CLOEXEC);
		must(fd >= 0);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	must(ftruncate(fd, (off_t)len) == 0 && pwrite(fd, bytes, len, 0) == (ssize_t)len);
	return comparison_read(c, path, e);
}

/* "@N REST" as a record of boot N. */
static char *whole_record(const struct comparison *c, char *line)
{
	size_t slot = strtoul(line + 1, &line, 10) % c->plan.boot_count;
	const struct schedule_boot *b = &c->plan.boots[slot];
	char *text;
	int n = asprintf(&text,
			 "{\"slot\":%zu,\"group\":%u,\"block\":%u,\"arm\":\"%s\","
			 "\"schema_version\":1,\"type\":\"boot\",\"provenance\":{\"class\":"
			 "\"icount\",\"ticks_per_unit\":8,\"host\":{\"cpu\":\"c\"}},"
			 "\"outcome\":{\"status\":0,\"kind\":\"exit\",\"text\":\"\"},%s",
			 slot, b->group, b->block, arm_name(b->arm), line);

	must(n > 0);
	return text;
}

/* Each line by itself; those that are refused leave no trace. */
static void add_lines(struct comparison *c, char *rest)
{
	char *line;

	while ((line = strsep(&rest, "\n"))) {
		char *record = *line == '@' ? whole_record(c, line) : NULL;
		const char *text = record ? record : line;
		struct err e = ERR_INIT;
		size_t done = c->done;
		int r = comparison_add_line(c, text, strlen(text), &e);

		must(r == 0 || (*e.text && c->done == done));
		free(record);
	}
}

static FILE *open_text(char **ret)
{
	static size_t len;
	FILE *f = open_memstream(ret, &len);

	must(f);
	return f;
}

/* A control is never text in any form. CSV ends its lines with two of them. */
static void check_text(FILE *f, char **text, int r)
{
	must(r == 0 && fclose(f) == 0);
	for (const char *p = *text; *p; p++) {
		must(((unsigned char)*p >= 0x20 && *p != 0x7f) || *p == '\n' || *p == '\t' ||
		     (p[0] == '\r' && p[1] == '\n'));
	}
}

static void check_form(int (*form)(const struct report_set *, FILE *), const struct report_set *s)
{
	char *text;
	FILE *f = open_text(&text);

	check_text(f, &text, form(s, f));
	free(text);
}

/* On a narrow terminal not a letter is lost. */
static void check_fit(const char *text)
{
	size_t columns = 20 + strlen(text) % 61;
	char *fitted;
	FILE *f = open_text(&fitted);
	const char *a = text, *b;

	report_fit(text, columns, f);
	check_text(f, &fitted, 0);
	for (b = fitted; *b; b++) {
		if (!strchr(" \n", *b)) {
			a += strspn(a, " \n");
			must(*a++ == *b);
		}
	}
	must(a[strspn(a, " \n")] == '\0');
	free(fitted);
}

static void check_html(const struct report_set *s)
{
	char *text;
	FILE *f = open_text(&text);

	check_text(f, &text, report_set_html(s, &(struct report_html){.file = "f"}, f));
	must(!strstr(text, "<script"));
	must(!strstr(text, "\"nan") && !strstr(text, "\"-nan") && !strstr(text, "\"inf"));
	free(text);
}

static void check_json(const struct report_set *s)
{
	json_t *json = report_set_json(s);
	char *text = json_dumps(json, 0);
	json_t *again;

	must(json && text);
	again = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	must(again);
	json_decref(again);
	json_decref(json);
	free(text);
}

static void check_report(const struct comparison *c)
{
	struct summary *s = NULL;
	struct err e = ERR_INIT;
	const struct report_set *set;
	int status;

	if (summary_create(c, &s, &e) < 0) {
		must(*e.text);
		return;
	}
	set = summary_set(s);
	status = report_set_exit_status(set);
	must(status == 0 || status == 1 || status == 3);
	for (int details = 0; details < 2; details++) {
		char *text;
		FILE *f = open_text(&text);

		check_text(f, &text, report_set_text(set, f, false, details));
		check_fit(text);
		free(text);
	}
	check_form(report_set_csv, set);
	check_form(report_set_gobench, set);
	check_form(report_set_markdown, set);
	check_form(report_set_junit, set);
	check_html(set);
	check_json(set);
	summary_destroy(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct comparison c = {0};
	struct err e = ERR_INIT;
	int r = 0;

	if (size == 0) {
		return 0;
	}
	if (*data == '!') {
		r = read_whole(&c, data + 1, size - 1, &e);
		must(r == 0 || *e.text);
	} else {
		char *text = strndup((const char *)data + 1, size - 1);

		must(text);
		(*data == '2' ? fixture_scenario : fixture_comparison)(&c, 2);
		add_lines(&c, text);
		free(text);
	}
	if (r == 0) {
		must(c.done <= c.plan.boot_count);
		if (c.plan.boot_count <= BOOTS_MAX) {
			check_report(&c);
		}
	}
	comparison_fini(&c);
	return 0;
}
