/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <string.h>

#include "engine/console_allow.h"

static struct err e;

static void a_line_is_allowed_by_the_first_pattern_found_in_it(void **state)
{
	_cleanup_(console_allow_destroy_p) struct console_allow *a = NULL;
	size_t which = 9;

	assert_int_equal(console_allow_create(&a, &e), 0);
	assert_false(console_allow_match(a, "WARNING: x", &which));
	assert_int_equal(console_allow_add(a, "^WARNING: .* at (fs|mm)/", &e), 0);
	assert_int_equal(console_allow_add(a, "at mm/", &e), 0);
	assert_true(console_allow_match(a, "WARNING: CPU: 0 PID: 1 at mm/slub.c:3", &which));
	assert_int_equal(which, 0);
	assert_true(console_allow_match(a, "BUG: at mm/slub.c:3", &which));
	assert_int_equal(which, 1);
	assert_true(console_allow_match(a, "BUG: at mm/slub.c:3", NULL));
	assert_false(console_allow_match(a, "WARNING: CPU: 0 PID: 1 at net/x.c:3", &which));
}

static void nothing_is_allowed_without_patterns(void **state)
{
	assert_false(console_allow_match(NULL, "WARNING: x", NULL));
}

static void a_pattern_that_is_wrong_is_named(void **state)
{
	_cleanup_(console_allow_destroy_p) struct console_allow *a = NULL;

	assert_int_equal(console_allow_create(&a, &e), 0);
	assert_int_equal(console_allow_add(a, "a(b", &e), -EINVAL);
	assert_non_null(strstr(e.text, "'a(b' is no regular expression: "));
	assert_false(console_allow_match(a, "a(b", NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_is_allowed_by_the_first_pattern_found_in_it),
		cmocka_unit_test(nothing_is_allowed_without_patterns),
		cmocka_unit_test(a_pattern_that_is_wrong_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
