/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/noise.h"
#include "near.h"

static const struct noise_key key = {"Fake CPU", EXEC_ICOUNT, 8};

static char path[64];
static struct err e;
static struct noise n;
static size_t bad;

static int setup(void **state)
{
	strcpy(path, "/tmp/ringside-noise-XXXXXX");
	close(mkstemp(path));
	unlink(path);
	n = (struct noise){0};
	return 0;
}

static int teardown(void **state)
{
	noise_fini(&n);
	unlink(path);
	return 0;
}

/* So many comparisons of an arm with itself, whose effects are 1, 2, 3, ... times @effect. */
static void add(const struct noise_key *k, const char *plan, size_t comparisons, double effect)
{
	struct report_bench *benches = calloc(comparisons, sizeof(*benches));
	struct report *reports = calloc(comparisons, sizeof(*reports));
	struct report **list = calloc(comparisons, sizeof(struct report *));
	struct report_set set = {.reports = list, .n_reports = comparisons};

	for (size_t i = 0; i < comparisons; i++) {
		benches[i].name = "syscall.null";
		benches[i].result.effect = (double)(i + 1) * (i % 2 ? effect : -effect);
		benches[i].result.blocks = 6 + i % 2;
		reports[i].same_arm = true;
		reports[i].benches = &benches[i];
		reports[i].n_benches = 1;
		list[i] = &reports[i];
	}
	if (noise_add(path, k, plan, &set, &e) < 0) {
		fail_msg("%s", e.text);
	}
	free(benches);
	free(reports);
	free(list);
}

static void write_more(const char *text)
{
	FILE *f = fopen(path, "ae");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void the_floor_is_the_95th_percentile_of_the_sizes(void **state)
{
	const struct noise_floor *f;

	add(&key, "0123456789abcdef", 40, .5);
	assert_int_equal(noise_read(path, &key, &n, &bad, &e), 0);
	assert_int_equal(bad, 0);
	f = noise_find(&n, "syscall.null");
	assert_non_null(f);
	assert_near(f->value, 19, 1e-9); /* the 38th of .5, 1, ..., 20 */
	assert_int_equal(f->comparisons, 40);
	assert_int_equal(f->blocks[0], 6);
	assert_int_equal(f->blocks[1], 7);
	assert_null(noise_find(&n, "syscall.getpid"));
}

static void fewer_than_twenty_comparisons_give_none(void **state)
{
	add(&key, "0123456789abcdef", 19, 1);
	assert_int_equal(noise_read(path, &key, &n, &bad, &e), 0);
	assert_int_equal(n.n, 0);
	noise_fini(&n);
	add(&key, "0123456789abcde0", 1, 1);
	assert_int_equal(noise_read(path, &key, &n, &bad, &e), 0);
	assert_int_equal(n.n, 1);
}

static void a_plan_counts_once(void **state)
{
	add(&key, "0123456789abcdef", 20, 1);
	add(&key, "0123456789abcdef", 20, 1);
	assert_int_equal(noise_read(path, &key, &n, &bad, &e), 0);
	assert_int_equal(n.floors[0].comparisons, 20);
}

static void other_processors_and_classes_are_left_out(void **state)
{
	const struct noise_key others[] = {{"Other CPU", EXEC_ICOUNT, 8},
					   {"Fake CPU", EXEC_NATIVE, 8},
					   {"Fake CPU", EXEC_ICOUNT, 1}};

	add(&key, "0123456789abcdef", 20, 1);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		assert_int_equal(noise_read(path, &others[i], &n, &bad, &e), 0);
		assert_int_equal(n.n, 0);
		noise_fini(&n);
	}
}

static void two_arms_and_few_blocks_are_not_added(void **state)
{
	struct report_bench b = {.name = "syscall.null", .result = {.effect = 1, .blocks = 5}};
	struct report r = {.same_arm = true, .benches = &b, .n_benches = 1};
	struct report *list[] = {&r};
	struct report_set set = {.reports = list, .n_reports = 1};

	assert_int_equal(noise_add(path, &key, "0123456789abcdef", &set, &e), 0);
	b.result.blocks = 6;
	r.same_arm = false;
	assert_int_equal(noise_add(path, &key, "0123456789abcdef", &set, &e), 0);
	assert_int_equal(noise_read(path, &key, &n, &bad, &e), 0);
	assert_int_equal(n.n, 0);
}

static void lines_that_cannot_be_read_cost_themselves_alone(void **state)
{
	add(&key, "0123456789abcdef", 20, 1);
	write_more("{]\n\n[]\n{\"type\":\"aa-effect\"}\n"
		   "{\"schema_version\":2,\"type\":\"aa-effect\",\"plan\":\"x\",\"benchmark\":"
		   "\"syscall.null\",\"effect\":1,\"blocks\":6}\n"
		   "{\"schema_version\":1,\"type\":\"aa-effect\",\"plan\":\"x\",\"benchmark\":"
		   "\"syscall.null\",\"effect\":\"1\",\"blocks\":6}\n");
	assert_int_equal(noise_read(path, &key, &n, &bad, &e), 0);
	assert_int_equal(bad, 6);
	assert_int_equal(n.floors[0].comparisons, 20);
}

