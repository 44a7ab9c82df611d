/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See suite.h: what a suite is made of, and one of a command line. Pure. */
#include "engine/suite.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "engine/suite_priv.h"

/**
 * suite_list_count() - how many texts a list has
 * @list: NULL-terminated, or NULL
 *
 * Return: the number.
 * Context: any thread.
 */
size_t suite_list_count(char *const *list)
{
	size_t n = 0;

	while (list && list[n]) {
		n++;
	}
	return n;
}

/**
 * suite_list_add() - put a copy of a text behind the last one of a list
 * @list: NULL-terminated, or NULL; free() its texts and itself
 * @text: the text
 *
 * Return: 0 or -ENOMEM.
 * Context: any thread.
 */
int suite_list_add(char ***list, const char *text)
{
	size_t n = suite_list_count(*list);
	char **more = realloc(*list, (n + 2) * sizeof(*more));

	if (!more) {
		return -ENOMEM;
	}
	*list = more;
	more[n] = strdup(text);
	more[n + 1] = NULL;
	return more[n] ? 0 : -ENOMEM;
}

static void list_free(char **list)
{
	for (size_t i = 0; list && list[i]; i++) {
		free(list[i]);
	}
	free(list);
}

/**
 * suite_texts_add() - one more value of an axis
 * @t: the axis
 * @text: copied; NULL: not given
 *
 * Return: 0 or -ENOMEM.
 * Context: any thread.
 */
int suite_texts_add(struct suite_texts *t, const char *text)
{
	char **more = realloc(t->v, (t->n + 1) * sizeof(*more));
	char *copy = text ? strdup(text) : NULL;

	if (more) {
		t->v = more;
	}
	if (!more || (text && !copy)) {
		free(copy);
		return -ENOMEM;
	}
	t->v[t->n++] = copy;
	return 0;
}

/**
 * suite_numbers_add() - one more value of an axis
 * @n: the axis
 * @v: the value
 *
 * Return: 0 or -ENOMEM.
 * Context: any thread.
 */
int suite_numbers_add(struct suite_numbers *n, uint64_t v)
{
	uint64_t *more = realloc(n->v, (n->n + 1) * sizeof(*more));

	if (!more) {
		return -ENOMEM;
	}
	n->v = more;
	n->v[n->n++] = v;
	return 0;
}

/**
 * suite_matrix_complete() - give each axis that has no value its default
 * @m: the matrix
 *
 * Return: 0 or -ENOMEM.
 * Context: any thread.
 */
int suite_matrix_complete(struct suite_matrix *m)
{
	struct suite_texts *texts[] = {&m->kernels, &m->cpu, &m->append};
	int code = 0;

	for (size_t i = 0; code == 0 && i < ARRAY_SIZE(texts); i++) {
		code = texts[i]->n ? 0 : suite_texts_add(texts[i], NULL);
	}
	if (code == 0 && m->cpus.n == 0) {
		code = suite_numbers_add(&m->cpus, 1);
	}
	if (code == 0 && m->memory.n == 0) {
		code = suite_numbers_add(&m->memory, SUITE_MEMORY_BYTES);
	}
	return code;
}

static void texts_fini(struct suite_texts *t)
{
	for (size_t i = 0; i < t->n; i++) {
		free(t->v[i]);
	}
	free(t->v);
}

/**
 * suite_exclude_fini() - free what an exclude holds
 * @x: the exclude
 *
 * Context: any thread.
 */
void suite_exclude_fini(struct suite_exclude *x)
{
	free(x->kernel);
	free(x->cpu);
	free(x->append);
}

/**
 * suite_matrix_fini() - free what a matrix holds
 * @m: the matrix; all zero or half built is fine
 *
 * Context: any thread.
 */
static void suite_matrix_fini(struct suite_matrix *m)
{
	texts_fini(&m->kernels);
	texts_fini(&m->cpu);
	texts_fini(&m->append);
	free(m->cpus.v);
	free(m->memory.v);
	for (size_t i = 0; i < m->exclude_count; i++) {
		suite_exclude_fini(&m->excludes[i]);
	}
	free(m->excludes);
	*m = (struct suite_matrix){0};
}

/**
 * suite_test_init() - a test that says nothing
 * @t: set; what is owned in it is NULL but @fail_on, which the caller sets
 *
 * Context: any thread.
 */
void suite_test_init(struct suite_test *t)
{
	*t = (struct suite_test){
		.boot_timeout_ns = SUITE_BOOT_TIMEOUT_NS,
		.timeout_ns = SUITE_TIMEOUT_NS,
	};
}

static void test_fini(struct suite_test *t)
{
	char **lists[] = {t->argv,   t->list,    t->files,     t->env,
			  t->shares, t->initrds, t->artifacts, t->tags};

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		list_free(lists[i]);
	}
	for (size_t i = 0; i < t->need_count; i++) {
		free(t->needs[i].text);
	}
	free(t->needs);
	for (size_t i = 0; i < t->allow_count; i++) {
		free(t->allows[i].pattern);
		free(t->allows[i].reason);
	}
	free(t->allows);
	free(t->name);
	free(t->path);
	free(t->root);
	free(t->fail_on);
	free(t->known);
	free(t->known_until);
}

