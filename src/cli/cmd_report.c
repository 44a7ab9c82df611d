/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ringside report: the report of results files, without booting anything. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "cli/commands.h"
#include "cli/helpers.h"
#include "cli/options.h"
#include "cli/output_file.h"
#include "cli/print_report.h"
#include "cli/report_comparisons.h"
#include "cli/report_tests.h"
#include "cli/status.h"
#include "cli/test_files.h"

/* Forms that only a test run has, or a comparison. */
struct forms {
	bool matrix, json, details, junit, tap, github, markdown, csv, gobench;
	const char *html;
	const char *gate;
	struct report_filter filter;
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

static int form_count(const struct forms *f)
{
	return f->json + f->junit + f->tap + f->github + f->markdown + f->csv + f->gobench;
}

/* Whether something was asked for that only a test run has. */
static bool asks_for_tests(const struct forms *f, const struct report_tests *t)
{
	return f->tap || t->baseline;
}

static int check(const struct forms *f, const struct report_tests *t, bool of_tests, struct err *e)
{
	bool for_comparisons = f->details || f->html || f->csv || f->gobench || f->gate ||
			       f->matrix || f->filter.benches || f->filter.groups || f->filter.arms;

	if (form_count(f) > 1) {
		return err_set(
			e, -EINVAL,
			"--json, --csv, --gobench, --junit, --tap, --github and --markdown exclude "
			"each other");
	}
	if (form_count(f) > 0 && cli_is_stdout(f->html)) {
		return err_set(e, -EINVAL,
			       "--html - and another form are both for stdout: give the page a "
			       "file");
	}
	if (for_comparisons && of_tests) {
		return err_set(
			e, -EINVAL,
			"%s is of a test run: --details, --bench, --group, --arm, --html, --matrix, --gate, --csv "
			"and --gobench are for comparisons",
			t->paths[0]);
	}
	/* One that cannot be read is told of as such. */
	if (asks_for_tests(f, t) && !of_tests && access(t->paths[0], R_OK) == 0) {
		return err_set(e, -EINVAL,
			       "%s is not of a test run: --tap and --baseline are for those",
			       t->paths[0]);
	}
	if (of_tests && t->count > 1 && !t->merge) {
		return err_set(e, -EINVAL, "several files are the shards of one test run: --merge");
	}
	if (of_tests && t->results && !t->merge) {
		return err_set(e, -EINVAL, "--results goes with --merge");
	}
	return 0;
}

/* The page is made of the results, and takes the place of none. */
static int check_page(const char *html, const struct report_tests *t, struct err *e)
{
	const char *results = t->results;
	int r = output_check("--html", html, (const char *const *)t->paths, t->count, e);

	return r < 0 ? r : output_check("--html", html, &results, 1, e);
}

static int (*comparison_form(const struct forms *f))(const struct report_set *, FILE *)
{
	return f->csv        ? report_set_csv
	       : f->gobench  ? report_set_gobench
	       : f->junit    ? report_set_junit
	       : f->github   ? report_set_github
	       : f->markdown ? report_set_markdown
			     : NULL;
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
		{OPT_FLAG, "junit", 0, &f.junit, .help = "as JUnit XML"},
		{OPT_FLAG, "markdown", 0, &f.markdown, .help = "as Markdown"},
		{OPT_FLAG, "github", 0, &f.github, .help = "as annotations of GitHub Actions"},
		{OPT_FLAG, "merge", 0, &t.merge,
		 .help = "the files are the shards of one run or comparison; what is missing is named"},
		{OPT_STRING, "results", 0, &t.results, .once = true, .arg = "FILE",
		 .help = "with --merge: write what was merged as a results file of its own"},
		{OPT_GROUP, .help = "Of a comparison"},
		{OPT_FLAG, "details", 0, &f.details,
		 .help = "of a scenario: every benchmark in full, as a comparison of two arms has "
			 "it"},
		{OPT_STRING, "html", 0, &f.html, .once = true, .arg = "FILE",
		 .help = "also as a page with charts, in one file that needs no other; -: on stdout, in place of the text"},
		OPT_ROW_MATRIX(f.matrix),
		OPT_ROW_GATE(f.gate),
		{OPT_STRING, "bench", 0, &f.filter.benches, .arg = "LIST",
		 .help = "show only these rows: benchmarks, or groups of them; nothing is computed "
			 "anew"},
		{OPT_STRING, "group", 0, &f.filter.groups, .arg = "LIST",
		 .help = "show only these groups of a scenario; a comma inside a name is written \\,, "
			 "but where LIST is one whole name"},
		{OPT_STRING, "arm", 0, &f.filter.arms, .arg = "LIST",
		 .help = "show only comparisons of these arms, by the names that the report has"},
		{OPT_FLAG, "csv", 0, &f.csv, .help = "as CSV, a row for each benchmark"},
		{OPT_FLAG, "gobench", 0, &f.gobench,
		 .help = "every boot's value as Go's benchmarks print it: benchstat -col arm FILE"},
		{OPT_GROUP, .help = "Of a test run"},
		{OPT_FLAG, "tap", 0, &f.tap, .help = "as KTAP"},
		{OPT_STRING, "baseline", 0, &t.baseline, .once = true, .arg = "OLD",
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
		/* Of what comes through a pipe, JUnit, Markdown and annotations are taken for a
		 * test run's. */
		of_tests = test_files_are(rest.words[0], asks_for_tests(&f, &t) || t.merge ||
								 f.junit || f.markdown || f.github);
		r = check(&f, &t, of_tests, &e);
	}
	if (r == 0) {
		r = check_page(f.html, &t, &e);
	}
	if (r < 0) {
		log_error("%s", e.text);
		return STATUS_USAGE;
	}
	return of_tests ? report_tests(&t)
			: report_comparisons(&(struct report_comparisons){
				  .paths = t.paths,
				  .count = t.count,
				  .merge = t.merge || t.count > 1,
				  .results = t.results,
				  .output = {.json = f.json,
					     .form = comparison_form(&f),
					     .details = f.details,
					     .html = f.html,
					     .matrix = f.matrix,
					     .gate = f.gate,
					     .filter = f.filter},
			  });
}
