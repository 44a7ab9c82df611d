/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See test_result.h. Any thread. */
#include "samples/test_result.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "samples/fields.h"
#include "samples/record.h"

#define TYPE "test"

static const char *const outcome_names[TEST_OUTCOME_COUNT] = {
	[TEST_PASS] = "pass",           [TEST_FAIL] = "fail",       [TEST_BROKEN] = "broken",
	[TEST_PANIC] = "panic",         [TEST_OOPS] = "oops",       [TEST_BOOT] = "boot",
	[TEST_HANG] = "hang",           [TEST_TIMEOUT] = "timeout", [TEST_NO_STATUS] = "no-status",
	[TEST_KVM_ERROR] = "kvm-error", [TEST_NO_KVM] = "no-kvm",   [TEST_VMM_FAULT] = "vmm-fault",
	[TEST_USAGE] = "usage",         [TEST_SKIP] = "skip",
};

static const char *const verdict_names[TEST_VERDICT_COUNT] = {
	[TEST_OK] = "ok",       [TEST_NOT_OK] = "not-ok",   [TEST_KNOWN] = "known",
	[TEST_FLAKY] = "flaky", [TEST_SKIPPED] = "skipped",
};

#define AT(member) offsetof(struct test_result, member)
#define TEXT(member)                               \
	{                                          \
#member, FIELD_TEXT, AT(member), 0 \
	}
#define COUNT64(member)                           \
	{                                         \
#member, FIELD_U64, AT(member), 0 \
	}

static const struct field fields[] = {
	{"id", FIELD_NAME, AT(id), 0},
	{"test", FIELD_NAME, AT(test), 0},
	TEXT(kernel),
	TEXT(cpu),
	TEXT(append),
	COUNT64(cpus),
	COUNT64(memory_bytes),
	TEXT(file),
	{"line", FIELD_UINT, AT(line), 0},
	{"column", FIELD_UINT, AT(column), 0},
	{"tags", FIELD_TEXTS, AT(tags), AT(tag_count)},
	TEXT(message),
	{"known", FIELD_TEXT_OR_NULL, AT(known), 0},
	{"backtrace", FIELD_TEXT_IF_ANY, AT(backtrace), 0},
	{"console_tail", FIELD_TEXT_IF_ANY, AT(console_tail), 0},
	{"status", FIELD_STATUS, AT(status), 0},
	{"attempts", FIELD_UINT, AT(attempts), 0},
	{"warnings", FIELD_TEXTS, AT(warnings), AT(warning_count)},
	COUNT64(started_unix_ns),
	COUNT64(duration_ns),
	COUNT64(boot_ns),
	TEXT(backend),
	{"kernel_sha256", FIELD_SHA256, AT(kernel_sha256), 0},
	TEXT(dir),
};

static const struct field sub_fields[] = {
	{"name", FIELD_TEXT, offsetof(struct test_sub, name), 0},
	{"directive", FIELD_TEXT_OR_NULL, offsetof(struct test_sub, directive), 0},
	{"message", FIELD_TEXT_OR_NULL, offsetof(struct test_sub, message), 0},
};

/**
 * test_outcome_name() - the word for an outcome in records, reports and options
 * @o: an outcome
 *
 * Return: a static string, such as "panic".
 * Context: any thread.
 */
const char *test_outcome_name(enum test_outcome o)
{
	assert((unsigned int)o < TEST_OUTCOME_COUNT);
	return outcome_names[o];
}

/**
 * test_outcome_is_environment() - whether it says nothing of what was tested
 * @o: an outcome
 *
 * No KVM, a fault or the end of the VMM itself, or a machine that could not be made here: no QEMU,
 * a file that cannot be read, a disk that is full.
 *
 * Return: whether.
 * Context: any thread.
 */
bool test_outcome_is_environment(enum test_outcome o)
{
	return o == TEST_NO_KVM || o == TEST_VMM_FAULT || o == TEST_USAGE;
}

/**
 * test_result_is_known_but_ok() - whether a case is as expected, and the suite says that it is not
 * @r: its result
 *
 * Return: whether: the suite's "known" has done its time.
 * Context: any thread.
 */
bool test_result_is_known_but_ok(const struct test_result *r)
{
	return r->verdict == TEST_OK && r->known && *r->known;
}

/**
 * test_verdict_name() - the word for a verdict
 * @v: a verdict
 *
 * Return: a static string, such as "not-ok".
 * Context: any thread.
 */
const char *test_verdict_name(enum test_verdict v)
{
	assert((unsigned int)v < TEST_VERDICT_COUNT);
	return verdict_names[v];
}

static json_t *subs_to_json(const struct test_result *r)
{
	json_t *list = json_array();

	for (size_t i = 0; i < r->sub_count; i++) {
		json_t *one = json_pack("{s:s}", "verdict", test_verdict_name(r->subs[i].verdict));

		if (fields_to_json(sub_fields, ARRAY_SIZE(sub_fields), &r->subs[i], one) < 0 ||
		    json_array_append(list, one) < 0) {
			json_decref(one);
			json_decref(list);
			return NULL;
		}
		json_decref(one);
	}
	return list;
}

