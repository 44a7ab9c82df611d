/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See plan.h. Any thread. */
#include "engine/plan.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <sha2.h>
#include <stdio.h>
#include <string.h>

#include "samples/results.h"

static json_t *arm_to_json(const struct plan_arm *a)
{
	/* "task" only where there is one: a plan without is written as ever. */
	return json_pack("{s:s, s:s, s:s, s:s*}", "kernel", a->arm.kernel, "append", a->arm.append,
			 "sha256", a->sha256, "task", arm_task_name(a->arm.task));
}

static json_t *benches_to_json(benchmark_set set)
{
	json_t *array = json_array();

	for (size_t i = 0; i < benchmark_count(); i++) {
		if ((set & benchmark_bit(i)) &&
		    json_array_append_new(array, json_string(benchmark_name(i))) < 0) {
			json_decref(array);
			return NULL;
		}
	}
	return array;
}

static json_t *boots_to_json(const struct plan *p)
{
	json_t *array = json_array();

	for (size_t i = 0; i < p->boot_count; i++) {
		const struct schedule_boot *b = &p->boots[i];
		json_t *boot = json_pack("{s:I, s:s, s:I, s:I, s:I}", "block", (json_int_t)b->block,
					 "arm", arm_name(b->arm), "seed", (json_int_t)b->seed,
					 "stack_bytes", (json_int_t)b->stack_bytes, "env_bytes",
					 (json_int_t)b->env_bytes);

		if (json_array_append_new(array, boot) < 0) {
			json_decref(array);
			return NULL;
		}
	}
	return array;
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
		"{s:i, s:s, s:s, s:s?, s:s, s:o, s:I, s:b, s:I, s:I, s:I, s:I, s:o, s:{s:o, s:o}, "
		"s:o}",
		"schema_version", RESULTS_SCHEMA_VERSION, "type", "plan", "ringside",
		p->ringside_version, "runner", p->runner, "backend", p->backend, "icount",
		p->icount == PLAN_NO_ICOUNT ? json_null() : json_integer(p->icount), "timeout_ns",
		(json_int_t)p->timeout_ns, "aa", (int)p->aa, "seed", (json_int_t)p->seed, "blocks",
		(json_int_t)p->blocks, "batches", (json_int_t)p->batches, "warmup",
		(json_int_t)p->warmup, "benchmarks", benches_to_json(p->benches), "arms", "a",
		arm_to_json(&p->arms[ARM_A]), "b", arm_to_json(&p->arms[ARM_B]), "boots",
		boots_to_json(p));
	char *line = root ? json_dumps(root, JSON_COMPACT) : NULL;

	json_decref(root);
	if (!line) {
		return err_set(e, -EINVAL,
			       "the plan cannot be written as JSON: are all of its "
			       "texts UTF-8?");
	}
	*ret = line;
	return 0;
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

