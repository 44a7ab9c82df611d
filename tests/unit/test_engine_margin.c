/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What difference is taken for no change, as people write it. */
#include "support.h"

#include <errno.h>
#include <string.h>

#include "engine/margin.h"

static void assert_reads(const char *text, double units, double percent, const char *unit)
{
	struct err e = ERR_INIT;
	struct margin m, again;
	char buf[MARGIN_TEXT_MAX];

	assert_int_equal(margin_parse(text, &m, &e), 0);
	assert_true(units == 0 ? m.units > 0 && m.units < 1e-6 : m.units == units);
	assert_true(m.percent == percent);
	assert_string_equal(m.unit, unit);
	assert_true(m.benches == MARGIN_BENCHES_ALL);
	/* and what is written of it reads back */
	assert_int_equal(margin_parse(margin_text(&m, buf, sizeof(buf)), &again, &e), 0);
	assert_memory_equal(&again.units, &m.units, sizeof(m.units));
	assert_memory_equal(&again.percent, &m.percent, sizeof(m.percent));
	assert_string_equal(again.unit, m.unit);
}

static void a_margin_is_units_or_a_percentage_or_both(void **state)
{
	assert_reads("2cycles", 2, 0, "cycles");
	assert_reads("2 cycles", 2, 0, "cycles");
	assert_reads("1instruction", 1, 0, "instruction");
	assert_reads("0.35%", 0, .35, "");
	assert_reads("2cycles,0.5%", 2, .5, "cycles");
	assert_reads("0.5%, 2ticks", 2, .5, "ticks");
	assert_reads("3", 3, 0, "");
	assert_reads("1e-5", 1e-5, 0, "");
	assert_reads("0", 0, 0, "");
}

static void what_is_none_is_refused(void **state)
{
	static const char *const texts[] = {"",     "x",     "-1",    "2seconds", "nan",
					    "inf%", "1%,2%", "1,2",   "2cycles,", "2cycles 1%",
					    ",",    "2%%",   "1e999", "2e",       "%"};
	char longest[200];
	struct err e = ERR_INIT;
	struct margin m;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		if (margin_parse(texts[i], &m, &e) != -EINVAL) {
			fail_msg("'%s' was taken", texts[i]);
		}
		assert_non_null(strstr(e.text, "expected a margin such as 2cycles"));
	}
	memset(longest, '1', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	assert_int_equal(margin_parse(longest, &m, &e), -EINVAL);
}

static void a_unit_must_be_that_of_the_class(void **state)
{
	struct err e = ERR_INIT;
	struct margin m;

	assert_int_equal(margin_parse("2cycles", &m, &e), 0);
	assert_int_equal(margin_check_class(&m, EXEC_NATIVE, &e), 0);
	assert_int_equal(margin_check_class(&m, EXEC_NESTED, &e), 0);
	assert_int_equal(margin_check_class(&m, EXEC_ICOUNT, &e), -EINVAL);
	assert_string_equal(e.text,
			    "a margin of 2 cycles: class icount counts instructions, and one "
			    "is not the other");
	assert_int_equal(margin_parse("2", &m, &e), 0);
	assert_int_equal(margin_check_class(&m, EXEC_ICOUNT, &e), 0);
}

static void the_last_one_of_a_benchmark_counts(void **state)
{
	const struct margin list[] = {
		{.benches = MARGIN_BENCHES_ALL, .units = 1},
		{.benches = benchmark_bit(3) | benchmark_bit(4), .units = 2},
		{.benches = benchmark_bit(4), .units = 3},
	};

	assert_true(margin_of(list, 3, 0).units == 1);
	assert_true(margin_of(list, 3, 3).units == 2);
	assert_true(margin_of(list, 3, 4).units == 3);
	assert_true(margin_of(list + 1, 2, 0).units == MARGIN_UNITS_DEFAULT);
	assert_true(margin_of(NULL, 0, 0).percent == MARGIN_PERCENT_DEFAULT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_margin_is_units_or_a_percentage_or_both),
		cmocka_unit_test(what_is_none_is_refused),
		cmocka_unit_test(a_unit_must_be_that_of_the_class),
		cmocka_unit_test(the_last_one_of_a_benchmark_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
