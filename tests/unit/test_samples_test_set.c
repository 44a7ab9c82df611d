/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results files of test runs: read, refused, merged and written again. */
#include "support.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "samples/test_set.h"

#define SHA_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define SHA_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

static struct err e;
static char folder[64];

static char *ids[] = {"a", "b", "c", "d", "e"};

static struct test_plan plan_of(unsigned int shard, unsigned int shards)
{
	return (struct test_plan){
		.ringside_version = "1.0",
		.title = "smoke",
		.suite = "smoke.yaml",
		.suite_sha256 = SHA_A,
		.seed = 7,
		.shard = shard,
		.shards = shards,
		.id_count = ARRAY_SIZE(ids),
		.ids = ids,
	};
}

static char *text_of(json_t *json)
{
	char *text = json_dumps(json, JSON_COMPACT);

	json_decref(json);
	assert_non_null(text);
	return text;
}

static int add_plan(struct test_set *s, const struct test_plan *p)
{
	_cleanup_free_ char *text = text_of(test_plan_to_json(p));

	return test_set_add_line(s, text, strlen(text), &e);
}

static int add(struct test_set *s, struct test_result r)
{
	_cleanup_free_ char *text = NULL;

	r.test = r.test ? r.test : "t";
	text = text_of(test_result_to_json(&r));
	return test_set_add_line(s, text, strlen(text), &e);
}

static struct test_set *set_of(const struct test_plan *p)
{
	struct test_set *s;

	assert_int_equal(test_set_create(&s, &e), 0);
	assert_int_equal(add_plan(s, p), 0);
	return s;
}

static struct test_set *shard(unsigned int i, unsigned int n)
{
	struct test_plan p = plan_of(i, n);

	return set_of(&p);
}

/* Ids joined by spaces. */
static void assert_results(const struct test_set *s, const char *wanted)
{
	size_t n;
	const struct test_result *const *r = test_set_results(s, &n);
	char found[256] = "";

	for (size_t i = 0; i < n; i++) {
		strcat(found, i ? " " : "");
		strcat(found, r[i]->id);
	}
	assert_string_equal(found, wanted);
}

static void assert_missing(const struct test_set *s, const char *wanted)
{
	_cleanup_free_ const char **missing = NULL;
	char found[256] = "";
	size_t n;

	assert_int_equal(test_set_missing(s, &missing, &n, &e), 0);
	for (size_t i = 0; i < n; i++) {
		strcat(found, i ? " " : "");
		strcat(found, missing[i]);
	}
	assert_string_equal(found, wanted);
}

static void a_plan_comes_first_and_results_are_held_against_it(void **state)
{
	_cleanup_(test_set_destroy_p) struct test_set *s = shard(1, 1);

	assert_int_equal(add(s, (struct test_result){.id = "d"}), 0);
	assert_int_equal(add(s, (struct test_result){.id = "a"}), 0);
	assert_results(s, "d a");
	assert_missing(s, "b c e");
	assert_int_equal(add(s, (struct test_result){.id = "x"}), -EBADMSG);
	assert_string_equal(e.text, "case x is not in the plan");
	assert_int_equal(add(s, (struct test_result){.id = "a#2"}), -EBADMSG);
	assert_int_equal(add(s, (struct test_result){.id = "a"}), -EBADMSG);
	assert_string_equal(e.text, "case a stands twice in it");
	assert_results(s, "d a");
}

static void of_a_shard_only_its_own_cases_count(void **state)
{
	_cleanup_(test_set_destroy_p) struct test_set *s = shard(2, 2);

	assert_int_equal(add(s, (struct test_result){.id = "b"}), 0);
	assert_missing(s, "d");
	assert_int_equal(add(s, (struct test_result){.id = "c"}), -EBADMSG);
	assert_string_equal(e.text, "case c is of shard 1, and this is shard 2");
}

static void rounds_of_one_case_are_told_apart(void **state)
{
	struct test_plan p = plan_of(1, 1);
	_cleanup_(test_set_destroy_p) struct test_set *s = NULL;

	p.until_failure = true;
	s = set_of(&p);
	assert_int_equal(add(s, (struct test_result){.id = "a"}), 0);
	assert_int_equal(add(s, (struct test_result){.id = "a#2"}), 0);
	assert_int_equal(add(s, (struct test_result){.id = "a#2"}), -EBADMSG);
	assert_int_equal(add(s, (struct test_result){.id = "a#1"}), -EBADMSG);
	assert_int_equal(add(s, (struct test_result){.id = "x#2"}), -EBADMSG);
	assert_missing(s, "b c d e");
}

