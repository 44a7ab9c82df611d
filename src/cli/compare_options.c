/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See compare_options.h. Main thread, before anything else is started. */
#include "cli/compare_options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "cli/helpers.h"
#include "cli/options.h"
#include "cli/print_report.h"
#include "cli/shard.h"
#include "engine/compare.h"
#include "samples/class.h"

#define JOBS_DEFAULT 4

/* What stands beside --scenario, and what cannot. */
static int check_scenario(const struct compare_options *o, struct err *e)
{
	if (o->a || o->b || o->bench || o->aa) {
		return err_set(e, -EINVAL,
			       "--scenario names the arms and benchmarks in its file: leave out "
			       "--%s",
			       o->a       ? "a"
			       : o->b     ? "b"
			       : o->bench ? "bench"
					  : "aa");
	}
	return 0;
}

/**
 * compare_options_check_shard() - whether the shards of a comparison draw one plan
 * @o: parsed options
 * @e: set on failure
 *
 * Return: 0 or -EINVAL.
 * Context: any thread.
 */
int compare_options_check_shard(const struct compare_options *o, struct err *e)
{
	if (o->shards && o->seed == COMPARE_NOT_GIVEN) {
		return err_set(e, -EINVAL,
			       "--shard: the shards are of one plan when they have one seed: give "
			       "each the same --seed");
	}
	return 0;
}

static int check_arms(const struct compare_options *o, struct err *e)
{
	if (!o->a) {
		return err_set(
			e, -EINVAL,
			"--a is missing: the arm to compare with, "
			"KERNEL[,append=TEXT]...[,cpu=SPEC]...[,task=KIND] (or --scenario FILE)");
	}
	if (!o->b && !o->aa) {
		return err_set(
			e, -EINVAL,
			"--b is missing: the arm to judge, "
			"KERNEL[,append=TEXT]...[,cpu=SPEC]...[,task=KIND] (or --aa to compare A with "
			"itself)");
	}
	if (o->b && o->aa) {
		return err_set(e, -EINVAL, "--aa compares --a with itself: leave out --b");
	}
	if (!o->bench) {
		return err_set(e, -EINVAL,
			       "--bench is missing: what to measure, such as "
			       "syscall,ctxsw");
	}
	return 0;
}

/**
 * compare_options_check_resume() - whether --resume has a comparison to go on with
 * @o: parsed options
 * @e: set on failure
 *
 * Without a file the plan names the results, and a seed that is drawn makes a plan of its own.
 *
 * Return: 0 or -EINVAL.
 * Context: any thread.
 */
int compare_options_check_resume(const struct compare_options *o, struct err *e)
{
	if (o->resume && !o->results && o->seed == COMPARE_NOT_GIVEN) {
		return err_set(e, -EINVAL,
			       "--resume: which comparison? Give its --results file or "
			       "its --seed");
	}
	return 0;
}

/* How many blocks, where that is not simply given. */
static int check_pilot(struct compare_options *o, struct err *e)
{
	const char *by = o->resolve                          ? "resolve"
			 : o->budget_ns != COMPARE_NOT_GIVEN ? "budget"
			 : o->pilot                          ? "pilot"
							     : NULL;

	if (!by) {
		return 0;
	}
	if (o->resolve && o->budget_ns != COMPARE_NOT_GIVEN) {
		return err_set(e, -EINVAL,
			       "--resolve and --budget both choose the number of blocks: give one");
	}
	if (o->blocks != COMPARE_NOT_GIVEN) {
		return err_set(
			e, -EINVAL,
			strcmp(by, "pilot") == 0
				? "--pilot has a number of blocks of its own (--pilot N): leave "
				  "out --blocks"
				: "--%s chooses the number of blocks: leave out --blocks",
			by);
	}
	if (o->aa > 1) {
		return err_set(e, -EINVAL, "--aa %" PRIu64 " and --%s do not go together", o->aa,
			       by);
	}
	if (strcmp(by, "pilot") == 0) {
		return o->html || o->gate ? err_set(e, -EINVAL, "a pilot has no verdicts for --%s",
						    o->html ? "html" : "gate")
					  : 0;
	}
	o->has_goal = true;
	if (!o->resolve) {
		pilot_goal_budget(o->budget_ns, &o->goal);
		return 0;
	}
	return pilot_goal_resolve(o->resolve, &o->goal, e);
}

