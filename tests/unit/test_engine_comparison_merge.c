/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "compare_fixture.h"
#include "engine/comparison_merge.h"

#define FILES 3

static struct err e;
static char paths[FILES][32];
static char *words[FILES];

static int setup(void **state)
{
	for (int i = 0; i < FILES; i++) {
		snprintf(paths[i], sizeof(paths[i]), "merge-%d-%d", (int)getpid(), i);
		words[i] = paths[i];
	}
	return 0;
}

static int teardown(void **state)
{
	for (int i = 0; i < FILES; i++) {
		unlink(paths[i]);
	}
	return 0;
}

/* Writes the file of a shard; the boot @but is left out of it, SIZE_MAX: none. */
static void write_shard(unsigned int shard, unsigned int shards, const struct fixture_boot *b,
			size_t but)
{
	FILE *f = fopen(paths[shard - 1], "we");
	struct comparison c;
	char *line;

	assert_non_null(f);
	fixture_comparison(&c, 6);
	c.plan.shard = shard;
	c.plan.shards = shards;
	assert_int_equal(plan_line(&c.plan, &line, &e), 0);
	fprintf(f, "%s\n", line);
	free(line);
	for (size_t slot = 0; slot < c.plan.boot_count; slot++) {
		if (plan_is_ours(&c.plan, slot) && slot != but) {
			line = fixture_line(&c, slot, b);
			fprintf(f, "%s\n", line);
			free(line);
		}
	}
	fclose(f);
	comparison_fini(&c);
}

static void shards_make_one_comparison_that_is_written_in_the_plans_order(void **state)
{
	const struct fixture_boot b = {.units = 100};
	struct merge m = {0};
	struct comparison c;
	FILE *out;

	for (unsigned int i = 1; i <= 2; i++) {
		write_shard(i, 2, &b, SIZE_MAX);
	}
	assert_int_equal(merge_read(&m, words, 2, &e), 0);
	assert_int_equal(m.host_count, 1);
	assert_int_equal(m.hosts[0].c.done, 24);
	assert_int_equal(m.hosts[0].c.plan.shards, 0);
	assert_non_null(m.hosts[0].c.first);
	assert_int_equal(m.files[1].shard, 2);
	assert_int_equal(m.files[1].share, 12);
	assert_int_equal(m.files[1].recorded, 12);

	out = fopen(paths[2], "we");
	assert_non_null(out);
	assert_int_equal(merge_write(&m, out, &e), 0);
	fclose(out);
	merge_fini(&m);
	c = (struct comparison){0};
	assert_int_equal(comparison_read(&c, paths[2], &e), 0);
	assert_int_equal(c.done, 24);
	assert_int_equal(c.last_slot, 23);
	comparison_fini(&c);
}

static void a_boot_that_is_missing_is_counted_with_its_file(void **state)
{
	const struct fixture_boot b = {.units = 100};
	struct merge m = {0};

	write_shard(1, 2, &b, SIZE_MAX);
	write_shard(2, 2, &b, 4);
	assert_int_equal(merge_read(&m, words, 2, &e), 0);
	assert_int_equal(m.hosts[0].c.done, 23);
	assert_int_equal(m.files[0].recorded, m.files[0].share);
	assert_int_equal(m.files[1].recorded, 11);
	merge_fini(&m);
}

static void a_file_that_does_not_belong_leaves_nothing_behind(void **state)
{
	const struct fixture_boot tcg = {.units = 100, .class = "tcg"};
	const struct fixture_boot b = {.units = 100};
	struct merge m = {0};

	write_shard(1, 2, &b, SIZE_MAX);
	write_shard(2, 2, &tcg, SIZE_MAX);
	assert_int_equal(merge_read(&m, words, 2, &e), -EXDEV);
	assert_non_null(
		strstr(e.text, ": line 2: this boot's numbers are tcg, 8 ticks a unit, those in "));
	merge_fini(&m);

	write_shard(3, 3, &b, SIZE_MAX);
	words[1] = paths[2];
	assert_int_equal(merge_read(&m, words, 2, &e), -EXDEV);
	words[1] = paths[1];
	assert_non_null(strstr(e.text, ": line 1: it is of shard 3 of 3, and "));
	merge_fini(&m);

	words[1] = paths[0];
	assert_int_equal(merge_read(&m, words, 2, &e), -EEXIST);
	words[1] = paths[1];
	merge_fini(&m);
}

/* Numbers of a class that counts time are of the processor that they were measured on. */
static void other_processors_are_hosts_of_their_own_only_under_another_name(void **state)
{
	const struct fixture_boot one = {.units = 100, .class = "native", .cpu = "X"};
	const struct fixture_boot other = {.units = 100, .class = "native", .cpu = "Y"};
	struct merge m = {0};

	write_shard(1, 2, &one, SIZE_MAX);
	write_shard(2, 2, &other, SIZE_MAX);
	assert_int_equal(merge_read(&m, words, 2, &e), -EXDEV);
	assert_non_null(strstr(e.text, "host CPU is 'Y', that of the boots before it 'X'"));
	merge_fini(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			shards_make_one_comparison_that_is_written_in_the_plans_order, setup,
			teardown),
		cmocka_unit_test_setup_teardown(a_boot_that_is_missing_is_counted_with_its_file,
						setup, teardown),
		cmocka_unit_test_setup_teardown(a_file_that_does_not_belong_leaves_nothing_behind,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			other_processors_are_hosts_of_their_own_only_under_another_name, setup,
			teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