/**
 * test_result_to_json() - a result as the object that is written
 * @r: the result
 *
 * Return: a new reference, or NULL when memory ran out.
 * Context: any thread.
 */
json_t *test_result_to_json(const struct test_result *r)
{
	json_t *class = r->has_class ? json_string(exec_class_name(r->exec_class)) : json_null();
	json_t *o =
		json_pack("{s:i, s:s, s:s, s:s, s:o, s:o}", "schema_version",
			  TEST_RESULT_SCHEMA_VERSION, "type", TYPE, "outcome",
			  test_outcome_name(r->outcome), "verdict", test_verdict_name(r->verdict),
			  "class", class, "subs", subs_to_json(r));

	if (fields_to_json(fields, ARRAY_SIZE(fields), r, o) < 0) {
		json_decref(o);
		return NULL;
	}
	return o;
}

/* The place of the text under a key in a list of names. */
static int get_choice(const json_t *object, const char *key, const char *const *names, size_t n,
		      size_t *ret, struct err *e)
{
	const char *s = json_string_value(json_object_get(object, key));

	for (size_t i = 0; s && i < n; i++) {
		if (strcmp(s, names[i]) == 0) {
			*ret = i;
			return 0;
		}
	}
	return err_set(e, -EBADMSG, "'%s' is '%.32s', which is none that is known", key,
		       s ? s : "");
}

static int get_verdict(const json_t *object, enum test_verdict *ret, struct err *e)
{
	size_t i = 0;
	int r = get_choice(object, "verdict", verdict_names, ARRAY_SIZE(verdict_names), &i, e);

	*ret = (enum test_verdict)i;
	return r;
}

static int get_class(const json_t *object, struct test_result *rec, struct err *e)
{
	const json_t *v = json_object_get(object, "class");

	if (json_is_null(v)) {
		return 0;
	}
	if (!json_is_string(v) || exec_class_parse(json_string_value(v), &rec->exec_class) < 0) {
		return err_set(e, -EBADMSG, "'class' is not an execution class or null");
	}
	rec->has_class = true;
	return 0;
}

static int get_subs(const json_t *object, struct test_result *rec, struct err *e)
{
	const json_t *list = json_object_get(object, "subs");
	const json_t *one;
	size_t i;

	if (!json_is_array(list)) {
		return err_set(e, -EBADMSG, "'subs' is not a list");
	}
	rec->subs = calloc(json_array_size(list) + 1, sizeof(*rec->subs));
	if (!rec->subs) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	json_array_foreach (list, i, one) {
		struct test_sub *s = &rec->subs[rec->sub_count++];
		int r = fields_from_json(sub_fields, ARRAY_SIZE(sub_fields), one, s, e);

		r = r < 0 ? r : get_verdict(one, &s->verdict, e);
		if (r < 0) {
			err_prefix(e, "'subs'[%zu]", i);
			return r;
		}
	}
	return 0;
}

/**
 * test_result_from_json() - read a result
 * @json: what was read
 * @ret: set on success; end it with test_result_destroy()
 * @e: set on failure, names the key
 *
 * Return: 0, -EBADMSG for what is no result, -EPROTO for one of a newer schema, -ENOMEM.
 * Context: any thread.
 */
int test_result_from_json(const json_t *json, struct test_result **ret, struct err *e)
{
	_cleanup_(test_result_destroy_p) struct test_result *rec = calloc(1, sizeof(*rec));
	size_t outcome = 0;
	int r;

	if (!rec) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	r = fields_check_head(json, TYPE, TEST_RESULT_SCHEMA_VERSION, e);
	r = r < 0 ? r : fields_from_json(fields, ARRAY_SIZE(fields), json, rec, e);
	r = r < 0 ? r
		  : get_choice(json, "outcome", outcome_names, ARRAY_SIZE(outcome_names), &outcome,
			       e);
	r = r < 0 ? r : get_verdict(json, &rec->verdict, e);
	r = r < 0 ? r : get_class(json, rec, e);
	r = r < 0 ? r : get_subs(json, rec, e);
	if (r < 0) {
		return r;
	}
	rec->outcome = (enum test_outcome)outcome;
	*ret = TAKE_PTR(rec);
	return 0;
}

/**
 * test_result_destroy() - free a result
 * @r: the result, or NULL, or one that is half built
 *
 * Context: any thread.
 */
void test_result_destroy(struct test_result *r)
{
	if (!r) {
		return;
	}
	fields_free(fields, ARRAY_SIZE(fields), r);
	for (size_t i = 0; i < r->sub_count; i++) {
		fields_free(sub_fields, ARRAY_SIZE(sub_fields), &r->subs[i]);
	}
	free(r->subs);
	free(r);
}