/* A share of a plan is put to the others of it, and says nothing by itself. */
static int check_shard(struct compare_options *o, struct err *e)
{
	int r = shard_parse(o->shard_text, &o->shard, &o->shards, e);

	if (r < 0) {
		return r;
	}
	if (!compare_options_has_plan(o)) {
		return err_set(e, -EINVAL,
			       "--resume --results goes on with the shard that the file is of: "
			       "leave out --shard");
	}
	if (o->json || o->html || o->gate) {
		return err_set(e, -EINVAL,
			       "--%s: a shard has no report of its own; 'ringside report' makes "
			       "one of all shards' files",
			       o->json   ? "json"
			       : o->html ? "html"
					 : "gate");
	}
	if (o->pilot || o->has_goal || o->aa > 1) {
		return err_set(
			e, -EINVAL,
			"--shard is of one comparison whose number of blocks is given: leave "
			"out --%s",
			o->aa > 1    ? "aa N"
			: o->resolve ? "resolve"
			: o->pilot   ? "pilot"
				     : "budget");
	}
	return o->scenario ? 0 : compare_options_check_shard(o, e);
}

static int check(struct compare_options *o, struct err *e)
{
	int r = check_pilot(o, e);

	if (r == 0 && o->shard_text) {
		r = check_shard(o, e);
	}
	if (r == 0 && o->aa > 1 && o->gate) {
		r = err_set(e, -EINVAL,
			    "--aa %" PRIu64
			    " has no verdicts for --gate: its exit status is 1 where "
			    "there are more false alarms than a test at 5 %% may have",
			    o->aa);
	}
	if (r == 0 && o->json && cli_is_stdout(o->html)) {
		r = err_set(e, -EINVAL,
			    "--html - and --json are both for stdout: give the page a file");
	}
	if (r < 0) {
		return r;
	}
	if (o->resume && !o->print_scenario && !o->scenario && !o->a && !o->b && !o->bench) {
		return o->results ? 0
				  : err_set(e, -EINVAL,
					    "--resume: name the file to go on with by "
					    "--results, or give --a, --b, --bench and "
					    "--seed, or --scenario, again");
	}
	r = o->scenario ? check_scenario(o, e) : check_arms(o, e);
	if (r == 0 && o->print_scenario && (o->pilot || o->has_goal || o->shard_text)) {
		r = err_set(
			e, -EINVAL,
			"--print-scenario is of a whole comparison: leave out --pilot, --resolve, "
			"--budget and --shard");
	}
	if (r < 0) {
		return r;
	}
	if (o->icount != COMPARE_NOT_GIVEN && o->backend && strcmp(o->backend, "kvm") == 0) {
		return err_set(e, -EINVAL, "--icount is QEMU's: it needs --backend qemu");
	}
	return o->scenario ? 0 : compare_options_check_resume(o, e);
}

/**
 * compare_options_parse() - read the command line of "ringside compare"
 * @o: set; points into @argv
 * @argc: number of words, the command's name first
 * @argv: the words
 * @e: set on failure
 *
 * Return: 0, OPT_SHOWN_HELP, or -EINVAL.
 * Context: main thread.
 */
