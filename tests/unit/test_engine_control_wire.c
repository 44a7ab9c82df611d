/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <string.h>

#include "engine/control_wire.h"

static void each_request_is_read_as_it_was_written(void **state)
{
	for (int v = 0; v < CONTROL_VERBS; v++) {
		char line[CONTROL_LINE_MAX];
		size_t n = control_request_write((enum control_verb)v, line, sizeof(line));
		enum control_verb got = CONTROL_VERBS;

		assert_int_equal(line[n - 1], '\n');
		assert_int_equal(control_request_read(line, n - 1, &got, NULL), 0);
		assert_int_equal(got, v);
	}
}

static void what_is_no_request_is_refused_with_a_reason(void **state)
{
	static const struct {
		const char *line;
		int code;
		const char *text;
	} rows[] = {
		{"", -EPROTO, "a line that is no JSON object"},
		{"pause", -EPROTO, "a line that is no JSON object"},
		{"[1]", -EPROTO, "a line that is no JSON object"},
		{"{\"ringside\":1,\"ringside\":1,\"do\":\"stop\"}", -EPROTO,
		 "a line that is no JSON object"},
		{"{\"do\":\"stop\"}", -EPROTO, "expected \"ringside\": 1"},
		{"{\"ringside\":2,\"do\":\"stop\"}", -EPROTO, "expected \"ringside\": 1"},
		{"{\"ringside\":\"1\",\"do\":\"stop\"}", -EPROTO, "expected \"ringside\": 1"},
		{"{\"ringside\":1}", -ENOENT, "\"do\" is none of"},
		{"{\"ringside\":1,\"do\":\"fly\"}", -ENOENT, "\"do\" is none of"},
		{"{\"ringside\":1,\"do\":1}", -ENOENT, "\"do\" is none of"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		enum control_verb v;
		struct err e = ERR_INIT;

		assert_int_equal(control_request_read(rows[i].line, strlen(rows[i].line), &v, &e),
				 rows[i].code);
		assert_non_null(strstr(e.text, rows[i].text));
	}
}

static void an_answer_says_what_it_was_given_or_why_not(void **state)
{
	char line[CONTROL_ANSWER_MAX];
	struct err e = ERR_INIT;
	json_t *o = NULL;
	size_t n = control_answer_write(json_pack("{s:s}", "state", "running"), NULL, line,
					sizeof(line));

	assert_int_equal(control_answer_read(line, n - 1, &o, &e), 0);
	assert_string_equal(json_string_value(json_object_get(o, "state")), "running");
	json_decref(o);
	n = control_answer_write(NULL, "it sleeps", line, sizeof(line));
	assert_int_equal(control_answer_read(line, n - 1, &o, &e), -EREMOTEIO);
	assert_string_equal(e.text, "it sleeps");
}

static void an_answer_without_room_is_an_error_that_fits(void **state)
{
	char line[80], text[512];
	struct err e = ERR_INIT;
	json_t *o = NULL;
	size_t n;

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	n = control_answer_write(json_pack("{s:s}", "kernel", text), NULL, line, sizeof(line));
	assert_in_range(n, 1, sizeof(line));
	assert_int_equal(control_answer_read(line, n - 1, &o, &e), -EREMOTEIO);
	assert_string_equal(e.text, "no room");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_request_is_read_as_it_was_written),
		cmocka_unit_test(what_is_no_request_is_refused_with_a_reason),
		cmocka_unit_test(an_answer_says_what_it_was_given_or_why_not),
		cmocka_unit_test(an_answer_without_room_is_an_error_that_fits),
	};

	return cmocka_run_group_tests_name("engine_control_wire", tests, NULL, NULL);
}
