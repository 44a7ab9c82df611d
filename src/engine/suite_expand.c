/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See suite.h: from a suite to the cases of a run. Pure. */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/rng.h"
#include "engine/suite_filter.h"
#include "engine/suite_priv.h"
#include "samples/test_plan.h"

/**
 * suite_matrix_size() - how many combinations a matrix has, the excluded ones counted
 * @m: the matrix; each axis has at most 2^12 values
 *
 * Return: the number.
 * Context: any thread.
 */
uint64_t suite_matrix_size(const struct suite_matrix *m)
{
	return (uint64_t)m->kernels.n * m->cpu.n * m->cpus.n * m->memory.n * m->append.n;
}

static size_t take_digit(uint64_t *i, size_t n)
{
	size_t digit = (size_t)(*i % n);

	*i /= n;
	return digit;
}

/**
 * suite_matrix_at() - one combination of a matrix
 * @m: the matrix
 * @i: its number, below suite_matrix_size(); the last axis turns fastest
 * @ret: its axes are set, nothing else
 *
 * Context: any thread.
 */
void suite_matrix_at(const struct suite_matrix *m, uint64_t i, struct suite_case *ret)
{
	ret->append = m->append.v[take_digit(&i, m->append.n)];
	ret->memory_bytes = m->memory.v[take_digit(&i, m->memory.n)];
	ret->cpus = m->cpus.v[take_digit(&i, m->cpus.n)];
	ret->cpu = m->cpu.v[take_digit(&i, m->cpu.n)];
	ret->kernel = m->kernels.v[take_digit(&i, m->kernels.n)];
}

static bool same_or_any(const char *wanted, const char *v)
{
	return !wanted || (v && strcmp(wanted, v) == 0);
}

/**
 * suite_exclude_matches() - whether a combination is not to be run
 * @x: what is excluded
 * @c: the combination
 *
 * Return: true when all that @x says is so.
 * Context: any thread.
 */
bool suite_exclude_matches(const struct suite_exclude *x, const struct suite_case *c)
{
	return same_or_any(x->kernel, c->kernel) && same_or_any(x->cpu, c->cpu) &&
	       same_or_any(x->append, c->append) && (!x->cpus || x->cpus == c->cpus) &&
	       (!x->memory_bytes || x->memory_bytes == c->memory_bytes);
}

/**
 * suite_size() - write a size as it can be read again, shortly
 * @bytes: the size
 * @buf: room for the text
 * @len: size of @buf, SUITE_SIZE_MAX is enough
 *
 * Return: @buf.
 * Context: any thread.
 */
const char *suite_size(uint64_t bytes, char *buf, size_t len)
{
	static const char units[] = "BKMGT";
	size_t u = 0;

	while (units[u + 1] && bytes && bytes % 1024 == 0) {
		bytes /= 1024;
		u++;
	}
	snprintf(buf, len, "%" PRIu64 "%c", bytes, units[u]);
	return buf;
}

/* The axes that tell this case from the others of its test. */
static void write_axes(FILE *f, const struct suite_matrix *m, const struct suite_case *c)
{
	const char *sep = "[";
	char size[SUITE_SIZE_MAX];

	if (m->kernels.n > 1) {
		fprintf(f, "%skernel=%s", sep, c->kernel);
		sep = ",";
	}
	if (m->cpu.n > 1) {
		fprintf(f, "%scpu=%s", sep, c->cpu);
		sep = ",";
	}
	if (m->cpus.n > 1) {
		fprintf(f, "%scpus=%" PRIu64, sep, c->cpus);
		sep = ",";
	}
	if (m->memory.n > 1) {
		fprintf(f, "%smemory=%s", sep, suite_size(c->memory_bytes, size, sizeof(size)));
		sep = ",";
	}
	if (m->append.n > 1) {
		fprintf(f, "%sappend=%s", sep, c->append);
		sep = ",";
	}
	if (*sep == ',') {
		fprintf(f, "]");
	}
}

static int make_id(const struct suite_matrix *m, struct suite_case *c)
{
	size_t len;
	FILE *f = open_memstream(&c->id, &len);

	if (!f) {
		return -ENOMEM;
	}
	fprintf(f, "%s", c->test->name);
	write_axes(f, m, c);
	if (c->repeat > 1) {
		fprintf(f, "#%u", c->repeat);
	}
	if (fclose(f) != 0) {
		free(c->id);
		c->id = NULL;
		return -ENOMEM;
	}
	return 0;
}

struct expansion {
	const struct suite *suite;
	struct suite_filter *filter; /* NULL: all */
	struct suite_plan *plan;
	size_t room;
};

static int add_case(struct expansion *x, struct suite_case *c)
{
	if (x->plan->count == x->room) {
		size_t room = x->room ? 2 * x->room : 64;
		struct suite_case *more = realloc(x->plan->cases, room * sizeof(*more));

		if (!more) {
			return -ENOMEM;
		}
		x->plan->cases = more;
		x->room = room;
	}
	x->plan->cases[x->plan->count++] = *c;
	return 0;
}

static bool is_excluded(const struct suite_matrix *m, const struct suite_case *c)
{
	for (size_t i = 0; i < m->exclude_count; i++) {
		if (suite_exclude_matches(&m->excludes[i], c)) {
			return true;
		}
	}
	return false;
}

