/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "samples/claim.h"

static struct err e;

static void a_claim_that_is_read_back_is_the_same(void **state)
{
	struct claim c, again;
	json_t *one, *two;

	claim_init(&c);
	c.text = strdup("t");
	c.source = strdup("s");
	c.hardware = strdup("h");
	c.bench = strdup("b");
	c.of = strdup("of that");
	c.arm = 3;
	c.from = 0.1;
	c.percent_high = -5;
	one = claim_to_json(&c);
	assert_int_equal(claim_from_json(one, &again, &e), 0);
	two = claim_to_json(&again);
	assert_true(json_equal(one, two));
	assert_int_equal(again.arm, 3);
	assert_true(again.from == 0.1 && again.percent_high == -5);
	assert_true(isnan(again.to) && isnan(again.change_low));
	assert_null(again.unit);
	assert_string_equal(again.of, "of that");
	json_decref(one);
	json_decref(two);
	claim_fini(&c);
	claim_fini(&again);
	assert_null(c.text);
}

static void what_is_no_claim_is_refused_by_what_is_missing(void **state)
{
	static const struct {
		const char *json, *error;
	} bad[] = {
		{"{}", "a claim's 'arm' is not a number from 0 to 99"},
		{"{\"arm\":100}", "a claim's 'arm' is not a number from 0 to 99"},
		{"{\"arm\":1}", "a claim's 'text' is not a text"},
		{"{\"arm\":1,\"text\":\"t\",\"source\":7}", "a claim's 'source' is not a text"},
		{"{\"arm\":1,\"text\":\"t\",\"source\":\"s\",\"hardware\":\"h\"}",
		 "a claim's 'bench' is not a text"},
	};
	struct claim c;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		json_t *j = json_loads(bad[i].json, 0, NULL);

		assert_int_equal(claim_from_json(j, &c, &e), -EBADMSG);
		assert_string_equal(e.text, bad[i].error);
		json_decref(j);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_claim_that_is_read_back_is_the_same),
		cmocka_unit_test(what_is_no_claim_is_refused_by_what_is_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
