/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What of a result is known before anything was booted. See test_run_priv.h. Main thread. */
#include "engine/test_run_priv.h"

#include <errno.h>
#include <string.h>

static char *copy(const char *s)
{
	return strdup(s ? s : "");
}

static int copy_tags(char *const *tags, struct test_result *r)
{
	size_t n = 0;

	while (tags && tags[n]) {
		n++;
	}
	r->tags = calloc(n + 1, sizeof(*r->tags));
	for (size_t i = 0; r->tags && i < n; i++) {
		r->tags[i] = strdup(tags[i]);
		if (!r->tags[i]) {
			return -ENOMEM;
		}
		r->tag_count++;
	}
	return r->tags ? 0 : -ENOMEM;
}

/**
 * test_result_begin() - a result with the place of its case in it
 * @cfg: the run
 * @c: the case
 * @id: its id in this round
 * @ret: set on success; end it with test_result_destroy()
 * @e: set on failure
 *
 * It says that nothing was started yet.
 *
 * Return: 0 or -ENOMEM.
 * Context: main thread.
 */
int test_result_begin(const struct test_run_config *cfg, const struct suite_case *c, const char *id,
		      struct test_result **ret, struct err *e)
{
	_cleanup_(test_result_destroy_p) struct test_result *r = calloc(1, sizeof(*r));
	const struct suite_test *t = c->test;

	if (!r) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	r->id = copy(id);
	r->test = copy(t->name);
	r->kernel = copy(c->kernel);
	r->cpu = copy(c->cpu);
	r->append = copy(c->append);
	r->cpus = c->cpus;
	r->memory_bytes = c->memory_bytes;
	r->file = copy(cfg->suite);
	r->line = t->pos.line;
	r->column = t->pos.column;
	r->message = copy(NULL);
	r->backend = copy(NULL);
	r->kernel_sha256 = copy(NULL);
	r->dir = copy(NULL);
	r->status = -1;
	if (!r->id || !r->test || !r->kernel || !r->cpu || !r->append || !r->file || !r->message ||
	    !r->backend || !r->kernel_sha256 || !r->dir || copy_tags(t->tags, r) < 0) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	*ret = TAKE_PTR(r);
	return 0;
}

/**
 * test_result_say() - give a result another message
 * @r: the result
 * @text: allocated, and the result's from now on; NULL: there was no memory for it, and the
 *	message stays
 *
 * Context: main thread.
 */
void test_result_say(struct test_result *r, char *text)
{
	if (text) {
		free(r->message);
		r->message = text;
	}
}

/**
 * test_result_warn() - add what is worth knowing and changes nothing
 * @r: the result
 * @lines: a warning each; NULL: none
 * @e: set on failure
 *
 * Return: 0 or -ENOMEM.
 * Context: main thread.
 */
int test_result_warn(struct test_result *r, const char *lines, struct err *e)
{
	while (lines && *lines) {
		size_t len = strcspn(lines, "\n");
		char **more = realloc(r->warnings, (r->warning_count + 1) * sizeof(*more));

		if (!more) {
			return err_set(e, -ENOMEM, "out of memory");
		}
		r->warnings = more;
		more[r->warning_count] = strndup(lines, len);
		if (!more[r->warning_count]) {
			return err_set(e, -ENOMEM, "out of memory");
		}
		r->warning_count++;
		lines += len + (lines[len] == '\n');
	}
	return 0;
}
