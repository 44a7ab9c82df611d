/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>

#include "near.h"
#include "samples/histogram.h"

static struct err e;

/* A row of "calltime", empty pairs of 8 ticks, 8 ticks a unit. */
static int read_row(const char *text, struct histogram *ret)
{
	json_t *row = json_loads(text, 0, NULL);
	int r;

	assert_non_null(row);
	r = histogram_from_json(row, 8, 8, ret, &e);
	json_decref(row);
	return r;
}

static void buckets_are_in_units_and_no_wider_than_the_samples(void **state)
{
	struct histogram h;

	assert_int_equal(read_row("{\"min\":360,\"max\":363,\"hist\":[[360,4000]]}", &h), 0);
	assert_int_equal(h.n, 1);
	assert_near(h.buckets[0].low, 44, 0);
	assert_near(h.buckets[0].high, 44.375, 0);
	histogram_fini(&h);
	assert_int_equal(read_row("{\"min\":362,\"max\":362,\"hist\":[[360,4000]]}", &h), 0);
	assert_near(histogram_quantile(&h, .5), 44.25, 0);
	assert_near(histogram_quantile(&h, 1), 44.25, 0);
	histogram_fini(&h);
}

static void quantiles_are_of_all_that_were_added(void **state)
{
	struct histogram h, more;

	assert_int_equal(read_row("{\"hist\":[[16,50],[24,1]]}", &h), 0);
	assert_int_equal(read_row("{\"hist\":[[8,48],[16,1]]}", &more), 0);
	assert_int_equal(histogram_add(&h, &more), 0);
	histogram_settle(&h);
	assert_int_equal(h.n, 3);
	assert_int_equal(h.buckets[1].count, 51);
	assert_near(histogram_quantile(&h, 0), 0, 0);
	assert_near(histogram_quantile(&h, .48), 0, 0);
	assert_near(histogram_quantile(&h, .481), 1, 0);
	assert_near(histogram_quantile(&h, .99), 1, 0);
	assert_near(histogram_quantile(&h, .991), 2, 0);
	assert_near(histogram_quantile(&h, 1), 2, 0);
	histogram_fini(&h);
	histogram_fini(&more);
}

static void a_record_without_buckets_has_none(void **state)
{
	struct histogram h;

	assert_int_equal(read_row("{\"count\":5}", &h), 0);
	assert_int_equal(h.n, 0);
	histogram_settle(&h);
	histogram_fini(&h);
}

static void what_are_no_buckets_is_refused_by_its_place(void **state)
{
	static const char *const bad[] = {
		"[8,1],[8,1]",          "[8,1],[7,1]",   "[8,1],[9,0]",   "[8,1],[9,-1]",
		"[8,1],[65,1]",         "[8,1],9",       "[8,1],[9]",     "[8,1],[-1,1]",
		"[8,1],[\"9\",1]",      "[8,1],[9,1,1]", "[8,1],[9.5,1]", "[8,1],[9,1.5]",
		"[8,1],[4294967296,1]",
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct histogram h;
		char text[128];

		snprintf(text, sizeof(text), "{\"hist\":[%s]}", bad[i]);
		assert_int_equal(read_row(text, &h), -EBADMSG);
		assert_string_equal(e.text, "'hist'[1] is not [lowest tick, samples] of a bucket "
					    "above the one before it");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buckets_are_in_units_and_no_wider_than_the_samples),
		cmocka_unit_test(quantiles_are_of_all_that_were_added),
		cmocka_unit_test(a_record_without_buckets_has_none),
		cmocka_unit_test(what_are_no_buckets_is_refused_by_its_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
