/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include "bench.h"

static const char two_cpus[] = "           CPU0       CPU1       \n"
			       "  0:         10          1   IO-APIC   2-edge      timer\n"
			       "  4:        200          2   IO-APIC   4-edge      ttyS0\n"
			       "NMI:          0          0   Non-maskable interrupts\n"
			       "LOC:       3000          3   Local timer interrupts\n"
			       "ERR:      40000\n"
			       "MIS:          0\n"
			       "PIW:          5          7   Posted-interrupt wakeup event\n";

static void one_cpus_interrupts_of_every_kind_are_summed(void **state)
{
	assert_int_equal(interrupts_parse(two_cpus, 0), 10 + 200 + 3000 + 40000 + 5);
	assert_int_equal(interrupts_parse(two_cpus, 1), 1 + 2 + 3 + 7);
}

static void a_column_is_found_by_the_number_in_its_heading(void **state)
{
	static const char text[] = "           CPU2       CPU11      \n"
				   "LOC:          7          8   Local timer interrupts\n";

	assert_int_equal(interrupts_parse(text, 2), 7);
	assert_int_equal(interrupts_parse(text, 11), 8);
	assert_int_equal(interrupts_parse(text, 1), 0);
}

static void text_of_another_kind_has_no_interrupts(void **state)
{
	assert_int_equal(interrupts_parse("", 0), 0);
	assert_int_equal(interrupts_parse("CPU0", 0), 0);
	assert_int_equal(interrupts_parse("CPU0\n", 0), 0);
	assert_int_equal(interrupts_parse("CPU0\nLOC:", 0), 0);
	assert_int_equal(interrupts_parse("CPU0\nno colon 5\nLOC: 6", 0), 6);
}

static void both_kinds_of_switches_are_added_up(void **state)
{
	assert_int_equal(switches_parse("Name:\tx\nvoluntary_ctxt_switches:\t12\n"
					"nonvoluntary_ctxt_switches:\t30\n"),
			 42);
	assert_int_equal(switches_parse("Name:\tx\n"), 0);
	assert_int_equal(switches_parse(""), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_cpus_interrupts_of_every_kind_are_summed),
		cmocka_unit_test(a_column_is_found_by_the_number_in_its_heading),
		cmocka_unit_test(text_of_another_kind_has_no_interrupts),
		cmocka_unit_test(both_kinds_of_switches_are_added_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
