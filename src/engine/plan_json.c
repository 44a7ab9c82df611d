/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A plan as the first line of a results file, and back. See plan.h. Any thread. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "engine/plan.h"
#include "samples/results.h"

/* An array that frees itself when an element of it cannot be made. */
static json_t *append(json_t *array, json_t *element)
{
	if (!element || json_array_append_new(array, element) < 0) {
		json_decref(array);
		return NULL;
	}
	return array;
}

static json_t *arm_to_json(const struct plan_arm *a)
{
	return json_pack("{s:s?, s:s, s:s, s:s*, s:s, s:s?}", "name", a->name, "kernel",
			 a->arm.kernel, "append", a->arm.append, "cpu", a->arm.cpu, "sha256",
			 a->sha256, "task", arm_task_name(a->arm.task));
}

static json_t *arms_to_json(const struct plan_group *g)
{
	json_t *array = json_array();

	for (size_t i = 0; array && i < g->arm_count; i++) {
		array = append(array, arm_to_json(&g->arms[i]));
	}
	return array;
}

static json_t *claims_to_json(const struct plan_group *g)
{
	json_t *array = json_array();

	for (size_t i = 0; array && i < g->claim_count; i++) {
		array = append(array, claim_to_json(&g->claims[i]));
	}
	return array;
}

static json_t *benches_to_json(benchmark_set set)
{
	json_t *array = json_array();

	for (size_t i = 0; array && i < benchmark_count(); i++) {
		if (benchmark_in(set, i)) {
			array = append(array, json_string(benchmark_name(i)));
		}
	}
	return array;
}

/* NULL where a group has none of its own. */
static json_t *margins_to_json(const struct plan_group *g)
{
	json_t *array = g->margin_count ? json_array() : NULL;

	for (size_t i = 0; array && i < g->margin_count; i++) {
		const struct margin *m = &g->margins[i];
		bool all = m->benches == MARGIN_BENCHES_ALL;
		char text[MARGIN_TEXT_MAX];

		array = append(array, json_pack("{s:o, s:s}", "benchmarks",
						all ? json_null() : benches_to_json(m->benches),
						"margin", margin_text(m, text, sizeof(text))));
	}
	return array;
}

static json_t *groups_to_json(const struct plan *p)
{
	json_t *array = json_array();

	for (size_t i = 0; array && i < p->group_count; i++) {
		const struct plan_group *g = &p->groups[i];

		array = append(array, json_pack("{s:s?, s:I, s:o, s:o, s:o, s:o*}", "name", g->name,
						"blocks", (json_int_t)g->blocks, "benchmarks",
						benches_to_json(g->benches), "arms",
						arms_to_json(g), "claims", claims_to_json(g),
						"margins", margins_to_json(g)));
	}
	return array;
}

static json_t *boots_to_json(const struct plan *p)
{
	json_t *array = json_array();

	for (size_t i = 0; array && i < p->boot_count; i++) {
		const struct schedule_boot *b = &p->boots[i];

		array = append(array,
			       json_pack("{s:I, s:I, s:s, s:I, s:I, s:I}", "group",
					 (json_int_t)b->group, "block", (json_int_t)b->block, "arm",
					 arm_name(b->arm), "seed", (json_int_t)b->seed,
					 "stack_bytes", (json_int_t)b->stack_bytes, "env_bytes",
					 (json_int_t)b->env_bytes));
	}
	return array;
}

static json_t *sizing_to_json(const struct plan_sizing *s)
{
	return json_pack("{s:s, s:s, s:I}", "by", s->by, "pilot", s->pilot, "pilot_blocks",
			 (json_int_t)s->pilot_blocks);
}

/* A plan that is not in shards does not speak of them. */
static json_t *shard_to_json(unsigned int shards, unsigned int number)
{
	return shards ? json_integer((json_int_t)number) : NULL;
}

/**
 * plan_line() - write a plan as the first line of a results file
 * @p: the plan
 * @ret: set on success, without a newline; the caller frees it
 * @e: set on failure
 *
 * Return: 0, -EINVAL when a text of it is not UTF-8, or -ENOMEM.
 * Context: any thread.
 */
