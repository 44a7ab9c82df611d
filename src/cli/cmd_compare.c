/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ringside compare: plan, boot, report. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "cli/commands.h"
#include "cli/compare_cores.h"
#include "cli/compare_floors.h"
#include "cli/compare_kernels.h"
#include "cli/compare_noise.h"
#include "cli/compare_options.h"
#include "cli/compare_pilot.h"
#include "cli/helpers.h"
#include "cli/options.h"
#include "cli/output_file.h"
#include "cli/print_report.h"
#include "cli/status.h"
#include "engine/compare.h"
#include "engine/outcome.h"
#include "engine/scenario.h"
#include "samples/results.h"

#define SELF "/proc/self/exe"

/* Lines of the guest's console that are shown when its boots fail. */
#define TAIL_LINES 12

struct context {
	struct compare_options o;
	struct comparison c;
	struct compare_kernels kernels;
	struct compare_cores cores;
	unsigned int jobs;
	struct results *results;
	const char *page; /* of --html, also while a pilot is booted for it; or NULL */
};

static const char *kernel_of_boot(void *ctx, const struct schedule_boot *b)
{
	const struct context *x = ctx;

	return compare_kernels_path(&x->kernels, &x->c.plan, b);
}

static int default_path(const char *plan_text, char *ret, size_t len, struct err *e)
{
	char dir[PATH_MAX];
	char key[17];
	int r = cli_cache_dir(dir, sizeof(dir), e);

	if (r < 0) {
		return r;
	}
	plan_key(plan_text, key, sizeof(key));
	if (snprintf(ret, len, "%s/results/%s.ndjson", dir, key) >= (int)len) {
		return err_set(e, -ENAMETOOLONG, "%s: the path is too long", dir);
	}
	return cli_make_cache_parents(ret, e);
}

struct reading {
	struct comparison found;
	const char *plan_text; /* that it must be of, or NULL */
};

/* A file of another plan is refused by its first line, before anything in it is touched. */
static int on_line(void *ctx, size_t line, const char *text, size_t len, struct err *e)
{
	struct reading *reading = ctx;
	int r = comparison_add_line(&reading->found, text, len, e);

	return r == 0 && line == 1 && reading->plan_text
		       ? plan_check_same(reading->plan_text, text, e)
		       : r;
}

/* Opens the results of 'plan_text' (NULL: of whatever plan is in the file) to go on with them. */
static int reopen(struct context *x, const char *path, const char *plan_text, struct err *e)
{
	struct reading reading = {.plan_text = plan_text};
	struct results_scan scan;
	int r = results_reopen(path, on_line, &reading, &x->results, &scan, e);

	if (r == 0 && !reading.found.plan_text && !plan_text) {
		r = err_set(e, -ENODATA, "%s: there is no plan in it to go on with", path);
	}
	if (r < 0) {
		comparison_fini(&reading.found);
		return r;
	}
	if (scan.dropped > 0) {
		log_warn("%s: the last record was cut off after %" PRIu64 " bytes, and is dropped",
			 path, scan.dropped);
	}
	if (reading.found.plan_text) {
		comparison_fini(&x->c);
		x->c = reading.found;
		log_info("%s: going on after %zu of %zu boots", path, x->c.done,
			 plan_share(&x->c.plan));
		return 0;
	}
	/* Its writer was stopped before even the plan was whole. */
	return results_append(x->results, plan_text, strlen(plan_text), e);
}

/* The page must not take the place of what is read here, nor of any other results. */
static int check_page(const struct context *x, const char *results, struct err *e)
{
	const char *const inputs[] = {results, x->o.scenario, x->o.calibration, x->o.runner};

	return output_check("--html", x->page, inputs, ARRAY_SIZE(inputs), e);
}

/* Nor of what is booted. */
static int find_kernels(struct context *x, struct plan *p, struct err *e)
{
	int r = compare_kernels_find(&x->kernels, p, !x->o.no_build, e);

	for (size_t i = 0; r == 0 && i < x->kernels.count; i++) {
		const char *path = x->kernels.files[i].path;

		r = output_check_inputs("--html", x->page, &path, 1, e);
	}
	return r == 0 ? output_check_inputs("--html", x->page, (const char *const *)&p->runner, 1,
					    e)
		      : r;
}

static int open_results(struct context *x, struct err *e)
{
	const char *text = x->c.plan_text;
	char path[PATH_MAX];
	int r = 0;

	if (x->o.results) {
		snprintf(path, sizeof(path), "%s", x->o.results);
	} else {
		r = default_path(text, path, sizeof(path), e);
	}
	if (r == 0) {
		r = check_page(x, path, e);
	}
	if (r < 0) {
		return r;
	}
	if (x->o.resume) {
		r = reopen(x, path, text, e);
		if (r != -ENOENT || !text) {
			return r;
		}
		log_info("%s: not begun yet", path);
	}
	r = results_create(path, &x->results, e);
	return r < 0 ? r : results_append(x->results, text, strlen(text), e);
}

