/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See compare_options.h. Main thread, before anything else is started. */
#include "cli/compare_options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "cli/class_detect.h"
#include "cli/options.h"
#include "engine/scenario.h"
#include "samples/class.h"
#include "vmm/cpu.h"

#define NOT_GIVEN       UINT64_MAX

#define BLOCKS_DEFAULT  12
#define BATCHES_DEFAULT 30
#define JOBS_DEFAULT    4
#define JOBS_MAX        64

/*
 * For a boot. Inside QEMU's software processor time is no measure of a hang: its clock leaps ahead
 * whenever it waits for the machine under it.
 */
#define TIMEOUT_NS          (300 * NS_PER_SEC)
#define TIMEOUT_EMULATED_NS (3600 * NS_PER_SEC)

/* What QEMU's guest time runs at when instructions are counted and nothing else was asked for. */
#define ICOUNT_DEFAULT 3

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

/* Without a file the plan names the results, and a seed that is drawn makes a plan of its own. */
static int check_resume(const struct compare_options *o, struct err *e)
{
	if (o->resume && !o->results && o->seed == NOT_GIVEN) {
		return err_set(e, -EINVAL,
			       "--resume: which comparison? Give its --results file or "
			       "its --seed");
	}
	return 0;
}

static int check(const struct compare_options *o, struct err *e)
{
	int r;

	if (o->resume && !o->scenario && !o->a && !o->b && !o->bench) {
		return o->results ? 0
				  : err_set(e, -EINVAL,
					    "--resume: name the file to go on with by "
					    "--results, or give --a, --b, --bench and "
					    "--seed, or --scenario, again");
	}
	r = o->scenario ? check_scenario(o, e) : check_arms(o, e);
	if (r < 0) {
		return r;
	}
	if (o->icount != NOT_GIVEN && o->backend && strcmp(o->backend, "kvm") == 0) {
		return err_set(e, -EINVAL, "--icount is QEMU's: it needs --backend qemu");
	}
	return o->scenario ? 0 : check_resume(o, e);
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
		{OPT_FLAG, "aa", 0, &o->aa,
		 .help = "compare A with itself, to see what this machine makes of no difference"},
		{OPT_STRING, "bench", 0, &o->bench, .arg = "LIST",
		 .help = "benchmarks or groups of them, separated by commas: syscall, ctxsw, "
			 "ctxsw.pipe, ctxsw.futex.fsgs, uaccess, kvmwalk, conn, ..."},
		{OPT_STRING, "scenario", 's', &o->scenario, .arg = "FILE",
		 .help = "groups of two and more arms, their benchmarks, and what is claimed of "
			 "them: see ringside-scenario(5). What is given here as well counts "
			 "instead of what the file says"},
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
		{OPT_U64, "batches", 0, &o->batches, .min = 1, .max = PLAN_BATCHES_MAX, .arg = "N",
		 .help = "batches of a benchmark in each boot [30]"},
		{OPT_U64, "seed", 0, &o->seed, .max = PLAN_SEED_MAX, .arg = "N",
		 .help = "of everything that is drawn; the same one gives the same plan [random]"},
		{OPT_SECONDS, "timeout", 0, &o->timeout_ns, .min = NS_PER_SEC,
		 .max = 86400 * NS_PER_SEC, .arg = "TIME",
		 .help = "for each boot [5m, in the lab 60m]"},
		{OPT_GROUP, .help = "Where it runs"},
		{OPT_CHOICE, "backend", 0, &o->backend, .choices = "auto|kvm|qemu",
		 .help = "kvm: ringside's own VMM; qemu: QEMU's software CPU; auto: kvm where it "
			 "can run a kernel, else qemu counting instructions [auto]"},
		{OPT_U64, "icount", 0, &o->icount, .max = EXEC_ICOUNT_SHIFT_MAX, .arg = "SHIFT",
		 .help = "under QEMU: an instruction takes 2^SHIFT ns of guest time; the unit is "
			 "instructions then [3 where auto picks qemu]"},
		{OPT_U64, "jobs", 'j', &o->jobs, .min = 1, .max = JOBS_MAX, .arg = "N",
		 .help = "boots that run at a time; more than one only where instructions are "
			 "counted, which they do not disturb [there: one for each CPU, at most "
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
		{OPT_FLAG, "json", 0, &o->json, .help = "the report as JSON"},
		{OPT_STRING, "html", 0, &o->html, .arg = "FILE",
		 .help = "the report also as a page with charts, in one file that needs no other; -: on stdout, in place of the text"},
		{OPT_END},
	};
	const struct opt_command cmd = {
		.name = "compare",
		.usage = "--a ARM --b ARM --bench LIST [OPTION]...\n"
			 "       ringside compare --scenario FILE [OPTION]...",
		.about = "Boots two arms alternately, many times, each boot one sample, and says "
			 "which one is faster, by how much, and how sure that is.\n"
			 "Exit status: 0 B is better or equivalent, 1 B is worse, 2 usage, "
			 "3 the data do not decide, 4 this machine or a file does not allow it.",
		.rows = rows,
	};
	struct opt_rest rest;
	int r;

	*o = (struct compare_options){
		.blocks = NOT_GIVEN,
		.batches = NOT_GIVEN,
		.seed = NOT_GIVEN,
		.icount = NOT_GIVEN,
		.timeout_ns = NOT_GIVEN,
	};
	r = opt_parse(&cmd, argc, argv, &rest, e);
	return r ? r : check(o, e);
}

