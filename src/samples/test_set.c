/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See test_set.h. One thread a set. */
#include "samples/test_set.h"

#include <errno.h>
#include <search.h>
#include <string.h>

#include "base/text.h"
#include "samples/results.h"

/* An id and its place in the plan. */
struct place {
	const char *id;
	size_t i;
};

struct test_set {
	struct test_plan *plan;
	struct place *places; /* plan->id_count, by id */
	bool *has_shard;      /* plan->shards + 1 */
	bool *has_result;     /* plan->id_count */
	bool merged;
	char *dir; /* of the file; empty: this one, or a set that was merged */
	struct test_result **results;
	size_t count, room;
	void *by_id; /* tsearch(3) tree of results */
};

static int by_place_id(const void *a, const void *b)
{
	return strcmp(((const struct place *)a)->id, ((const struct place *)b)->id);
}

static int by_result_id(const void *a, const void *b)
{
	return strcmp(((const struct test_result *)a)->id, ((const struct test_result *)b)->id);
}

/**
 * test_set_create() - a set without a plan yet
 * @ret: set on success; end it with test_set_destroy()
 * @e: set on failure
 *
 * Return: 0, or -ENOMEM.
 * Context: any thread.
 */
int test_set_create(struct test_set **ret, struct err *e)
{
	struct test_set *s = calloc(1, sizeof(*s));

	if (!s) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	*ret = s;
	return 0;
}

static void drop_plan(struct test_set *s)
{
	free(s->places);
	free(s->has_shard);
	free(s->has_result);
	test_plan_destroy(s->plan);
	s->places = NULL;
	s->has_shard = NULL;
	s->has_result = NULL;
	s->plan = NULL;
}

/* Makes what a plan is looked up by. */
static int index_plan(struct test_set *s, struct err *e)
{
	size_t n = s->plan->id_count;

	s->places = calloc(n + 1, sizeof(*s->places));
	s->has_result = calloc(n + 1, sizeof(*s->has_result));
	s->has_shard = calloc(s->plan->shards + 1, sizeof(*s->has_shard));
	if (!s->places || !s->has_result || !s->has_shard) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	s->has_shard[s->plan->shard] = true;
	for (size_t i = 0; i < n; i++) {
		s->places[i] = (struct place){s->plan->ids[i], i};
	}
	qsort(s->places, n, sizeof(*s->places), by_place_id);
	for (size_t i = 1; i < n; i++) {
		if (strcmp(s->places[i - 1].id, s->places[i].id) == 0) {
			return err_set(e, -EBADMSG, "case %.200s stands twice in the plan",
				       s->places[i].id);
		}
	}
	return 0;
}

static int set_plan(struct test_set *s, const json_t *json, struct err *e)
{
	int r = test_plan_from_json(json, &s->plan, e);

	r = r < 0 ? r : index_plan(s, e);
	if (r < 0) {
		drop_plan(s);
	}
	return r;
}

static const struct place *find_exact(const struct test_set *s, const char *id)
{
	const struct place want = {id, 0};

	return bsearch(&want, s->places, s->plan->id_count, sizeof(want), by_place_id);
}

/* The place of a result's case. */
static const struct place *find_place(const struct test_set *s, const char *id)
{
	const struct place *p = find_exact(s, id);
	_cleanup_free_ char *first = NULL;
	uint64_t round;
	char *hash;

	if (p || !s->plan->until_failure) {
		return p;
	}
	first = strdup(id);
	hash = first ? strrchr(first, '#') : NULL;
	if (!hash || text_parse_u64(hash + 1, &round) < 0 || round < 2) {
		return NULL;
	}
	*hash = '\0';
	return find_exact(s, first);
}

static int keep(struct test_set *s, struct test_result *r, size_t place, struct err *e)
{
	struct test_result **known;

	if (s->count == s->room) {
		size_t room = s->room ? 2 * s->room : 64;
		struct test_result **more =
			realloc(s->results, room * sizeof(struct test_result *));

		if (!more) {
			return err_set(e, -ENOMEM, "out of memory");
		}
		s->results = more;
		s->room = room;
	}
	known = tsearch(r, &s->by_id, by_result_id);
	if (!known) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	if (*known != r) {
		return err_set(e, -EBADMSG, "case %.200s stands twice in it", r->id);
	}
	s->results[s->count++] = r;
	s->has_result[place] = true;
	return 0;
}

