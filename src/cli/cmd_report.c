/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ringside report: the report of results files, without booting anything. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/print_report.h"
#include "cli/report_tests.h"
#include "cli/status.h"
#include "cli/test_files.h"
#include "engine/summary.h"
#include "report/report.h"

static int write_json(const struct report_set *set)
{
	json_t *root = report_set_json(set);
	int r = root ? json_dumpf(root, stdout, JSON_INDENT(2)) : -1;

	json_decref(root);
	return r < 0 || putchar('\n') == EOF ? -1 : 0;
}

/**
 * print_report() - write a comparison's report to stdout
 * @c: the comparison
 * @json: as JSON, not as text
 * @details: as text: a section for each benchmark, also of a scenario
 *
 * Where boots are missing the report is of the ones that are there, and decides nothing: how many
 * they are was not fixed beforehand.
 *
 * Return: the exit status.
 * Context: main thread.
 */
int print_report(const struct comparison *c, bool json, bool details)
{
	_cleanup_(summary_destroy_p) struct summary *s = NULL;
	struct err e = ERR_INIT;
	const struct report_set *set;
	int r = summary_create(c, &s, &e);

	if (r < 0) {
		log_error("%s", e.text);
		return r == -ENODATA ? STATUS_INCONCLUSIVE : STATUS_ENVIRONMENT;
	}
	set = summary_set(s);
	r = json ? write_json(set)
		 : report_set_text(set, stdout, report_wants_colour(STDOUT_FILENO), details);
	if (r < 0 || fflush(stdout) == EOF || ferror(stdout)) {
		log_error("stdout: the report cannot be written");
		return STATUS_ENVIRONMENT;
	}
	if (c->done < c->plan.boot_count) {
		log_warn("%zu of %zu boots are recorded: what they say so far is no verdict",
			 c->done, c->plan.boot_count);
		return STATUS_INCONCLUSIVE;
	}
	return report_set_exit_status(set);
}

/* Forms that only a test run has, or a comparison. */
struct forms {
	bool json, details, junit, tap, github, markdown;
};

static enum report_form form_of(const struct forms *f)
{
	return f->json       ? REPORT_JSON
	       : f->junit    ? REPORT_JUNIT
	       : f->tap      ? REPORT_TAP
	       : f->github   ? REPORT_GITHUB
	       : f->markdown ? REPORT_MARKDOWN
			     : REPORT_TEXT;
}

static int check(const struct forms *f, const struct report_tests *t, bool of_tests, struct err *e)
{
	int n = f->json + f->junit + f->tap + f->github + f->markdown;
	bool for_tests = n > f->json || t->merge || t->baseline || t->results;

	if (n > 1) {
		return err_set(
			e, -EINVAL,
			"--json, --junit, --tap, --github and --markdown exclude each other");
	}
	if (f->details && of_tests) {
		return err_set(e, -EINVAL, "%s is of a test run: --details is for comparisons",
			       t->paths[0]);
	}
	/* One that cannot be read is told of as such. */
	if (for_tests && !of_tests && access(t->paths[0], R_OK) == 0) {
		return err_set(e, -EINVAL,
			       "%s is not of a test run: --junit, --tap, --github, --markdown, "
			       "--merge, --baseline and --results are for those",
			       t->paths[0]);
	}
	if (t->count > 1 && !t->merge) {
		return err_set(e, -EINVAL, "several files are the shards of one test run: --merge");
	}
	if (t->results && !t->merge) {
		return err_set(e, -EINVAL, "--results goes with --merge");
	}
	if (t->baseline && form_of(f) != REPORT_TEXT && form_of(f) != REPORT_JSON) {
		return err_set(e, -EINVAL, "--baseline is shown as text, or with --json");
	}
	return 0;
}

static int report_comparison(const char *path, const struct forms *f)
{
	struct comparison c = {0};
	struct err e = ERR_INIT;
	int status = STATUS_ENVIRONMENT;

	if (comparison_read(&c, path, &e) < 0) {
		log_error("%s", e.text);
	} else {
		status = print_report(&c, f->json, f->details);
	}
	comparison_fini(&c);
	return status;
}

/**
 * cmd_report() - "ringside report"
 * @argc: number of words, the command's name first
 * @argv: the words
 *
 * Return: the exit status.
 * Context: main thread.
 */
int cmd_report(int argc, char **argv)
{
	struct forms f = {0};
	struct report_tests t = {0};
	const struct opt_row rows[] = {
		{OPT_FLAG, "json", 0, &f.json, .help = "as JSON"},
		{OPT_GROUP, .help = "Of a comparison"},
		{OPT_FLAG, "details", 0, &f.details,
		 .help = "of a scenario: every benchmark in full, as a comparison of two arms has "
			 "it"},
		{OPT_GROUP, .help = "Of a test run"},
		{OPT_FLAG, "junit", 0, &f.junit, .help = "as JUnit XML"},
		{OPT_FLAG, "tap", 0, &f.tap, .help = "as KTAP"},
		{OPT_FLAG, "github", 0, &f.github, .help = "as annotations of GitHub Actions"},
		{OPT_FLAG, "markdown", 0, &f.markdown, .help = "as Markdown"},
		{OPT_FLAG, "merge", 0, &t.merge,
		 .help = "the files are the shards of one run; what is missing is named"},
		{OPT_STRING, "results", 0, &t.results, .arg = "FILE",
		 .help = "with --merge: write what was merged as a results file of its own"},
		{OPT_STRING, "baseline", 0, &t.baseline, .arg = "OLD",
		 .help = "only what has changed since the results in OLD"},
		{OPT_END},
	};
	const struct opt_command cmd = {
		.name = "report",
		.usage = "[OPTION]... RESULTS...",
		.about = "Prints the report of a comparison or of a test run from its results "
			 "file, as 'ringside compare' or 'ringside test' did. Exit status: as "
			 "there.",
		.rows = rows,
		.max_words = -1,
	};
	struct opt_rest rest;
	struct err e = ERR_INIT;
	bool of_tests = false;
	int r = opt_parse(&cmd, argc, argv, &rest, &e);

	if (r == OPT_SHOWN_HELP) {
		return STATUS_OK;
	}
	if (r == 0 && rest.word_count == 0) {
		r = err_set(&e, -EINVAL, "the results file is missing; 'ringside report --help'");
	}
	if (r == 0) {
		t.paths = rest.words;
		t.count = (size_t)rest.word_count;
		t.form = form_of(&f);
		of_tests = test_files_are(rest.words[0]);
		r = check(&f, &t, of_tests, &e);
	}
	if (r < 0) {
		log_error("%s", e.text);
		return STATUS_USAGE;
	}
	return of_tests ? report_tests(&t) : report_comparison(rest.words[0], &f);
}