/* From the words to a comparison with its results file open and its kernels found. */
static int prepare(struct context *x, struct err *e)
{
	struct plan p = {0};
	int r;

	if (!compare_options_has_plan(&x->o)) {
		r = open_results(x, e);
		if (r == 0) {
			r = compare_options_jobs(&x->o, &x->c.plan, x->cores.count, &x->jobs, e);
		}
		return r < 0 ? r : find_kernels(x, &x->c.plan, e);
	}
	r = compare_options_plan(&x->o, &p, e);
	if (r == 0) {
		r = compare_pilot_check(&x->o, &p, e);
	}
	if (r == 0) {
		r = compare_options_jobs(&x->o, &p, x->cores.count, &x->jobs, e);
	}
	if (r == 0) {
		r = find_kernels(x, &p, e);
	}
	if (r == 0) {
		r = comparison_set_plan(&x->c, &p, e);
	}
	plan_fini(&p);
	return r < 0 ? r : open_results(x, e);
}

/* Puts the floors of this host into the results, where claims ask for them and they are not there.
 */
static int add_floors(struct context *x, struct err *e)
{
	_cleanup_free_ char *line = NULL;
	int r = 0;

	if (!x->c.plan.pilot) {
		r = compare_floors_line(x->o.calibration, &x->c, &line, e);
	}
	if (r < 0 || !line) {
		return r;
	}
	r = comparison_add_line(&x->c, line, strlen(line), e);
	return r < 0 ? r : results_append(x->results, line, strlen(line), e);
}

/* The end of what the guest of the last failed boot said. */
static void show_console(const struct comparison *c)
{
	const struct boot_record *last = NULL;
	const char *p;
	int lines = 0;

	for (size_t i = 0; i < c->plan.boot_count; i++) {
		char why[COMPARISON_WHY_MAX];

		if (c->boots[i] &&
		    comparison_judge(c, c->boots[i], why, sizeof(why)) != BOOT_WHOLE) {
			last = c->boots[i];
		}
	}
	if (!last || !*last->console_tail) {
		return;
	}
	for (p = last->console_tail + strlen(last->console_tail); p > last->console_tail; p--) {
		lines += p[-1] == '\n';
		if (lines == TAIL_LINES) {
			break;
		}
	}
	fprintf(stderr, "The last lines of the last failed boot's console:\n%s\n", p);
}

static void say_how_to_go_on(const struct context *x)
{
	if (x->o.has_goal) {
		log_info("%zu of %zu boots of the pilot are recorded; go on with the same words, "
			 "--resume and --seed %" PRIu64,
			 x->c.done, x->c.plan.boot_count, x->c.plan.seed);
		return;
	}
	log_info("%zu of %zu boots are recorded; go on with: ringside compare --resume --results "
		 "%s",
		 x->c.done, plan_share(&x->c.plan), results_path(x->results));
}

static int report(const struct context *x)
{
	const struct report_output output = {
		.results = results_path(x->results),
		.json = x->o.json,
		.html = x->o.html,
		.jobs = x->jobs,
		.aside = x->o.has_goal,
		.gate = x->o.gate,
	};

	return print_report(&x->c, &output);
}

/* A part of the blocks is no comparison yet: nothing is looked at before all are there. */
static int end_shard(const struct context *x)
{
	const struct plan *p = &x->c.plan;

	log_info("shard %u of %u is whole, %zu of %zu boots; of all shards' files: ringside report "
		 "FILE...",
		 p->shard, p->shards, plan_share(p), p->boot_count);
	return STATUS_OK;
}

/* Where the guests of a group fail again and again. What the other groups say is shown. */
static int end_undecided(const struct context *x)
{
	const struct plan *p = &x->c.plan;
	bool fails = x->o.gate && strcmp(x->o.gate, "inconclusive") == 0;

	for (size_t i = 0; i < p->group_count; i++) {
		if (x->c.failed[i] < COMPARE_FAILED_MAX) {
			continue;
		}
		log_error("%s%s%zu boots failed, so the comparison ends here, undecided; its "
			  "records are in %s",
			  p->groups[i].name ? p->groups[i].name : "", p->groups[i].name ? ": " : "",
			  x->c.failed[i], results_path(x->results));
	}
	show_console(&x->c);
	if (p->group_count > 1 && p->shards == 0) {
		(void)report(x);
	}
	if (x->o.gate) {
		log_error("gate %s: the boots are too few", fails ? "failed" : "inconclusive");
	}
	return fails ? STATUS_NO : STATUS_INCONCLUSIVE;
}