/**
 * suite_destroy() - free a suite
 * @s: the suite; half built is fine
 *
 * Context: any thread; no plan may point into it any more.
 */
void suite_destroy(struct suite *s)
{
	for (size_t i = 0; i < s->count; i++) {
		test_fini(&s->entries[i].test);
		suite_matrix_fini(&s->entries[i].matrix);
	}
	free(s->entries);
	free(s->path);
	free(s->name);
	free(s);
}

/**
 * suite_path() - the file that it was read from
 * @s: the suite
 *
 * Return: as it was given; NULL for one of a command line.
 * Context: any thread.
 */
const char *suite_path(const struct suite *s)
{
	return s->path;
}

/**
 * suite_name() - its name
 * @s: the suite
 *
 * Return: what the file says, or the file's name without its ending; never NULL.
 * Context: any thread.
 */
const char *suite_name(const struct suite *s)
{
	return s->name;
}

/**
 * suite_title() - what reports call it
 * @s: the suite
 *
 * Return: the name that the file says, or the file as it was given; never NULL.
 * Context: any thread.
 */
const char *suite_title(const struct suite *s)
{
	return s->named || !s->path ? s->name : s->path;
}

static int single_matrix(const struct suite_single *s, struct suite_matrix *m)
{
	int code = 0;

	for (size_t i = 0; code == 0 && s->kernels && s->kernels[i]; i++) {
		code = suite_texts_add(&m->kernels, s->kernels[i]);
	}
	if (code == 0 && s->cpu) {
		code = suite_texts_add(&m->cpu, s->cpu);
	}
	if (code == 0 && s->append) {
		code = suite_texts_add(&m->append, s->append);
	}
	if (code == 0 && s->cpus) {
		code = suite_numbers_add(&m->cpus, s->cpus);
	}
	if (code == 0 && s->memory_bytes) {
		code = suite_numbers_add(&m->memory, s->memory_bytes);
	}
	return code == 0 ? suite_matrix_complete(m) : code;
}

static int single_test(const struct suite_single *s, struct suite_test *t)
{
	int code = 0;

	suite_test_init(t);
	t->kind = SUITE_COMMAND;
	t->name = strdup(SUITE_NAME);
	t->fail_on = strdup(SUITE_FAIL_ON);
	if (s->timeout_ns) {
		t->timeout_ns = s->timeout_ns;
	}
	if (s->boot_timeout_ns) {
		t->boot_timeout_ns = s->boot_timeout_ns;
	}
	for (size_t i = 0; code == 0 && s->argv[i]; i++) {
		code = suite_list_add(&t->argv, s->argv[i]);
	}
	return t->name && t->fail_on ? code : -ENOMEM;
}

/* What a file is held to: ids and reports have each in one line. */
static int check_text(const char *option, const char *text, struct err *e)
{
	for (const char *c = text ? text : ""; *c; c++) {
		if (iscntrl((unsigned char)*c)) {
			return err_set(e, -EINVAL, "--%s: a control character in it", option);
		}
	}
	return 0;
}

static int check_single(const struct suite_single *s, struct err *e)
{
	int code = check_text("append", s->append, e);

	code = code < 0 ? code : check_text("cpu", s->cpu, e);
	for (size_t i = 0; code == 0 && s->kernels && s->kernels[i]; i++) {
		code = check_text("kernel", s->kernels[i], e);
		if (code == 0 && !*s->kernels[i]) {
			return err_set(e, -EINVAL, "--kernel: the name is empty");
		}
		for (size_t k = 0; code == 0 && k < i; k++) {
			if (strcmp(s->kernels[i], s->kernels[k]) == 0) {
				return err_set(e, -EINVAL, "the kernel '%s' is named twice",
					       s->kernels[i]);
			}
		}
	}
	return code;
}

/**
 * suite_single() - the suite of one command, without a file
 * @s: the command and what it runs on; copied
 * @ret: set on success; end it with suite_destroy()
 * @e: set on failure
 *
 * Return: 0; -EINVAL when there is no command, a kernel is named twice or has no name, or a text is
 * no line; -ENOMEM.
 * Context: any thread.
 */
int suite_single(const struct suite_single *s, struct suite **ret, struct err *e)
{
	_cleanup_(suite_destroy_p) struct suite *suite = calloc(1, sizeof(*suite));
	int code;

	if (!s->argv || !s->argv[0]) {
		return err_set(e, -EINVAL, "there is no command to run");
	}
	code = check_single(s, e);
	if (code < 0) {
		return code;
	}
	if (!suite) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	suite->name = strdup(SUITE_NAME);
	suite->entries = calloc(1, sizeof(*suite->entries));
	if (!suite->name || !suite->entries) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	suite->count = 1;
	code = single_test(s, &suite->entries[0].test);
	if (code == 0) {
		code = single_matrix(s, &suite->entries[0].matrix);
	}
	if (code < 0) {
		return err_set(e, code, "out of memory");
	}
	*ret = TAKE_PTR(suite);
	return 0;
}
