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

/**
 * report_begin_results() - begin the file of what was merged
 * @path: it must not exist: like all results it overwrites none
 * @ret: set on success; end it with report_end_results()
 * @e: set on failure
 *
 * Return: 0, -EEXIST, or the errno of open(2).
 * Context: main thread.
 */
int report_begin_results(const char *path, FILE **ret, struct err *e)
{
	*ret = fopen(path, "wxe");
	if (*ret) {
		return 0;
	}
	return errno == EEXIST ? err_set(e, -EEXIST, "%s exists and is never overwritten", path)
			       : err_errno(e, -errno, "%s", path);
}

/**
 * report_end_results() - end the file, and remove it where it could not be written
 * @path: the file
 * @f: from report_begin_results(); is closed
 * @r: what writing came to
 * @e: set on failure
 *
 * Return: 0 or -EIO.
 * Context: main thread.
 */
int report_end_results(const char *path, FILE *f, int r, struct err *e)
{
	if (fclose(f) == EOF || r < 0) {
		(void)unlink(path);
		return err_set(e, -EIO, "%s: the results cannot be written", path);
	}
	return 0;
}

static int write_results(const struct test_set *s, const char *path, struct err *e)
{
	FILE *f;
	int r = report_begin_results(path, &f, e);

	return r < 0 ? r : report_end_results(path, f, test_set_write(s, f, e), e);
}

/**
 * report_changes_open() - find what has changed
 * @c: set, also on failure; end it with report_changes_close()
 * @path: results of the older run: their file or its directory
 * @now: the newer run; must outlive @c
 * @e: set on failure
 *
 * Return: 0, or as test_files_open() and test_baseline_create().
 * Context: main thread.
 */
int report_changes_open(struct report_changes *c, const char *path, const struct test_report *now,
			struct err *e)
{
	char *const paths[] = {(char *)(uintptr_t)path};
	struct test_files then;
	int r = test_files_open(&then, paths, 1, false, e);

	*c = (struct report_changes){.baseline = NULL};
	if (r == 0) {
		r = test_baseline_create(&then.report, now, &c->baseline, e);
	} else {
		err_prefix(e, "--baseline");
	}
	if (r == 0) {
		r = test_extract_create(c->baseline, now, &c->extract, e);
	}
	test_files_close(&then);
	return r;
}

/**
 * report_changes_close() - free it
 * @c: opened, half opened, or all zero
 *
 * Context: main thread.
 */
void report_changes_close(struct report_changes *c)
{
	test_extract_destroy(c->extract);
	test_baseline_destroy(c->baseline);
	*c = (struct report_changes){.baseline = NULL};
}

static int write_form(const struct report_tests *o, const struct test_report *t,
		      const struct report_changes *c)
{
	static int (*const forms[])(const struct test_report *t, FILE *out) = {
		[REPORT_JSON] = test_report_json,         [REPORT_JUNIT] = test_report_junit,
		[REPORT_TAP] = test_report_tap,           [REPORT_GITHUB] = test_report_github,
		[REPORT_MARKDOWN] = test_report_markdown,
	};
	bool colour = report_wants_colour(STDOUT_FILENO);

	if (o->form == REPORT_TEXT) {
		return c->baseline ? test_baseline_text(c->baseline, t, stdout, colour)
				   : test_report_text(t, stdout, colour);
	}
	if (o->form == REPORT_JSON && c->baseline) {
		return test_baseline_json(c->baseline, t, stdout);
	}
	return forms[o->form](c->extract ? &c->extract->report : t, stdout);
}

static int write_report(const struct report_tests *o, const struct test_report *t, struct err *e)
{
	struct report_changes c = {.baseline = NULL};
	int r = o->baseline ? report_changes_open(&c, o->baseline, t, e) : 0;

	if (r == 0 && write_form(o, t, &c) < 0) {
		r = err_set(e, -EIO, "stdout: the report cannot be written");
	}
	report_changes_close(&c);
	return r;
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
