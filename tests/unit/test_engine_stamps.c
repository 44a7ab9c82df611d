/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <string.h>

#include "engine/stamps.h"

static char out[4096];
static size_t out_len;
static struct stamps s;

static int setup(void **state)
{
	memset(&s, 0, sizeof(s));
	out_len = 0;
	return 0;
}

static void keep(void *ctx, const void *data, size_t len)
{
	assert_in_range(out_len + len, 0, sizeof(out));
	memcpy(out + out_len, data, len);
	out_len += len;
}

static void feed(uint64_t ns, const char *data, size_t len)
{
	stamps_feed(&s, ns, data, len, keep, NULL);
}

static void assert_out(const char *want, size_t len)
{
	assert_int_equal(out_len, len);
	assert_memory_equal(out, want, len);
}

#define FEED(ns, text)   feed(ns, text, sizeof(text) - 1)
#define ASSERT_OUT(text) assert_out(text, sizeof(text) - 1)

static void each_line_has_the_time_of_its_first_byte(void **state)
{
	FEED(1234567890, "one\ntwo\n");
	FEED(12000000999, "three\n");
	ASSERT_OUT("[    1.234567] one\n[    1.234567] two\n[   12.000000] three\n");
}

static void a_line_split_over_writes_has_one_stamp(void **state)
{
	FEED(1000000, "a");
	FEED(2000000, "b");
	FEED(3000000, "c\nd");
	FEED(4000000, "\n");
	ASSERT_OUT("[    0.001000] abc\n[    0.003000] d\n");
}

static void a_line_that_begins_with_the_next_write_has_that_time(void **state)
{
	FEED(1000000, "a\n");
	FEED(5000000, "b");
	ASSERT_OUT("[    0.001000] a\n[    0.005000] b");
}

static void carriage_returns_begin_no_line(void **state)
{
	FEED(0, "10%\r20%\r");
	FEED(7000, "30%\r\nnext\r\n");
	ASSERT_OUT("[    0.000000] 10%\r20%\r30%\r\n[    0.000007] next\r\n");
}

static void zeros_and_high_bytes_pass_as_they_are(void **state)
{
	FEED(0, "\0\377\0");
	FEED(0, "\033[1m\0\n\0");
	ASSERT_OUT("[    0.000000] \0\377\0\033[1m\0\n[    0.000000] \0");
}

static void empty_lines_have_stamps_and_empty_writes_none(void **state)
{
	FEED(0, "");
	ASSERT_OUT("");
	FEED(0, "\n\n");
	ASSERT_OUT("[    0.000000] \n[    0.000000] \n");
}

static void any_split_of_the_same_bytes_gives_the_same(void **state)
{
	static const char text[] = "a\r\n\nlong line without end \r x\n\0\1\2\nlast";
	char whole[sizeof(out)];
	size_t whole_len;

	FEED(42000, text);
	memcpy(whole, out, out_len);
	whole_len = out_len;
	for (size_t cut = 0; cut <= sizeof(text); cut++) {
		setup(NULL);
		feed(42000, text, cut < sizeof(text) - 1 ? cut : sizeof(text) - 1);
		if (cut < sizeof(text) - 1) {
			feed(42000, text + cut, sizeof(text) - 1 - cut);
		}
		assert_out(whole, whole_len);
	}
}

static void a_stamp_of_the_longest_time_fits(void **state)
{
	FEED(UINT64_MAX, "x");
	ASSERT_OUT("[18446744073.709551] x");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup(name, setup)
	const struct CMUnitTest tests[] = {
		T(each_line_has_the_time_of_its_first_byte),
		T(a_line_split_over_writes_has_one_stamp),
		T(a_line_that_begins_with_the_next_write_has_that_time),
		T(carriage_returns_begin_no_line),
		T(zeros_and_high_bytes_pass_as_they_are),
		T(empty_lines_have_stamps_and_empty_writes_none),
		T(any_split_of_the_same_bytes_gives_the_same),
		T(a_stamp_of_the_longest_time_fits),
	};

	return cmocka_run_group_tests_name("engine_stamps", tests, NULL, NULL);
}