static int add_result(struct test_set *s, const json_t *json, struct err *e)
{
	_cleanup_(test_result_destroy_p) struct test_result *r = NULL;
	const struct place *p;
	unsigned int shard;
	int code = test_result_from_json(json, &r, e);

	if (code < 0) {
		return code;
	}
	p = find_place(s, r->id);
	if (!p) {
		return err_set(e, -EBADMSG, "case %.200s is not in the plan", r->id);
	}
	shard = test_plan_shard_of(p->i, s->plan->shards);
	if (shard != s->plan->shard) {
		return err_set(e, -EBADMSG, "case %.200s is of shard %u, and this is shard %u",
			       r->id, shard, s->plan->shard);
	}
	code = keep(s, r, p->i, e);
	if (code == 0) {
		TAKE_PTR(r);
	}
	return code;
}

/**
 * test_set_add_line() - take in a line of a results file
 * @s: the set; without a plan yet, the line must be one
 * @text: the line
 * @len: its length, bytes
 * @e: set on failure
 *
 * Return: 0, -EBADMSG for what is no such line, -EPROTO for a newer schema, -ENOMEM. What was
 * refused leaves no trace.
 * Context: any thread.
 */
int test_set_add_line(struct test_set *s, const char *text, size_t len, struct err *e)
{
	json_error_t je;
	json_t *json = json_loadb(text, len, JSON_REJECT_DUPLICATES, &je);
	const char *type = json_string_value(json_object_get(json, "type"));
	int r;

	if (!json) {
		return err_set(e, -EBADMSG, "not a record: column %d: %s", je.column, je.text);
	}
	if (s->plan && type && strcmp(type, TEST_PLAN_TYPE) == 0) {
		r = err_set(e, -EBADMSG,
			    "a second plan: each run has a file of its own; 'ringside report "
			    "--merge' takes the files of several shards");
	} else {
		r = s->plan ? add_result(s, json, e) : set_plan(s, json, e);
	}
	json_decref(json);
	return r;
}

static int on_line(void *ctx, size_t line, const char *text, size_t len, struct err *e)
{
	return test_set_add_line(ctx, text, len, e);
}

/* The folder of a path; empty for the one we are in. */
static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return strndup(path, !slash ? 0 : slash == path ? 1 : (size_t)(slash - path));
}

/**
 * test_set_read() - read the results file of a test run without touching it
 * @path: the file
 * @ret: set on success; end it with test_set_destroy()
 * @ret_dropped: set on success: bytes behind the last whole line, a record whose writer was stopped
 * @e: set on failure, names the file and the line
 *
 * Return: 0, -ENODATA for a file without a plan, or as test_set_add_line() and results_read().
 * Context: any thread.
 */
int test_set_read(const char *path, struct test_set **ret, uint64_t *ret_dropped, struct err *e)
{
	_cleanup_(test_set_destroy_p) struct test_set *s = NULL;
	struct results_scan scan;
	int r = test_set_create(&s, e);

	if (r == 0) {
		r = results_read(path, on_line, s, &scan, e);
	}
	if (r < 0) {
		return r;
	}
	if (!s->plan) {
		return err_set(e, -ENODATA, "%s: there is no plan in it", path);
	}
	s->dir = folder_of(path);
	if (!s->dir) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	*ret_dropped = scan.dropped;
	*ret = TAKE_PTR(s);
	return 0;
}

/**
 * test_set_begin_merge() - make a set of one shard one that counts the cases of all
 * @s: the set; may be one already
 * @e: set on failure
 *
 * The directories of its results, which are relative to its file, are made relative to us.
 *
 * Return: 0, or -ENOMEM.
 * Context: any thread.
 */