static void what_is_no_plan_is_refused_and_leaves_no_trace(void **state)
{
	_cleanup_(test_set_destroy_p) struct test_set *s = NULL;
	struct test_plan p = plan_of(3, 2);
	char *twice[] = {"a", "b", "a"};

	assert_int_equal(test_set_create(&s, &e), 0);
	assert_int_equal(test_set_add_line(s, "{", 1, &e), -EBADMSG);
	assert_int_equal(test_set_add_line(s, "[]", 2, &e), -EBADMSG);
	assert_string_equal(e.text, "no 'schema_version': this is no record of ringside");
	assert_int_equal(add(s, (struct test_result){.id = "a"}), -EBADMSG);
	assert_string_equal(e.text, "a record of type 'test', expected 'test-plan'");
	assert_int_equal(add_plan(s, &p), -EBADMSG);
	assert_string_equal(e.text, "there is no shard 3 of 2");
	p = plan_of(1, TEST_PLAN_SHARDS_MAX + 1);
	assert_int_equal(add_plan(s, &p), -EBADMSG);
	p = plan_of(1, 1);
	p.ids = twice;
	p.id_count = ARRAY_SIZE(twice);
	assert_int_equal(add_plan(s, &p), -EBADMSG);
	assert_string_equal(e.text, "case a stands twice in the plan");
	p = plan_of(1, 1);
	assert_int_equal(add_plan(s, &p), 0);
	assert_int_equal(add_plan(s, &p), -EBADMSG);
	assert_non_null(strstr(e.text, "a second plan"));
}

static void a_plan_that_was_changed_is_refused(void **state)
{
	_cleanup_(test_set_destroy_p) struct test_set *s = NULL;
	struct test_plan p = plan_of(1, 1);
	_cleanup_free_ char *text = text_of(test_plan_to_json(&p));
	char *c = strstr(text, "\"c\"");

	assert_non_null(c);
	c[1] = 'x';
	assert_int_equal(test_set_create(&s, &e), 0);
	assert_int_equal(test_set_add_line(s, text, strlen(text), &e), -EBADMSG);
	assert_string_equal(e.text, "'plan_sha256' is not that of the plan: it was changed");
}

static void a_newer_file_is_refused(void **state)
{
	_cleanup_(test_set_destroy_p) struct test_set *s = NULL;
	static const char text[] = "{\"schema_version\":99,\"type\":\"test-plan\"}";

	assert_int_equal(test_set_create(&s, &e), 0);
	assert_int_equal(test_set_add_line(s, text, strlen(text), &e), -EPROTO);
	assert_non_null(strstr(e.text, "schema version 99 is newer than the 1"));
}

static void shards_are_merged_in_the_plans_order(void **state)
{
	_cleanup_(test_set_destroy_p) struct test_set *one = shard(1, 2);
	_cleanup_(test_set_destroy_p) struct test_set *two = shard(2, 2);

	assert_int_equal(add(one, (struct test_result){.id = "e"}), 0);
	assert_int_equal(add(one, (struct test_result){.id = "a"}), 0);
	assert_int_equal(add(two, (struct test_result){.id = "d"}), 0);
	assert_int_equal(test_set_merge(two, one, &e), 0);
	assert_results(two, "a d e");
	assert_missing(two, "b c");
	assert_true(test_set_has_shard(two, 1));
}

static void a_shard_that_is_missing_is_missed(void **state)
{
	_cleanup_(test_set_destroy_p) struct test_set *one = shard(1, 3);

	assert_int_equal(test_set_begin_merge(one, &e), 0);
	assert_missing(one, "a b c d e");
	assert_false(test_set_has_shard(one, 2));
	assert_false(test_set_has_shard(one, 3));
}

static void assert_no_merge(struct test_plan p, int code, const char *why)
{
	_cleanup_(test_set_destroy_p) struct test_set *one = shard(1, 2);
	_cleanup_(test_set_destroy_p) struct test_set *other = set_of(&p);

	assert_int_equal(test_set_merge(one, other, &e), code);
	assert_string_equal(e.text, why);
}

static void what_is_no_part_of_one_run_is_not_merged(void **state)
{
	char *others[] = {"a", "b", "c", "x", "e"};
	struct test_plan p = plan_of(1, 2);

	assert_no_merge(p, -EEXIST, "shard 1 of 2 is there twice");
	p = plan_of(2, 3);
	assert_no_merge(p, -EXDEV, "it is one of 3 shards, the other one of 2");
	p = plan_of(2, 2);
	p.ringside_version = "2.0";
	assert_no_merge(p, -EXDEV, "ringside 2.0 ran it, and 1.0 the other");
	p = plan_of(2, 2);
	p.suite_sha256 = SHA_B;
	assert_no_merge(p, -EXDEV,
			"it is of the suite bbbbbbbbbbbbbbbb..., the other of aaaaaaaaaaaaaaaa...");
	p = plan_of(2, 2);
	p.ids = others;
	assert_no_merge(p, -EXDEV, "its case 4 is x, that of the other d");
	p = plan_of(2, 2);
	p.id_count--;
	assert_no_merge(p, -EXDEV, "its case 5 is none, that of the other e");
	p = plan_of(2, 2);
	p.until_failure = true;
	assert_no_merge(p, -EXDEV, "one of them is of --until-failure");
}