int compare_options_parse(struct compare_options *o, int argc, char **argv, struct err *e)
{
	const struct opt_row rows[] = {
		{OPT_GROUP, .help = "What is compared"},
		{OPT_STRING, "a", 'a', &o->a, .arg = "ARM",
		 .help = "the arm to compare with: KERNEL[,append=TEXT]...[,cpu=SPEC]...[,task=nopti], where KERNEL "
			 "is a file or an image of the cache; a comma inside a value is written "
			 "\\,"},
		{OPT_STRING, "b", 'b', &o->b, .arg = "ARM", .help = "the arm to judge"},
		{OPT_COUNT, "aa", 0, &o->aa, .min = 1, .max = SCHEDULE_GROUPS_MAX, .bare = 1,
		 .arg = "N",
		 .help = "compare A with itself, to see what this machine makes of no difference; N "
			 "times over: count how often it is taken for one"},
		{OPT_STRING, "bench", 0, &o->bench, .arg = "LIST",
		 .help = "benchmarks or groups of them, separated by commas: syscall, ctxsw, "
			 "ctxsw.pipe, ctxsw.futex.fsgs, uaccess, kvmwalk, conn, ..."},
		{OPT_STRING, "scenario", 's', &o->scenario, .arg = "FILE",
		 .help = "groups of two and more arms, their benchmarks, and what is claimed of "
			 "them: see ringside-scenario(5). What is given here as well counts "
			 "instead of what the file says"},
		{OPT_FLAG, "print-scenario", 0, &o->print_scenario,
		 .help = "boot nothing, but write the scenario that all of this comes to, with every "
			 "default in its place, as YAML that reads back to the same plan"},
		{OPT_STRING, "calibration", 0, &o->calibration, .arg = "FILE",
		 .help = "what 'ringside calibrate --json' wrote, for the floors that a scenario "
			 "asks for; none: do without [this host is calibrated first]"},
		{OPT_FLAG, "no-build", 0, &o->no_build,
		 .help = "do not build images; else those that are missing are built first, and "
			 "with --scenario those that are out of date"},
		{OPT_GROUP, .help = "How much"},
		{OPT_U64, "blocks", 'n', &o->blocks, .min = 1, .max = SCHEDULE_BLOCKS_MAX,
		 .arg = "N",
		 .help = "blocks of four boots, ABBA or BAAB at random (of two for each arm in a "
			 "scenario); fewer than 6 cannot give a verdict [12]"},
		{OPT_COUNT, "pilot", 0, &o->pilot, .min = PILOT_BLOCKS_LEAST,
		 .max = SCHEDULE_BLOCKS_MAX, .bare = PILOT_BLOCKS_DEFAULT, .arg = "N",
		 .help = "boot N blocks and say, in place of a verdict, what each number of blocks "
			 "would find and how long it would take [6]"},
		{OPT_STRING, "resolve", 0, &o->resolve, .arg = "SIZE",
		 .help = "so many blocks, by a pilot that is booted first, as find a difference of "
			 "SIZE (2cycles, 5instructions, 30ns, or 1% of A) in four experiments of "
			 "five"},
		{OPT_SECONDS, "budget", 0, &o->budget_ns, .min = NS_PER_SEC,
		 .max = 30 * 86400 * NS_PER_SEC, .arg = "TIME",
		 .help = "so many blocks, by a pilot that is booted first, as TIME is enough for"},
		{OPT_STRING, "margin", 0, &o->margin, .arg = "SIZE",
		 .help = "what is taken for no change: 2cycles, 0.5% of A, or \"2cycles,0.5%\", of "
			 "which the larger one counts [0.1 units or 0.1%]"},
		{OPT_U64, "batches", 0, &o->batches, .min = 1, .max = PLAN_BATCHES_MAX, .arg = "N",
		 .help = "batches of a benchmark in each boot [30]"},
		{OPT_U64, "seed", 0, &o->seed, .max = PLAN_SEED_MAX, .arg = "N",
		 .help = "of everything that is drawn; the same one gives the same plan [random]"},
		{OPT_SECONDS, "timeout", 0, &o->timeout_ns, .min = NS_PER_SEC,
		 .max = 86400 * NS_PER_SEC, .arg = "TIME",
		 .help = "for each boot [5m, in the lab 60m]"},
		{OPT_STRING, "shard", 0, &o->shard_text, .arg = "I/N",
		 .help = "boot only the I-th of N parts of the blocks, and report nothing; 'ringside "
			 "report' puts the results files of all parts together. Needs a seed"},
		{OPT_GROUP, .help = "Where it runs"},
		{OPT_CHOICE, "backend", 0, &o->backend, .choices = "auto|kvm|qemu",
		 .help = "kvm: ringside's own VMM; qemu: QEMU's software CPU; auto: kvm where it "
			 "can run a kernel, else qemu counting instructions [auto]"},
		{OPT_U64, "icount", 0, &o->icount, .max = EXEC_ICOUNT_SHIFT_MAX, .arg = "SHIFT",
		 .help = "under QEMU: an instruction takes 2^SHIFT ns of guest time; the unit is "
			 "instructions then [3 where auto picks qemu]"},
		{OPT_U64, "jobs", 'j', &o->jobs, .min = 1, .max = COMPARE_JOBS_MAX, .arg = "N",
		 .help = "boots that run at a time; more than one only where instructions are "
			 "counted, which they do not disturb [there: one for each core, at most "
			 "4; else 1]"},
		{OPT_STRING, "runner", 0, &o->runner, .arg = "FILE",
		 .help = "the program that boots, called as FILE run ... [ringside itself]"},
		{OPT_GROUP, .help = "Results"},
		{OPT_STRING, "results", 'o', &o->results, .arg = "FILE",
		 .help = "where every raw record goes; never overwritten [in the cache, named by "
			 "the plan]"},
		{OPT_FLAG, "resume", 0, &o->resume,
		 .help = "go on with a comparison that was stopped; with --results alone, its plan "
			 "is taken from there"},
		OPT_ROW_MATRIX(o->matrix),
		OPT_ROW_GATE(o->gate),
		{OPT_FLAG, "json", 0, &o->json, .help = "the report as JSON"},
		{OPT_STRING, "html", 0, &o->html, .arg = "FILE",
		 .help = "the report also as a page with charts, in one file that needs no other; -: on stdout, in place of the text"},
		{OPT_END},
	};
	const struct opt_command cmd = {
		.name = "compare",
		.usage = "--a ARM --b ARM --bench LIST [OPTION]...\n"
			 "       ringside compare --scenario FILE [OPTION]...",
		.about =
			"Boots two arms alternately, many times, each boot one sample, and says "
			"which one is faster, by how much, and how sure that is.\n"
			"Exit status: 0 B is better or equivalent, 1 B is worse, 2 usage, "
			"3 the data do not decide, 4 this machine or a file does not allow it. With "
			"--gate: 0 it passes, 1 it fails, 2, 3 and 4 as without.",
		.rows = rows,
	};
	struct opt_rest rest;
	int r;

	*o = (struct compare_options){
		.blocks = COMPARE_NOT_GIVEN,
		.batches = COMPARE_NOT_GIVEN,
		.seed = COMPARE_NOT_GIVEN,
		.icount = COMPARE_NOT_GIVEN,
		.timeout_ns = COMPARE_NOT_GIVEN,
		.budget_ns = COMPARE_NOT_GIVEN,
	};
	r = opt_parse(&cmd, argc, argv, &rest, e);
	return r ? r : check(o, e);
}