int test_set_begin_merge(struct test_set *s, struct err *e)
{
	bool bare = !s->dir || !*s->dir;

	for (size_t i = 0; !s->merged && !bare && i < s->count; i++) {
		char **dir = &s->results[i]->dir;
		char *whole;

		if (!**dir) {
			continue;
		}
		if (asprintf(&whole, "%s/%s", s->dir, *dir) < 0) {
			return err_set(e, -ENOMEM, "out of memory");
		}
		free(*dir);
		*dir = whole;
	}
	s->merged = true;
	return 0;
}

static int by_test_and_kernel(const void *a, const void *b)
{
	const struct test_result *x = a;
	const struct test_result *y = b;
	int r = strcmp(x->test, y->test);

	return r ? r : strcmp(x->kernel, y->kernel);
}

static void keep_it(void *result)
{
}

/* One case on two kernels of one name would be no case of the run. */
static int check_kernels(const struct test_set *a, const struct test_set *b, struct err *e)
{
	const struct test_set *sets[] = {a, b};
	void *first = NULL;
	int r = 0;

	for (size_t i = 0; r == 0 && i < a->count + b->count; i++) {
		struct test_result *x =
			sets[i >= a->count]->results[i < a->count ? i : i - a->count];
		struct test_result **y =
			*x->kernel_sha256 ? tsearch(x, &first, by_test_and_kernel) : &x;

		if (!y) {
			r = err_set(e, -ENOMEM, "out of memory");
		} else if (strcmp(x->kernel_sha256, (*y)->kernel_sha256) != 0) {
			r = err_set(
				e, -EXDEV,
				"%.200s booted the kernel %.16s..., %.200s %.16s...: they are of "
				"different kernels",
				x->id, x->kernel_sha256, (*y)->id, (*y)->kernel_sha256);
		}
	}
	tdestroy(first, keep_it);
	return r;
}

static int by_place(const void *a, const void *b, void *ctx)
{
	const struct test_result *x = *(struct test_result *const *)a;
	const struct test_result *y = *(struct test_result *const *)b;
	size_t i = find_place(ctx, x->id)->i;
	size_t k = find_place(ctx, y->id)->i;

	return i != k ? (i < k ? -1 : 1) : strcmp(x->id, y->id);
}

/**
 * test_set_merge() - put the results of another shard to those of one
 * @into: grows; its results then stand in the plan's order
 * @from: of the same plan, and of shards that are not in @into yet; its results are taken out of it
 * @e: set on failure; @into is of no use then
 *
 * Return: 0, -EXDEV for another plan or other kernels, -EEXIST for a shard that is there, -ENOMEM.
 * Context: any thread.
 */
int test_set_merge(struct test_set *into, struct test_set *from, struct err *e)
{
	int r = test_plan_check_same(from->plan, into->plan, e);

	r = r < 0 ? r : check_kernels(into, from, e);
	r = r < 0 ? r : test_set_begin_merge(into, e);
	r = r < 0 ? r : test_set_begin_merge(from, e);
	if (r < 0) {
		return r;
	}
	for (unsigned int i = 1; i <= from->plan->shards; i++) {
		if (from->has_shard[i] && into->has_shard[i]) {
			return err_set(e, -EEXIST, "shard %u of %u is there twice", i,
				       from->plan->shards);
		}
		into->has_shard[i] |= from->has_shard[i];
	}
	while (r == 0 && from->count > 0) {
		struct test_result *last = from->results[from->count - 1];

		tdelete(last, &from->by_id, by_result_id);
		from->count--;
		r = keep(into, last, find_place(into, last->id)->i, e);
		if (r < 0) {
			test_result_destroy(last);
		}
	}
	if (into->count > 0) {
		qsort_r(into->results, into->count, sizeof(struct test_result *), by_place, into);
	}
	return r;
}

/**
 * test_set_destroy() - free a set
 * @s: the set, or NULL, or one that is half built
 *
 * Context: any thread.
 */
void test_set_destroy(struct test_set *s)
{
	if (!s) {
		return;
	}
	tdestroy(s->by_id, keep_it);
	for (size_t i = 0; i < s->count; i++) {
		test_result_destroy(s->results[i]);
	}
	free(s->results);
	free(s->dir);
	drop_plan(s);
	free(s);
}

