/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "compare_fixture.h"
#include "engine/pilot.h"
#include "near.h"

static struct err e;
static struct comparison c;
static struct pilot *p;

static int teardown(void **state)
{
	pilot_destroy(p);
	p = NULL;
	comparison_fini(&c);
	return 0;
}

/* Block k's difference is the k-th of these; each boot takes 3 s, of which 1 s to user space. */
static void boots(const double *diffs, unsigned int blocks, const char *class)
{
	fixture_comparison(&c, blocks);
	for (size_t i = 0; i < c.plan.boot_count; i++) {
		const struct schedule_boot *b = &c.plan.boots[i];

		fixture_add(&c, i,
			    &(struct fixture_boot){
				    .units = 100 + (b->arm == ARM_B ? diffs[b->block] : 0),
				    .class = class,
				    .user_ns = 1000000000,
				    .exit_ns = 3000000000,
			    });
	}
	if (pilot_create(&c, 1, &p, &e) < 0) {
		fail_msg("%s", e.text);
	}
}

static const double spread[] = {-4, -2, 0, 2, 4}; /* s_d = sqrt(10) */

static struct pilot_goal goal(const char *words)
{
	struct pilot_goal g;

	if (pilot_goal_resolve(words, &g, &e) < 0) {
		fail_msg("%s", e.text);
	}
	return g;
}

static void sizes_are_read_with_their_units(void **state)
{
	struct pilot_goal g = goal("2cycles");

	assert_int_equal(g.kind, PILOT_UNITS);
	assert_string_equal(g.words, "--resolve 2cycles");
	assert_near(g.value, 2, 0);
	g = goal("0.5 instruction");
	assert_string_equal(g.unit, "instruction");
	assert_int_equal(goal("1%").kind, PILOT_PERCENT);
	assert_int_equal(goal("30ns").kind, PILOT_NS);
}

