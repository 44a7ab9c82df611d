/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>

#include <string.h>

#include "base/text.h"

static void sizes_count_in_1024_and_a_bare_number_in_mib(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} rows[] = {
		{"0", 0},  {"1", 1 << 20},     {"96M", 96 << 20},  {"3K", 3072},
		{"7B", 7}, {"2g", 2ull << 30}, {"1T", 1ull << 40}, {"5GiB", 5ull << 30},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t v = 1;

		assert_int_equal(text_parse_bytes(rows[i].text, &v), 0);
		assert_int_equal(v, rows[i].bytes);
	}
}

static void what_is_no_size_is_refused_and_sets_nothing(void **state)
{
	static const char *const bad[] = {"", "M", "-1", "1X", "1MB", "1 M", "1.5G", "0x10", " 1"};
	uint64_t v = 42;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(text_parse_bytes(bad[i], &v), -EINVAL);
	}
	assert_int_equal(v, 42);
}

static void a_size_that_wraps_is_out_of_range(void **state)
{
	uint64_t v = 42;

	assert_int_equal(text_parse_bytes("16777216T", &v), -ERANGE);
	assert_int_equal(text_parse_bytes("18446744073709551616", &v), -ERANGE);
	assert_int_equal(text_parse_bytes("18446744073709551616000000", &v), -ERANGE);
	assert_int_equal(v, 42);
}

static void numbers_are_decimal_or_hexadecimal_and_nothing_else(void **state)
{
	uint64_t v;

	assert_int_equal(text_parse_u64("18446744073709551615", &v), 0);
	assert_int_equal(v, UINT64_MAX);
	assert_int_equal(text_parse_u64("0xff", &v), 0);
	assert_int_equal(v, 255);
	assert_int_equal(text_parse_u64("010", &v), 0);
	assert_int_equal(v, 10);
	assert_int_equal(text_parse_u64("0x", &v), -EINVAL);
	assert_int_equal(text_parse_u64("1 ", &v), -EINVAL);
	assert_int_equal(text_parse_u64("+1", &v), -EINVAL);
	assert_int_equal(text_parse_u64("18446744073709551616", &v), -ERANGE);
}

static void times_have_a_unit_and_may_have_a_fraction(void **state)
{
	uint64_t v;

	assert_int_equal(text_parse_seconds("0.5", &v), 0);
	assert_int_equal(v, 500000000);
	assert_int_equal(text_parse_seconds("250ms", &v), 0);
	assert_int_equal(v, 250000000);
	assert_int_equal(text_parse_seconds("2m", &v), 0);
	assert_int_equal(v, 120000000000);
	assert_int_equal(text_parse_seconds("1h", &v), -EINVAL);
	assert_int_equal(text_parse_seconds("nan", &v), -EINVAL);
	assert_int_equal(text_parse_seconds("1e10", &v), -ERANGE);
}

static void a_size_is_printed_in_the_largest_unit_that_leaves_no_fraction(void **state)
{
	char buf[32];

	assert_string_equal(text_bytes(3ull << 30, buf, sizeof(buf)), "3 GiB");
	assert_string_equal(text_bytes((3ull << 30) + 4096, buf, sizeof(buf)), "3145732 KiB");
	assert_string_equal(text_bytes(0, buf, sizeof(buf)), "0 B");
	assert_string_equal(text_bytes(1, buf, sizeof(buf)), "1 B");
	assert_string_equal(text_seconds(0, buf, sizeof(buf)), "0 s");
	assert_string_equal(text_seconds(1, buf, sizeof(buf)), "1 ns");
	assert_string_equal(text_seconds(250000000, buf, sizeof(buf)), "250 ms");
	assert_string_equal(text_seconds(1000000000, buf, sizeof(buf)), "1 s");
	assert_string_equal(text_seconds(90000000000, buf, sizeof(buf)), "90 s");
	assert_string_equal(text_seconds(86400000000000, buf, sizeof(buf)), "24 h");
	assert_string_equal(text_seconds(30 * 86400000000000, buf, sizeof(buf)), "30 days");
}

