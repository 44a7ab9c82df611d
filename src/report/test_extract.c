/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What has changed since a baseline, as a report of the cases that it changed for: see
 * test_baseline.h. What is not ok as before is a known failure there: it was told when it broke,
 * and the run's exit status still says it.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "report/test_report_priv.h"

static char as_before[] = "it was so in the baseline";

/* What a writer of changes makes, as a text; NULL: no memory. */
static char *render(const struct test_baseline *b, const struct test_change *slower)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	if (!f) {
		return NULL;
	}
	if (slower) {
		fprintf(f, "%s: ", test_change_name(slower->kind));
		test_put_slower(f, slower);
	} else {
		test_put_since(f, b);
	}
	if (fclose(f) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

static int allocate(struct test_extract *x, const struct test_baseline *b)
{
	size_t n = b->count + 1;

	x->copies = calloc(n, sizeof(*x->copies));
	x->subs = calloc(n, sizeof(*x->subs));
	x->results = calloc(n, sizeof(*x->results));
	x->notes = calloc(n, sizeof(*x->notes));
	x->missing = calloc(n, sizeof(*x->missing));
	x->gone = calloc(n, sizeof(*x->gone));
	x->texts = calloc(n, sizeof(*x->texts));
	x->since = render(b, NULL);
	return x->copies && x->subs && x->results && x->notes && x->missing && x->gone &&
			       x->texts && x->since
		       ? 0
		       : -ENOMEM;
}

static struct test_note *show(struct test_extract *x, const struct test_result *r,
			      const struct test_change *c)
{
	size_t i = x->report.count++;

	x->results[i] = r;
	x->notes[i] = (struct test_note){test_change_name(c->kind), false};
	return &x->notes[i];
}

static struct test_result *copy_of(struct test_extract *x, const struct test_result *r)
{
	struct test_result *copy = &x->copies[x->copy_count++];

	*copy = *r;
	return copy;
}

/* What fails only now in a case that failed before, all of it at once; returns how many changes. */
static size_t show_subs(struct test_extract *x, const struct test_change *c, size_t left)
{
	struct test_result *copy = copy_of(x, c->now);
	size_t n = 0;

	copy->subs = &x->subs[x->sub_count];
	while (n < left && c[n].sub && c[n].now == c->now) {
		x->subs[x->sub_count++] = *c[n++].sub;
	}
	copy->sub_count = n;
	show(x, copy, c);
	return n;
}

static int by_id(const void *a, const void *b)
{
	const struct test_change *x = a;
	const struct test_change *y = b;

	return strcmp(x->id, y->id);
}

/* Whether something in a case that is not ok as before fails only now: it is shown by that. */
static bool has_new_subs(const struct test_baseline *b, const struct test_change *c)
{
	return bsearch(c, b->changes, b->by_kind[TEST_CHANGE_BROKEN], sizeof(*c), by_id) != NULL;
}

static int show_slower(struct test_extract *x, const struct test_baseline *b,
		       const struct test_change *c)
{
	char *text = render(b, c);

	if (!text) {
		return -ENOMEM;
	}
	x->texts[x->text_count++] = text;
	*show(x, c->now, c) = (struct test_note){text, true};
	return 0;
}

static int fill(struct test_extract *x, const struct test_baseline *b)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < b->count; i++) {
		const struct test_change *c = &b->changes[i];

		if (c->kind == TEST_CHANGE_VANISHED) {
			x->gone[x->report.gone_count++] = c->id;
		} else if (!c->now) {
			x->missing[x->report.missing_count++] = c->id;
		} else if (c->sub) {
			i += show_subs(x, c, b->count - i) - 1;
		} else if (c->kind == TEST_CHANGE_SLOWER) {
			r = show_slower(x, b, c);
		} else if (c->kind != TEST_CHANGE_NONE) {
			show(x, c->now, c);
		} else if (!has_new_subs(b, c)) {
			struct test_result *copy = copy_of(x, c->now);

			copy->verdict = TEST_KNOWN;
			copy->known = as_before;
			show(x, copy, c);
		}
	}
	return r;
}

/**
 * test_extract_create() - make a report of what has changed
 * @b: what has changed; must outlive the result
 * @now: the newer run, that @b is of; must outlive the result
 * @ret: set on success; end it with test_extract_destroy()
 * @e: set on failure
 *
 * Return: 0, or -ENOMEM.
 * Context: any thread.
 */
int test_extract_create(const struct test_baseline *b, const struct test_report *now,
			struct test_extract **ret, struct err *e)
{
	_cleanup_(test_extract_destroy_p) struct test_extract *x = calloc(1, sizeof(*x));
	int r = x ? allocate(x, b) : -ENOMEM;

	if (r == 0) {
		x->report = *now;
		x->report.of = now;
		x->report.since = x->since;
		x->report.results = x->results;
		x->report.notes = x->notes;
		x->report.missing = x->missing;
		x->report.gone = x->gone;
		x->report.count = x->report.missing_count = 0;
		r = fill(x, b);
	}
	if (r < 0) {
		return err_set(e, r, "out of memory");
	}
	*ret = TAKE_PTR(x);
	return 0;
}

/**
 * test_extract_destroy() - free it
 * @x: it, or NULL
 *
 * Context: any thread.
 */
void test_extract_destroy(struct test_extract *x)
{
	if (!x) {
		return;
	}
	for (size_t i = 0; i < x->text_count; i++) {
		free(x->texts[i]);
	}
	free(x->copies);
	free(x->subs);
	free(x->results);
	free(x->notes);
	free(x->missing);
	free(x->gone);
	free(x->texts);
	free(x->since);
	free(x);
}
