/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ringside test: suite, machine, boots, reports. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/log.h"
#include "cli/commands.h"
#include "cli/helpers.h"
#include "cli/status.h"
#include "cli/test_check.h"
#include "cli/test_live.h"
#include "cli/test_machine.h"
#include "cli/test_options.h"
#include "cli/test_output.h"
#include "engine/outcome.h"
#include "engine/spawn.h"
#include "engine/test_run.h"
#include "guest/initramfs.h"
#include "report/report.h"

#define SELF "/proc/self/exe"

/* What 'git bisect run' takes for "this commit cannot be tested", and for "give up". */
#define BISECT_SKIP    125
#define BISECT_GIVE_UP 128

/*
 * Statuses of a shell, and of the agent, for a command that did not run. A command itself says
 * BISECT_SKIP for the same, as one of 'git bisect run' does.
 */
#define COMMAND_NOT_RUN   126
#define COMMAND_NOT_FOUND 127

struct context {
	struct test_options o;
	struct suite *suite;
	struct suite_plan plan;
	struct test_machine machine;
	struct test_output out;
	struct test_live live;
	struct test_run_end end;
	char runner[PATH_MAX]; /* ringside-runner */
};

static struct test_run_boot on_boot(void *ctx, const struct suite_case *c)
{
	struct context *x = ctx;

	return test_machine_boot(&x->machine, c);
}

static bool on_skip(void *ctx, const struct suite_case *c, char *ret_why, size_t len)
{
	struct context *x = ctx;

	return test_machine_lacks(&x->machine, c, ret_why, len);
}

static void on_begun(void *ctx, const char *id, unsigned int attempt)
{
	struct context *x = ctx;

	test_live_begun(&x->live, id, attempt);
}

static int on_done(void *ctx, const struct test_result *r, struct err *e)
{
	struct context *x = ctx;

	test_live_ended(&x->live, r);
	return test_output_add(&x->out, r, e);
}

static void on_tick(void *ctx)
{
	struct context *x = ctx;

	test_live_tick(&x->live);
}

static int run_cases(struct context *x, struct test_run_config *cfg, struct err *e)
{
	int r;

	cfg->dir = x->out.dir;
	test_machine_limits(&x->machine, &x->o, cfg);
	test_live_init(&x->live, STDERR_FILENO, isatty(STDERR_FILENO),
		       report_wants_colour(STDERR_FILENO), x->o.until_failure ? 0 : x->plan.count,
		       &clock_monotonic);
	r = test_run(cfg, &x->end, e);
	test_live_fini(&x->live);
	return r;
}

/* Of what is not ok, whether it says anything of the kernel under test. */
static bool is_bad(const struct test_result *r)
{
	switch (r->outcome) {
	case TEST_BOOT:
	case TEST_KVM_ERROR:
		return false;
	case TEST_FAIL:
		/* A command that cannot be run fails on every kernel; a shell says it so, too. */
		if (r->status == BISECT_SKIP || r->status == COMMAND_NOT_RUN ||
		    r->status == COMMAND_NOT_FOUND) {
			return false;
		}
		break;
	default:
		break;
	}
	return r->verdict == TEST_NOT_OK && !test_outcome_is_environment(r->outcome);
}

static int bisect_status(const struct context *x)
{
	const size_t *by = x->end.by_verdict;
	size_t ok = by[TEST_OK] + by[TEST_KNOWN] + by[TEST_FLAKY];
	const struct test_report *t = &x->out.files.report;

	for (size_t i = 0; i < t->count; i++) {
		if (is_bad(t->results[i])) {
			return STATUS_NO;
		}
	}
	return by[TEST_NOT_OK] > 0 || ok == 0 ? BISECT_SKIP : STATUS_OK;
}

/* Whose fault it is stands in no report that a program reads: why, once. */
static void tell_environment(const struct context *x)
{
	const struct test_report *t = &x->out.files.report;
	const struct test_result *first = NULL;

	for (size_t i = 0; i < t->count && !first; i++) {
		if (t->results[i]->verdict == TEST_NOT_OK &&
		    test_outcome_is_environment(t->results[i]->outcome)) {
			first = t->results[i];
		}
	}
	if (first) {
		log_error("%zu of %zu cases say nothing of what was to be tested: this machine or "
			  "a file did not allow them; the first one, %s: %s",
			  x->end.environment, t->count, first->id, first->message);
	}
}

static int end_status(const struct context *x)
{
	if (x->end.signal) {
		log_warn("stopped by %s; what has ended is in %s", strsignal(x->end.signal),
			 x->out.dir);
		return OUTCOME_SIGNAL_BASE + x->end.signal;
	}
	tell_environment(x);
	if (x->o.bisect) {
		return bisect_status(x);
	}
	if (x->end.by_verdict[TEST_NOT_OK] > 0) {
		return x->end.by_verdict[TEST_NOT_OK] > x->end.environment ? STATUS_NO
									   : STATUS_ENVIRONMENT;
	}
	if (x->plan.count > 0 && x->end.by_verdict[TEST_SKIPPED] == x->plan.count) {
		log_warn("every case was skipped: nothing was tested");
	}
	return STATUS_OK;
}

