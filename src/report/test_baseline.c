/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See test_baseline.h. Any thread. */
#include "report/test_baseline.h"

#include <errno.h>
#include <string.h>

/* A result, or a case that has none, under its id without the repetition. */
struct entry {
	const char *id;
	size_t len;
	const struct test_result *result;
};

/* The repetitions of one case. */
struct group {
	const struct entry *first;
	size_t n; /* 0: the case is not there */
};

enum state { ABSENT, BROKEN, KNOWN, FLAKY, SKIPPED, PASSED };

/* The length of an id without any "#2" behind it. */
static size_t base_length(const char *id)
{
	size_t len = strlen(id);

	for (;;) {
		size_t digits = len;

		while (digits > 0 && id[digits - 1] >= '0' && id[digits - 1] <= '9') {
			digits--;
		}
		if (digits == len || digits < 2 || id[digits - 1] != '#') {
			return len;
		}
		len = digits - 1;
	}
}

static int compare_ids(const struct entry *a, const struct entry *b)
{
	size_t len = a->len < b->len ? a->len : b->len;
	int r = memcmp(a->id, b->id, len);

	return r ? r : (a->len > b->len) - (a->len < b->len);
}

static int by_id(const void *a, const void *b)
{
	return compare_ids(a, b);
}

static struct entry *sort_entries(const struct test_report *t)
{
	struct entry *list = calloc(t->count + t->missing_count + 1, sizeof(*list));

	for (size_t i = 0; list && i < t->count; i++) {
		const char *id = t->results[i]->id;

		list[i] = (struct entry){id, base_length(id), t->results[i]};
	}
	for (size_t i = 0; list && i < t->missing_count; i++) {
		list[t->count + i] =
			(struct entry){t->missing[i], base_length(t->missing[i]), NULL};
	}
	if (list) {
		qsort(list, t->count + t->missing_count, sizeof(*list), by_id);
	}
	return list;
}

static struct group group_at(const struct entry *list, size_t n)
{
	struct group g = {list, n > 0};

	while (g.n > 0 && g.n < n && compare_ids(list, &list[g.n]) == 0) {
		g.n++;
	}
	return g;
}

static enum state state_of(const struct group *g)
{
	size_t by_verdict[TEST_VERDICT_COUNT] = {0};

	for (size_t i = 0; i < g->n; i++) {
		const struct test_result *r = g->first[i].result;

		if (!r || r->verdict == TEST_NOT_OK) {
			return BROKEN;
		}
		by_verdict[r->verdict]++;
	}
	return g->n == 0                          ? ABSENT
	       : by_verdict[TEST_KNOWN] > 0       ? KNOWN
	       : by_verdict[TEST_FLAKY] > 0       ? FLAKY
	       : by_verdict[TEST_SKIPPED] == g->n ? SKIPPED
						  : PASSED;
}

/* The result that says most of a group: one that is not ok, or flaky. */
static const struct test_result *worst_of(const struct group *g)
{
	static const int rank[TEST_VERDICT_COUNT] = {
		[TEST_NOT_OK] = 4,
		[TEST_FLAKY] = 3,
		[TEST_KNOWN] = 2,
		[TEST_SKIPPED] = 1,
	};
	const struct test_result *worst = NULL;

	for (size_t i = 0; i < g->n; i++) {
		const struct test_result *r = g->first[i].result;

		if (r && (!worst || rank[r->verdict] > rank[worst->verdict])) {
			worst = r;
		}
	}
	return worst;
}

static bool is_plain_pass(const struct test_result *r)
{
	return r && r->verdict == TEST_OK && r->outcome == TEST_PASS && r->attempts <= 1;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static int times_of(const struct group *g, struct test_times *ret)
{
	_cleanup_free_ uint64_t *ns = calloc(g->n + 1, sizeof(*ns));
	size_t n = 0;

	*ret = (struct test_times){.n = 0};
	if (!ns) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < g->n; i++) {
		if (is_plain_pass(g->first[i].result)) {
			ns[n++] = g->first[i].result->duration_ns;
		}
	}
	if (n > 0) {
		qsort(ns, n, sizeof(*ns), by_value);
		*ret = (struct test_times){n, ns[0], ns[n / 2] / 2 + ns[(n - 1) / 2] / 2,
					   ns[n - 1]};
	}
	return 0;
}

