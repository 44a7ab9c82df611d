/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See test_output.h. Main thread. */
#include "cli/test_output.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/helpers.h"
#include "cli/output_file.h"
#include "cli/report_tests.h"
#include "report/report.h"
#include "report/test_report.h"
#include "samples/record.h"
#include "samples/test_plan.h"

static int default_dir(char *ret, size_t len, struct err *e)
{
	char cache[PATH_MAX], when[32];
	time_t now = time(NULL);
	struct tm tm;
	int r = cli_cache_dir(cache, sizeof(cache), e);

	if (r < 0) {
		return r;
	}
	localtime_r(&now, &tm);
	strftime(when, sizeof(when), "%Y%m%d-%H%M%S", &tm);
	if (snprintf(ret, len, "%s/tests/%s-%d", cache, when, (int)getpid()) >= (int)len) {
		return err_set(e, -ENAMETOOLONG, "%s: the path is too long", cache);
	}
	return 0;
}

/* Makes the directory, and finds its absolute path: what runs in it must not depend on ours. */
static int make_dir(const char *asked, char *ret, size_t len, struct err *e)
{
	char path[PATH_MAX], real[PATH_MAX];
	struct stat st;
	int r = 0;

	if (asked) {
		snprintf(path, sizeof(path), "%s", asked);
	} else {
		r = default_dir(path, sizeof(path), e);
	}
	if (r == 0) {
		r = asked ? cli_make_parents(path, e) : cli_make_cache_parents(path, e);
	}
	if (r < 0) {
		return r;
	}
	if ((mkdir(path, 0777) < 0 && errno != EEXIST) || !realpath(path, real)) {
		return err_errno(e, -errno, "--out %s", path);
	}
	if (stat(real, &st) < 0 || !S_ISDIR(st.st_mode)) {
		return err_errno(e, -ENOTDIR, "--out %s", path);
	}
	/* The deepest name in it is still to fit. */
	if (snprintf(ret, len, "%s", real) >= (int)len || strlen(real) > PATH_MAX / 2) {
		return err_set(e, -ENAMETOOLONG, "--out %s: the path is too long", path);
	}
	return 0;
}

/* All cases, also those of other shards, in the suite's order. */
static int list_cases(const struct test_options *o, const struct suite *s, struct test_plan *p,
		      struct err *e)
{
	struct suite_select sel = test_options_select(o);
	struct suite_plan all = {0};
	int r;

	sel.shuffle = false;
	sel.shard = sel.shards = 1;
	r = suite_expand(s, &sel, &all, e);
	if (r < 0) {
		return r;
	}
	p->ids = calloc(all.count + 1, sizeof(*p->ids));
	for (size_t i = 0; p->ids && i < all.count; i++) {
		p->ids[i] = strdup(all.cases[i].id);
		if (!p->ids[i]) {
			break;
		}
		p->id_count++;
	}
	r = p->id_count < all.count ? err_set(e, -ENOMEM, "out of memory") : 0;
	suite_plan_fini(&all);
	return r;
}

static int make_plan(const struct test_options *o, const struct suite *s, struct test_plan **ret,
		     struct err *e)
{
	_cleanup_(test_plan_destroy_p) struct test_plan *p = calloc(1, sizeof(*p));
	const char *path = suite_path(s);
	int r;

	if (!p) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	p->ringside_version = strdup(RINGSIDE_VERSION);
	p->title = strdup(suite_title(s));
	p->suite = strdup(path ? path : "");
	p->seed = test_options_select(o).seed;
	p->shard = o->shard;
	p->shards = o->shards;
	p->until_failure = o->until_failure;
	p->filter = o->filter ? strdup(o->filter) : NULL;
	if (!p->ringside_version || !p->title || !p->suite || (o->filter && !p->filter)) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	r = path ? record_file_sha256(path, &p->suite_sha256, e) : 0;
	if (r == 0 && !p->suite_sha256) {
		p->suite_sha256 = strdup("");
	}
	if (r == 0) {
		r = list_cases(o, s, p, e);
	}
	if (r == 0) {
		*ret = TAKE_PTR(p);
	}
	return r;
}

