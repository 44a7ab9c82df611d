/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include "cli/compare_cores.h"

static struct pin_host host;
static struct compare_cores cores;

static void add(unsigned int cpu, unsigned int core)
{
	host.cpu[host.count++] = (struct pin_cpu){cpu, core};
}

static int setup(void **state)
{
	host.count = 0;
	return 0;
}

static void threads_of_a_core_are_one_place(void **state)
{
	/* As Intel numbers them: the second threads behind all first ones. */
	for (unsigned int i = 0; i < 8; i++) {
		add(i, i % 4);
	}
	compare_cores_group(&host, &cores);
	assert_int_equal(cores.count, 4);
	for (unsigned int i = 0; i < 4; i++) {
		assert_int_equal(CPU_COUNT(&cores.set[i]), 2);
		assert_true(CPU_ISSET(i, &cores.set[i]));
		assert_true(CPU_ISSET(i + 4, &cores.set[i]));
	}
}

static void neighbours_may_be_threads_of_a_core(void **state)
{
	/* As AMD does; processor 3 is not ours. */
	add(0, 0);
	add(1, 0);
	add(2, 2);
	compare_cores_group(&host, &cores);
	assert_int_equal(cores.count, 2);
	assert_int_equal(CPU_COUNT(&cores.set[0]), 2);
	assert_int_equal(CPU_COUNT(&cores.set[1]), 1);
	assert_true(CPU_ISSET(2, &cores.set[1]));
}

static void a_thread_whose_sibling_is_not_ours_is_a_place(void **state)
{
	add(5, 1);
	compare_cores_group(&host, &cores);
	assert_int_equal(cores.count, 1);
	assert_true(CPU_ISSET(5, &cores.set[0]));
}

static void more_cores_than_boots_at_a_time_are_left(void **state)
{
	for (unsigned int i = 0; i < 200; i++) {
		add(i, i % 100);
	}
	compare_cores_group(&host, &cores);
	assert_int_equal(cores.count, COMPARE_JOBS_MAX);
	assert_int_equal(CPU_COUNT(&cores.set[COMPARE_JOBS_MAX - 1]), 2);
}

static void no_two_places_share_a_processor_here(void **state)
{
	cpu_set_t all;
	struct err e;

	assert_int_equal(compare_cores_read(&cores, &e), 0);
	assert_true(cores.count >= 1);
	CPU_ZERO(&all);
	for (size_t i = 0; i < cores.count; i++) {
		cpu_set_t both;

		CPU_AND(&both, &all, &cores.set[i]);
		assert_int_equal(CPU_COUNT(&both), 0);
		CPU_OR(&all, &all, &cores.set[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(threads_of_a_core_are_one_place, setup),
		cmocka_unit_test_setup(neighbours_may_be_threads_of_a_core, setup),
		cmocka_unit_test_setup(a_thread_whose_sibling_is_not_ours_is_a_place, setup),
		cmocka_unit_test_setup(more_cores_than_boots_at_a_time_are_left, setup),
		cmocka_unit_test_setup(no_two_places_share_a_processor_here, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