/* Times of different machines say nothing of a change. */
static bool same_machine(const struct group *a, const struct group *b)
{
	const struct test_result *x = worst_of(a);
	const struct test_result *y = worst_of(b);

	return x && y && strcmp(x->backend, y->backend) == 0 && x->has_class == y->has_class &&
	       (!x->has_class || x->exec_class == y->exec_class);
}

static bool is_slower(const struct test_times *before, const struct test_times *after)
{
	return before->n >= TEST_BASELINE_RUNS && after->n >= TEST_BASELINE_RUNS &&
	       after->low_ns > before->high_ns &&
	       (double)after->median_ns >
		       (double)before->median_ns * (100 + TEST_BASELINE_PERCENT) / 100;
}

/* What has changed of a case; TEST_CHANGE_COUNT: nothing. */
static enum test_change_kind kind_of(enum state then, enum state now)
{
	switch (now) {
	case ABSENT:
		return TEST_CHANGE_VANISHED;
	case BROKEN:
		return then == BROKEN ? TEST_CHANGE_COUNT : TEST_CHANGE_BROKEN;
	case KNOWN:
		return then == BROKEN || then == KNOWN ? TEST_CHANGE_COUNT : TEST_CHANGE_BROKEN;
	case FLAKY:
		return then == PASSED || then == SKIPPED || then == ABSENT ? TEST_CHANGE_FLAKY
									   : TEST_CHANGE_COUNT;
	case SKIPPED:
		return then == SKIPPED  ? TEST_CHANGE_COUNT
		       : then == ABSENT ? TEST_CHANGE_NEW
					: TEST_CHANGE_SKIPPED;
	case PASSED:
		break;
	}
	return then == ABSENT                    ? TEST_CHANGE_NEW
	       : then == BROKEN || then == KNOWN ? TEST_CHANGE_FIXED
						 : TEST_CHANGE_COUNT;
}

