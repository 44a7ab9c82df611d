/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "calibration_fixture.h"
#include "cli/calibrate.h"

static char *print(enum exec_class class, unsigned int shift, size_t replicates, bool ring0)
{
	struct calibration_replicate r[12];
	struct calibration *c;
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	calibration_fixture_fill(r, replicates);
	if (!ring0) {
		calibration_fixture_lose_ring0(r, replicates);
	}
	c = calibration_fixture_make(r, replicates, class, shift);
	calibrate_print(c, f);
	assert_int_equal(fclose(f), 0);
	free(c);
	return text;
}

static void has(const char *text, const char *line)
{
	if (!strstr(text, line)) {
		fail_msg("no \"%s\" in:\n%s", line, text);
	}
}

static void where_ring_0_is_interpreted_each_row_says_what_it_is(void **state)
{
	char *text = print(EXEC_EMULATED, 0, 12, false);

	has(text, "Calibration: class emulated");
	has(text, "Ring 3 is run by the processor itself (native)");
	has(text, "A core cycle, from a chain of additions, is 2.000 of them [2.000, 2.000].");
	has(text, "  lfence                      3  yes         2.550  [2.200, 2.900]              "
		  "1.275   12  cycles\n");
	has(text, "  swapgs                      0  not measured: ring 0 is interpreted here\n");
	has(text, "  uaccess.get      1.000 cycles [1.000, 1.000]\n"
		  "                   = load.fenced - load.masked\n");
	has(text, "  fsgsbase.fs      none: not measured: wrmsr.fs_base, swapgs (ring 0 is "
		  "interpreted here)\n");
	free(text);
}

static void instructions_are_no_cycles_and_it_says_how_they_count(void **state)
{
	char *text = print(EXEC_ICOUNT, 3, 6, true);

	has(text, "8 ticks of the TSC make one of the instructions.");
	has(text, "Every instruction counts as one");
	has(text, "  swapgs                      0  no     ");
	has(text, "  6  instructions\n");
	assert_null(strstr(text, "core cycle,"));
	assert_null(strstr(text, "(native)"));
	free(text);
}

static void too_few_replicates_have_no_interval(void **state)
{
	char *text = print(EXEC_NATIVE, 0, 2, true);

	assert_null(strstr(text, "inf"));
	assert_null(strstr(text, "nan"));
	has(text, "median of 2 replicates");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(where_ring_0_is_interpreted_each_row_says_what_it_is),
		cmocka_unit_test(instructions_are_no_cycles_and_it_says_how_they_count),
		cmocka_unit_test(too_few_replicates_have_no_interval),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