/**
 * test_set_plan() - what was to run
 * @s: the set
 *
 * Return: the plan, the set's; of one shard of those that were merged.
 */
const struct test_plan *test_set_plan(const struct test_set *s)
{
	return s->plan;
}

/**
 * test_set_results() - what has ended
 * @s: the set
 * @ret_count: set
 *
 * Return: the results, the set's: in the order in which they ended, or the plan's once merged.
 */
const struct test_result *const *test_set_results(const struct test_set *s, size_t *ret_count)
{
	*ret_count = s->count;
	return (const struct test_result *const *)s->results;
}

/**
 * test_set_dir() - what the results' directories are relative to
 * @s: the set
 *
 * Return: the folder of the file, the set's; NULL: the one we are in.
 */
const char *test_set_dir(const struct test_set *s)
{
	return !s->merged && s->dir && *s->dir ? s->dir : NULL;
}

/**
 * test_set_has_shard() - whether a shard's file is in it
 * @s: the set
 * @shard: from 1 to the plan's shards
 *
 * Return: whether.
 */
bool test_set_has_shard(const struct test_set *s, unsigned int shard)
{
	return s->has_shard[shard];
}

/**
 * test_set_missing() - cases that were to run and have no result
 * @s: the set
 * @ret: set on success: ids, the set's, in an array that is the caller's to free()
 * @ret_count: set on success
 * @e: set on failure
 *
 * Of one shard its own cases count, of a set that was merged those of all shards.
 *
 * Return: 0, or -ENOMEM.
 * Context: any thread.
 */
int test_set_missing(const struct test_set *s, const char ***ret, size_t *ret_count, struct err *e)
{
	const char **ids = calloc(s->plan->id_count + 1, sizeof(*ids));
	size_t n = 0;

	if (!ids) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	for (size_t i = 0; i < s->plan->id_count; i++) {
		bool ours = s->merged || s->has_shard[test_plan_shard_of(i, s->plan->shards)];

		if (ours && !s->has_result[i]) {
			ids[n++] = s->plan->ids[i];
		}
	}
	*ret = ids;
	*ret_count = n;
	return 0;
}

static int write_line(json_t *json, FILE *out)
{
	int r = json ? json_dumpf(json, out, JSON_COMPACT) : -1;

	json_decref(json);
	return r < 0 || fputc('\n', out) == EOF ? -EIO : 0;
}

/**
 * test_set_write() - write a set as a results file of its own
 * @s: the set; once merged, it is written as one run that is not sharded
 * @out: where to
 * @e: set on failure
 *
 * Return: 0, or -EIO.
 * Context: any thread that owns @out.
 */
int test_set_write(const struct test_set *s, FILE *out, struct err *e)
{
	struct test_plan p = *s->plan;
	int r;

	if (s->merged) {
		p.shard = 1;
		p.shards = 1;
	}
	r = write_line(test_plan_to_json(&p), out);
	for (size_t i = 0; r == 0 && i < s->count; i++) {
		r = write_line(test_result_to_json(s->results[i]), out);
	}
	return r < 0 || fflush(out) == EOF ? err_set(e, -EIO, "the results cannot be written") : 0;
}

static int look(void *ctx, size_t line, const char *text, size_t len, struct err *e)
{
	json_t *json = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
	const char *type = json_string_value(json_object_get(json, "type"));

	*(bool *)ctx = type && strcmp(type, TEST_PLAN_TYPE) == 0;
	json_decref(json);
	return -ECANCELED; /* the first line is enough */
}

/**
 * test_set_is_one() - whether a file begins as the results of a test run
 * @path: the file
 *
 * Return: whether; false for one that cannot be read.
 * Context: any thread.
 */
bool test_set_is_one(const char *path)
{
	struct results_scan scan;
	struct err e = ERR_INIT;
	bool is = false;

	return results_read(path, look, &is, &scan, &e) == -ECANCELED && is;
}