static int add(struct test_baseline *b, const struct test_change *change, const char *id,
	       size_t len)
{
	struct test_change *to;

	if (b->count == b->room) {
		size_t room = b->room ? 2 * b->room : 16;
		struct test_change *more = realloc(b->changes, room * sizeof(*more));

		if (!more) {
			return -ENOMEM;
		}
		b->changes = more;
		b->room = room;
	}
	to = &b->changes[b->count];
	*to = *change;
	to->id = strndup(id, len);
	if (!to->id) {
		return -ENOMEM;
	}
	b->count++;
	b->by_kind[change->kind]++;
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Names of the results inside a case that are not ok, sorted. */
static int failed_names(const struct test_result *r, const char ***ret, size_t *ret_count)
{
	const char **names = calloc(r->sub_count + 1, sizeof(*names));

	if (!names) {
		return -ENOMEM;
	}
	*ret_count = 0;
	for (size_t i = 0; i < r->sub_count; i++) {
		if (r->subs[i].verdict == TEST_NOT_OK) {
			names[(*ret_count)++] = r->subs[i].name;
		}
	}
	qsort(names, *ret_count, sizeof(*names), by_name);
	*ret = names;
	return 0;
}

/* What fails in a case that failed before, and did not then. */
static int judge_subs(struct test_baseline *b, const struct test_result *then,
		      const struct test_result *now, const struct entry *any)
{
	_cleanup_free_ const char **failed = NULL;
	struct test_change c = {.kind = TEST_CHANGE_BROKEN, .now = now};
	size_t n = 0;
	int r = 0;

	/* Without a report of its parts then, all would be new. */
	if (!then || !now || then->sub_count == 0) {
		return 0;
	}
	r = failed_names(then, &failed, &n);
	for (size_t i = 0; r == 0 && i < now->sub_count; i++) {
		const char *name = now->subs[i].name;

		if (now->subs[i].verdict == TEST_NOT_OK &&
		    !bsearch(&name, failed, n, sizeof(*failed), by_name)) {
			c.sub = &now->subs[i];
			r = add(b, &c, any->id, any->len);
		}
	}
	return r;
}

static int judge(struct test_baseline *b, const struct group *then, const struct group *now)
{
	const struct entry *any = now->n ? now->first : then->first;
	enum state was = state_of(then), is = state_of(now);
	struct test_change c = {.kind = kind_of(was, is), .now = worst_of(now)};
	int r = times_of(then, &c.before);

	r = r < 0 ? r : times_of(now, &c.after);
	if (r < 0) {
		return r;
	}
	if (was == BROKEN && is == BROKEN) {
		c.kind = TEST_CHANGE_NONE;
		r = add(b, &c, any->id, any->len);
	}
	if (was == is && (is == BROKEN || is == KNOWN)) {
		return r < 0 ? r : judge_subs(b, worst_of(then), c.now, any);
	}
	if (is == ABSENT && b->now_is_part) {
		b->not_run++;
		return 0;
	}
	if (was == ABSENT && b->then_is_part && c.kind == TEST_CHANGE_NEW) {
		return 0; /* it may have been there */
	}
	if (was == PASSED && is == PASSED && same_machine(then, now) &&
	    is_slower(&c.before, &c.after)) {
		c.kind = TEST_CHANGE_SLOWER;
	}
	return c.kind == TEST_CHANGE_COUNT ? 0 : add(b, &c, any->id, any->len);
}

static int by_kind_and_id(const void *a, const void *b)
{
	const struct test_change *x = a;
	const struct test_change *y = b;

	int r = x->kind != y->kind ? (x->kind < y->kind ? -1 : 1) : strcmp(x->id, y->id);

	/* Those of one case are of one array. */
	return r || !x->sub || !y->sub ? r : (x->sub > y->sub) - (x->sub < y->sub);
}

/* Walks two sorted lists side by side. */
static int compare(struct test_baseline *b, const struct entry *then, size_t then_left,
		   const struct entry *now, size_t now_left)
{
	while (then_left > 0 || now_left > 0) {
		struct group was = group_at(then, then_left);
		struct group is = group_at(now, now_left);
		int order = !was.n ? 1 : !is.n ? -1 : compare_ids(then, now);
		int r;

		was.n = order > 0 ? 0 : was.n;
		is.n = order < 0 ? 0 : is.n;
		r = judge(b, &was, &is);
		if (r < 0) {
			return r;
		}
		then += was.n;
		then_left -= was.n;
		now += is.n;
		now_left -= is.n;
	}
	return 0;
}

static bool is_part(const struct test_report *t)
{
	return t->filter || t->shards > 1;
}

/**
 * test_baseline_create() - find what has changed between two runs
 * @then: the older run
 * @now: the newer one; must outlive the result
 * @ret: set on success; end it with test_baseline_destroy()
 * @e: set on failure
 *
 * Return: 0, or -ENOMEM.
 * Context: any thread.
 */
int test_baseline_create(const struct test_report *then, const struct test_report *now,
			 struct test_baseline **ret, struct err *e)
{
	_cleanup_(test_baseline_destroy_p) struct test_baseline *b = calloc(1, sizeof(*b));
	_cleanup_free_ struct entry *was = sort_entries(then);
	_cleanup_free_ struct entry *is = sort_entries(now);
	size_t then_count = then->count + then->missing_count;
	size_t now_count = now->count + now->missing_count;
	int r = -ENOMEM;

	if (b && was && is) {
		b->then_is_part = is_part(then);
		b->now_is_part = is_part(now);
		r = compare(b, was, then_count, is, now_count);
	}
	if (r < 0) {
		return err_set(e, r, "out of memory");
	}
	if (b->count > 0) {
		qsort(b->changes, b->count, sizeof(*b->changes), by_kind_and_id);
	}
	*ret = TAKE_PTR(b);
	return 0;
}

/**
 * test_baseline_destroy() - free what was found
 * @b: it, or NULL
 *
 * Context: any thread.
 */
void test_baseline_destroy(struct test_baseline *b)
{
	if (!b) {
		return;
	}
	for (size_t i = 0; i < b->count; i++) {
		free(b->changes[i].id);
	}
	free(b->changes);
	free(b);
}

/**
 * test_change_name() - a kind of change in words
 * @k: the kind
 *
 * Return: a static string, such as "newly broken".
 * Context: any thread.
 */
const char *test_change_name(enum test_change_kind k)
{
	static const char *const names[TEST_CHANGE_COUNT] = {
		[TEST_CHANGE_BROKEN] = "newly broken",   [TEST_CHANGE_FLAKY] = "newly flaky",
		[TEST_CHANGE_SKIPPED] = "newly skipped", [TEST_CHANGE_SLOWER] = "slower",
		[TEST_CHANGE_FIXED] = "newly fixed",     [TEST_CHANGE_NEW] = "new",
		[TEST_CHANGE_VANISHED] = "vanished",     [TEST_CHANGE_NONE] = "not ok as before",
	};

	return names[k];
}
