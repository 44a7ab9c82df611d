/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "samples/test_result.h"

static struct err e;

static char *texts[] = {"one", "two"};

static struct test_sub subs[] = {
	{.name = "list/add", .verdict = TEST_NOT_OK, .message = "a\nb"},
	{.name = "list/del", .verdict = TEST_SKIPPED, .directive = "SKIP none"},
};

static const struct test_result whole = {
	.id = "smoke[cpus=2]",
	.test = "smoke",
	.kernel = "base",
	.cpu = "host,-x2apic",
	.append = "quiet",
	.cpus = 2,
	.memory_bytes = 512 << 20,
	.file = "smoke.yaml",
	.line = 12,
	.column = 5,
	.tag_count = 2,
	.tags = texts,
	.outcome = TEST_OOPS,
	.verdict = TEST_NOT_OK,
	.message = "BUG: \xff\x01",
	.known = "since 6.1",
	.status = 241,
	.attempts = 3,
	.warning_count = 1,
	.warnings = texts,
	.sub_count = 2,
	.subs = subs,
	.started_unix_ns = UINT64_C(1796100000000000000),
	.duration_ns = 1,
	.boot_ns = 2,
	.has_class = true,
	.exec_class = EXEC_ICOUNT,
	.backend = "kvm",
	.kernel_sha256 = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
	.dir = "smoke[cpus=2]",
};

static void a_result_is_what_was_written(void **state)
{
	json_t *json = test_result_to_json(&whole);
	json_t *again;
	struct test_result *r;

	assert_int_equal(test_result_from_json(json, &r, &e), 0);
	assert_string_equal(r->id, whole.id);
	assert_int_equal(r->outcome, TEST_OOPS);
	assert_int_equal(r->verdict, TEST_NOT_OK);
	assert_int_equal(r->exec_class, EXEC_ICOUNT);
	assert_string_equal(r->message, "BUG: ?\x01");
	assert_string_equal(r->tags[1], "two");
	assert_int_equal(r->sub_count, 2);
	assert_string_equal(r->subs[0].message, "a\nb");
	assert_null(r->subs[0].directive);
	assert_int_equal(r->subs[1].verdict, TEST_SKIPPED);
	again = test_result_to_json(r);
	assert_true(json_equal(json, again));
	json_decref(json);
	json_decref(again);
	test_result_destroy(r);
}

static void an_empty_result_is_written_too(void **state)
{
	const struct test_result least = {.id = "a", .test = "a", .status = -1};
	json_t *json = test_result_to_json(&least);
	struct test_result *r;

	assert_int_equal(test_result_from_json(json, &r, &e), 0);
	assert_string_equal(r->kernel, "");
	assert_null(r->known);
	assert_false(r->has_class);
	assert_int_equal(r->status, -1);
	json_decref(json);
	test_result_destroy(r);
}

static void every_field_must_be_there(void **state)
{
	json_t *json = test_result_to_json(&whole);
	const char *key;
	json_t *v;

	json_object_foreach (json, key, v) {
		json_t *less = json_copy(json);
		struct test_result *r;

		json_object_del(less, key);
		if (test_result_from_json(less, &r, &e) != -EBADMSG) {
			fail_msg("without '%s' it is read", key);
		}
		assert_non_null(strstr(e.text, key));
		json_decref(less);
	}
	assert_int_equal(json_object_size(json), 28);
	json_decref(json);
}

static void what_helps_to_understand_it_need_not_be_there(void **state)
{
	struct test_result more = whole, *r;
	json_t *json;

	more.backtrace = "vCPU 0: RIP 0x1";
	more.console_tail = "line\nline\n";
	json = test_result_to_json(&more);
	assert_int_equal(json_object_size(json), 30);
	assert_int_equal(test_result_from_json(json, &r, &e), 0);
	assert_string_equal(r->backtrace, more.backtrace);
	assert_string_equal(r->console_tail, more.console_tail);
	test_result_destroy(r);
	json_object_del(json, "backtrace");
	json_object_set_new(json, "console_tail", json_null());
	assert_int_equal(test_result_from_json(json, &r, &e), -EBADMSG);
	json_decref(json);
}

