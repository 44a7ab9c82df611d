/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See scenario.h: a plan as a scenario file. Nothing is left to defaults. Any thread. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "engine/scenario.h"
#include "engine/yprint.h"

static int add_benches(struct yprint *p, benchmark_set set)
{
	int list = yprint_list(p, true);

	for (size_t i = 0; i < benchmark_count(); i++) {
		if (benchmark_in(set, i)) {
			yprint_append(p, list, yprint_text(p, benchmark_name(i)));
		}
	}
	return list;
}

static int add_arm(struct yprint *p, const struct plan_arm *a)
{
	_cleanup_free_ char *text = arm_text(&a->arm);
	int map = yprint_map(p);

	yprint_put_text(p, map, "name", a->name);
	yprint_put_text(p, map, "arm", text);
	p->failed |= !text;
	return map;
}

static int add_claim(struct yprint *p, const struct plan_group *g, const struct claim *c)
{
	const struct {
		const char *key, *value;
	} texts[] = {
		{"unit", c->unit},         {"of", c->of},           {"arm", g->arms[c->arm].name},
		{"bench", c->bench},       {"against", c->against}, {"floor", c->floor},
		{"no_floor", c->no_floor}, {"note", c->note},
	};
	int map = yprint_map(p);

	yprint_put_text(p, map, "text", c->text);
	yprint_put_text(p, map, "source", c->source);
	yprint_put_text(p, map, "hardware", c->hardware);
	yprint_put_real(p, map, "from", c->from);
	yprint_put_real(p, map, "to", c->to);
	yprint_put_real(p, map, "change", c->change_low);
	yprint_put_real(p, map, "change_to", c->change_high);
	yprint_put_real(p, map, "percent", c->percent_low);
	yprint_put_real(p, map, "percent_to", c->percent_high);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		yprint_put_text(p, map, texts[i].key, texts[i].value);
	}
	return map;
}

/* The group's own margin, and those of its benchmarks. */
static void put_margins(struct yprint *p, int map, const struct plan_group *g)
{
	char text[MARGIN_TEXT_MAX];
	int list = 0;

	for (size_t i = 0; i < g->margin_count; i++) {
		const struct margin *m = &g->margins[i];

		margin_text(m, text, sizeof(text));
		if (m->benches == MARGIN_BENCHES_ALL) {
			yprint_put_text(p, map, "margin", text);
		} else {
			int one = yprint_map(p);

			list = list ? list : yprint_list(p, false);
			yprint_put(p, one, "benches", add_benches(p, m->benches));
			yprint_put_text(p, one, "margin", text);
			yprint_append(p, list, one);
		}
	}
	if (list) {
		yprint_put(p, map, "margins", list);
	}
}

static int add_group(struct yprint *p, const struct plan_group *g)
{
	int map = yprint_map(p);
	int arms = yprint_list(p, false);

	yprint_put_text(p, map, "name", g->name);
	yprint_put(p, map, "blocks", yprint_number(p, g->blocks));
	put_margins(p, map, g);
	yprint_put(p, map, "benches", add_benches(p, g->benches));
	for (size_t i = 0; i < g->arm_count; i++) {
		yprint_append(p, arms, add_arm(p, &g->arms[i]));
	}
	yprint_put(p, map, "arms", arms);
	if (g->claim_count > 0) {
		int claims = yprint_list(p, false);

		for (size_t i = 0; i < g->claim_count; i++) {
			yprint_append(p, claims, add_claim(p, g, &g->claims[i]));
		}
		yprint_put(p, map, "claims", claims);
	}
	return map;
}

/**
 * scenario_print() - write the scenario that a plan comes to, as YAML
 * @plan: of one that is no pilot and no shard; its schedule and hashes are not needed
 * @out: where to; not flushed
 * @e: set on failure
 *
 * scenario_read() reads it back to the same plan, but for what is found out anew: the kernels'
 * hashes, and the version of ringside.
 *
 * Return: 0, -EIO, -EILSEQ for a text that is no UTF-8, -ENOMEM.
 * Context: a thread that may block.
 */
int scenario_print(const struct plan *plan, FILE *out, struct err *e)
{
	struct yprint p;
	int map, groups;
	int r = yprint_init(&p, e);

	if (r < 0) {
		return r;
	}
	map = yprint_map(&p);
	groups = yprint_list(&p, false);
	yprint_put_text(&p, map, "title", plan->title);
	yprint_put_text(&p, map, "backend", plan->backend);
	if (plan->icount != PLAN_NO_ICOUNT) {
		yprint_put(&p, map, "icount", yprint_number(&p, (uint64_t)plan->icount));
	}
	yprint_put(&p, map, "batches", yprint_number(&p, plan->batches));
	yprint_put(&p, map, "seed", yprint_number(&p, plan->seed));
	yprint_put_real(&p, map, "timeout", (double)plan->timeout_ns / (double)NS_PER_SEC);
	yprint_put_text(&p, map, "runner", plan->runner);
	yprint_put_text(&p, map, "aa", plan->aa ? "yes" : "no");
	yprint_put_text(&p, map, "matrix", plan->matrix ? "yes" : "no");
	for (size_t i = 0; i < plan->group_count; i++) {
		yprint_append(&p, groups, add_group(&p, &plan->groups[i]));
	}
	yprint_put(&p, map, "groups", groups);
	return yprint_write(&p, "the scenario", out, e);
}
