/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file of a host's effects: NDJSON, a line for each benchmark of each comparison of an arm with
 * itself, only ever added to, by one process at a time (flock, as results files are). A last line
 * whose writer was stopped is cut off when the next one adds to it; a line that cannot be read is
 * passed over and counted: it costs its own effect and no other.
 */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/noise.h"
#include "samples/results.h"
#include "stats/quantile.h"

#define EFFECT_LINE "aa-effect"
#define PERCENTILE  0.95

/* The effects of one benchmark. */
struct effects {
	char *name;
	double *sizes;
	size_t n, room;
	size_t blocks[2];
};

struct reading {
	const struct noise_key *key;
	const char *plan; /* to look for, or NULL */
	bool has_plan;
	struct effects *of;
	size_t n;
	size_t bad;
};

static void reading_fini(struct reading *x)
{
	for (size_t i = 0; i < x->n; i++) {
		free(x->of[i].name);
		free(x->of[i].sizes);
	}
	free(x->of);
}

static struct effects *effects_of(struct reading *x, const char *name)
{
	struct effects *more;
	char *copy;

	for (size_t i = 0; i < x->n; i++) {
		if (strcmp(x->of[i].name, name) == 0) {
			return &x->of[i];
		}
	}
	more = realloc(x->of, (x->n + 1) * sizeof(*more));
	copy = more ? strdup(name) : NULL;
	x->of = more ? more : x->of;
	if (!copy) {
		return NULL;
	}
	x->of[x->n] = (struct effects){.name = copy, .blocks = {SIZE_MAX, 0}};
	return &x->of[x->n++];
}

static int take(struct reading *x, const char *name, double size, size_t blocks)
{
	struct effects *f = effects_of(x, name);

	if (f && f->n == f->room) {
		size_t room = f->room ? 2 * f->room : 32;
		double *more = realloc(f->sizes, room * sizeof(*more));

		f->sizes = more ? more : f->sizes;
		f->room = more ? room : f->room;
	}
	if (!f || f->n == f->room) {
		return -ENOMEM;
	}
	f->sizes[f->n++] = size;
	f->blocks[0] = blocks < f->blocks[0] ? blocks : f->blocks[0];
	f->blocks[1] = blocks > f->blocks[1] ? blocks : f->blocks[1];
	return 0;
}

static bool is_key(const json_t *o, const struct noise_key *k)
{
	const char *cpu = json_string_value(json_object_get(o, "cpu"));
	const char *class = json_string_value(json_object_get(o, "class"));

	return cpu && class && strcmp(cpu, k->cpu) == 0 &&
	       strcmp(class, exec_class_name(k->class)) == 0 &&
	       json_integer_value(json_object_get(o, "ticks_per_unit")) ==
		       (json_int_t)k->ticks_per_unit;
}

/* Also what a newer ringside wrote is passed over. */
static int on_line(void *ctx, size_t line, const char *text, size_t len, struct err *e)
{
	struct reading *x = ctx;
	json_t *o = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
	const char *type = json_string_value(json_object_get(o, "type"));
	const char *name = json_string_value(json_object_get(o, "benchmark"));
	const char *plan = json_string_value(json_object_get(o, "plan"));
	const json_t *effect = json_object_get(o, "effect");
	json_int_t blocks = json_integer_value(json_object_get(o, "blocks"));
	int r = 0;

	if (!type || strcmp(type, EFFECT_LINE) != 0 || !name || !*name || !plan || blocks < 1 ||
	    json_integer_value(json_object_get(o, "schema_version")) != NOISE_SCHEMA_VERSION ||
	    !json_is_number(effect) || !isfinite(json_number_value(effect))) {
		x->bad++;
	} else {
		x->has_plan |= x->plan && strcmp(plan, x->plan) == 0;
		if (x->key && is_key(o, x->key)) {
			r = take(x, name, fabs(json_number_value(effect)), (size_t)blocks);
		}
	}
	json_decref(o);
	return r < 0 ? err_set(e, r, "out of memory") : 0;
}