static int arm_from_json(const json_t *o, struct plan_arm *a, struct err *e)
{
	const char *sha256 = json_string_value(json_object_get(o, "sha256"));
	const json_t *task = json_object_get(o, "task");
	int r = get_text(o, "kernel", &a->arm.kernel, e);

	if (r == 0) {
		r = get_text(o, "append", &a->arm.append, e);
	}
	if (r == 0 && task &&
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

/* The numbers, each within the limits that the options have too. */
static int numbers_from_json(const json_t *root, struct plan *p, struct err *e)
{
	uint64_t blocks = 0, batches = 0, warmup = 0, icount = 0;
	int r = get_number(root, "timeout_ns", PLAN_SEED_MAX, &p->timeout_ns, e);

	if (r == 0) {
		r = get_number(root, "seed", PLAN_SEED_MAX, &p->seed, e);
	}
	if (r == 0) {
		r = get_number(root, "blocks", SCHEDULE_BLOCKS_MAX, &blocks, e);
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
	if (r == 0 && (blocks == 0 || batches == 0)) {
		r = err_set(e, -EBADMSG, "the plan has no blocks or no batches");
	}
	p->blocks = (unsigned int)blocks;
	p->batches = (unsigned int)batches;
	p->warmup = (unsigned int)warmup;
	p->aa = json_is_true(json_object_get(root, "aa"));
	return r;
}

static int from_json(const json_t *root, struct plan *p, struct err *e)
{
	const json_t *version = json_object_get(root, "schema_version");
	const char *type = json_string_value(json_object_get(root, "type"));
	const json_t *arms = json_object_get(root, "arms");
	int r;

	if (!json_is_integer(version) || !type || strcmp(type, "plan") != 0) {
		return err_set(e, -EBADMSG, "not the plan of a comparison");
	}
	if (json_integer_value(version) > RESULTS_SCHEMA_VERSION) {
		return err_set(e, -EPROTO,
			       "schema version %" JSON_INTEGER_FORMAT " is newer than the %d this "
			       "ringside reads: use the one that wrote it",
			       json_integer_value(version), RESULTS_SCHEMA_VERSION);
	}
	r = numbers_from_json(root, p, e);
	if (r == 0) {
		r = get_text(root, "ringside", &p->ringside_version, e);
	}
	if (r == 0) {
		r = get_text(root, "backend", &p->backend, e);
	}
	if (r == 0 && !json_is_null(json_object_get(root, "runner"))) {
		r = get_text(root, "runner", &p->runner, e);
	}
	if (r == 0) {
		r = benches_from_json(json_object_get(root, "benchmarks"), &p->benches, e);
	}
	if (r == 0) {
		r = arm_from_json(json_object_get(arms, "a"), &p->arms[ARM_A], e);
	}
	if (r == 0) {
		r = arm_from_json(json_object_get(arms, "b"), &p->arms[ARM_B], e);
	}
	if (r == 0 && schedule_make(p->seed, p->blocks, &p->boots) < 0) {
		r = err_set(e, -ENOMEM, "out of memory");
	}
	p->boot_count = (size_t)p->blocks * SCHEDULE_BLOCK_BOOTS;
	return r;
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

static const char *dump(const json_t *v, char **ret)
{
	*ret = v ? json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
	return *ret ? *ret : "nothing";
}

/**
 * plan_check_same() - whether results are of this plan
 * @wanted: the plan line of now
 * @found: the plan line of the results
 * @e: set on failure, names the first difference and both values
 *
 * Return: 0, or -EEXIST when they differ.
 * Context: any thread.
 */
int plan_check_same(const char *wanted, const char *found, struct err *e)
{
	json_t *w, *f, *value;
	const char *key;
	int r;

	if (strcmp(wanted, found) == 0) {
		return 0;
	}
	w = json_loads(wanted, 0, NULL);
	f = json_loads(found, 0, NULL);
	r = err_set(e, -EEXIST, "these results are of another plan");
	json_object_foreach (w, key, value) {
		const json_t *other = json_object_get(f, key);

		if (!json_equal(value, other)) {
			_cleanup_free_ char *a = NULL;
			_cleanup_free_ char *b = NULL;

			r = err_set(e, -EEXIST,
				    "these results are of another plan: its %s is %.300s, not "
				    "%.300s",
				    key, dump(other, &a), dump(value, &b));
			break;
		}
	}
	json_decref(w);
	json_decref(f);
	return r;
}

static void to_hex(const uint8_t *digest, size_t n, char *ret_hex)
{
	for (size_t i = 0; i < n; i++) {
		sprintf(ret_hex + 2 * i, "%02x", digest[i]);
	}
}

/**
 * plan_key() - a short name for a plan: the beginning of its line's SHA-256
 * @line: the plan line
 * @ret_hex: set, with a NUL
 * @len: size of @ret_hex, 3 to PLAN_SHA256_HEX + 1
 *
 * Context: any thread.
 */
void plan_key(const char *line, char *ret_hex, size_t len)
{
	uint8_t digest[SHA256_DIGEST_LENGTH];
	SHA2_CTX ctx;

	SHA256Init(&ctx);
	SHA256Update(&ctx, (const uint8_t *)line, strlen(line));
	SHA256Final(digest, &ctx);
	to_hex(digest, (len - 1) / 2, ret_hex);
}

/**
 * plan_fini() - free what a plan holds
 * @p: the plan; all zero or half built is fine
 *
 * Context: any thread.
 */
void plan_fini(struct plan *p)
{
	free(p->ringside_version);
	free(p->runner);
	free(p->backend);
	free(p->boots);
	for (size_t i = 0; i < ARM_COUNT; i++) {
		arm_fini(&p->arms[i].arm);
	}
	*p = (struct plan){0};
}