/**
 * compare_options_jobs() - how many boots may run at a time
 * @o: parsed options
 * @p: the plan
 * @ret: set on success
 * @e: set on failure
 *
 * Return: 0, or -EINVAL where boots side by side would disturb what is measured.
 * Context: any thread.
 */
int compare_options_jobs(const struct compare_options *o, const struct plan *p, unsigned int *ret,
			 struct err *e)
{
	bool counts = strcmp(p->backend, "qemu") == 0 && p->icount != PLAN_NO_ICOUNT;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	if (o->jobs > 1 && !counts) {
		return err_set(e, -EINVAL,
			       "--jobs %" PRIu64 ": boots that run side by side disturb each "
			       "other's time; it is for --backend qemu --icount",
			       o->jobs);
	}
	if (o->jobs > 0) {
		*ret = (unsigned int)o->jobs;
	} else if (!counts || cpus < 1) {
		*ret = 1;
	} else {
		*ret = cpus < JOBS_DEFAULT ? (unsigned int)cpus : JOBS_DEFAULT;
	}
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

static bool class_is_emulated(enum exec_class class)
{
	return class == EXEC_TCG || class == EXEC_ICOUNT;
}

/* The options as they count: with what the scenario says where nothing was given. */
static void merge(struct compare_options *o, const struct scenario *s)
{
	if (!o->backend) {
		o->backend = s->backend ? s->backend : "auto";
	}
	if (o->icount == NOT_GIVEN && s->has_icount && strcmp(o->backend, "kvm") != 0) {
		o->icount = s->icount;
	}
	if (o->batches == NOT_GIVEN) {
		o->batches = s->has_batches ? s->batches : BATCHES_DEFAULT;
	}
	if (o->seed == NOT_GIVEN && s->has_seed) {
		o->seed = s->seed;
	}
	if (o->timeout_ns == NOT_GIVEN && s->has_timeout) {
		o->timeout_ns = s->timeout_ns;
	}
}

/* Decides for "auto", and refuses a KVM that cannot boot a kernel before 48 boots fail on it. */
static int choose_backend(const struct compare_options *o, struct plan *p, struct err *e)
{
	bool is_auto = strcmp(o->backend, "auto") == 0;
	struct class_facts facts;
	struct class_result class;
	bool kvm;

	p->icount = o->icount == NOT_GIVEN ? PLAN_NO_ICOUNT : (int)o->icount;
	if (strcmp(o->backend, "qemu") == 0 || (is_auto && o->icount != NOT_GIVEN)) {
		p->backend = strdup("qemu");
		return 0;
	}
	if (o->runner && !is_auto) {
		/* What another program can do is for it to find out. */
		p->backend = strdup("kvm");
		return 0;
	}
	class_collect(&facts);
	class_judge(&facts, &class);
	kvm = facts.kvm.error == 0 && class.known && exec_class_runs_kernels(class.class);
	if (!kvm && !is_auto) {
		return err_set(e, -ENODEV, "--backend kvm: %s (use --backend qemu, or tools/lab)",
			       facts.kvm.error ? facts.kvm.text : class.evidence);
	}
	p->backend = strdup(kvm ? "kvm" : "qemu");
	if (!kvm) {
		p->icount = ICOUNT_DEFAULT;
	} else if (o->timeout_ns == NOT_GIVEN && class_is_emulated(class.class)) {
		p->timeout_ns = TIMEOUT_EMULATED_NS;
	}
	if (is_auto) {
		log_info("backend %s: %s", kvm ? "kvm" : "qemu, counting instructions",
			 kvm || !facts.kvm.error ? class.evidence : facts.kvm.text);
	}
	return 0;
}

static int choose_seed(const struct compare_options *o, uint64_t *ret, struct err *e)
{
	uint32_t drawn;

	if (o->seed != NOT_GIVEN) {
		*ret = o->seed;
		return 0;
	}
	if (getrandom(&drawn, sizeof(drawn), 0) != (ssize_t)sizeof(drawn)) {
		return err_errno(e, -errno, "drawing a seed");
	}
	*ret = drawn;
	return 0;
}

/* The one group without a name that --a and --b make. */
static int words_to_group(const struct compare_options *o, struct plan *p, struct err *e)
{
	struct plan_group *g = calloc(1, sizeof(*g));
	int r;

	if (!g) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	p->groups = g;
	p->group_count = 1;
	g->arms = calloc(2, sizeof(*g->arms));
	if (!g->arms) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	g->arm_count = 2;
	r = arm_parse("--a", o->a, &g->arms[ARM_A].arm, e);
	if (r == 0) {
		r = arm_parse(o->aa ? "--a" : "--b", o->aa ? o->a : o->b, &g->arms[ARM_B].arm, e);
	}
	if (r == 0) {
		r = benchmarks_parse(o->bench, &g->benches, e);
		if (r < 0) {
			err_prefix(e, "--bench");
		}
	}
	return r;
}

/* What is compared: the groups, from the file or from the words. */
static int make_groups(struct compare_options *o, struct plan *p, struct scenario *s, struct err *e)
{
	int r;

	if (!o->scenario) {
		merge(o, s);
		r = words_to_group(o, p, e);
	} else {
		r = scenario_read(o->scenario, s, e);
		if (r == 0) {
			merge(o, s);
			p->title = TAKE_PTR(s->title);
			p->groups = TAKE_PTR(s->groups);
			p->group_count = s->group_count;
			s->group_count = 0;
			r = check_resume(o, e);
		}
	}
	for (size_t i = 0; r == 0 && i < p->group_count; i++) {
		struct plan_group *g = &p->groups[i];

		if (o->blocks != NOT_GIVEN) {
			g->blocks = (unsigned int)o->blocks;
		} else if (g->blocks == 0) {
			g->blocks = BLOCKS_DEFAULT;
		}
	}
	return r;
}

/* Names of features are known here, what a host has is for each boot to find out. */
static int check_cpus(const struct plan *p, struct err *e)
{
	for (size_t i = 0; i < p->group_count; i++) {
		const struct plan_group *g = &p->groups[i];

		for (size_t a = 0; a < g->arm_count; a++) {
			struct x86_cpu_spec unused;
			int r = x86_cpu_spec_parse(g->arms[a].arm.cpu, &unused, e);

			if (r < 0) {
				return err_prefix(e, "arm %s", arm_name((unsigned int)a));
			}
		}
	}
	return 0;
}

/*
 * What the backend cannot run. Of a scenario such a group is left out, as long as there are others:
 * one file is then good for every host.
 */
static int check_benches(struct plan *p, struct err *e)
{
	for (size_t i = 0; i < p->group_count;) {
		int r = benchmarks_check_backend(p->groups[i].benches, p->backend, e);

		if (r == 0) {
			i++;
		} else if (p->group_count == 1) {
			return r;
		} else {
			log_warn("%s is left out: %s", p->groups[i].name, e->text);
			plan_remove_group(p, i);
		}
	}
	return 0;
}

static int fill_plan(struct compare_options *o, struct plan *p, struct scenario *s, struct err *e)
{
	int r = make_groups(o, p, s, e);

	if (r < 0) {
		return r;
	}
	p->timeout_ns = o->timeout_ns == NOT_GIVEN ? TIMEOUT_NS : o->timeout_ns;
	p->aa = o->aa;
	p->batches = (unsigned int)o->batches;
	p->warmup = PLAN_WARMUP;
	r = check_cpus(p, e);
	if (r == 0) {
		r = choose_seed(o, &p->seed, e);
	}
	if (r == 0) {
		r = choose_backend(o, p, e);
	}
	if (r < 0) {
		return r;
	}
	p->ringside_version = strdup(RINGSIDE_VERSION);
	p->runner = o->runner ? strdup(o->runner) : NULL;
	if (!p->ringside_version || !p->backend || (o->runner && !p->runner)) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	r = check_benches(p, e);
	return r < 0 ? r : plan_make_schedule(p, e);
}

/**
 * compare_options_plan() - make the plan, but for the kernels' hashes
 * @options: parsed options that have one
 * @ret: set on success; end it with plan_fini()
 * @e: set on failure
 *
 * Return: 0; -EINVAL for arms, benchmarks and scenarios that are wrong; -ENODEV when the backend
 * cannot be had; -ENOTSUP for a benchmark that it cannot run; -ENOMEM; the errno of reading a
 * scenario or of getrandom(2). Context: main thread; may measure this machine, which takes some ten
 * milliseconds.
 */
int compare_options_plan(const struct compare_options *options, struct plan *ret, struct err *e)
{
	struct compare_options o = *options;
	struct scenario s = {0};
	struct plan p = {0};
	int r = fill_plan(&o, &p, &s, e);

	scenario_fini(&s);
	if (r < 0) {
		plan_fini(&p);
		return r;
	}
	*ret = p;
	return 0;
}