static int to_floors(const struct reading *x, struct noise *ret, struct err *e)
{
	ret->floors = calloc(x->n + 1, sizeof(*ret->floors));
	if (!ret->floors) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	for (size_t i = 0; i < x->n; i++) {
		const struct effects *f = &x->of[i];
		struct noise_floor *to = &ret->floors[ret->n];
		int r;

		if (f->n < NOISE_LEAST) {
			continue;
		}
		*to = (struct noise_floor){
			.name = strdup(f->name),
			.comparisons = f->n,
			.blocks = {f->blocks[0], f->blocks[1]},
		};
		r = to->name ? stats_percentile(f->sizes, f->n, PERCENTILE, &to->value) : -ENOMEM;
		if (r < 0) {
			free(to->name);
			return err_set(e, r, "%s: %s", f->name, stats_error_text(r));
		}
		ret->n++;
	}
	return 0;
}

/**
 * noise_read() - the noise floors that a host's file gives
 * @path: the file
 * @key: which effects of it count
 * @ret: set on success, benchmarks with fewer than NOISE_LEAST effects left out; end it with
 *       noise_fini()
 * @ret_bad: set on success: lines that were passed over since they cannot be read
 * @e: set on failure
 *
 * Return: 0, -ENOENT where nothing was recorded yet, -EFBIG for a line that is too long, -ENOMEM,
 * the errno of reading it.
 * Context: any thread.
 */
int noise_read(const char *path, const struct noise_key *key, struct noise *ret, size_t *ret_bad,
	       struct err *e)
{
	struct reading x = {.key = key};
	struct noise n = {0};
	struct results_scan scan;
	int r = results_read(path, on_line, &x, &scan, e);

	if (r == 0) {
		r = to_floors(&x, &n, e);
	}
	reading_fini(&x);
	if (r < 0) {
		noise_fini(&n);
		return r;
	}
	*ret_bad = x.bad + (scan.dropped > 0);
	*ret = n;
	return 0;
}

static int add_effect(struct results *file, const struct noise_key *key, const char *plan,
		      const struct report *rep, const struct report_bench *b, struct err *e)
{
	json_t *o = json_pack("{s:i, s:s, s:s, s:s, s:I, s:s, s:s?, s:s, s:f, s:I}",
			      "schema_version", NOISE_SCHEMA_VERSION, "type", EFFECT_LINE, "class",
			      exec_class_name(key->class), "cpu", key->cpu, "ticks_per_unit",
			      (json_int_t)key->ticks_per_unit, "plan", plan, "group", rep->group,
			      "benchmark", b->name, "effect", b->result.effect, "blocks",
			      (json_int_t)b->result.blocks);
	_cleanup_free_ char *line = o ? json_dumps(o, JSON_COMPACT) : NULL;

	json_decref(o);
	return line ? results_append(file, line, strlen(line), e)
		    : err_set(e, -ENOMEM, "out of memory");
}

/**
 * noise_add() - add the effects of a comparison of an arm with itself to its host's file
 * @path: the file; made where it is missing
 * @key: of what machine they are
 * @plan: plan_key() of the comparison: one that is in the file already is not added again
 * @set: its reports, computed; those of two arms are passed over, and benchmarks with fewer than
 *       STATS_BLOCKS_MIN blocks
 * @e: set on failure
 *
 * Return: 0, -EBUSY when another process adds to it all the time, -ENOMEM, the errno of reading or
 * writing it.
 * Context: main thread; waits for the disk.
 */
int noise_add(const char *path, const struct noise_key *key, const char *plan,
	      const struct report_set *set, struct err *e)
{
	_cleanup_(results_close_p) struct results *file = NULL;
	struct reading x = {.plan = plan};
	struct results_scan scan;
	int r = results_reopen(path, on_line, &x, &file, &scan, e);

	if (r == -ENOENT) {
		r = results_create(path, &file, e);
	}
	if (r == -EEXIST) { /* another process was quicker */
		r = results_reopen(path, on_line, &x, &file, &scan, e);
	}
	for (size_t i = 0; r == 0 && !x.has_plan && i < set->n_reports; i++) {
		const struct report *rep = set->reports[i];

		for (size_t k = 0; r == 0 && rep->same_arm && k < rep->n_benches; k++) {
			const struct report_bench *b = &rep->benches[k];

			if (b->result.blocks >= STATS_BLOCKS_MIN) {
				r = add_effect(file, key, plan, rep, b, e);
			}
		}
	}
	reading_fini(&x);
	return r;
}