static void shards_of_different_kernels_are_not_merged(void **state)
{
	_cleanup_(test_set_destroy_p) struct test_set *one = shard(1, 2);
	_cleanup_(test_set_destroy_p) struct test_set *two = shard(2, 2);

	assert_int_equal(add(one, (struct test_result){.id = "a", .kernel_sha256 = SHA_A}), 0);
	assert_int_equal(add(two, (struct test_result){.id = "b"}), 0);
	assert_int_equal(add(two, (struct test_result){.id = "d", .kernel_sha256 = SHA_B}), 0);
	assert_int_equal(test_set_merge(one, two, &e), -EXDEV);
	assert_string_equal(e.text, "d booted the kernel bbbbbbbbbbbbbbbb..., a "
				    "aaaaaaaaaaaaaaaa...: they are of different kernels");
}

static const char *file(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static void put(const char *name, const struct test_set *s, const char *more)
{
	FILE *f = fopen(file(name), "we");

	assert_non_null(f);
	assert_int_equal(test_set_write(s, f, &e), 0);
	fputs(more, f);
	fclose(f);
}

static void a_file_is_read_and_its_partial_last_line_dropped(void **state)
{
	_cleanup_(test_set_destroy_p) struct test_set *s = shard(1, 1);
	_cleanup_(test_set_destroy_p) struct test_set *again = NULL;
	uint64_t dropped;

	assert_int_equal(add(s, (struct test_result){.id = "b", .dir = "b"}), 0);
	put("cut", s, "{\"schema");
	assert_true(test_set_is_one(file("cut")));
	assert_int_equal(test_set_read(file("cut"), &again, &dropped, &e), 0);
	assert_int_equal(dropped, 8);
	assert_results(again, "b");
	assert_string_equal(test_set_dir(again), folder);
	assert_string_equal(test_set_plan(again)->title, "smoke");
	unlink(file("cut"));
}

static void merged_shards_are_a_file_of_their_own(void **state)
{
	_cleanup_(test_set_destroy_p) struct test_set *one = shard(1, 2);
	_cleanup_(test_set_destroy_p) struct test_set *two = NULL;
	_cleanup_(test_set_destroy_p) struct test_set *whole = NULL;
	size_t n;
	char dir[128];
	uint64_t dropped;

	assert_int_equal(add(one, (struct test_result){.id = "c", .dir = "c"}), 0);
	put("one", one, "");
	test_set_destroy(one);
	one = shard(2, 2);
	assert_int_equal(add(one, (struct test_result){.id = "b", .dir = "b"}), 0);
	assert_int_equal(test_set_read(file("one"), &two, &dropped, &e), 0);
	assert_int_equal(test_set_merge(one, two, &e), 0);
	put("whole", one, "");
	assert_int_equal(test_set_read(file("whole"), &whole, &dropped, &e), 0);
	assert_int_equal(test_set_plan(whole)->shards, 1);
	assert_results(whole, "b c");
	assert_missing(whole, "a d e");
	snprintf(dir, sizeof(dir), "%s/c", folder);
	assert_string_equal(test_set_results(whole, &n)[1]->dir, dir);
	unlink(file("one"));
	unlink(file("whole"));
}

static void a_file_that_is_none_is_told_apart(void **state)
{
	_cleanup_(test_set_destroy_p) struct test_set *s = NULL;
	uint64_t dropped;
	FILE *f = fopen(file("other"), "we");

	assert_non_null(f);
	fputs("{\"schema_version\":2,\"type\":\"plan\"}\n", f);
	fclose(f);
	assert_false(test_set_is_one(file("other")));
	assert_false(test_set_is_one(file("nowhere")));
	assert_int_equal(test_set_read(file("other"), &s, &dropped, &e), -EBADMSG);
	assert_non_null(strstr(e.text, "/other: line 1: a record of type 'plan', expected "));
	assert_int_equal(test_set_read("/dev/null", &s, &dropped, &e), -ENODATA);
	assert_string_equal(e.text, "/dev/null: there is no plan in it");
	unlink(file("other"));
}

static int make_folder(void **state)
{
	snprintf(folder, sizeof(folder), "/tmp/ringside-set-XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int drop_folder(void **state)
{
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plan_comes_first_and_results_are_held_against_it),
		cmocka_unit_test(of_a_shard_only_its_own_cases_count),
		cmocka_unit_test(rounds_of_one_case_are_told_apart),
		cmocka_unit_test(what_is_no_plan_is_refused_and_leaves_no_trace),
		cmocka_unit_test(a_plan_that_was_changed_is_refused),
		cmocka_unit_test(a_newer_file_is_refused),
		cmocka_unit_test(shards_are_merged_in_the_plans_order),
		cmocka_unit_test(a_shard_that_is_missing_is_missed),
		cmocka_unit_test(what_is_no_part_of_one_run_is_not_merged),
		cmocka_unit_test(shards_of_different_kernels_are_not_merged),
		cmocka_unit_test(a_file_is_read_and_its_partial_last_line_dropped),
		cmocka_unit_test(merged_shards_are_a_file_of_their_own),
		cmocka_unit_test(a_file_that_is_none_is_told_apart),
	};

	return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
