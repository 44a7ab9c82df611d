/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ringside report: the report of a results file, without booting anything. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/print_report.h"
#include "cli/status.h"
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
	bool json = false, details = false;
	const struct opt_row rows[] = {
		{OPT_FLAG, "json", 0, &json, .help = "as JSON"},
		{OPT_FLAG, "details", 0, &details,
		 .help = "of a scenario: every benchmark in full, as a comparison of two arms has "
			 "it"},
		{OPT_END},
	};
	const struct opt_command cmd = {
		.name = "report",
		.usage = "[--json|--details] RESULTS",
		.about = "Prints the report of a comparison from its results file, as 'ringside "
			 "compare' did. Exit status: as there.",
		.rows = rows,
		.max_words = 1,
	};
	struct comparison c = {0};
	struct opt_rest rest;
	struct err e = ERR_INIT;
	int status;
	int r = opt_parse(&cmd, argc, argv, &rest, &e);

	if (r == OPT_SHOWN_HELP) {
		return STATUS_OK;
	}
	if (r == 0 && rest.word_count == 0) {
		r = err_set(&e, -EINVAL, "the results file is missing; 'ringside report --help'");
	}
	if (r < 0) {
		log_error("%s", e.text);
		return STATUS_USAGE;
	}
	if (comparison_read(&c, rest.words[0], &e) < 0) {
		log_error("%s", e.text);
		status = STATUS_ENVIRONMENT;
	} else {
		status = print_report(&c, json, details);
	}
	comparison_fini(&c);
	return status;
}