static void bytes_that_are_no_utf8_become_question_marks_and_the_rest_stays(void **state)
{
	static const char *const cases[][2] = {
		{"", ""},
		{"plain", "plain"},
		{"\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80",
		 "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80"},
		{"\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf"},
		{"\xff\xfe", "??"},
		{"a\x80z", "a?z"},
		{"\xc0\xaf", "??"},           /* longer than it need be */
		{"\xe0\x9f\xbf", "???"},      /* the same */
		{"\xf0\x8f\xbf\xbf", "????"}, /* the same */
		{"\xed\xa0\x80", "???"},      /* a surrogate */
		{"\xf4\x90\x80\x80", "????"}, /* past the last character */
		{"\xf5\x80\x80\x80", "????"},
		{"cut \xc3", "cut ?"},
		{"cut \xe2\x82", "cut ??"},
		{"cut \xf0\x9f\x98", "cut ???"},
		{"\xc3(", "?("},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char buf[32];

		strcpy(buf, cases[i][0]);
		text_make_utf8(buf);
		assert_string_equal(buf, cases[i][1]);
	}
}

static void characters_are_taken_off_one_by_one_and_bytes_that_are_none_too(void **state)
{
	const char *s = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xff\xed\xa0\xf4\x8f\xbf\xbf";
	static const uint32_t wanted[] = {
		'a',           0xe9,          0x20ac,   0x1f600, TEXT_BAD_BYTE,
		TEXT_BAD_BYTE, TEXT_BAD_BYTE, 0x10ffff, 0,
	};
	const char *end = s + strlen(s);

	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		assert_int_equal(text_next_char(&s), wanted[i]);
	}
	assert_ptr_equal(s, end);
}

static void what_a_terminal_obeys_is_found_and_no_letter(void **state)
{
	static const char *const none[] = {
		"",     "a",    " ",    "\xc3\xa9", "\xe2\x82\xac", "\xe2",
		"\xc2", "\xd8", "\xef", "\xef\xbb", "\xe2\x80\x90", "\xe2\x80\x94"};

	for (size_t i = 0; i < ARRAY_SIZE(none); i++) {
		assert_int_equal(text_control_len(none[i]), 0);
	}
	assert_int_equal(text_control_len("\033[31m"), 1);
	assert_int_equal(text_control_len("\x7f"), 1);
	assert_int_equal(text_control_len("\xc2\x9b"), 2);
	assert_int_equal(text_control_len("\xd8\x9c"), 2);
	assert_int_equal(text_control_len("\xe2\x80\x8e"), 3);
	assert_int_equal(text_control_len("\xe2\x80\x8f"), 3);
	assert_int_equal(text_control_len("\xe2\x80\xa8"), 3);
	assert_int_equal(text_control_len("\xef\xbb\xbf"), 3);
	assert_int_equal(text_control_len("\xe2\x80\xae"), 3);
	assert_int_equal(text_control_len("\xe2\x81\xa6"), 3);
}

static void the_last_place_in_a_guest_parts_a_file_from_it(void **state)
{
	assert_int_equal(text_host_len("a:/b"), 1);
	assert_int_equal(text_host_len("/a:/b:/c"), 5);
	assert_int_equal(text_host_len("/a:b"), 4);
	assert_int_equal(text_host_len(":/b"), 0);
	assert_int_equal(text_host_len(""), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_that_are_no_utf8_become_question_marks_and_the_rest_stays),
		cmocka_unit_test(characters_are_taken_off_one_by_one_and_bytes_that_are_none_too),
		cmocka_unit_test(what_a_terminal_obeys_is_found_and_no_letter),
		cmocka_unit_test(sizes_count_in_1024_and_a_bare_number_in_mib),
		cmocka_unit_test(what_is_no_size_is_refused_and_sets_nothing),
		cmocka_unit_test(a_size_that_wraps_is_out_of_range),
		cmocka_unit_test(numbers_are_decimal_or_hexadecimal_and_nothing_else),
		cmocka_unit_test(times_have_a_unit_and_may_have_a_fraction),
		cmocka_unit_test(a_size_is_printed_in_the_largest_unit_that_leaves_no_fraction),
		cmocka_unit_test(the_last_place_in_a_guest_parts_a_file_from_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
