/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See print_report.h. */
#include "cli/print_report.h"

#include <assert.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/log.h"
#include "cli/helpers.h"
#include "cli/output_file.h"
#include "cli/status.h"
#include "engine/compare.h"
#include "engine/pilot.h"
#include "engine/summary.h"
#include "report/html.h"
#include "samples/record.h"

/* Takes the object over. */
static int write_json(const struct report_output *o, json_t *root)
{
	int r;

	if (o->json_to) {
		*o->json_to = root;
		return root ? 0 : -1;
	}
	r = root ? json_dumpf(root, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII) : -1;

	json_decref(root);
	return r < 0 || putchar('\n') == EOF ? -1 : 0;
}

struct page {
	const struct report_set *set;
	struct report_html about;
};

static int write_page(const void *ctx, FILE *out)
{
	const struct page *p = ctx;

	return report_set_html(p->set, &p->about, out);
}

static int write_html(const struct report_output *o, const struct report_set *set)
{
	_cleanup_free_ char *sha256 = NULL;
	struct err e = ERR_INIT;
	struct page page;
	int r = record_file_sha256(o->results, &sha256, &e);

	if (r < 0) {
		log_error("%s", e.text);
		return r;
	}
	page = (struct page){set, {.file = o->results, .sha256 = sha256}};
	r = cli_is_stdout(o->html) ? write_page(&page, stdout)
				   : output_write(o->html, write_page, &page);
	if (r < 0) {
		log_error("%s: the page cannot be written: %s",
			  cli_is_stdout(o->html) ? "stdout" : o->html, strerror(-r));
	}
	return r;
}

/* A part's own exit status would be that of the rows that it shows. */
static json_t *part_json(const struct report_set *shown, const struct report_set *all)
{
	json_t *root = report_set_json(shown);

	if (root && shown != all && !all->gate) {
		json_object_set_new(root, "exit_status", json_integer(report_set_exit_status(all)));
	}
	return root;
}

/* How wide a terminal is; what is none, or does not say, has room enough. */
static size_t columns_of(int fd)
{
	struct winsize w;

	return isatty(fd) && ioctl(fd, TIOCGWINSZ, &w) == 0 && w.ws_col > 0 ? w.ws_col : SIZE_MAX;
}

static int write_text(const struct report_output *o, const struct report_set *shown)
{
	bool colour = report_wants_colour(STDOUT_FILENO);
	_cleanup_free_ char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);
	int r;

	if (!f) {
		return -ENOMEM;
	}
	r = report_set_text(shown, f, colour, o->details);
	if (fclose(f) != 0) {
		return -ENOMEM;
	}
	report_fit(text, columns_of(STDOUT_FILENO), stdout);
	return r;
}

static int write_stdout(const struct report_output *o, const struct report_set *shown,
			const struct report_set *all)
{
	int r = o->json   ? write_json(o, part_json(shown, all))
		: o->form ? o->form(shown, stdout)
			  : write_text(o, shown);

	if (r < 0 || fflush(stdout) == EOF || ferror(stdout)) {
		log_error("stdout: the report cannot be written");
		return -EIO;
	}
	return 0;
}

static bool is_filtered(const struct report_output *o)
{
	return o->filter.benches || o->filter.groups || o->filter.arms;
}

/* What is missing, for who does not read the report itself. */
static void warn_of_missing(const struct comparison *c)
{
	for (size_t i = 0; i < c->plan.group_count; i++) {
		const char *name = c->plan.groups[i].name;

		if (c->failed[i] >= COMPARE_FAILED_MAX) {
			log_warn("%s%s%zu boots failed: there is no verdict", name ? name : "",
				 name ? ": " : "", c->failed[i]);
		}
	}
	if (c->done < c->plan.boot_count) {
		log_warn("%zu of %zu boots are recorded: what they say so far is no verdict",
			 c->done, c->plan.boot_count);
	}
}

