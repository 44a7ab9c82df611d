/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See suite.h: a file, its matrices and its tests. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "base/text.h"
#include "engine/suite_file.h"

static int take_kernel(const struct suite_reading *r, const struct ymap_text *t)
{
	if (strchr(t->s, ',')) {
		return suite_fail(r, t->pos, "'kernels': a comma in the name '%s'", t->s);
	}
	return suite_check_line(r, "kernels", t);
}

static int take_cpu(const struct suite_reading *r, const struct ymap_text *t)
{
	if (strchr(t->s, '=')) {
		return suite_fail(r, t->pos, "'cpu': expected what --cpu takes, got '%s'", t->s);
	}
	return suite_check_line(r, "cpu", t);
}

static int take_append(const struct suite_reading *r, const struct ymap_text *t)
{
	return suite_check_line(r, "append", t);
}

static int take_texts(const struct suite_reading *r, const char *key, const struct ymap_list *from,
		      int (*check)(const struct suite_reading *r, const struct ymap_text *t),
		      struct suite_texts *to)
{
	const struct ymap_text *texts = from->items;

	for (size_t i = 0; i < from->n; i++) {
		int code = check(r, &texts[i]);

		if (code < 0) {
			return code;
		}
		for (size_t k = 0; k < to->n; k++) {
			if (strcmp(to->v[k], texts[i].s) == 0) {
				return suite_fail(r, texts[i].pos, "'%s': '%s' stands twice in it",
						  key, texts[i].s);
			}
		}
		if (suite_texts_add(to, texts[i].s) < 0) {
			return suite_no_memory(r);
		}
	}
	return 0;
}

static int take_cpus(const struct suite_reading *r, const struct ymap_text *t, uint64_t *ret)
{
	if (text_parse_u64(t->s, ret) < 0 || *ret < 1 || *ret > SUITE_CPUS_MAX) {
		return suite_fail(r, t->pos,
				  "'cpus': expected a whole number from 1 to %d, got '%s'",
				  SUITE_CPUS_MAX, t->s);
	}
	return 0;
}

static int take_numbers(const struct suite_reading *r, const char *key,
			const struct ymap_list *from,
			int (*take)(const struct suite_reading *r, const struct ymap_text *t,
				    uint64_t *ret),
			struct suite_numbers *to)
{
	const struct ymap_text *texts = from->items;

	for (size_t i = 0; i < from->n; i++) {
		uint64_t v = 0;
		int code = take(r, &texts[i], &v);

		if (code < 0) {
			return code;
		}
		for (size_t k = 0; k < to->n; k++) {
			if (to->v[k] == v) {
				return suite_fail(r, texts[i].pos, "'%s': '%s' stands twice in it",
						  key, texts[i].s);
			}
		}
		if (suite_numbers_add(to, v) < 0) {
			return suite_no_memory(r);
		}
	}
	return 0;
}

static const struct ymap_list *own_or(const struct ymap_list *own, const struct ymap_list *other)
{
	return own->n ? own : other;
}

/* An axis that the test has counts instead of the suite's. */
static int take_axes(const struct suite_reading *r, const struct suite_file_matrix *all,
		     const struct suite_file_matrix *own, bool kernels, struct suite_matrix *to)
{
	int code = 0;

	if (kernels) {
		code = take_texts(r, "kernels", own_or(&own->kernels, &all->kernels), take_kernel,
				  &to->kernels);
	}
	if (code == 0) {
		code = take_texts(r, "cpu", own_or(&own->cpu, &all->cpu), take_cpu, &to->cpu);
	}
	if (code == 0) {
		code = take_numbers(r, "cpus", own_or(&own->cpus, &all->cpus), take_cpus,
				    &to->cpus);
	}
	if (code == 0) {
		code = take_numbers(r, "memory", own_or(&own->memory, &all->memory),
				    suite_take_memory, &to->memory);
	}
	if (code == 0 && kernels) {
		code = take_texts(r, "append", own_or(&own->append, &all->append), take_append,
				  &to->append);
	}
	return code == 0 && suite_matrix_complete(to) < 0 ? suite_no_memory(r) : code;
}

static int copy_text(const struct suite_reading *r, const struct ymap_text *from, char **to)
{
	*to = from->s ? strdup(from->s) : NULL;
	return from->s && !*to ? suite_no_memory(r) : 0;
}

