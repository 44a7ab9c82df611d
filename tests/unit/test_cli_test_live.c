/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "cli/test_live.h"
#include "temp_file.h"

static uint64_t now_ns;

static uint64_t fake_now(void *ctx)
{
	return now_ns;
}

static const struct clock_ops fake_clock = {.now_ns = fake_now};

static struct temp_file file;
static struct test_live live;

static void begin(bool tty, unsigned int columns)
{
	now_ns = 100 * NS_PER_SEC;
	temp_file_init(&file, 0);
	test_live_init(&live, file.fd, tty, false, 3, &fake_clock);
	live.columns = columns;
}

static void end(void)
{
	test_live_fini(&live);
	temp_file_fini(&file);
}

/* What was written since the last call. */
static const char *written(void)
{
	static char text[4096];
	static off_t at;
	ssize_t n;

	at = lseek(file.fd, 0, SEEK_CUR) < at ? 0 : at;
	n = pread(file.fd, text, sizeof(text) - 1, at);
	assert_true(n >= 0);
	at += n;
	text[n] = '\0';
	return text;
}

static void ended(const char *id, enum test_verdict v, const char *message)
{
	const struct test_result r = {.id = (char *)id,
				      .verdict = v,
				      .message = (char *)message,
				      .duration_ns = 1500 * NS_PER_MSEC};

	test_live_ended(&live, &r);
}

static void without_a_terminal_there_is_a_line_for_each_that_ends(void **state)
{
	begin(false, 20);
	written();
	test_live_begun(&live, "one", 1);
	now_ns += 5 * NS_PER_SEC;
	test_live_tick(&live);
	assert_string_equal(written(), "");
	ended("one", TEST_OK, "");
	assert_string_equal(written(), "ok      one (1.5 s)\n");
	ended("a-name-longer-than-a-terminal", TEST_NOT_OK, "status 1\nand more");
	assert_string_equal(written(), "not ok  a-name-longer-than-a-terminal (1.5 s): status 1\n");
	end();
}

static void on_a_terminal_a_table_is_redrawn_below_what_has_ended(void **state)
{
	begin(true, 60);
	written();
	test_live_begun(&live, "one", 1);
	assert_string_equal(written(), "0 of 3 cases have ended, 1 running\n      0 s  one\n");
	now_ns += 2 * NS_PER_SEC;
	test_live_begun(&live, "two", 2);
	assert_string_equal(written(), "\033[2A\r\033[J0 of 3 cases have ended, 2 running\n"
				       "      2 s  one\n      0 s  two (try 2)\n");
	ended("one", TEST_FLAKY, "");
	assert_string_equal(written(), "\033[3A\r\033[Jflaky   one (1.5 s)\n"
				       "1 of 3 cases have ended, 1 flaky, 1 running\n"
				       "      0 s  two (try 2)\n");
	end();
}

static void no_line_is_longer_than_the_terminal(void **state)
{
	const char *p;

	begin(true, 24);
	written();
	test_live_begun(&live, "größe[append=\"\033[31m\",kernel=base]", 1);
	ended("gr\xc3\xb6\xc3\x9f"
	      "e[append=\"\033[31m\",kernel=base]",
	      TEST_NOT_OK, "status 1");
	p = written();
	assert_null(strstr(p, "\033[31m"));
	while (*p) {
		size_t used = 0, n = strcspn(p, "\n");

		for (size_t i = 0; i < n; i++) {
			/* Up to here nothing but moves of the cursor. */
			used = p[i] == '\r' || p[i] == 'J' ? 0 : used + ((p[i] & 0xc0) != 0x80);
		}
		assert_in_range(used, 1, 24);
		p += n + (p[n] == '\n');
	}
	end();
}

static void the_table_has_an_end(void **state)
{
	char id[16];
	size_t lines = 0;

	begin(true, 80);
	for (int i = 0; i < 20; i++) {
		snprintf(id, sizeof(id), "case-%d", i);
		written();
		test_live_begun(&live, id, 1);
	}
	for (const char *p = written(); *p; p++) {
		lines += *p == '\n';
	}
	assert_int_equal(lines, 1 + TEST_LIVE_ROWS);
	end();
}

static void nothing_of_it_is_left_at_the_end(void **state)
{
	begin(true, 80);
	test_live_begun(&live, "one", 1);
	written();
	test_live_fini(&live);
	assert_string_equal(written(), "\033[2A\r\033[J");
	temp_file_fini(&file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_terminal_there_is_a_line_for_each_that_ends),
		cmocka_unit_test(on_a_terminal_a_table_is_redrawn_below_what_has_ended),
		cmocka_unit_test(no_line_is_longer_than_the_terminal),
		cmocka_unit_test(the_table_has_an_end),
		cmocka_unit_test(nothing_of_it_is_left_at_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
