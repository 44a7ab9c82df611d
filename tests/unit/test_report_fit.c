/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <string.h>

#include "report/report.h"

static void assert_fits(const char *text, size_t columns, const char *want)
{
	char *got = NULL;
	size_t len;
	FILE *f = open_memstream(&got, &len);

	assert_non_null(f);
	report_fit(text, columns, f);
	assert_int_equal(fclose(f), 0);
	assert_string_equal(got, want);
	free(got);
}

#define PAGE                                             \
	"head\n\n"                                       \
	"  a label             12.5             13.5\n"  \
	"  verdict            better: it saves enough\n" \
	"                     and more\n"

static void where_all_fits_nothing_is_changed(void **state)
{
	assert_fits(PAGE, 80, PAGE);
	assert_fits(PAGE, SIZE_MAX, PAGE);
	assert_fits("", 40, "");
	assert_fits("  a     1\n  b    22\n", 40, "  a     1\n  b    22\n");
}

static void gaps_are_closed_and_what_went_on_is_one_line_again(void **state)
{
	assert_fits(PAGE, 40,
		    "head\n\n"
		    "  a label  12.5  13.5\n"
		    "  verdict  better: it saves enough and\n"
		    "    more\n");
}

static void a_word_that_no_line_holds_is_cut_between_characters(void **state)
{
	assert_fits("\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9"
		    "\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9 x\n",
		    20,
		    "\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9"
		    "\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\n\u00e9 x\n");
}

static void colours_take_no_room(void **state)
{
	assert_fits("  verdict          \033[32mbetter\033[0m now\n", 20,
		    "  verdict  \033[32mbetter\033[0m\n    now\n");
	assert_fits("  verdict  \033[32mbetter\033[0m now\n", 21,
		    "  verdict  \033[32mbetter\033[0m now\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(where_all_fits_nothing_is_changed),
		cmocka_unit_test(gaps_are_closed_and_what_went_on_is_one_line_again),
		cmocka_unit_test(a_word_that_no_line_holds_is_cut_between_characters),
		cmocka_unit_test(colours_take_no_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