/* What a pilot says instead of verdicts. */
static int print_pilot(const struct comparison *c, const struct report_output *o)
{
	_cleanup_(pilot_destroy_p) struct pilot *p = NULL;
	FILE *out = o->aside ? stderr : stdout;
	struct err e = ERR_INIT;
	int r;

	if (o->form || o->html || o->details || o->gate || is_filtered(o)) {
		log_error("%s is of a pilot, which has no verdicts: it is shown as text, or with "
			  "--json",
			  o->results);
		return STATUS_USAGE;
	}
	r = pilot_create(c, o->jobs ? o->jobs : 1, &p, &e);
	if (r < 0) {
		log_error("%s", e.text);
		return r == -ENODATA ? STATUS_INCONCLUSIVE : STATUS_ENVIRONMENT;
	}
	r = o->json && !o->aside ? write_json(o, report_pilot_json(pilot_report(p)))
				 : report_pilot_text(pilot_report(p), out);
	if (r < 0 || fflush(out) == EOF) {
		log_error("the pilot cannot be written");
		return STATUS_ENVIRONMENT;
	}
	return c->done < c->plan.boot_count ? STATUS_INCONCLUSIVE : STATUS_OK;
}

/*
 * What counts false alarms has no verdicts on which a gate, or a reader of rows, could go. Its own
 * exit status says whether there were too many.
 */
static bool refuses_aa(const struct report_output *o)
{
	bool has_rows = o->form == report_set_csv || o->form == report_set_junit ||
			o->form == report_set_github;

	if (o->gate || has_rows) {
		log_error(
			"%s is of an arm with itself, many times over, which has no verdicts for "
			"%s: its exit status is 1 where there are more false alarms than a test at "
			"5 %% may have; it is shown as text, or with --json, --markdown or --html",
			o->results, o->gate ? "--gate" : "--csv, --junit and --github");
	}
	return o->gate || has_rows;
}

/* The option's table has let only these words pass. */
static enum report_gate_on gate_on(const char *word)
{
	enum report_gate_on on;
	int r = report_gate_parse(word, &on);

	assert(r == 0);
	return r == 0 ? on : REPORT_GATE_WORSE;
}

/**
 * print_report() - write a comparison's report
 * @c: the comparison
 * @o: where to, and as what
 *
 * Where boots are missing the report is of the ones that are there, and decides nothing: how many
 * they are was not fixed beforehand.
 *
 * Return: the exit status.
 * Context: main thread.
 */
int print_report(const struct comparison *c, const struct report_output *o)
{
	struct comparison view = *c; /* borrowed, but for what is shown of it */
	_cleanup_(summary_destroy_p) struct summary *s = NULL;
	_cleanup_(report_part_destroy_p) struct report_part *part = NULL;
	const struct report_set *shown;
	struct report_gate gate;
	struct report_set set;
	struct err e = ERR_INIT;
	int r;

	if (c->plan.pilot) {
		return print_pilot(c, o);
	}
	view.plan.matrix |= o->matrix;
	r = summary_create(&view, &s, &e);
	if (r < 0) {
		log_error("%s", e.text);
		return r == -ENODATA ? STATUS_INCONCLUSIVE : STATUS_ENVIRONMENT;
	}
	set = *summary_set(s);
	set.host = o->host;
	set.host_before = o->host_before;
	set.host_behind = o->host_behind;
	shown = &set;
	if (set.aa && refuses_aa(o)) {
		return STATUS_USAGE;
	}
	if (o->gate) {
		report_gate_judge(&set, gate_on(o->gate), &gate);
		set.gate = &gate;
	}
	if (is_filtered(o)) {
		r = report_part_create(&set, &o->filter, &part, &e);
		if (r < 0) {
			log_error("%s", e.text);
			return r == -EINVAL ? STATUS_USAGE : STATUS_ENVIRONMENT;
		}
		shown = report_part_set(part);
		log_info("shown: %s", shown->reports[0]->filtered);
	}
	if (!cli_is_stdout(o->html) && write_stdout(o, shown, &set) < 0) {
		return STATUS_ENVIRONMENT;
	}
	if (o->html && write_html(o, shown) < 0) {
		return STATUS_ENVIRONMENT;
	}
	if (o->gate && (o->json || o->form || cli_is_stdout(o->html))) {
		/* As text it stands there already. */
		log_info("%s%s%s", o->host ? o->host : "", o->host ? ": " : "", gate.text);
	}
	warn_of_missing(c);
	return report_set_exit_status(&set);
}