int plan_line(const struct plan *p, char **ret, struct err *e)
{
	json_t *root = json_pack(
		"{s:i, s:s, s:s, s:s?, s:s?, s:s, s:o, s:I, s:b, s:I, s:I, s:I, s:o*, s:o*, s:o, "
		"s:o}",
		"schema_version", RESULTS_SCHEMA_VERSION, "type", "plan", "ringside",
		p->ringside_version, "title", p->title, "runner", p->runner, "backend", p->backend,
		"icount", p->icount == PLAN_NO_ICOUNT ? json_null() : json_integer(p->icount),
		"timeout_ns", (json_int_t)p->timeout_ns, "aa", (int)p->aa, "seed",
		(json_int_t)p->seed, "batches", (json_int_t)p->batches, "warmup",
		(json_int_t)p->warmup, "shard", shard_to_json(p->shards, p->shard), "shards",
		shard_to_json(p->shards, p->shards), "groups", groups_to_json(p), "boots",
		boots_to_json(p));
	char *line;

	if (root && p->matrix) {
		json_object_set_new(root, "matrix", json_true());
	}
	if (root && p->pilot) {
		json_object_set_new(root, "pilot", json_true());
	}
	if (root && p->size.by) {
		json_object_set_new(root, "sizing", sizing_to_json(&p->size));
	}
	line = root ? json_dumps(root, JSON_COMPACT) : NULL;
	json_decref(root);
	if (!line) {
		return err_set(e, -EINVAL,
			       "the plan cannot be written as JSON: are all of its "
			       "texts UTF-8?");
	}
	*ret = line;
	return 0;
}

/**
 * plan_whole_line() - write a plan without saying which shard it is of
 * @p: the plan
 * @ret: set on success: equal for the shards of one comparison, and the line of a whole one
 * @e: set on failure
 *
 * Return: as plan_line().
 * Context: any thread.
 */
int plan_whole_line(const struct plan *p, char **ret, struct err *e)
{
	struct plan whole = *p;

	whole.shard = 0;
	whole.shards = 0;
	return plan_line(&whole, ret, e);
}

static int get_number(const json_t *o, const char *key, uint64_t max, uint64_t *ret, struct err *e)
{
	const json_t *v = json_object_get(o, key);

	if (!json_is_integer(v) || json_integer_value(v) < 0 ||
	    (uint64_t)json_integer_value(v) > max) {
		return err_set(e, -EBADMSG, "the plan's '%s' is not a number from 0 to %" PRIu64,
			       key, max);
	}
	*ret = (uint64_t)json_integer_value(v);
	return 0;
}

static int get_text(const json_t *o, const char *key, char **ret, struct err *e)
{
	const char *s = json_string_value(json_object_get(o, key));

	if (!s) {
		return err_set(e, -EBADMSG, "the plan's '%s' is not a text", key);
	}
	*ret = strdup(s);
	return *ret ? 0 : err_set(e, -ENOMEM, "out of memory");
}

/* The same, where null stands for none. */
static int get_text_or_null(const json_t *o, const char *key, char **ret, struct err *e)
{
	const json_t *v = json_object_get(o, key);

	return !v || json_is_null(v) ? 0 : get_text(o, key, ret, e);
}

static int arm_from_json(const json_t *o, struct plan_arm *a, struct err *e)
{
	const char *sha256 = json_string_value(json_object_get(o, "sha256"));
	const json_t *task = json_object_get(o, "task");
	int r = get_text_or_null(o, "name", &a->name, e);

	if (r == 0) {
		r = get_text(o, "kernel", &a->arm.kernel, e);
	}
	if (r == 0) {
		r = get_text(o, "append", &a->arm.append, e);
	}
	if (r == 0) {
		r = get_text_or_null(o, "cpu", &a->arm.cpu, e);
	}
	if (r == 0 && task && !json_is_null(task) &&
	    (!json_is_string(task) || arm_task_parse(json_string_value(task), &a->arm.task) < 0)) {
		r = err_set(e, -EBADMSG, "the plan's 'task' is no kind of task");
	}
	if (r == 0 && (!sha256 || strlen(sha256) != PLAN_SHA256_HEX)) {
		r = err_set(e, -EBADMSG, "the plan's 'sha256' is no SHA-256");
	}
	if (r == 0) {
		memcpy(a->sha256, sha256, PLAN_SHA256_HEX + 1);
	}
	return r;
}

static int benches_from_json(const json_t *array, benchmark_set *ret, struct err *e)
{
	benchmark_set set = 0;
	const json_t *v;
	size_t i;

	json_array_foreach (array, i, v) {
		benchmark_set one;
		int r = benchmarks_parse(json_is_string(v) ? json_string_value(v) : "", &one, e);

		if (r < 0) {
			return r;
		}
		set |= one;
	}
	*ret = set;
	return set ? 0 : err_set(e, -EBADMSG, "the plan names no benchmarks");
}

/* An array of the right length under a key, and memory for its elements. */
static int get_array(const json_t *o, const char *key, size_t least, size_t most, size_t bytes,
		     const json_t **ret_array, void *ret_memory, struct err *e)
{
	const json_t *array = json_object_get(o, key);
	size_t n = json_array_size(array);
	void *memory;

	if (!json_is_array(array) || n < least || n > most) {
		return err_set(e, -EBADMSG, "the plan's '%s' is not a list of %zu to %zu", key,
			       least, most);
	}
	memory = calloc(n + 1, bytes);
	if (!memory) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	*ret_array = array;
	*(void **)ret_memory = memory;
	return 0;
}

