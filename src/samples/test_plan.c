/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See test_plan.h. Any thread. */
#include "samples/test_plan.h"

#include <errno.h>
#include <inttypes.h>
#include <sha256.h>
#include <stdio.h>
#include <string.h>

#include "samples/fields.h"
#include "samples/record.h"
#include "samples/test_result.h"

#define AT(member) offsetof(struct test_plan, member)

static const struct field fields[] = {
	{"ringside", FIELD_TEXT, AT(ringside_version), 0},
	{"title", FIELD_TEXT, AT(title), 0},
	{"suite", FIELD_TEXT, AT(suite), 0},
	{"suite_sha256", FIELD_SHA256, AT(suite_sha256), 0},
	{"seed", FIELD_U64, AT(seed), 0},
	{"shard", FIELD_UINT, AT(shard), 0},
	{"shards", FIELD_UINT, AT(shards), 0},
	{"until_failure", FIELD_BOOL, AT(until_failure), 0},
	{"cases", FIELD_TEXTS, AT(ids), AT(id_count)},
};

static void hash_text(SHA2_CTX *ctx, const char *s)
{
	/* With its NUL, so that no two lists of texts are one. */
	SHA256Update(ctx, (const uint8_t *)(s ? s : ""), strlen(s ? s : "") + 1);
}

/*
 * What shards of one run have in common: the suite, its cases and who ran it. Its place in the file
 * system and the order may differ from machine to machine.
 */
static void hash_plan(const struct test_plan *p, char ret_hex[SHA256_DIGEST_STRING_LENGTH])
{
	char shards[32];
	SHA2_CTX ctx;

	SHA256Init(&ctx);
	snprintf(shards, sizeof(shards), "%u %d", p->shards, p->until_failure);
	hash_text(&ctx, shards);
	hash_text(&ctx, p->ringside_version);
	hash_text(&ctx, p->suite_sha256);
	for (size_t i = 0; i < p->id_count; i++) {
		hash_text(&ctx, p->ids[i]);
	}
	SHA256End(&ctx, ret_hex);
}

/**
 * test_plan_to_json() - a plan as the object that is written
 * @p: the plan
 *
 * Return: a new reference, or NULL when memory ran out.
 * Context: any thread.
 */
json_t *test_plan_to_json(const struct test_plan *p)
{
	char hash[SHA256_DIGEST_STRING_LENGTH];
	json_t *o;

	hash_plan(p, hash);
	o = json_pack("{s:i, s:s, s:s}", "schema_version", TEST_RESULT_SCHEMA_VERSION, "type",
		      TEST_PLAN_TYPE, "plan_sha256", hash);
	if (fields_to_json(fields, ARRAY_SIZE(fields), p, o) < 0 ||
	    (p->filter && json_object_set_new(o, "filter", record_text_to_json(p->filter)) < 0)) {
		json_decref(o);
		return NULL;
	}
	return o;
}

static int check(const struct test_plan *p, const json_t *json, struct err *e)
{
	const char *said = json_string_value(json_object_get(json, "plan_sha256"));
	char hash[SHA256_DIGEST_STRING_LENGTH];

	if (p->shards < 1 || p->shards > TEST_PLAN_SHARDS_MAX || p->shard < 1 ||
	    p->shard > p->shards) {
		return err_set(e, -EBADMSG, "there is no shard %u of %u", p->shard, p->shards);
	}
	for (size_t i = 0; i < p->id_count; i++) {
		if (!*p->ids[i]) {
			return err_set(e, -EBADMSG, "'cases'[%zu] is empty", i);
		}
	}
	hash_plan(p, hash);
	if (!said || strcmp(said, hash) != 0) {
		return err_set(e, -EBADMSG,
			       "'plan_sha256' is not that of the plan: it was changed");
	}
	return 0;
}

/**
 * test_plan_take_filter() - read what chose among the suite's cases, where something did
 * @p: gets it
 * @json: of a plan, or of another object that has a "filter"
 * @e: set on failure
 *
 * Return: 0, -EBADMSG, -ENOMEM.
 * Context: any thread.
 */
int test_plan_take_filter(struct test_plan *p, const json_t *json, struct err *e)
{
	const json_t *filter = json_object_get(json, "filter");

	if (!filter) {
		return 0;
	}
	if (!json_is_string(filter)) {
		return err_set(e, -EBADMSG, "'filter' is no text");
	}
	p->filter = strdup(json_string_value(filter));
	return p->filter ? 0 : err_set(e, -ENOMEM, "out of memory");
}

/**
 * test_plan_from_json() - read a plan
 * @json: what was read
 * @ret: set on success; end it with test_plan_destroy()
 * @e: set on failure, names the key
 *
 * Return: 0, -EBADMSG for what is no plan, -EPROTO for one of a newer schema, -ENOMEM.
 * Context: any thread.
 */
int test_plan_from_json(const json_t *json, struct test_plan **ret, struct err *e)
{
	_cleanup_(test_plan_destroy_p) struct test_plan *p = calloc(1, sizeof(*p));
	int r;

	if (!p) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	r = fields_check_head(json, TEST_PLAN_TYPE, TEST_RESULT_SCHEMA_VERSION, e);
	r = r < 0 ? r : fields_from_json(fields, ARRAY_SIZE(fields), json, p, e);
	r = r < 0 ? r : test_plan_take_filter(p, json, e);
	r = r < 0 ? r : check(p, json, e);
	if (r < 0) {
		return r;
	}
	*ret = TAKE_PTR(p);
	return 0;
}

/**
 * test_plan_check_same() - whether two plans are parts of one run
 * @a: one plan
 * @b: another
 * @e: set on failure, says in what they differ
 *
 * Return: 0, or -EXDEV.
 * Context: any thread.
 */
int test_plan_check_same(const struct test_plan *a, const struct test_plan *b, struct err *e)
{
	if (strcmp(a->ringside_version, b->ringside_version) != 0) {
		return err_set(e, -EXDEV, "ringside %s ran it, and %s the other",
			       a->ringside_version, b->ringside_version);
	}
	if (strcmp(a->suite_sha256, b->suite_sha256) != 0) {
		return err_set(e, -EXDEV, "it is of the suite %.16s..., the other of %.16s...",
			       a->suite_sha256, b->suite_sha256);
	}
	if (a->shards != b->shards) {
		return err_set(e, -EXDEV, "it is one of %u shards, the other one of %u", a->shards,
			       b->shards);
	}
	if (a->until_failure != b->until_failure) {
		return err_set(e, -EXDEV, "one of them is of --until-failure");
	}
	for (size_t i = 0; i < a->id_count || i < b->id_count; i++) {
		const char *mine = i < a->id_count ? a->ids[i] : "none";
		const char *other = i < b->id_count ? b->ids[i] : "none";

		if (strcmp(mine, other) != 0) {
			return err_set(e, -EXDEV,
				       "its case %zu is %.200s, that of the other %.200s", i + 1,
				       mine, other);
		}
	}
	return 0;
}

/**
 * test_plan_destroy() - free a plan
 * @p: the plan, or NULL, or one that is half built
 *
 * Context: any thread.
 */
void test_plan_destroy(struct test_plan *p)
{
	if (p) {
		fields_free(fields, ARRAY_SIZE(fields), p);
		free(p->filter);
		free(p);
	}
}