/* What the words or the file have wrong; a bisection must not take it for a bad commit. */
static int usage_status(const struct context *x, int code)
{
	if (x->o.bisect) {
		return BISECT_GIVE_UP;
	}
	/* A suite that is not there, is a folder or has no end is a wrong word, too. */
	return code == -ENOMEM || code == -EIO ? STATUS_ENVIRONMENT : STATUS_USAGE;
}

static int environment_status(const struct context *x)
{
	return x->o.bisect ? BISECT_SKIP : STATUS_ENVIRONMENT;
}

/* All that can be told before something boots. Sets the status when it fails. */
static int prepare(struct context *x, struct test_run_config *cfg, int *ret_status, struct err *e)
{
	int r = test_machine_find(&x->o, &x->plan, &x->machine, e);

	if (r == 0) {
		r = cli_find_helper(GUEST_RUNNER_NAME, x->runner, sizeof(x->runner), e);
	}
	if (r == 0 && x->o.runner) {
		r = cli_check_file("runner", x->o.runner, e);
		if (r == 0 && access(x->o.runner, X_OK) < 0) {
			r = err_errno(e, -errno, "--runner %s", x->o.runner);
		}
	}
	*ret_status = environment_status(x);
	if (r < 0) {
		return r;
	}
	r = test_check(&x->o, &x->machine, cfg, e);
	if (r == 0) {
		r = test_output_check(&x->o, &x->machine, e);
	}
	if (r == -EINVAL) {
		*ret_status = usage_status(x, r);
	}
	return r < 0 ? r : test_output_open(&x->out, &x->o, x->suite, e);
}

static int run_and_report(struct context *x)
{
	struct test_run_config cfg = {
		.plan = &x->plan,
		.suite = suite_path(x->suite),
		.program = x->o.runner ? x->o.runner : SELF,
		.runner = x->runner,
		.icount = x->o.icount == TEST_NOT_GIVEN ? TEST_RUN_NO_ICOUNT : (int)x->o.icount,
		.fail_fast = x->o.fail_fast,
		.cores = x->o.cores,
		.until_failure = x->o.until_failure,
		.boot = on_boot,
		.skip = on_skip,
		.done = on_done,
		.begun = on_begun,
		.tick = on_tick,
		.ctx = x,
	};
	struct err e = ERR_INIT;
	int status, r = prepare(x, &cfg, &status, &e);

	if (r < 0) {
		log_error("%s", e.text);
		return status;
	}
	r = run_cases(x, &cfg, &e);
	if (r < 0) {
		/* What has ended is there to be told, and what has not is named. */
		log_error("%s", e.text);
		if (test_output_report(&x->out, &x->o, &e) < 0) {
			log_error("%s", e.text);
		}
		return environment_status(x);
	}
	r = test_output_report(&x->out, &x->o, &e);
	status = end_status(x);
	if (r < 0) {
		log_error("%s", e.text);
		/* A report that cannot be written does not hide what it would have said. */
		return status ? status : environment_status(x);
	}
	return status;
}

static int print_list(const struct context *x)
{
	for (size_t i = 0; i < x->plan.count; i++) {
		puts(x->plan.cases[i].id);
	}
	return STATUS_OK;
}

static int print_suite(const struct context *x)
{
	struct err e = ERR_INIT;

	if (suite_print(x->suite, stdout, &e) < 0) {
		log_error("%s", e.text);
		return STATUS_ENVIRONMENT;
	}
	return STATUS_OK;
}

static int choose_cases(struct context *x, struct err *e)
{
	const struct suite_select sel = test_options_select(&x->o);
	int r = test_options_suite(&x->o, &x->suite, e);

	return r < 0 ? r : suite_expand(x->suite, &sel, &x->plan, e);
}

/* Each guest takes some, and the limit that a shell has is for programs that use select(2). */
static void raise_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		(void)!setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/**
 * cmd_test() - "ringside test"
 * @argc: number of words, the command's name first
 * @argv: the words
 *
 * Return: the exit status.
 * Context: main thread.
 */
int cmd_test(int argc, char **argv)
{
	struct context *x = calloc(1, sizeof(*x));
	struct err e = ERR_INIT;
	sigset_t before;
	int status, r;

	if (!x) {
		log_error("out of memory");
		return STATUS_ENVIRONMENT;
	}
	/* One that comes between two boots, or while a report is written, must not tear it. */
	spawn_hold_signals(NULL, &before);
	/* Nor may it stop or end us that we run in the background, or that nobody reads. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGTTIN, SIG_IGN);
	signal(SIGTTOU, SIG_IGN);
	/* A file that may not grow is an error like a full disk. */
	signal(SIGXFSZ, SIG_IGN);
	raise_descriptors();
	r = test_options_parse(&x->o, argc, argv, &e);
	if (r == 0) {
		r = choose_cases(x, &e);
	}
	if (r == OPT_SHOWN_HELP) {
		status = STATUS_OK;
	} else if (r < 0) {
		log_error("%s", e.text);
		status = usage_status(x, r);
	} else {
		status = x->o.list          ? print_list(x)
			 : x->o.print_suite ? print_suite(x)
					    : run_and_report(x);
	}
	test_output_close(&x->out);
	test_machine_fini(&x->machine);
	suite_plan_fini(&x->plan);
	if (x->suite) {
		suite_destroy(x->suite);
	}
	free(x);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return status;
}
