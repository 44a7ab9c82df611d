/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"

static void setting_an_error_returns_its_code_and_keeps_the_text(void **state)
{
	struct err e = ERR_INIT;

	assert_int_equal(err_set(&e, -EINVAL, "field %s is %d", "x", 7), -EINVAL);
	assert_int_equal(e.code, -EINVAL);
	assert_string_equal(e.text, "field x is 7");
}

static void a_prefix_stands_before_the_text_and_keeps_the_code(void **state)
{
	struct err e = ERR_INIT;

	(void)err_errno(&e, -ENOENT, "open");
	assert_int_equal(err_prefix(&e, "kernel %s", "k"), -ENOENT);
	assert_string_equal(e.text, "kernel k: open: No such file or directory");
}

static void a_text_longer_than_the_room_is_cut_and_terminated(void **state)
{
	struct err e = ERR_INIT;
	char longer[2 * ERR_TEXT_MAX];

	memset(longer, 'a', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	(void)err_set(&e, -EIO, "%s", longer);
	assert_int_equal(strlen(e.text), ERR_TEXT_MAX - 1);
	(void)err_prefix(&e, "%s", longer);
	assert_int_equal(strlen(e.text), ERR_TEXT_MAX - 1);
}

static void no_room_for_an_error_still_returns_the_code(void **state)
{
	assert_int_equal(err_set(NULL, -EPERM, "x"), -EPERM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(setting_an_error_returns_its_code_and_keeps_the_text),
		cmocka_unit_test(a_prefix_stands_before_the_text_and_keeps_the_code),
		cmocka_unit_test(a_text_longer_than_the_room_is_cut_and_terminated),
		cmocka_unit_test(no_room_for_an_error_still_returns_the_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