static int append(struct test_output *out, json_t *line, struct err *e)
{
	_cleanup_free_ char *text = line ? json_dumps(line, JSON_COMPACT) : NULL;

	json_decref(line);
	return text ? results_append(out->file, text, strlen(text), e)
		    : err_set(e, -ENOMEM, "%s: out of memory", results_path(out->file));
}

static bool is_plain_file(const char *path)
{
	struct stat st;

	return lstat(path, &st) < 0 ? errno == ENOENT : S_ISREG(st.st_mode);
}

static bool is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Whether a report can be written there, said before anything is booted. */
static int check_target(const char *option, const char *path, struct err *e)
{
	_cleanup_free_ char *dir = path && strcmp(path, "-") != 0 ? strdup(path) : NULL;
	char *slash = dir ? strrchr(dir, '/') : NULL;

	if (!dir) {
		return 0;
	}
	if (slash) {
		slash[slash == dir] = '\0'; /* "/file" is in "/" */
	}
	if (is_folder(path)) {
		return err_errno(e, -EISDIR, "%s %s", option, path);
	}
	/* A file is written aside and renamed; what is no file is opened as it is. */
	return access(is_plain_file(path) ? slash ? dir : "." : path, W_OK) < 0
		       ? err_errno(e, -errno, "%s %s", option, path)
		       : 0;
}

/* One that is none is better known of now than when all has run. */
static int check_baseline(const char *path, struct err *e)
{
	char *const paths[] = {(char *)(uintptr_t)path};
	struct test_files then;
	int r = test_files_open(&then, paths, 1, false, e);

	test_files_close(&then);
	return r < 0 ? err_prefix(e, "--baseline") : 0;
}

static int check_targets(const struct test_options *o, struct err *e)
{
	int r = check_target("--json", o->json, e);

	r = r == 0 ? check_target("--junit", o->junit, e) : r;
	r = r == 0 ? check_target("--tap", o->tap, e) : r;
	r = r == 0 ? check_target("--github", o->github, e) : r;
	return r < 0 || !o->baseline ? r : check_baseline(o->baseline, e);
}

/**
 * test_output_check() - refuse a report in the place of what is read, or of any results
 * @o: parsed options
 * @m: the machine, with the kernels that were found
 * @e: set on failure
 *
 * Return: 0 or -EINVAL.
 * Context: main thread, before anything is booted.
 */
int test_output_check(const struct test_options *o, const struct test_machine *m, struct err *e)
{
	const char *const inputs[] = {o->suite, o->baseline, o->runner};
	const struct {
		const char *option, *path;
	} rows[] = {{"--json", o->json},
		    {"--junit", o->junit},
		    {"--tap", o->tap},
		    {"--github", o->github}};
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(rows); i++) {
		r = output_check(rows[i].option, rows[i].path, inputs, ARRAY_SIZE(inputs), e);
		for (size_t k = 0; r == 0 && k < m->kernel_count; k++) {
			const char *kernel = m->kernels[k].path;

			r = output_check_inputs(rows[i].option, rows[i].path, &kernel, 1, e);
		}
	}
	return r;
}

/**
 * test_output_open() - make the run's directory, and begin its results
 * @out: set; end it with test_output_close(), also after a failure
 * @o: parsed options
 * @s: the suite
 * @e: set on failure
 *
 * Return: 0; -EEXIST where there are results already; -ENOMEM; the errno of mkdir(2) and the like.
 * Context: main thread.
 */
int test_output_open(struct test_output *out, const struct test_options *o, const struct suite *s,
		     struct err *e)
{
	_cleanup_(test_plan_destroy_p) struct test_plan *plan = NULL;
	char path[PATH_MAX + sizeof(TEST_FILES_NAME)];
	int r;

	*out = (struct test_output){.file = NULL};
	r = check_targets(o, e);
	if (r == 0) {
		r = make_dir(o->out, out->dir, sizeof(out->dir), e);
	}
	if (r == 0) {
		r = make_plan(o, s, &plan, e);
	}
	if (r < 0) {
		return r;
	}
	snprintf(path, sizeof(path), "%s/" TEST_FILES_NAME, out->dir);
	if (access(path, F_OK) == 0) {
		return err_set(e, -EEXIST,
			       "--out %s: the results of another run are in it, and are never "
			       "overwritten",
			       o->out ? o->out : out->dir);
	}
	r = results_create(path, &out->file, e);
	return r < 0 ? r : append(out, test_plan_to_json(plan), e);
}

