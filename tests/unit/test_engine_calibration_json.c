/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "calibration_fixture.h"
#include "engine/calibration.h"
#include "near.h"

static struct calibration *there_and_back(const struct calibration *c)
{
	json_t *j = calibration_json(c);
	char *text = json_dumps(j, 0);
	struct calibration *back = NULL;
	struct err e = ERR_INIT;

	assert_non_null(text);
	if (calibration_parse(text, strlen(text), "test", &back, &e) < 0) {
		fail_msg("%s", e.text);
	}
	free(text);
	json_decref(j);
	return back;
}

static void same_number(double a, double b)
{
	if (isfinite(a) || isfinite(b)) {
		assert_near(a, b, 0);
	} else {
		assert_int_equal(isnan(a), isnan(b));
	}
}

static void what_is_written_is_read_back_the_same(void **state)
{
	struct calibration_replicate r[6];
	struct calibration *c, *back;

	calibration_fixture_fill(r, 6);
	calibration_fixture_lose_ring0(r, 6);
	c = calibration_fixture_make(r, 6, EXEC_ICOUNT, 3);
	snprintf(c->host_cpu, sizeof(c->host_cpu), "a processor");
	back = there_and_back(c);
	assert_int_equal(back->class, EXEC_ICOUNT);
	assert_int_equal(back->icount_shift, 3);
	assert_int_equal(back->replicates, 6);
	assert_string_equal(back->host_cpu, "a processor");
	assert_int_equal(back->primitive_count, c->primitive_count);
	assert_int_equal(back->floor_count, c->floor_count);
	for (size_t i = 0; i < c->primitive_count; i++) {
		const struct calibration_primitive *a = &c->primitives[i];
		const struct calibration_primitive *b = &back->primitives[i];

		assert_string_equal(a->name, b->name);
		assert_string_equal(a->about, b->about);
		assert_string_equal(a->unit, b->unit);
		assert_string_equal(a->reason, b->reason);
		assert_int_equal(a->ring, b->ring);
		assert_int_equal(a->native, b->native);
		assert_int_equal(a->n, b->n);
		assert_int_equal(a->dirty, b->dirty);
		same_number(a->number.median, b->number.median);
		same_number(a->number.low, b->number.low);
		same_number(a->number.level, b->number.level);
		same_number(a->core_cycles.median, b->core_cycles.median);
	}
	for (size_t i = 0; i < c->floor_count; i++) {
		assert_string_equal(c->floors[i].id, back->floors[i].id);
		assert_string_equal(c->floors[i].formula, back->floors[i].formula);
		assert_string_equal(c->floors[i].reason, back->floors[i].reason);
		same_number(c->floors[i].value, back->floors[i].value);
		same_number(c->floors[i].high, back->floors[i].high);
	}
	free(back);
	free(c);
}

static void an_infinite_interval_is_null_in_json_and_infinite_again(void **state)
{
	struct calibration_replicate r[2];
	struct calibration *c, *back;

	calibration_fixture_fill(r, 2);
	c = calibration_fixture_make(r, 2, EXEC_NATIVE, 0);
	back = there_and_back(c);
	assert_true(isfinite(back->floors[0].value));
	assert_true(isinf(back->floors[0].low) && back->floors[0].low < 0);
	assert_true(isinf(back->primitives[0].number.high));
	free(back);
	free(c);
}

static void the_json_has_the_keys_that_others_read(void **state)
{
	struct calibration_replicate r[6];
	struct calibration *c;
	json_t *j;
	const json_t *floor;

	calibration_fixture_fill(r, 6);
	calibration_fixture_lose_ring0(r, 6);
	c = calibration_fixture_make(r, 6, EXEC_EMULATED, 0);
	j = calibration_json(c);
	assert_int_equal(json_integer_value(json_object_get(j, "schema_version")), 1);
	assert_string_equal(json_string_value(json_object_get(j, "type")), "calibration");
	assert_string_equal(json_string_value(json_object_get(j, "class")), "emulated");
	floor = json_array_get(json_object_get(j, "floors"), 0);
	assert_string_equal(json_string_value(json_object_get(floor, "id")), "fsgsbase.fs");
	assert_true(json_is_null(json_object_get(floor, "value")));
	assert_true(json_is_null(json_object_get(floor, "low")));
	assert_true(json_is_string(json_object_get(floor, "reason")));
	assert_true(json_is_string(json_object_get(floor, "formula")));
	assert_true(json_is_string(json_object_get(floor, "unit")));
	json_decref(j);
	free(c);
}