static void what_is_no_size_is_refused(void **state)
{
	static const struct {
		const char *words, *text;
	} bad[] = {
		{"",
		 "--resolve: expected a size such as 2cycles, 5instructions, 30ns or 1%, got ''"},
		{"0%", "--resolve: expected a size such as 2cycles, 5instructions, 30ns or 1%, got "
		       "'0%'"},
		{"-1%",
		 "--resolve: expected a size such as 2cycles, 5instructions, 30ns or 1%, got "
		 "'-1%'"},
		{"nan%", "--resolve: expected a size such as 2cycles, 5instructions, 30ns or 1%, "
			 "got 'nan%'"},
		{"1.2.3%", "--resolve: expected a size such as 2cycles, 5instructions, 30ns or 1%, "
			   "got '1.2.3%'"},
		{"2", "--resolve 2: a unit is missing; there are: %, ns, cycles and instructions"},
		{"2miles",
		 "--resolve 2miles: 'miles' is no unit; there are: %, ns, cycles and instructions"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct pilot_goal g;

		assert_int_equal(pilot_goal_resolve(bad[i].words, &g, &e), -EINVAL);
		assert_string_equal(e.text, bad[i].text);
	}
}

static void a_unit_that_the_class_lacks_is_refused(void **state)
{
	struct pilot_goal g = goal("2cycles");

	assert_int_equal(pilot_goal_check(&g, EXEC_NATIVE, &e), 0);
	assert_int_equal(pilot_goal_check(&g, EXEC_NESTED, &e), 0);
	assert_int_equal(pilot_goal_check(&g, EXEC_ICOUNT, &e), -EINVAL);
	assert_string_equal(e.text, "--resolve 2cycles: the class here is icount, and its unit is "
				    "instructions");
	g = goal("1%");
	assert_int_equal(pilot_goal_check(&g, EXEC_ICOUNT, &e), 0);
	assert_int_equal(pilot_goal_check(&g, EXEC_TCG, &e), -ENODEV);
}

static void the_spread_and_what_blocks_buy_are_those_of_the_differences(void **state)
{
	const struct report_pilot *r;

	boots(spread, 5, NULL);
	r = pilot_report(p);
	assert_int_equal(r->n, 1);
	assert_true(r->benches[0].varies);
	assert_near(r->benches[0].sd, sqrt(10), 1e-9);
	assert_near(r->benches[0].median_a, 100, 1e-9);
	assert_near(r->boot_ns, 3e9, 1);
	assert_near(r->start_ns, 1e9, 1);
	assert_near(r->block_ns, 12e9, 1);
	assert_int_equal(r->block_boots, 4);
}

static void boots_side_by_side_make_a_block_shorter(void **state)
{
	struct pilot *two;

	boots(spread, 5, NULL);
	assert_int_equal(pilot_create(&c, 2, &two, &e), 0);
	assert_near(pilot_report(two)->block_ns, 6e9, 1);
	pilot_destroy(two);
}

static void the_fewest_blocks_that_resolve_are_chosen(void **state)
{
	unsigned int blocks;
	const char *which;
	struct pilot_goal g = goal("2instructions");

	boots(spread, 5, NULL);
	assert_int_equal(pilot_choose(p, &g, &blocks, &which, &e), 0);
	/* (t.975 + t.80) sqrt(10 / n) with n - 1 degrees of freedom is 2.007 at 21 and 1.956 at 22.
	 */
	assert_int_equal(blocks, 22);
	assert_string_equal(which, "syscall.null");
	g = goal("2%"); /* of A's 100 */
	assert_int_equal(pilot_choose(p, &g, &blocks, &which, &e), 0);
	assert_int_equal(blocks, 22);
	g = goal("50instructions");
	assert_int_equal(pilot_choose(p, &g, &blocks, &which, &e), 0);
	assert_int_equal(blocks, 6);
	assert_null(which);
}

static void what_cannot_be_resolved_says_what_could(void **state)
{
	unsigned int blocks;
	const char *which;
	struct pilot_goal g = goal("0.001instructions");

	boots(spread, 5, NULL);
	assert_int_equal(pilot_choose(p, &g, &blocks, &which, &e), -ERANGE);
	assert_string_equal(e.text,
			    "--resolve 0.001instructions: syscall.null varies too much: with 512 "
			    "blocks, the most there can be, 0.392 instructions would be found");
	g = goal("30ns");
	assert_int_equal(pilot_choose(p, &g, &blocks, &which, &e), -ERANGE);
	assert_string_equal(e.text,
			    "--resolve 30ns: in syscall.null the guest has not measured how long "
			    "one of its instructions is: give a number of those, or a percentage");
}

static void a_budget_is_filled_and_one_that_is_too_small_is_refused(void **state)
{
	unsigned int blocks;
	const char *which;
	struct pilot_goal g;

	boots(spread, 5, NULL);
	pilot_goal_budget(119000000000, &g);
	assert_int_equal(pilot_choose(p, &g, &blocks, &which, &e), 0);
	assert_int_equal(blocks, 9);
	pilot_goal_budget(60000000000, &g);
	assert_int_equal(pilot_choose(p, &g, &blocks, &which, &e), -ERANGE);
	assert_string_equal(e.text, "--budget 60s: a block of 4 boots takes 12 s here, so that 6 "
				    "blocks, the fewest that give a verdict, need 72 s");
}

static void where_nothing_varies_the_fewest_blocks_are_enough(void **state)
{
	static const double same[] = {-5, -5, -5};
	unsigned int blocks;
	const char *which;
	struct pilot_goal g = goal("0.001instructions");
	char *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	boots(same, 3, NULL);
	assert_false(report_pilot_varies(pilot_report(p)));
	assert_int_equal(pilot_choose(p, &g, &blocks, &which, &e), 0);
	assert_int_equal(blocks, 6);
	pilot_goal_budget(3600000000000, &g);
	assert_int_equal(pilot_choose(p, &g, &blocks, &which, &e), 0);
	assert_int_equal(blocks, 6);
	assert_int_equal(report_pilot_text(pilot_report(p), f), 0);
	fclose(f);
	assert_non_null(
		strstr(text, "syscall.null                  0  nothing varied in 12 boots\n"));
	assert_non_null(strstr(text, "\nNothing varied in 12 boots: the smallest number of blocks "
				     "that gives a verdict,\n6, is enough.\n"));
	free(text);
}

static void one_block_says_nothing_of_its_spread(void **state)
{
	unsigned int blocks;
	const char *which;
	struct pilot_goal g = goal("2instructions");

	boots(spread, 1, NULL);
	assert_true(isnan(pilot_report(p)->benches[0].sd));
	assert_int_equal(pilot_choose(p, &g, &blocks, &which, &e), -ENODATA);
}

static void batches_are_worth_what_boots_do_not_differ_by(void **state)
{
	/* Each boot differs, its four batches do not: one batch is enough. */
	boots(spread, 5, NULL);
	assert_near(pilot_report(p)->benches[0].best_batches, 1, 1e-9);
}

static void batches_are_chosen_by_their_spread_and_what_they_cost(void **state)
{
	/* Batches vary by S_e^2 = 4 * 3^2 / 3 = 12 in each boot. The boots of A are all alike,
	 * those of B vary by 80 / 9, of which the batches explain 12 / 4. */
	const double batch_t2 = 12;
	const double boot_s2 = 2 * (16 + 4 + 0 + 4 + 16) / 9.0;
	const double boot_t2 = (0 + (boot_s2 - batch_t2 / 4)) / 2;
	const double batch_s = 2.0 / (4 + 3), start_s = 1;

	fixture_comparison(&c, 5);
	for (size_t i = 0; i < c.plan.boot_count; i++) {
		const struct schedule_boot *b = &c.plan.boots[i];

		fixture_add(&c, i,
			    &(struct fixture_boot){
				    .units = 100 + (b->arm == ARM_B ? spread[b->block] : 0),
				    .spread = 3,
				    .user_ns = 1000000000,
				    .exit_ns = 3000000000,
			    });
	}
	assert_int_equal(pilot_create(&c, 1, &p, &e), 0);
	assert_near(pilot_report(p)->benches[0].best_batches,
		    sqrt(start_s / batch_s * batch_t2 / boot_t2), 1e-6);
}

static void the_json_has_what_the_text_has(void **state)
{
	json_t *root, *bench, *size;

	boots(spread, 5, NULL);
	root = report_pilot_json(pilot_report(p));
	assert_non_null(root);
	bench = json_array_get(json_object_get(root, "benchmarks"), 0);
	size = json_array_get(json_object_get(bench, "sizes"), 2);
	assert_near(json_number_value(json_object_get(root, "seconds_a_boot")), 3, 1e-9);
	assert_near(json_number_value(json_object_get(bench, "s_d")), sqrt(10), 1e-9);
	assert_int_equal(json_integer_value(json_object_get(size, "blocks")), 12);
	/* .89 of s_d, by the table in docs/statistics.md */
	assert_near(json_number_value(json_object_get(size, "smallest_detectable")) / sqrt(10),
		    .888, .001);
	json_decref(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_are_read_with_their_units),
		cmocka_unit_test(what_is_no_size_is_refused),
		cmocka_unit_test(a_unit_that_the_class_lacks_is_refused),
		cmocka_unit_test_teardown(
			the_spread_and_what_blocks_buy_are_those_of_the_differences, teardown),
		cmocka_unit_test_teardown(boots_side_by_side_make_a_block_shorter, teardown),
		cmocka_unit_test_teardown(the_fewest_blocks_that_resolve_are_chosen, teardown),
		cmocka_unit_test_teardown(what_cannot_be_resolved_says_what_could, teardown),
		cmocka_unit_test_teardown(a_budget_is_filled_and_one_that_is_too_small_is_refused,
					  teardown),
		cmocka_unit_test_teardown(where_nothing_varies_the_fewest_blocks_are_enough,
					  teardown),
		cmocka_unit_test_teardown(one_block_says_nothing_of_its_spread, teardown),
		cmocka_unit_test_teardown(batches_are_worth_what_boots_do_not_differ_by, teardown),
		cmocka_unit_test_teardown(batches_are_chosen_by_their_spread_and_what_they_cost,
					  teardown),
		cmocka_unit_test_teardown(the_json_has_what_the_text_has, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
