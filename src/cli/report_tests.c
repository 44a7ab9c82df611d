/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See report_tests.h. Main thread. */
#include "cli/report_tests.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/log.h"
#include "cli/status.h"
#include "cli/test_files.h"
#include "report/report.h"
#include "report/test_baseline.h"

/* What was merged as a file of its own; like all results it overwrites none. */
static int write_results(const struct test_set *s, const char *path, struct err *e)
{
	FILE *f = fopen(path, "wxe");
	int r;

	if (!f && errno == EEXIST) {
		return err_set(e, -EEXIST, "%s exists and is never overwritten", path);
	}
	if (!f) {
		return err_errno(e, -errno, "%s", path);
	}
	r = test_set_write(s, f, e);
	if ((fclose(f) == EOF && r == 0) || r < 0) {
		(void)unlink(path);
		return err_set(e, -EIO, "%s: the results cannot be written", path);
	}
	return 0;
}

/**
 * report_tests_changes() - write to stdout what has changed
 * @baseline: results of an older run: their file or its directory
 * @json: as JSON
 * @now: the newer run
 * @e: set on failure
 *
 * Return: 0, or as test_files_open(), test_baseline_create() and the errno of writing.
 * Context: main thread.
 */
int report_tests_changes(const char *baseline, bool json, const struct test_report *now,
			 struct err *e)
{
	_cleanup_(test_baseline_destroy_p) struct test_baseline *b = NULL;
	char *const path[] = {(char *)(uintptr_t)baseline};
	struct test_files then;
	int r = test_files_open(&then, path, 1, false, e);

	if (r == 0) {
		r = test_baseline_create(&then.report, now, &b, e);
	}
	test_files_close(&then);
	if (r < 0) {
		return r;
	}
	r = json ? test_baseline_json(b, now, stdout)
		 : test_baseline_text(b, now, stdout, report_wants_colour(STDOUT_FILENO));
	return r < 0 ? err_set(e, r, "stdout: the report cannot be written") : 0;
}

static int write_report(const struct report_tests *o, const struct test_report *t, struct err *e)
{
	static int (*const forms[])(const struct test_report *t, FILE *out) = {
		[REPORT_JSON] = test_report_json,         [REPORT_JUNIT] = test_report_junit,
		[REPORT_TAP] = test_report_tap,           [REPORT_GITHUB] = test_report_github,
		[REPORT_MARKDOWN] = test_report_markdown,
	};
	int r;

	if (o->baseline) {
		return report_tests_changes(o->baseline, o->form == REPORT_JSON, t, e);
	}
	r = o->form == REPORT_TEXT ? test_report_text(t, stdout, report_wants_colour(STDOUT_FILENO))
				   : forms[o->form](t, stdout);
	return r < 0 ? err_set(e, r, "stdout: the report cannot be written") : 0;
}

/**
 * report_tests() - "ringside report" of a test run
 * @o: what was asked for
 *
 * Return: the exit status: that of the run, 4 where cases have no result.
 * Context: main thread.
 */
int report_tests(const struct report_tests *o)
{
	struct err e = ERR_INIT;
	struct test_files f;
	int status = STATUS_ENVIRONMENT;
	int r = test_files_open(&f, o->paths, o->count, o->merge, &e);

	if (r == 0 && o->results) {
		r = write_results(f.set, o->results, &e);
	}
	if (r == 0) {
		r = write_report(o, &f.report, &e);
	}
	if (r < 0) {
		log_error("%s", e.text);
	} else {
		status = test_report_exit_status(&f.report);
		if (f.report.missing_count > 0) {
			log_warn("%zu of %zu cases have no result: the run is not whole",
				 f.report.missing_count, f.report.missing_count + f.report.count);
		}
	}
	test_files_close(&f);
	return status;
}