static int boot_all(struct context *x)
{
	struct progress progress;
	struct compare_request req = {
		.program = x->c.plan.runner ? x->c.plan.runner : SELF,
		.kernel_path = kernel_of_boot,
		.ctx = x,
		.jobs = x->jobs,
		.cores = x->jobs > 1 ? x->cores.set : NULL,
		.results = x->results,
		.progress = &progress,
	};
	bool booted = x->c.done < x->c.plan.boot_count;
	struct err e = ERR_INIT;
	enum compare_end end;
	int signal = 0;

	progress_init(&progress, STDERR_FILENO, isatty(STDERR_FILENO), plan_share(&x->c.plan),
		      x->c.done, &clock_monotonic);
	if (compare_boots(&x->c, &req, &end, &signal, &e) < 0) {
		log_error("%s", e.text);
		say_how_to_go_on(x);
		return STATUS_ENVIRONMENT;
	}
	switch (end) {
	case COMPARE_INTERRUPTED:
		log_warn("stopped by %s", strsignal(signal));
		say_how_to_go_on(x);
		return OUTCOME_SIGNAL_BASE + signal;
	case COMPARE_NO_BOOT:
		log_error("%s", e.text);
		say_how_to_go_on(x);
		return STATUS_ENVIRONMENT;
	case COMPARE_GUEST_FAILED:
		return end_undecided(x);
	case COMPARE_COMPLETE:
		break;
	}
	compare_noise_record(&x->c, booted ? x->results : NULL);
	log_info("every record is in %s", results_path(x->results));
	return x->c.plan.shards ? end_shard(x) : report(x);
}

static void context_destroy(struct context *x)
{
	if (x) {
		comparison_fini(&x->c);
		results_close(x->results);
		compare_kernels_fini(&x->kernels);
		free(x);
	}
}

static int fail(int code, const struct err *e)
{
	log_error("%s", e->text);
	return code == -EINVAL ? STATUS_USAGE : STATUS_ENVIRONMENT;
}

/* From the words to the exit status, with one plan. */
static int run(struct context *x)
{
	struct err e = ERR_INIT;
	int r = compare_cores_read(&x->cores, &e);

	if (r == 0) {
		r = prepare(x, &e);
	}
	if (r == 0) {
		r = add_floors(x, &e);
	}
	return r < 0 ? fail(r, &e) : boot_all(x);
}

/* What the boots of a pilot say against its goal is no fault of the words, nor of this machine. */
static int fail_choice(int code, const struct err *e)
{
	int status = fail(code, e);

	return code == -ERANGE || code == -ENODATA ? STATUS_INCONCLUSIVE : status;
}

/* Boots a pilot, and with the number of blocks that it gives the comparison itself. */
static int run_sized(struct context *x)
{
	struct context *pilot = calloc(1, sizeof(*pilot));
	struct plan_sizing size;
	struct compare_pilot p;
	struct err e = ERR_INIT;
	int status = STATUS_OK;
	int r = pilot ? compare_pilot_options(&x->o, &p, &e)
		      : err_set(&e, -ENOMEM, "out of memory");

	if (r == 0) {
		pilot->o = p.options;
		pilot->page = x->page;
		status = run(pilot);
	}
	if (r == 0 && status == STATUS_OK) {
		r = compare_pilot_choose(&pilot->c, pilot->jobs, &x->o, &size, &e);
		status = r < 0 ? fail_choice(r, &e) : STATUS_OK;
	} else if (r < 0) {
		status = fail(r, &e);
	}
	context_destroy(pilot);
	return status == STATUS_OK ? run(x) : status;
}

/* Writes what would be compared. */
static int print_scenario(const struct compare_options *o)
{
	struct plan p = {0};
	struct err e = ERR_INIT;
	int r = compare_options_plan(o, &p, &e);

	if (r == 0) {
		r = scenario_print(&p, stdout, &e);
	}
	if (r == 0 && fflush(stdout) == EOF) {
		r = err_set(&e, -EIO, "stdout: the scenario cannot be written");
	}
	plan_fini(&p);
	if (r < 0) {
		log_error("%s", e.text);
		return r == -EINVAL ? STATUS_USAGE : STATUS_ENVIRONMENT;
	}
	return STATUS_OK;
}

/**
 * cmd_compare() - "ringside compare"
 * @argc: number of words, the command's name first
 * @argv: the words
 *
 * Return: the exit status.
 * Context: main thread.
 */
int cmd_compare(int argc, char **argv)
{
	struct context *x = calloc(1, sizeof(*x));
	struct err e = ERR_INIT;
	int status;
	int r = x ? compare_options_parse(&x->o, argc, argv, &e)
		  : err_set(&e, -ENOMEM, "no memory");

	/* Before a pilot, or an image that is built first. */
	if (r == 0) {
		x->page = x->o.html;
		r = check_page(x, x->o.results, &e);
	}
	if (r == OPT_SHOWN_HELP) {
		status = STATUS_OK;
	} else if (r < 0) {
		log_error("%s", e.text);
		status = STATUS_USAGE;
	} else {
		status = x->o.print_scenario ? print_scenario(&x->o)
			 : x->o.has_goal     ? run_sized(x)
					     : run(x);
	}
	context_destroy(x);
	return status;
}