static void what_is_no_calibration_is_refused_and_named(void **state)
{
#define HEAD "{\"schema_version\":1,\"type\":\"calibration\",\"class\":\"native\","
	static const struct {
		const char *text;
		const char *says;
	} cases[] = {
		{"", "f:1:0: '[' or '{' expected near end of file"},
		{"[]", "f: 'type' is not \"calibration\""},
		{"{\"type\":\"boot\"}", "f: 'type' is not \"calibration\""},
		{"{\"type\":\"calibration\",\"schema_version\":2}",
		 "f: schema version 2, this ringside reads 1"},
		{"{\"type\":\"calibration\",\"schema_version\":1,\"class\":\"fast\"}",
		 "f: 'class' is no execution class"},
		{HEAD "\"primitives\":[]}", "f: 'floors' is not a list"},
		{HEAD "\"floors\":[],\"primitives\":{}}", "f: 'primitives' is not a list"},
		{HEAD "\"primitives\":[],\"floors\":[3]}", "f: floors[0]: 'id' is not a text"},
		{HEAD "\"primitives\":[],\"floors\":[{\"id\":\"a\",\"unit\":\"u\","
		      "\"formula\":\"f\",\"value\":\"1\"}]}",
		 "f: floors[0]: 'value' is not a number"},
		{HEAD "\"primitives\":[],\"floors\":[{\"id\":\"a\",\"unit\":\"u\","
		      "\"formula\":\"f\",\"value\":null}]}",
		 "f: floors[0]: 'value' is null, and no 'reason' says why"},
		{HEAD "\"floors\":[],\"primitives\":[{\"name\":\"a\",\"unit\":\"u\",\"ring\":4,"
		      "\"class\":\"tcg\"}]}",
		 "f: primitives[0]: 'ring' is above 3"},
		{HEAD "\"floors\":[],\"primitives\":[{\"name\":\"a\",\"unit\":"
		      "\"a unit whose name is longer than any\"}]}",
		 "f: primitives[0]: 'unit' is too long"},
		{HEAD "\"floors\":[],\"primitives\":[{\"name\":\"a\",\"unit\":\"u\",\"n\":-1,"
		      "\"class\":\"tcg\"}]}",
		 "f: primitives[0]: 'n' is not a whole number of 0 or more"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct calibration *c = NULL;
		struct err e = ERR_INIT;

		assert_int_equal(calibration_parse(cases[i].text, strlen(cases[i].text), "f", &c,
						   &e),
				 -EBADMSG);
		assert_string_equal(e.text, cases[i].says);
		assert_null(c);
	}
#undef HEAD
}

static void a_list_is_read_up_to_its_limit_and_refused_past_it(void **state)
{
	for (size_t n = CALIBRATION_FLOORS_MAX; n <= CALIBRATION_FLOORS_MAX + 1; n++) {
		json_t *floors = json_array();
		json_t *j =
			json_pack("{s:i, s:s, s:s, s:[], s:o}", "schema_version", 1, "type",
				  "calibration", "class", "tcg", "primitives", "floors", floors);
		struct calibration *c = NULL;
		struct err e = ERR_INIT;
		char *text;
		int r;

		for (size_t i = 0; i < n; i++) {
			json_array_append_new(floors,
					      json_pack("{s:s, s:s, s:s, s:f}", "id", "x", "unit",
							"u", "formula", "f", "value", 1.0));
		}
		text = json_dumps(j, 0);
		r = calibration_parse(text, strlen(text), "f", &c, &e);
		if (n == CALIBRATION_FLOORS_MAX) {
			assert_int_equal(r, 0);
			assert_int_equal(c->floor_count, n);
		} else {
			assert_int_equal(r, -EBADMSG);
			assert_string_equal(e.text, "f: 'floors' is too long");
		}
		free(c);
		free(text);
		json_decref(j);
	}
}

static void a_file_that_is_not_there_is_named(void **state)
{
	struct calibration *c = NULL;
	struct err e = ERR_INIT;

	assert_int_equal(calibration_read("/nonexistent/calibration.json", &c, &e), -ENOENT);
	assert_string_equal(e.text, "/nonexistent/calibration.json: No such file or directory");
}

static void a_replicate_goes_to_its_starter_and_arrives_the_same(void **state)
{
	struct calibration_replicate r[1], back;
	struct err e = ERR_INIT;
	json_t *j;
	char *text;

	calibration_fixture_fill(r, 1);
	r[0].points[0].by_cause[DISTURBED_STEAL] = 2;
	calibration_fixture_lose(r, 1, CALIBRATE_SYSCALL, "because");
	j = calibration_replicate_json(r);
	text = json_dumps(j, JSON_COMPACT);
	assert_int_equal(calibration_replicate_parse(text, strlen(text), &back, &e), 0);
	assert_near(back.points[3].ticks, r[0].points[3].ticks, 0);
	assert_near(back.points[3].core_cycles, r[0].points[3].core_cycles, 0);
	assert_int_equal(back.points[3].batches, 50);
	assert_int_equal(back.points[0].by_cause[DISTURBED_STEAL], 2);
	assert_true(back.points[3].measured);
	assert_false(back.points[CALIBRATE_SYSCALL].measured);
	assert_string_equal(back.points[CALIBRATE_SYSCALL].reason, "because");
	json_object_del(json_object_get(j, "points"), "swapgs");
	free(text);
	text = json_dumps(j, JSON_COMPACT);
	assert_int_equal(calibration_replicate_parse(text, strlen(text), &back, &e), -EBADMSG);
	assert_string_equal(e.text, "swapgs: 'swapgs' is missing");
	free(text);
	json_decref(j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read_back_the_same),
		cmocka_unit_test(an_infinite_interval_is_null_in_json_and_infinite_again),
		cmocka_unit_test(the_json_has_the_keys_that_others_read),
		cmocka_unit_test(what_is_no_calibration_is_refused_and_named),
		cmocka_unit_test(a_list_is_read_up_to_its_limit_and_refused_past_it),
		cmocka_unit_test(a_file_that_is_not_there_is_named),
		cmocka_unit_test(a_replicate_goes_to_its_starter_and_arrives_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