static void every_field_must_be_of_its_kind(void **state)
{
	json_t *json = test_result_to_json(&whole);
	const char *key;
	json_t *v;

	json_object_foreach (json, key, v) {
		json_t *bad = json_copy(json);
		struct test_result *r;

		json_object_set_new(bad, key, json_real(0.5));
		if (test_result_from_json(bad, &r, &e) != -EBADMSG) {
			fail_msg("with a fraction as '%s' it is read", key);
		}
		json_decref(bad);
	}
	json_decref(json);
}

static void assert_refused(const char *key, json_t *value, int code, const char *why)
{
	json_t *json = test_result_to_json(&whole);
	struct test_result *r;

	json_object_set_new(json, key, value);
	assert_int_equal(test_result_from_json(json, &r, &e), code);
	assert_string_equal(e.text, why);
	json_decref(json);
}

static void what_cannot_be_is_refused(void **state)
{
	assert_refused("schema_version", json_integer(TEST_RESULT_SCHEMA_VERSION + 1), -EPROTO,
		       "schema version 2 is newer than the 1 this ringside reads: use the one "
		       "that wrote it");
	assert_refused("schema_version", json_integer(0), -EBADMSG,
		       "no 'schema_version': this is no record of ringside");
	assert_refused("type", json_string("boot"), -EBADMSG,
		       "a record of type 'boot', expected 'test'");
	assert_refused("id", json_string(""), -EBADMSG, "'id' is not a text that is not empty");
	assert_refused("cpus", json_integer(-1), -EBADMSG,
		       "'cpus' is not a whole number of 0 or more");
	assert_refused("line", json_integer(INT64_C(1) << 32), -EBADMSG,
		       "'line' is not a whole number from 0 to 4294967295");
	assert_refused("status", json_integer(256), -EBADMSG,
		       "'status' is not a whole number from -1 to 255");
	assert_refused("tags", json_pack("[s, i]", "a", 1), -EBADMSG,
		       "'tags' is not a list of texts");
	assert_refused("kernel_sha256", json_string("12"), -EBADMSG,
		       "'kernel_sha256' is not 64 hexadecimal digits, or an empty text");
	assert_refused("outcome", json_string("maybe"), -EBADMSG,
		       "'outcome' is 'maybe', which is none that is known");
	assert_refused("verdict", json_string("green"), -EBADMSG,
		       "'verdict' is 'green', which is none that is known");
	assert_refused("class", json_string("fast"), -EBADMSG,
		       "'class' is not an execution class or null");
	assert_refused("subs", json_pack("[{s:s, s:n, s:n}]", "name", "x", "directive", "message"),
		       -EBADMSG, "'subs'[0]: 'verdict' is '', which is none that is known");
	assert_refused("subs", json_pack("[i]", 1), -EBADMSG, "'subs'[0]: 'name' is missing");
}

static void keys_that_are_not_known_are_passed_over(void **state)
{
	json_t *json = test_result_to_json(&whole);
	struct test_result *r;

	json_object_set_new(json, "colour", json_string("blue"));
	assert_int_equal(test_result_from_json(json, &r, &e), 0);
	json_decref(json);
	test_result_destroy(r);
}

static void every_name_is_its_own(void **state)
{
	for (int i = 0; i < TEST_OUTCOME_COUNT; i++) {
		for (int k = 0; k < i; k++) {
			assert_string_not_equal(test_outcome_name((enum test_outcome)i),
						test_outcome_name((enum test_outcome)k));
		}
	}
	for (int i = 0; i < TEST_VERDICT_COUNT; i++) {
		assert_non_null(test_verdict_name((enum test_verdict)i));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_result_is_what_was_written),
		cmocka_unit_test(an_empty_result_is_written_too),
		cmocka_unit_test(every_field_must_be_there),
		cmocka_unit_test(what_helps_to_understand_it_need_not_be_there),
		cmocka_unit_test(every_field_must_be_of_its_kind),
		cmocka_unit_test(what_cannot_be_is_refused),
		cmocka_unit_test(keys_that_are_not_known_are_passed_over),
		cmocka_unit_test(every_name_is_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