static int margin_from_json(const json_t *o, struct margin *ret, struct err *e)
{
	const json_t *benches = json_object_get(o, "benchmarks");
	const char *text = json_string_value(json_object_get(o, "margin"));
	int r = text ? margin_parse(text, ret, e)
		     : err_set(e, -EBADMSG, "the plan's 'margin' is not a text");

	return r < 0 || json_is_null(benches) ? r : benches_from_json(benches, &ret->benches, e);
}

static int margins_from_json(const json_t *o, struct plan_group *g, struct err *e)
{
	const json_t *array;
	int r = 0;

	if (!json_object_get(o, "margins")) {
		return 0;
	}
	r = get_array(o, "margins", 1, PLAN_MARGINS_MAX, sizeof(*g->margins), &array, &g->margins,
		      e);
	for (size_t n = r == 0 ? json_array_size(array) : 0; r == 0 && g->margin_count < n;) {
		r = margin_from_json(json_array_get(array, g->margin_count),
				     &g->margins[g->margin_count], e);
		g->margin_count++;
	}
	return r;
}

static int group_from_json(const json_t *o, struct plan_group *g, struct err *e)
{
	const json_t *array;
	uint64_t blocks;
	int r = get_text_or_null(o, "name", &g->name, e);

	if (r == 0) {
		r = get_number(o, "blocks", SCHEDULE_BLOCKS_MAX, &blocks, e);
	}
	if (r == 0) {
		g->blocks = (unsigned int)blocks;
		r = benches_from_json(json_object_get(o, "benchmarks"), &g->benches, e);
	}
	if (r == 0) {
		r = get_array(o, "arms", 2, SCHEDULE_ARMS_MAX, sizeof(*g->arms), &array, &g->arms,
			      e);
	}
	for (size_t n = r == 0 ? json_array_size(array) : 0; r == 0 && g->arm_count < n;) {
		/* Counted first: an arm that is half read is freed too. */
		size_t i = g->arm_count++;

		r = arm_from_json(json_array_get(array, i), &g->arms[i], e);
	}
	if (r == 0) {
		r = get_array(o, "claims", 0, PLAN_CLAIMS_MAX, sizeof(*g->claims), &array,
			      &g->claims, e);
	}
	for (size_t n = r == 0 ? json_array_size(array) : 0; r == 0 && g->claim_count < n;) {
		struct claim *c = &g->claims[g->claim_count];

		r = claim_from_json(json_array_get(array, g->claim_count), c, e);
		if (r == 0) {
			g->claim_count++;
			if (c->arm >= g->arm_count || (c->arm == ARM_A && !c->against)) {
				r = err_set(e, -EBADMSG,
					    "a claim's arm is none that its group compares");
			}
		}
	}
	return r < 0 ? r : margins_from_json(o, g, e);
}

/* Which shard it is, where it is one. */
static int shard_from_json(const json_t *root, struct plan *p, struct err *e)
{
	uint64_t shard, shards;
	int r;

	if (!json_object_get(root, "shards") && !json_object_get(root, "shard")) {
		return 0;
	}
	r = get_number(root, "shards", PLAN_SHARDS_MAX, &shards, e);
	if (r == 0) {
		r = get_number(root, "shard", shards, &shard, e);
	}
	if (r == 0 && shard == 0) {
		r = err_set(e, -EBADMSG, "the plan's 'shard' is not a number from 1 to %" PRIu64,
			    shards);
	}
	if (r == 0) {
		p->shard = (unsigned int)shard;
		p->shards = (unsigned int)shards;
	}
	return r;
}

/* The numbers, each within the limits that the options have too. */
static int numbers_from_json(const json_t *root, struct plan *p, struct err *e)
{
	uint64_t batches = 0, warmup = 0, icount = 0;
	int r = get_number(root, "timeout_ns", PLAN_SEED_MAX, &p->timeout_ns, e);

	if (r == 0) {
		r = get_number(root, "seed", PLAN_SEED_MAX, &p->seed, e);
	}
	if (r == 0) {
		r = get_number(root, "batches", PLAN_BATCHES_MAX, &batches, e);
	}
	if (r == 0) {
		r = get_number(root, "warmup", PLAN_BATCHES_MAX, &warmup, e);
	}
	p->icount = PLAN_NO_ICOUNT;
	if (r == 0 && !json_is_null(json_object_get(root, "icount"))) {
		r = get_number(root, "icount", 10, &icount, e);
		p->icount = (int)icount;
	}
	if (r == 0 && batches == 0) {
		r = err_set(e, -EBADMSG, "the plan has no batches");
	}
	p->batches = (unsigned int)batches;
	p->warmup = (unsigned int)warmup;
	p->aa = json_is_true(json_object_get(root, "aa"));
	p->matrix = json_is_true(json_object_get(root, "matrix"));
	return r;
}

