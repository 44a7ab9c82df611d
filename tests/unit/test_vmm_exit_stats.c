/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <stdlib.h>

#include "vmm/exit_stats.h"

static struct exit_stats *s;

static int setup(void **state)
{
	return exit_stats_create(&s);
}

static int teardown(void **state)
{
	exit_stats_destroy(s);
	return 0;
}

static void a_cell_keeps_count_sum_least_and_most(void **state)
{
	struct exit_cell *c = &s->phases[MACHINE_PHASE_JOB].cells[3];

	exit_cell_add(c, 700);
	exit_cell_add(c, 20);
	exit_cell_add(c, UINT64_C(1) << 40);
	assert_int_equal(c->count, 3);
	assert_int_equal(c->min, 20);
	assert_true(c->max == UINT64_C(1) << 40);
	assert_true(c->sum == (UINT64_C(1) << 40) + 720);
	assert_int_equal(c->hist[20], 1);
	assert_int_equal(c->hist[calltime_bucket(700)], 1);
	assert_int_equal(c->hist[CALLTIME_HIST_BUCKETS - 1], 1);
}

static void a_quantile_is_at_most_a_32nd_too_low(void **state)
{
	struct exit_cell *c = &s->phases[0].cells[0];

	for (unsigned int i = 1; i <= 10000; i++) {
		exit_cell_add(c, 100 * i);
	}
	for (unsigned int permille = 1; permille <= 1000; permille++) {
		uint64_t right = UINT64_C(1000) * permille;
		uint64_t found = exit_cell_quantile(c, permille);

		assert_true(found <= right);
		assert_true(right - found <= right / 32);
	}
}

static void a_quantile_of_one_value_is_that_value(void **state)
{
	struct exit_cell *c = &s->phases[0].cells[0];

	assert_int_equal(exit_cell_quantile(c, 500), 0);
	exit_cell_add(c, 123457);
	assert_int_equal(exit_cell_quantile(c, 500), 123457);
	assert_int_equal(exit_cell_quantile(c, 1000), 123457);
}

static void a_thread_s_counters_count_for_the_phase_that_they_grew_in(void **state)
{
	exit_stats_thread(s, MACHINE_PHASE_BOOT, &(struct thread_counters){1000, 7});
	exit_stats_thread(s, MACHINE_PHASE_JOB, &(struct thread_counters){1500, 8});
	exit_stats_thread(s, MACHINE_PHASE_BATCH, &(struct thread_counters){1600, 8});
	exit_stats_thread(s, MACHINE_PHASE_JOB, &(struct thread_counters){1601, 9});
	exit_stats_thread(s, MACHINE_PHASE_JOB, &(struct thread_counters){1701, 19});
	assert_int_equal(s->phases[MACHINE_PHASE_BOOT].thread.steal_ns, 500);
	assert_int_equal(s->phases[MACHINE_PHASE_BOOT].thread.nivcsw, 1);
	assert_int_equal(s->phases[MACHINE_PHASE_JOB].thread.steal_ns, 200);
	assert_int_equal(s->phases[MACHINE_PHASE_JOB].thread.nivcsw, 10);
	assert_int_equal(s->phases[MACHINE_PHASE_BATCH].thread.steal_ns, 1);
	assert_int_equal(s->phases[MACHINE_PHASE_BATCH].thread.nivcsw, 1);
}

static void a_counter_that_the_host_lacks_stays_unknown(void **state)
{
	exit_stats_thread(s, MACHINE_PHASE_BOOT, &(struct thread_counters){COUNTER_NONE, 7});
	exit_stats_thread(s, MACHINE_PHASE_JOB, &(struct thread_counters){COUNTER_NONE, 8});
	assert_true(s->phases[MACHINE_PHASE_BOOT].thread.steal_ns == COUNTER_NONE);
	assert_int_equal(s->phases[MACHINE_PHASE_BOOT].thread.nivcsw, 1);
}

static void a_cell_is_found_by_its_row_or_by_its_reason(void **state)
{
	struct exits *x = calloc(1, sizeof(*x));
	struct exit_phase *p = &s->phases[MACHINE_PHASE_BATCH];

	assert_non_null(x);
	assert_ptr_equal(exit_stats_cell(s, MACHINE_PHASE_BATCH, x, 2,
					 &x->rows[EXITS_ROWS - 1].counter),
			 &p->cells[EXITS_ROWS - 1]);
	assert_ptr_equal(exit_stats_cell(s, MACHINE_PHASE_BATCH, x, 2, &x->rows[0].counter),
			 &p->cells[0]);
	assert_ptr_equal(exit_stats_cell(s, MACHINE_PHASE_BATCH, x, 5, NULL),
			 &p->cells[EXITS_ROWS + 5]);
	assert_ptr_equal(exit_stats_cell(s, MACHINE_PHASE_BATCH, x, 9999, NULL),
			 &p->cells[EXIT_STATS_CELLS - 1]);
	free(x);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(a_cell_keeps_count_sum_least_and_most),
		T(a_quantile_is_at_most_a_32nd_too_low),
		T(a_quantile_of_one_value_is_that_value),
		T(a_thread_s_counters_count_for_the_phase_that_they_grew_in),
		T(a_counter_that_the_host_lacks_stays_unknown),
		T(a_cell_is_found_by_its_row_or_by_its_reason),
	};

	return cmocka_run_group_tests_name("vmm_exit_stats", tests, NULL, NULL);
}
