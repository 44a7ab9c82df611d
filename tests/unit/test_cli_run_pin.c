/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <string.h>

#include "cli/run_pin.h"

/* Four cores of two threads each; Linux numbers the second threads after all the first ones. */
static const struct pin_host eight = {
	.count = 8,
	.cpu = {{0, 0}, {1, 1}, {2, 2}, {3, 3}, {4, 0}, {5, 1}, {6, 2}, {7, 3}},
};

static void chosen(const char *value, const struct pin_host *host, unsigned int vcpus,
		   const unsigned int *expected)
{
	unsigned int cpus[PIN_HOST_CPUS_MAX] = {0};
	struct err e = ERR_INIT;

	if (pin_choose(value, vcpus, host, cpus, &e) != 0) {
		fail_msg("%s", e.text);
	}
	for (unsigned int i = 0; i < vcpus; i++) {
		assert_int_equal(cpus[i], expected[i]);
	}
	/* And nothing behind them. */
	assert_int_equal(cpus[vcpus], 0);
}

static void refused(const char *value, unsigned int vcpus, const char *text)
{
	unsigned int cpus[PIN_HOST_CPUS_MAX];
	struct err e = ERR_INIT;

	assert_int_equal(pin_choose(value, vcpus, &eight, cpus, &e), -EINVAL);
	assert_string_equal(e.text, text);
}

static void auto_takes_a_core_for_each_vcpu_as_long_as_there_are_any(void **state)
{
	/* Threads of a core have neighbouring numbers on other machines. */
	static const struct pin_host neighbours = {.count = 4,
						   .cpu = {{0, 0}, {1, 0}, {2, 2}, {3, 2}}};

	chosen("auto", &eight, 4, (unsigned int[]){0, 1, 2, 3});
	chosen("auto", &eight, 6, (unsigned int[]){0, 1, 2, 3, 4, 5});
	chosen("auto", &neighbours, 2, (unsigned int[]){0, 2});
	chosen("auto", &neighbours, 3, (unsigned int[]){0, 2, 1});
}

static void auto_stays_on_the_processors_that_the_process_may_run_on(void **state)
{
	/* As under "taskset -c 2,5,6": core 2 twice. */
	static const struct pin_host three = {.count = 3, .cpu = {{2, 2}, {5, 1}, {6, 2}}};

	chosen("auto", &three, 2, (unsigned int[]){2, 5});
	chosen("auto", &three, 3, (unsigned int[]){2, 5, 6});
}

static void a_list_gives_each_vcpu_the_processor_of_its_place(void **state)
{
	chosen("3", &eight, 1, (unsigned int[]){3});
	chosen("5,0-2,7", &eight, 5, (unsigned int[]){5, 0, 1, 2, 7});
	chosen("4-4", &eight, 1, (unsigned int[]){4});
	/* More than there are vCPUs: the first ones. */
	chosen("6,0-3", &eight, 2, (unsigned int[]){6, 0});
}

static void fewer_processors_than_vcpus_are_refused(void **state)
{
	static const struct pin_host one = {.count = 1, .cpu = {{0, 0}}};
	unsigned int cpus[PIN_HOST_CPUS_MAX];
	struct err e = ERR_INIT;

	refused("auto", 9, "--pin auto: 9 vCPUs, and this process may run on 8 processors");
	refused("0-2", 4, "--pin 0-2: 3 processors for 4 vCPUs");
	refused("1", 2, "--pin 1: 1 processor for 2 vCPUs");
	assert_int_equal(pin_choose("auto", 2, &one, cpus, &e), -EINVAL);
	assert_string_equal(e.text, "--pin auto: 2 vCPUs, and this process may run on 1 processor");
}

static void a_processor_that_is_not_ours_or_stands_twice_is_refused(void **state)
{
	refused("8", 1, "--pin: there is no processor 8, or this process may not run on it");
	refused("0,9999999", 1,
		"--pin: there is no processor 9999999, or this process may not run on it");
	/* A range is walked no further than the first one that is wrong. */
	refused("0-9999999", 1,
		"--pin: there is no processor 8, or this process may not run on it");
	refused("1,0-2", 2, "--pin: processor 1 stands there twice");
}

static void what_is_no_list_is_refused(void **state)
{
	static const char *const bad[] = {"",    ",",   "0,",  ",0",    "a",  "0-",       "-1",
					  "2-1", "0;1", "0 1", "0-1-2", "+1", "00000000", "autos"};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		char text[160];

		snprintf(text, sizeof(text),
			 "--pin: expected 'auto' or numbers of processors such as 0,2-3, got '%s'",
			 bad[i]);
		refused(bad[i], 1, text);
	}
}

static void this_machine_has_a_processor_for_us(void **state)
{
	struct pin_host host;
	struct err e = ERR_INIT;

	assert_int_equal(pin_host_read(true, &host, &e), 0);
	assert_true(host.count >= 1);
	for (size_t i = 0; i < host.count; i++) {
		assert_true(host.cpu[i].core <= host.cpu[i].number);
		assert_true(i == 0 || host.cpu[i - 1].number < host.cpu[i].number);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(auto_takes_a_core_for_each_vcpu_as_long_as_there_are_any),
		cmocka_unit_test(auto_stays_on_the_processors_that_the_process_may_run_on),
		cmocka_unit_test(a_list_gives_each_vcpu_the_processor_of_its_place),
		cmocka_unit_test(fewer_processors_than_vcpus_are_refused),
		cmocka_unit_test(a_processor_that_is_not_ours_or_stands_twice_is_refused),
		cmocka_unit_test(what_is_no_list_is_refused),
		cmocka_unit_test(this_machine_has_a_processor_for_us),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
