/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <stdlib.h>

#include "vmm/exits.h"

static struct exits *x;

static int setup(void **state)
{
	x = calloc(1, sizeof(*x));
	return 0;
}

static int teardown(void **state)
{
	free(x);
	return 0;
}

static void one_address_has_a_row_for_each_way(void **state)
{
	struct exit_counter *in = exits_row(x, EXIT_IN, 0x3f8);
	struct exit_counter *out = exits_row(x, EXIT_OUT, 0x3f8);

	assert_non_null(in);
	assert_non_null(out);
	assert_ptr_not_equal(in, out);
	assert_ptr_equal(exits_row(x, EXIT_IN, 0x3f8), in);
	exit_counter_add(in, 1, 5);
	exit_counter_add(in, 2, 6);
	assert_int_equal(exit_counter_count(in), 3);
	assert_int_equal(exit_counter_ticks(in), 11);
	assert_int_equal(exit_counter_count(out), 0);
}

static void a_full_table_still_finds_the_rows_it_has(void **state)
{
	struct exit_counter *first = exits_row(x, EXIT_READ, 0);
	unsigned int refused = 0;

	for (uint64_t address = 1; address < 10000; address++) {
		refused += !exits_row(x, EXIT_READ, address * 4);
	}
	assert_true(refused >= 10000 - 1 - EXITS_ROWS);
	assert_ptr_equal(exits_row(x, EXIT_READ, 0), first);
}

static void a_pcs_ports_all_find_a_row(void **state)
{
	static const uint16_t ports[] = {0x20,  0x60,  0x64,  0x70,  0x71,  0x80,  0xf4, 0x2f8,
					 0x2fd, 0x3f8, 0x3f9, 0x3fa, 0x3fd, 0xcf8, 0xcfc};

	for (size_t i = 0; i < sizeof(ports) / sizeof(ports[0]); i++) {
		assert_non_null(exits_row(x, EXIT_IN, ports[i]));
		assert_non_null(exits_row(x, EXIT_OUT, ports[i]));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(one_address_has_a_row_for_each_way, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_full_table_still_finds_the_rows_it_has, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_pcs_ports_all_find_a_row, setup, teardown),
	};

	return cmocka_run_group_tests_name("vmm_exits", tests, NULL, NULL);
}