/**
 * test_output_add() - keep a result
 * @out: the output
 * @r: the result
 * @e: set on failure
 *
 * It is on the disk when this returns.
 *
 * Return: 0, -ENOMEM, or the errno of write(2).
 * Context: main thread.
 */
int test_output_add(struct test_output *out, const struct test_result *r, struct err *e)
{
	return append(out, test_result_to_json(r), e);
}

typedef int (*report_fn)(const struct test_report *t, FILE *out);

struct form {
	report_fn fn;
	const struct test_report *of;
};

static int write_form(const void *ctx, FILE *out)
{
	const struct form *form = ctx;

	return form->fn(form->of, out);
}

static int write_report(const char *path, report_fn fn, const struct test_report *t,
			bool *ret_stdout, struct err *e)
{
	if (!path) {
		return 0;
	}
	if (strcmp(path, "-") != 0) {
		int r = output_write(path, write_form, &(struct form){fn, t});

		return r < 0 ? err_errno(e, r, "%s", path) : 0;
	}
	*ret_stdout = true;
	return fn(t, stdout) < 0 || fflush(stdout) == EOF
		       ? err_set(e, -EIO, "stdout: the report cannot be written")
		       : 0;
}

static int write_text(const struct test_report *t, const struct report_changes *c, struct err *e)
{
	bool colour = report_wants_colour(STDOUT_FILENO);
	int r = c->baseline ? test_baseline_text(c->baseline, t, stdout, colour)
			    : test_report_text(t, stdout, colour);

	return r < 0 || fflush(stdout) == EOF
		       ? err_set(e, -EIO, "stdout: the report cannot be written")
		       : 0;
}

/* JSON is whole in any case: it is the next run's baseline. */
static int write_reports(const struct test_report *t, const struct report_changes *c,
			 const struct test_options *o, struct err *e)
{
	const struct test_report *shown = c->extract ? &c->extract->report : t;
	const struct {
		const char *path;
		report_fn fn;
		const struct test_report *of;
	} rows[] = {
		{o->json, test_report_json, t},
		{o->junit, test_report_junit, shown},
		{o->tap, test_report_tap, shown},
		{o->github, test_report_github, shown},
	};
	struct err first = ERR_INIT;
	bool on_stdout = false;
	int ret = 0;

	/* One that cannot be written does not keep the others from being. */
	for (size_t i = 0; i <= ARRAY_SIZE(rows); i++) {
		int r = i < ARRAY_SIZE(rows)
				? write_report(rows[i].path, rows[i].fn, rows[i].of, &on_stdout, e)
			: on_stdout ? 0
				    : write_text(t, c, e);

		if (r < 0 && ret == 0) {
			ret = r;
			first = *e;
		}
	}
	if (ret < 0) {
		*e = first;
	}
	return ret;
}

/**
 * test_output_report() - write the reports that were asked for
 * @out: the output, with what has ended; its files are set
 * @o: parsed options
 * @e: set on failure
 *
 * They are made of the results file alone, as 'ringside report' would.
 *
 * Return: 0, -ENOMEM, or the errno of writing one.
 * Context: main thread.
 */
int test_output_report(struct test_output *out, const struct test_options *o, struct err *e)
{
	char *const path[] = {out->dir};
	struct report_changes c = {.baseline = NULL};
	int r = test_files_open(&out->files, path, 1, false, e);

	if (r == 0 && o->baseline) {
		r = report_changes_open(&c, o->baseline, &out->files.report, e);
	}
	if (r == 0) {
		r = write_reports(&out->files.report, &c, o, e);
	}
	report_changes_close(&c);
	return r;
}

/**
 * test_output_close() - free it; what was written stays
 * @out: opened, half opened, or all zero
 *
 * Context: main thread.
 */
void test_output_close(struct test_output *out)
{
	results_close(out->file);
	test_files_close(&out->files);
	*out = (struct test_output){.file = NULL};
}
