/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <string.h>
#include <unistd.h>

#include "engine/progress.h"

static uint64_t now_ns;

static uint64_t read_now(void *ctx)
{
	return now_ns;
}

static const struct clock_ops fake_clock = {.now_ns = read_now};
static int fds[2];

static const char *written(void)
{
	static char text[4096];
	ssize_t n;

	/* A byte of our own, so that reading never waits. */
	assert_int_equal(write(fds[1], "#", 1), 1);
	n = read(fds[0], text, sizeof(text) - 1);
	assert_true(n > 0);
	text[n - 1] = '\0';
	return text;
}

static int setup(void **state)
{
	now_ns = 1000 * NS_PER_SEC;
	return pipe(fds);
}

static int teardown(void **state)
{
	close(fds[0]);
	close(fds[1]);
	return 0;
}

static void boot(struct progress *p, unsigned int seconds)
{
	progress_begin(p, "arm A");
	now_ns += seconds * NS_PER_SEC;
	progress_tick(p);
	progress_end(p, true);
}

static void without_a_terminal_there_is_a_line_at_first_and_then_every_ten_seconds(void **state)
{
	struct progress p;

	progress_init(&p, fds[1], false, 48, 0, &fake_clock);
	for (int i = 0; i < 7; i++) {
		boot(&p, 4);
	}
	progress_clear(&p);
	assert_string_equal(written(), "ringside: boot 1 of 48, arm A\n"
				       "ringside: boot 4 of 48, arm A, about 3 min left\n"
				       "ringside: boot 7 of 48, arm A, about 3 min left\n");
}

static void on_a_terminal_one_line_is_rewritten_and_taken_away(void **state)
{
	struct progress p;

	progress_init(&p, fds[1], true, 3, 1, &fake_clock);
	boot(&p, 30);
	boot(&p, 10);
	progress_clear(&p);
	assert_string_equal(written(), "\r\033[Kringside: boot 2 of 3, arm A"
				       "\r\033[Kringside: boot 2 of 3, arm A"
				       "\r\033[Kringside: boot 3 of 3, arm A, about 30 s left"
				       "\r\033[Kringside: boot 3 of 3, arm A, about 20 s left"
				       "\r\033[K");
}

static void a_boot_that_is_slower_than_the_others_is_about_to_end(void **state)
{
	struct progress p;

	progress_init(&p, fds[1], true, 2, 0, &fake_clock);
	boot(&p, 1);
	(void)written();
	progress_begin(&p, "arm B");
	now_ns += 60 * NS_PER_SEC;
	progress_tick(&p);
	assert_non_null(strstr(written(), "boot 2 of 2, arm B, about 0 s left"));
}

static void a_boot_that_must_be_done_again_does_not_count(void **state)
{
	struct progress p;

	progress_init(&p, fds[1], true, 2, 0, &fake_clock);
	progress_begin(&p, "arm B");
	progress_end(&p, false);
	progress_begin(&p, "arm B");
	assert_non_null(
		strstr(written(), "boot 1 of 2, arm B\r\033[Kringside: boot 1 of 2, arm B"));
}

static void boots_side_by_side_count_all_and_their_pace_is_that_of_their_ends(void **state)
{
	struct progress p;

	progress_init(&p, fds[1], true, 12, 0, &fake_clock);
	progress_begin(&p, "arm A");
	progress_begin(&p, "arm B");
	now_ns += 10 * NS_PER_SEC;
	progress_end(&p, true);
	progress_end(&p, true);
	(void)written();
	/* Two in ten seconds: the other ten take fifty. */
	progress_begin(&p, "arm A");
	assert_string_equal(written(), "\r\033[Kringside: boot 3 of 12, arm A, about 50 s left");
	progress_begin(&p, "arm B");
	assert_string_equal(written(), "\r\033[Kringside: boot 4 of 12, arm B, about 50 s left");
}

static void hours_are_told_as_hours(void **state)
{
	struct progress p;

	progress_init(&p, fds[1], false, 1001, 0, &fake_clock);
	boot(&p, 12);
	progress_begin(&p, "arm B");
	assert_non_null(strstr(written(), "boot 2 of 1001, arm B, about 3 h 20 min left\n"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(without_a_terminal_there_is_a_line_at_first_and_then_every_ten_seconds),
		TEST(on_a_terminal_one_line_is_rewritten_and_taken_away),
		TEST(a_boot_that_is_slower_than_the_others_is_about_to_end),
		TEST(a_boot_that_must_be_done_again_does_not_count),
		TEST(boots_side_by_side_count_all_and_their_pace_is_that_of_their_ends),
		TEST(hours_are_told_as_hours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
