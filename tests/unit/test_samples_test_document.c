/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A test run read from the document that --json writes. */
#include "support.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "samples/test_document.h"

static struct err e;
static char path[64];

static void put(const char *text)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static json_t *document(void)
{
	const struct test_result r = {.id = "a", .test = "t", .verdict = TEST_NOT_OK, .dir = "a"};

	return json_pack("{s:i, s:s, s:s, s:s, s:I, s:s, s:[o], s:[s], s:i}", "schema_version", 1,
			 "type", TEST_DOCUMENT_TYPE, "title", "smoke.yaml", "ringside", "1.0",
			 "seed", (json_int_t)7, "dir", "out", "results", test_result_to_json(&r),
			 "missing", "b", "exit_status", 0);
}

static void put_document(json_t *json)
{
	char *text = json_dumps(json, JSON_INDENT(2));

	put(text);
	free(text);
	json_decref(json);
}

static void a_document_makes_the_set_of_its_run(void **state)
{
	_cleanup_(test_set_destroy_p) struct test_set *s = NULL;
	_cleanup_free_ const char **missing = NULL;
	const struct test_result *const *results;
	size_t n;

	put_document(document());
	assert_true(test_document_is_one(path));
	assert_int_equal(test_document_read(path, &s, &e), 0);
	results = test_set_results(s, &n);
	assert_int_equal(n, 1);
	assert_int_equal(results[0]->verdict, TEST_NOT_OK);
	assert_string_equal(results[0]->dir, "out/a");
	assert_string_equal(test_set_plan(s)->title, "smoke.yaml");
	assert_int_equal(test_set_plan(s)->seed, 7);
	assert_int_equal(test_set_missing(s, &missing, &n, &e), 0);
	assert_int_equal(n, 1);
	assert_string_equal(missing[0], "b");
}

static void assert_refused(const char *key, json_t *value, int code, const char *why)
{
	_cleanup_(test_set_destroy_p) struct test_set *s = NULL;
	json_t *json = document();

	json_object_set_new(json, key, value);
	put_document(json);
	assert_int_equal(test_document_read(path, &s, &e), code);
	assert_non_null(strstr(e.text, why));
}

static void what_is_none_is_refused(void **state)
{
	_cleanup_(test_set_destroy_p) struct test_set *s = NULL;

	assert_refused("schema_version", json_integer(2), -EPROTO, "is newer than the 1");
	assert_refused("type", json_string("report"), -EBADMSG, "expected 'test-report'");
	assert_refused("results", json_object(), -EBADMSG, "'results' or 'missing' is not a list");
	assert_refused("missing", json_null(), -EBADMSG, "'results' or 'missing' is not a list");
	assert_refused("results", json_pack("[i]", 1), -EBADMSG, "a case has no 'id'");
	assert_refused("results", json_pack("[{s:s}]", "id", "a"), -EBADMSG, "'results'[0]: ");
	assert_refused("missing", json_pack("[s]", "a"), -EBADMSG, "case a stands twice");
	put("{\"type\":\"test-report\"");
	assert_true(test_document_is_one(path));
	assert_int_equal(test_document_read(path, &s, &e), -EBADMSG);
	assert_non_null(strstr(e.text, ": line 1: column "));
}

static void other_files_are_told_apart(void **state)
{
	put("{\"schema_version\":1,\"type\":\"test-plan\"}\n");
	assert_false(test_document_is_one(path));
	put("\"test-report\"");
	assert_false(test_document_is_one(path));
	put("");
	assert_false(test_document_is_one(path));
	assert_false(test_document_is_one("/nonesuch"));
	assert_false(test_document_is_one("/"));
	assert_false(test_document_is_one("/dev/zero"));
}

static int make_path(void **state)
{
	int fd;

	snprintf(path, sizeof(path), "/tmp/ringside-document-XXXXXX");
	fd = mkstemp(path);
	return fd < 0 ? -1 : close(fd);
}

static int drop_path(void **state)
{
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_document_makes_the_set_of_its_run),
		cmocka_unit_test(what_is_none_is_refused),
		cmocka_unit_test(other_files_are_told_apart),
	};

	return cmocka_run_group_tests(tests, make_path, drop_path);
}