/* Where there is none the number of blocks was given. */
static int sizing_from_json(const json_t *o, struct plan_sizing *ret, struct err *e)
{
	uint64_t blocks = 0;
	char *key = NULL;
	int r = get_text(o, "by", &ret->by, e);

	if (r == 0) {
		r = get_text(o, "pilot", &key, e);
	}
	if (r == 0) {
		r = get_number(o, "pilot_blocks", SCHEDULE_BLOCKS_MAX, &blocks, e);
	}
	if (r == 0 && strlen(key) != PLAN_KEY_HEX) {
		r = err_set(e, -EBADMSG, "the plan's 'pilot' is not the key of a plan");
	}
	if (r == 0) {
		memcpy(ret->pilot, key, PLAN_KEY_HEX + 1);
		ret->pilot_blocks = (unsigned int)blocks;
	}
	free(key);
	return r;
}

static int check_version(const json_t *root, struct err *e)
{
	const json_t *version = json_object_get(root, "schema_version");
	const char *type = json_string_value(json_object_get(root, "type"));
	json_int_t v;

	if (!json_is_integer(version) || !type || strcmp(type, "plan") != 0) {
		return err_set(e, -EBADMSG, "not the plan of a comparison");
	}
	v = json_integer_value(version);
	if (v != RESULTS_SCHEMA_VERSION) {
		return err_set(e, -EPROTO,
			       "schema version %" JSON_INTEGER_FORMAT " is %s than the %d this "
			       "ringside reads: use the one that wrote it",
			       v, v > RESULTS_SCHEMA_VERSION ? "newer" : "older",
			       RESULTS_SCHEMA_VERSION);
	}
	return 0;
}

static int from_json(const json_t *root, struct plan *p, struct err *e)
{
	const json_t *groups, *sizing = json_object_get(root, "sizing");
	int r = check_version(root, e);

	if (r == 0) {
		r = numbers_from_json(root, p, e);
	}
	if (r == 0) {
		r = shard_from_json(root, p, e);
	}
	if (r == 0) {
		r = get_text(root, "ringside", &p->ringside_version, e);
	}
	if (r == 0) {
		r = get_text(root, "backend", &p->backend, e);
	}
	if (r == 0) {
		r = get_text_or_null(root, "title", &p->title, e);
	}
	if (r == 0) {
		r = get_text_or_null(root, "runner", &p->runner, e);
	}
	p->pilot = json_is_true(json_object_get(root, "pilot"));
	if (r == 0 && sizing) {
		r = sizing_from_json(sizing, &p->size, e);
	}
	if (r == 0) {
		r = get_array(root, "groups", 1, SCHEDULE_GROUPS_MAX, sizeof(*p->groups), &groups,
			      &p->groups, e);
	}
	for (size_t n = r == 0 ? json_array_size(groups) : 0; r == 0 && p->group_count < n;) {
		size_t i = p->group_count++;

		r = group_from_json(json_array_get(groups, i), &p->groups[i], e);
	}
	return r < 0 ? r : plan_make_schedule(p, e);
}

/**
 * plan_parse() - read a plan from the first line of a results file
 * @line: the line
 * @len: its length, bytes
 * @ret: set on success; end it with plan_fini()
 * @e: set on failure
 *
 * The schedule is drawn again from the seed and must be the one that was written.
 *
 * Return: 0, -EBADMSG for what is no plan, -EPROTO for one of a newer schema, -EINVAL for unknown
 * benchmarks, -ENOMEM.
 * Context: any thread.
 */
int plan_parse(const char *line, size_t len, struct plan *ret, struct err *e)
{
	struct plan p = {0};
	json_error_t je;
	json_t *root = json_loadb(line, len, JSON_REJECT_DUPLICATES, &je);
	json_t *boots = NULL;
	int r;

	if (!json_is_object(root)) {
		r = err_set(e, -EBADMSG, "not the plan of a comparison");
	} else {
		r = from_json(root, &p, e);
	}
	if (r == 0) {
		boots = boots_to_json(&p);
		if (!json_equal(boots, json_object_get(root, "boots"))) {
			r = err_set(e, -EBADMSG,
				    "the order of the boots is not the one that seed "
				    "%" PRIu64 " gives",
				    p.seed);
		}
	}
	json_decref(boots);
	json_decref(root);
	if (r < 0) {
		plan_fini(&p);
		return r;
	}
	*ret = p;
	return 0;
}
