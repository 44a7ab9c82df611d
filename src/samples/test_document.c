/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See test_document.h. Any thread. */
#include "samples/test_document.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <string.h>

#include "base/io.h"
#include "samples/fields.h"

/* As much as the type is sure to stand in: it is the second key. */
#define HEAD_MAX 128

/**
 * test_document_is_one() - whether a file begins as such a document
 * @path: the file
 *
 * Return: whether; false for one that cannot be read.
 * Context: any thread.
 */
bool test_document_is_one(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char head[HEAD_MAX + 1];
	ssize_t n = fd < 0 ? -1 : read(fd, head, HEAD_MAX);

	if (n <= 0 || head[0] != '{') {
		return false;
	}
	head[n] = '\0';
	return strstr(head, "\"" TEST_DOCUMENT_TYPE "\"") != NULL;
}

static int add(struct test_set *s, const json_t *json, struct err *e)
{
	_cleanup_free_ char *text = json_dumps(json, JSON_COMPACT);

	return text ? test_set_add_line(s, text, strlen(text), e)
		    : err_set(e, -ENOMEM, "out of memory");
}

/* Ids of its cases: of results, and of those that have none. */
static int list_ids(const json_t *root, struct test_plan *p, struct err *e)
{
	const json_t *results = json_object_get(root, "results");
	const json_t *missing = json_object_get(root, "missing");
	const json_t *one;
	size_t i;

	if (!json_is_array(results) || !json_is_array(missing)) {
		return err_set(e, -EBADMSG, "'results' or 'missing' is not a list");
	}
	p->ids = calloc(json_array_size(results) + json_array_size(missing) + 1, sizeof(*p->ids));
	if (!p->ids) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	for (i = 0; i < json_array_size(results) + json_array_size(missing); i++) {
		const char *id;

		one = i < json_array_size(results)
			      ? json_object_get(json_array_get(results, i), "id")
			      : json_array_get(missing, i - json_array_size(results));
		id = json_string_value(one);
		if (!id) {
			return err_set(e, -EBADMSG, "a case has no 'id'");
		}
		p->ids[p->id_count] = strdup(id);
		if (!p->ids[p->id_count]) {
			return err_set(e, -ENOMEM, "out of memory");
		}
		p->id_count++;
	}
	return 0;
}

static char *text_of(const json_t *root, const char *key)
{
	const char *s = json_string_value(json_object_get(root, key));

	return strdup(s ? s : "");
}

/* The plan that its results file may have had. */
static int add_plan(struct test_set *s, const json_t *root, struct err *e)
{
	_cleanup_(test_plan_destroy_p) struct test_plan *p = calloc(1, sizeof(*p));
	const json_t *seed = json_object_get(root, "seed");
	json_t *json;
	int r;

	if (!p) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	p->ringside_version = text_of(root, "ringside");
	p->title = text_of(root, "title");
	p->seed = json_integer_value(seed) > 0 ? (uint64_t)json_integer_value(seed) : 0;
	p->shard = 1;
	p->shards = 1;
	r = list_ids(root, p, e);
	r = r < 0 ? r : test_plan_take_filter(p, root, e);
	if (r < 0) {
		return r;
	}
	json = test_plan_to_json(p);
	r = json ? add(s, json, e) : err_set(e, -ENOMEM, "out of memory");
	json_decref(json);
	return r;
}

/* Directories of cases are given from the document's. */
static int settle_dir(json_t *result, const char *dir)
{
	const char *mine = json_string_value(json_object_get(result, "dir"));
	char *whole;
	int r;

	if (!dir || !*dir || !mine || !*mine) {
		return 0;
	}
	if (asprintf(&whole, "%s/%s", dir, mine) < 0) {
		return -ENOMEM;
	}
	r = json_object_set_new(result, "dir", json_string(whole));
	free(whole);
	return r;
}

static int fill(struct test_set *s, const json_t *root, struct err *e)
{
	const char *dir = json_string_value(json_object_get(root, "dir"));
	json_t *one;
	size_t i;
	int r = fields_check_head(root, TEST_DOCUMENT_TYPE, TEST_DOCUMENT_SCHEMA_VERSION, e);

	r = r < 0 ? r : add_plan(s, root, e);
	if (r < 0) {
		return r;
	}
	json_array_foreach (json_object_get(root, "results"), i, one) {
		r = settle_dir(one, dir) < 0 ? err_set(e, -ENOMEM, "out of memory")
					     : add(s, one, e);
		if (r < 0) {
			err_prefix(e, "'results'[%zu]", i);
			return r;
		}
	}
	return 0;
}

/**
 * test_document_parse() - read a run from the text of such a document
 * @text: the text, which need not end with a NUL
 * @len: bytes
 * @ret: set on success; end it with test_set_destroy()
 * @e: set on failure
 *
 * Return: 0, -EBADMSG for what is none, -EPROTO for one of a newer schema, -ENOMEM.
 * Context: any thread.
 */
int test_document_parse(const char *text, size_t len, struct test_set **ret, struct err *e)
{
	_cleanup_(test_set_destroy_p) struct test_set *s = NULL;
	json_error_t je;
	json_t *root;
	int r = test_set_create(&s, e);

	if (r < 0) {
		return r;
	}
	root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &je);
	r = root ? fill(s, root, e)
		 : err_set(e, -EBADMSG, "line %d: column %d: %s", je.line, je.column, je.text);
	json_decref(root);
	if (r == 0) {
		*ret = TAKE_PTR(s);
	}
	return r;
}

/**
 * test_document_read() - read a run from such a document
 * @path: the file
 * @ret: set on success; end it with test_set_destroy()
 * @e: set on failure, names the file
 *
 * Return: 0, as test_document_parse(), or the errno of reading it.
 * Context: any thread.
 */
int test_document_read(const char *path, struct test_set **ret, struct err *e)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r = io_read_file(path, TEST_DOCUMENT_MAX, &text, &len, e);

	if (r < 0) {
		return r;
	}
	r = test_document_parse(text, len, ret, e);
	return r < 0 ? err_prefix(e, "%s", path) : 0;
}