static int take_exclude(const struct suite_reading *r, const struct suite_file_exclude *from,
			struct suite_exclude *to)
{
	int code = copy_text(r, &from->kernel, &to->kernel);

	to->pos = from->pos;
	to->cpus = from->cpus.v;
	if (code == 0) {
		code = copy_text(r, &from->cpu, &to->cpu);
	}
	if (code == 0) {
		code = copy_text(r, &from->append, &to->append);
	}
	if (code == 0 && from->memory.s) {
		code = suite_take_memory(r, &from->memory, &to->memory_bytes);
	}
	if (code == 0 && !from->kernel.s && !from->cpu.s && !from->append.s && !from->cpus.given &&
	    !from->memory.s) {
		code = suite_fail(r, from->pos, "exclude: nothing in it, so it excludes all");
	}
	return code;
}

static int take_excludes(const struct suite_reading *r, const struct ymap_list *from,
			 struct suite_matrix *to)
{
	const struct suite_file_exclude *x = from->items;
	size_t n = to->exclude_count + from->n;
	struct suite_exclude *more = realloc(to->excludes, (n + 1) * sizeof(*more));

	if (!more) {
		return suite_no_memory(r);
	}
	to->excludes = more;
	while (to->exclude_count < n) {
		struct suite_exclude *next = &more[to->exclude_count++];
		int code;

		*next = (struct suite_exclude){0};
		code = take_exclude(r, x++, next);
		if (code < 0) {
			return code;
		}
	}
	return 0;
}

/* Marks what excludes something, and counts what is left. */
static uint64_t try_excludes(const struct suite_matrix *m, bool *matched)
{
	uint64_t n = suite_matrix_size(m), left = 0;

	for (uint64_t i = 0; i < n; i++) {
		struct suite_case c = {0};
		bool out = false;

		suite_matrix_at(m, i, &c);
		for (size_t k = 0; k < m->exclude_count; k++) {
			if (suite_exclude_matches(&m->excludes[k], &c)) {
				matched[k] = out = true;
			}
		}
		left += !out;
	}
	return left;
}

/* A test keeps the excludes that are about it. */
static void drop_excludes(struct suite_matrix *m, const bool *matched)
{
	size_t kept = 0;

	for (size_t k = 0; k < m->exclude_count; k++) {
		if (matched[k]) {
			m->excludes[kept++] = m->excludes[k];
		} else {
			suite_exclude_fini(&m->excludes[k]);
		}
	}
	m->exclude_count = kept;
}

static int check_excludes(const struct suite_reading *r, const struct suite_file_test *f,
			  size_t shared, struct suite_matrix *m, bool *shared_matched)
{
	_cleanup_free_ bool *matched = calloc(m->exclude_count + 1, sizeof(*matched));
	uint64_t left;

	if (!matched) {
		return suite_no_memory(r);
	}
	left = try_excludes(m, matched);
	for (size_t k = 0; k < m->exclude_count; k++) {
		if (k < shared) {
			shared_matched[k] |= matched[k];
		} else if (!matched[k]) {
			return suite_fail(r, m->excludes[k].pos,
					  "exclude: no case of test '%s' is like this", f->name.s);
		}
	}
	if (left == 0) {
		return suite_fail(r, f->pos, "test '%s': all of its cases are excluded", f->name.s);
	}
	drop_excludes(m, matched);
	return 0;
}

static int check_size(const struct suite_reading *r, const struct suite_file_test *f,
		      uint64_t cases, uint64_t before)
{
	if (cases > SUITE_CASES_MAX || before + cases > SUITE_CASES_MAX) {
		return suite_fail(r, f->pos,
				  "test '%s': its matrix makes %" PRIu64
				  " cases, and those before it %" PRIu64
				  ": a suite has at most %u, the excluded ones counted",
				  f->name.s, cases, before, SUITE_CASES_MAX);
	}
	return 0;
}

static int take_matrix(const struct suite_reading *r, const struct suite_file *f,
		       const struct suite_file_test *test, struct suite_entry *entry,
		       uint64_t *cases, bool *shared_matched)
{
	bool kernels = entry->test.kind != SUITE_FIRMWARE;
	struct suite_matrix *m = &entry->matrix;
	int code;

	if (!kernels && (test->matrix.kernels.n || test->matrix.append.n)) {
		return suite_fail(r, test->matrix.pos,
				  "test '%s': a firmware payload has no 'kernels' and no 'append'",
				  test->name.s);
	}
	code = take_axes(r, &f->matrix, &test->matrix, kernels, m);
	if (code == 0) {
		code = check_size(r, test, suite_matrix_size(m), *cases);
		*cases += suite_matrix_size(m);
	}
	if (code == 0) {
		code = take_excludes(r, &f->matrix.exclude, m);
	}
	if (code == 0) {
		code = take_excludes(r, &test->matrix.exclude, m);
	}
	return code == 0 ? check_excludes(r, test, f->matrix.exclude.n, m, shared_matched) : code;
}

