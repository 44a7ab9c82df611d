/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The plan that the words of "ringside compare" make. Main thread, before anything is started. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/log.h"
#include "cli/class_detect.h"
#include "cli/compare_margin.h"
#include "cli/compare_options.h"
#include "cli/output_file.h"
#include "engine/scenario.h"
#include "samples/class.h"
#include "vmm/cpu.h"

#define BLOCKS_DEFAULT  12
#define BATCHES_DEFAULT 30

/*
 * For a boot. Inside QEMU's software processor time is no measure of a hang: its clock leaps ahead
 * whenever it waits for the machine under it.
 */
#define TIMEOUT_NS          (300 * NS_PER_SEC)
#define TIMEOUT_EMULATED_NS (3600 * NS_PER_SEC)

/* What QEMU's guest time runs at when instructions are counted and nothing else was asked for. */
#define ICOUNT_DEFAULT 3

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
	if (o->icount == COMPARE_NOT_GIVEN && s->has_icount && strcmp(o->backend, "kvm") != 0) {
		o->icount = s->icount;
	}
	if (o->batches == COMPARE_NOT_GIVEN) {
		o->batches = s->has_batches ? s->batches : BATCHES_DEFAULT;
	}
	if (o->seed == COMPARE_NOT_GIVEN && s->has_seed) {
		o->seed = s->seed;
	}
	if (!o->runner) {
		o->runner = s->runner;
	}
	if (o->timeout_ns == COMPARE_NOT_GIVEN && s->has_timeout) {
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

	p->icount = o->icount == COMPARE_NOT_GIVEN ? PLAN_NO_ICOUNT : (int)o->icount;
	if (strcmp(o->backend, "qemu") == 0 || (is_auto && o->icount != COMPARE_NOT_GIVEN)) {
		p->backend = strdup("qemu");
		return compare_margin_check(p, p->icount == PLAN_NO_ICOUNT ? EXEC_TCG : EXEC_ICOUNT,
					    e);
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
	} else if (o->timeout_ns == COMPARE_NOT_GIVEN && class_is_emulated(class.class)) {
		p->timeout_ns = TIMEOUT_EMULATED_NS;
	}
	if (is_auto) {
		log_info("backend %s: %s", kvm ? "kvm" : "qemu, counting instructions",
			 kvm || !facts.kvm.error ? class.evidence : facts.kvm.text);
	}
	return compare_margin_check(p, kvm ? class.class : EXEC_ICOUNT, e);
}

static int choose_seed(const struct compare_options *o, uint64_t *ret, struct err *e)
{
	uint32_t drawn;

	if (o->seed != COMPARE_NOT_GIVEN) {
		*ret = o->seed;
		return 0;
	}
	if (getrandom(&drawn, sizeof(drawn), 0) != (ssize_t)sizeof(drawn)) {
		return err_errno(e, -errno, "drawing a seed");
	}
	*ret = drawn;
	return 0;
}

/* The arms and benchmarks that the words name. */
static int words_to_group(const struct compare_options *o, struct plan_group *g, struct err *e)
{
	int r;

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

/* The one group without a name that --a and --b make; of --aa N as many, numbered. */
static int words_to_groups(const struct compare_options *o, struct plan *p, struct err *e)
{
	size_t n = o->aa > 1 ? o->aa : 1;
	int r = 0;

	p->groups = calloc(n, sizeof(*p->groups));
	if (!p->groups) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	for (size_t i = 0; r == 0 && i < n; i++) {
		struct plan_group *g = &p->groups[p->group_count++];

		r = words_to_group(o, g, e);
		if (r == 0 && n > 1 && asprintf(&g->name, "A/A %zu", i + 1) < 0) {
			g->name = NULL;
			r = err_set(e, -ENOMEM, "out of memory");
		}
	}
	if (r == 0 && n > 1 &&
	    asprintf(&p->title, "%zu comparisons of %s with itself", n, o->a) < 0) {
		p->title = NULL;
		r = err_set(e, -ENOMEM, "out of memory");
	}
	return r;
}

/* What is compared: the groups, from the file or from the words. */
static int make_groups(struct compare_options *o, struct plan *p, struct scenario *s, struct err *e)
{
	int r;

	if (!o->scenario) {
		merge(o, s);
		r = words_to_groups(o, p, e);
	} else {
		r = scenario_read(o->scenario, s, e);
		if (r == 0) {
			r = output_check_inputs("--html", o->html, (const char *const *)s->includes,
						s->include_count, e);
		}
		if (r == 0) {
			merge(o, s);
			p->title = TAKE_PTR(s->title);
			p->groups = TAKE_PTR(s->groups);
			p->group_count = s->group_count;
			s->group_count = 0;
			r = compare_options_check_resume(o, e);
			r = r < 0 ? r : compare_options_check_shard(o, e);
		}
	}
	for (size_t i = 0; r == 0 && i < p->group_count; i++) {
		struct plan_group *g = &p->groups[i];

		if (o->pilot) {
			g->blocks = (unsigned int)o->pilot;
		} else if (o->blocks != COMPARE_NOT_GIVEN) {
			g->blocks = (unsigned int)o->blocks;
		} else if (g->blocks == 0) {
			g->blocks = BLOCKS_DEFAULT;
		}
	}
	return r < 0 ? r : compare_margin_set(o->margin, p, e);
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
	p->timeout_ns = o->timeout_ns == COMPARE_NOT_GIVEN ? TIMEOUT_NS : o->timeout_ns;
	p->aa = o->aa > 0 || s->aa;
	p->matrix = o->matrix || s->matrix;
	p->pilot = o->pilot > 0;
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
	if (o->size) {
		p->size = *o->size;
		p->size.by = strdup(o->size->by);
	}
	if (!p->ringside_version || !p->backend || (o->runner && !p->runner) ||
	    (o->size && !p->size.by)) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	p->shard = o->shard;
	p->shards = o->shards == 1 ? 0 : o->shards; /* one of one is all */
	r = check_benches(p, e);
	if (r == 0) {
		r = plan_check_shards(p, e);
	}
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