static int expand_entry(struct expansion *x, const struct suite_entry *entry, unsigned int repeat)
{
	uint64_t n = suite_matrix_size(&entry->matrix);

	for (uint64_t i = 0; i < n; i++) {
		struct suite_case c = {.test = &entry->test, .repeat = repeat};
		int code;

		suite_matrix_at(&entry->matrix, i, &c);
		if (is_excluded(&entry->matrix, &c)) {
			continue;
		}
		code = make_id(&entry->matrix, &c);
		if (code == 0 && x->filter && !suite_filter_takes(x->filter, &c)) {
			free(c.id);
			continue;
		}
		if (code == 0) {
			code = add_case(x, &c);
		}
		if (code < 0) {
			free(c.id);
			return code;
		}
	}
	return 0;
}

/* Of the whole order each shard takes every shards-th case, so no seed can part them wrongly. */
static void keep_shard(struct suite_plan *p, unsigned int shard, unsigned int shards)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->count; i++) {
		if (test_plan_shard_of(i, shards) == shard) {
			p->cases[kept++] = p->cases[i];
		} else {
			free(p->cases[i].id);
		}
	}
	p->count = kept;
}

static void shuffle(struct suite_plan *p, uint64_t seed)
{
	struct rng rng;

	rng_init(&rng, seed);
	for (size_t i = 0; i + 1 < p->count; i++) {
		size_t j = i + (size_t)rng_below(&rng, p->count - i);
		struct suite_case c = p->cases[i];

		p->cases[i] = p->cases[j];
		p->cases[j] = c;
	}
}

static uint64_t cases_of(const struct suite *s)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s->count; i++) {
		n += suite_matrix_size(&s->entries[i].matrix);
	}
	return n;
}

static int check_select(const struct suite *s, const struct suite_select *sel, struct err *e)
{
	if (sel->repeat > SUITE_REPEAT_MAX || cases_of(s) * sel->repeat > SUITE_PLAN_MAX) {
		return err_set(e, -EINVAL,
			       "%u repetitions of %" PRIu64 " cases: at most %u of each and %u in "
			       "all are taken",
			       sel->repeat, cases_of(s), SUITE_REPEAT_MAX, SUITE_PLAN_MAX);
	}
	if (sel->shards && (sel->shard < 1 || sel->shard > sel->shards)) {
		return err_set(e, -EINVAL, "there is no shard %u of %u: they are 1 to %u",
			       sel->shard, sel->shards, sel->shards);
	}
	return 0;
}

static int expand_all(struct expansion *x, const struct suite_select *sel, struct err *e)
{
	const struct suite *s = x->suite;
	unsigned int repeats = sel->repeat ? sel->repeat : 1;
	int code = 0;

	for (unsigned int k = 1; code == 0 && k <= repeats; k++) {
		for (size_t i = 0; code == 0 && i < s->count; i++) {
			code = expand_entry(x, &s->entries[i], k);
		}
	}
	if (code < 0) {
		return err_set(e, code, "out of memory");
	}
	if (x->filter) {
		code = suite_filter_check(x->filter, s, e);
	}
	if (code == 0 && x->plan->count == 0) {
		code = err_set(e, -EINVAL, "the filter '%s' takes none of the cases", sel->filter);
	}
	if (code == 0 && sel->shards) {
		keep_shard(x->plan, sel->shard, sel->shards);
	}
	if (code == 0 && sel->shuffle) {
		shuffle(x->plan, sel->seed);
	}
	return code;
}

/**
 * suite_expand() - the cases of a run, in order
 * @s: the suite; must outlive the plan
 * @sel: which of them, and in which order
 * @ret: set on success; end it with suite_plan_fini(). Only a shard can be empty
 * @e: set on failure; of a filter with the column
 *
 * The shards of one selection have no case in common and are all cases together, whatever each
 * one's seed. Repetitions come round by round.
 *
 * Return: 0; -EINVAL for a filter that is wrong or takes no case, a shard that is none, or more
 * than SUITE_PLAN_MAX cases; -ENOMEM.
 * Context: any thread.
 */
int suite_expand(const struct suite *s, const struct suite_select *sel, struct suite_plan *ret,
		 struct err *e)
{
	_cleanup_(suite_filter_destroy_p) struct suite_filter *filter = NULL;
	struct suite_plan plan = {0};
	struct expansion x = {.suite = s, .plan = &plan};
	int code = check_select(s, sel, e);

	if (code == 0 && sel->filter) {
		code = suite_filter_parse(sel->filter, &filter, e);
		x.filter = filter;
	}
	if (code == 0) {
		code = expand_all(&x, sel, e);
	}
	if (code < 0) {
		suite_plan_fini(&plan);
		return code;
	}
	*ret = plan;
	return 0;
}

/**
 * suite_plan_fini() - free the cases of a plan
 * @p: the plan; all zero is fine
 *
 * Context: any thread.
 */
void suite_plan_fini(struct suite_plan *p)
{
	for (size_t i = 0; i < p->count; i++) {
		free(p->cases[i].id);
	}
	free(p->cases);
	*p = (struct suite_plan){0};
}