static int check_is_new(const struct suite_reading *r, const struct suite_file_test *f)
{
	for (size_t i = 0; i + 1 < r->to->count; i++) {
		if (strcmp(r->to->entries[i].test.name, f->name.s) == 0) {
			return suite_fail(r, f->name.pos, "there are two tests of the name '%s'",
					  f->name.s);
		}
	}
	return 0;
}

static int take_tests(const struct suite_reading *r, const struct suite_file *f)
{
	const struct suite_file_test *tests = f->tests.items;
	const struct suite_file_exclude *excludes = f->matrix.exclude.items;
	_cleanup_free_ bool *matched = calloc(f->matrix.exclude.n + 1, sizeof(*matched));
	uint64_t cases = 0;
	int code = 0;

	r->to->entries = calloc(f->tests.n, sizeof(*r->to->entries));
	if (!r->to->entries || !matched) {
		return suite_no_memory(r);
	}
	for (size_t i = 0; code == 0 && i < f->tests.n; i++) {
		struct suite_entry *entry = &r->to->entries[r->to->count++];

		code = check_is_new(r, &tests[i]);
		if (code == 0) {
			code = suite_take_test(r, f, &tests[i], &entry->test);
		}
		if (code == 0) {
			code = take_matrix(r, f, &tests[i], entry, &cases, matched);
		}
	}
	for (size_t k = 0; code == 0 && k < f->matrix.exclude.n; k++) {
		if (!matched[k]) {
			code = suite_fail(r, excludes[k].pos, "exclude: no case is like this");
		}
	}
	return code;
}

/* The file's own name, or that of the file without its folder and ".yaml". */
static int take_name(const struct suite_reading *r, const struct suite_file *f)
{
	const char *slash = strrchr(r->path, '/');
	const char *base = slash ? slash + 1 : r->path;

	if (f->name.s) {
		int code = suite_check_line(r, "name", &f->name);

		if (code < 0) {
			return code;
		}
		r->to->name = strdup(f->name.s);
		r->to->named = true;
	} else {
		const char *dot = strrchr(base, '.');

		r->to->name =
			strndup(base, dot && dot > base ? (size_t)(dot - base) : strlen(base));
	}
	return r->to->name ? 0 : suite_no_memory(r);
}

static int find_folder(struct suite_reading *r)
{
	const char *slash = strrchr(r->path, '/');
	_cleanup_free_ char *folder = NULL;

	folder = slash == r->path ? strdup("/")
		 : slash          ? strndup(r->path, (size_t)(slash - r->path))
				  : strdup(".");
	if (!folder) {
		return suite_no_memory(r);
	}
	r->folder = realpath(folder, NULL);
	return r->folder ? 0 : err_errno(r->e, -errno, "%s", folder);
}

/**
 * suite_read() - read a suite file
 * @path: the file
 * @ret: set on success; end it with suite_destroy()
 * @e: set on failure, with file, line and column
 *
 * Return: 0; -EINVAL for what is wrong in it; -ENOMEM; the errno of opening or reading it.
 * Context: a thread that may block.
 */
int suite_read(const char *path, struct suite **ret, struct err *e)
{
	_cleanup_(suite_destroy_p) struct suite *s = calloc(1, sizeof(*s));
	struct suite_reading r = {.path = path, .to = s, .e = e};
	struct suite_file f = {0};
	int code;

	if (!s) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	code = ymap_read(path, &suite_file_map, &f, e);
	if (code == 0) {
		code = find_folder(&r);
	}
	if (code == 0) {
		code = take_name(&r, &f);
	}
	if (code == 0) {
		s->path = strdup(path);
		code = s->path ? take_tests(&r, &f) : suite_no_memory(&r);
	}
	ymap_fini(&suite_file_map, &f);
	free(r.folder);
	if (code == 0) {
		*ret = TAKE_PTR(s);
	}
	return code;
}