/**
 * compare_options_jobs() - how many boots may run at a time
 * @o: parsed options
 * @p: the plan
 * @cores: that we may use, 1 or more: no two boots share one
 * @ret: set on success
 * @e: set on failure
 *
 * Return: 0, or -EINVAL where boots side by side would disturb what is measured.
 * Context: any thread.
 */
int compare_options_jobs(const struct compare_options *o, const struct plan *p, size_t cores,
			 unsigned int *ret, struct err *e)
{
	bool counts = strcmp(p->backend, "qemu") == 0 && p->icount != PLAN_NO_ICOUNT;
	uint64_t jobs = o->jobs > 0 ? o->jobs : counts ? JOBS_DEFAULT : 1;

	if (o->jobs > 1 && !counts) {
		return err_set(e, -EINVAL,
			       "--jobs %" PRIu64 ": boots that run side by side disturb each "
			       "other's time; it is for --backend qemu --icount",
			       o->jobs);
	}
	if (o->jobs > cores) {
		log_warn("--jobs %" PRIu64 ": this process may run on %zu core%s, and boots do not "
			 "share one",
			 o->jobs, cores, cores == 1 ? "" : "s");
	}
	*ret = (unsigned int)(jobs < cores ? jobs : cores);
	return 0;
}

/**
 * compare_options_has_plan() - whether the words make a plan of their own
 * @o: parsed options
 *
 * Return: false when the plan is to be taken from the results file.
 * Context: any thread.
 */
bool compare_options_has_plan(const struct compare_options *o)
{
	return o->a != NULL || o->scenario != NULL;
}