static void a_last_line_that_is_cut_off_is_dropped_by_the_next_writer(void **state)
{
	add(&key, "0123456789abcdef", 20, 1);
	write_more("{\"schema_version\":1,\"type\":\"aa-eff");
	assert_int_equal(noise_read(path, &key, &n, &bad, &e), 0);
	assert_int_equal(bad, 1);
	noise_fini(&n);
	add(&key, "0123456789abcde0", 1, 1);
	assert_int_equal(noise_read(path, &key, &n, &bad, &e), 0);
	assert_int_equal(bad, 0);
	assert_int_equal(n.floors[0].comparisons, 21);
}

static void writers_at_the_same_time_lose_nothing(void **state)
{
	for (int i = 0; i < 8; i++) {
		if (fork() == 0) {
			char plan[17];

			snprintf(plan, sizeof(plan), "%016d", i);
			add(&key, plan, 5, 1);
			_exit(0);
		}
	}
	for (int i = 0; i < 8; i++) {
		int status;

		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	assert_int_equal(noise_read(path, &key, &n, &bad, &e), 0);
	assert_int_equal(bad, 0);
	assert_int_equal(n.floors[0].comparisons, 40);
}

static void a_file_that_another_process_holds_is_an_error_in_time(void **state)
{
	FILE *f;
	struct report_set set = {0};

	add(&key, "0123456789abcdef", 1, 1);
	f = fopen(path, "re");
	assert_int_equal(flock(fileno(f), LOCK_EX), 0);
	assert_int_equal(noise_add(path, &key, "x", &set, &e), -EBUSY);
	fclose(f);
}

static void nothing_recorded_is_told_from_nothing_known(void **state)
{
	assert_int_equal(noise_read(path, &key, &n, &bad, &e), -ENOENT);
}

static void the_line_of_results_comes_back_the_same(void **state)
{
	struct noise back;
	char *line;

	add(&key, "0123456789abcdef", 40, .1);
	assert_int_equal(noise_read(path, &key, &n, &bad, &e), 0);
	assert_int_equal(noise_line(&n, &line, &e), 0);
	assert_int_equal(noise_parse(line, strlen(line), &back, &e), 0);
	assert_int_equal(back.n, 1);
	assert_true(back.floors[0].value == n.floors[0].value);
	assert_string_equal(back.floors[0].name, "syscall.null");
	assert_int_equal(back.floors[0].comparisons, 40);
	noise_fini(&back);
	free(line);
}

static void a_line_that_is_none_is_refused(void **state)
{
	static const struct {
		const char *text;
		int code;
	} lines[] = {
		{"", -EBADMSG},
		{"{}", -EBADMSG},
		{"{\"schema_version\":2,\"type\":\"noise-floor\",\"floors\":[]}", -EPROTO},
		{"{\"schema_version\":1,\"type\":\"noise-floor\",\"floors\":{}}", -EBADMSG},
		{"{\"schema_version\":1,\"type\":\"noise-floor\",\"floors\":[1]}", -EBADMSG},
		{"{\"schema_version\":1,\"type\":\"noise-floor\",\"floors\":[{\"benchmark\":\"x\","
		 "\"value\":-1,\"comparisons\":20,\"blocks\":[6,6]}]}",
		 -EBADMSG},
		{"{\"schema_version\":1,\"type\":\"noise-floor\",\"floors\":[{\"benchmark\":\"x\","
		 "\"value\":1,\"comparisons\":20,\"blocks\":[6,5]}]}",
		 -EBADMSG},
	};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		assert_int_equal(noise_parse(lines[i].text, strlen(lines[i].text), &n, &e),
				 lines[i].code);
	}
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(the_floor_is_the_95th_percentile_of_the_sizes),
		CASE(fewer_than_twenty_comparisons_give_none),
		CASE(a_plan_counts_once),
		CASE(other_processors_and_classes_are_left_out),
		CASE(two_arms_and_few_blocks_are_not_added),
		CASE(lines_that_cannot_be_read_cost_themselves_alone),
		CASE(a_last_line_that_is_cut_off_is_dropped_by_the_next_writer),
		CASE(writers_at_the_same_time_lose_nothing),
		CASE(a_file_that_another_process_holds_is_an_error_in_time),
		CASE(nothing_recorded_is_told_from_nothing_known),
		CASE(the_line_of_results_comes_back_the_same),
		CASE(a_line_that_is_none_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
