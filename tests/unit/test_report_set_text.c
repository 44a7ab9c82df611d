/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A scenario's report for people, against tests/golden (the folder is the program's argument). */
#include "support.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report_fixture.h"

static const char *golden;
static struct set_fixture f;

static int setup(void **state)
{
	f = (struct set_fixture){0};
	fixture_set(&f);
	return 0;
}

static int teardown(void **state)
{
	fixture_set_fini(&f);
	return 0;
}

static char *render(bool details)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	assert_int_equal(report_set_text(&f.set, out, false, details), 0);
	assert_int_equal(fclose(out), 0);
	return text;
}

/* Columns, not bytes: a character of UTF-8 takes one. */
static void assert_narrow(const char *text)
{
	size_t columns = 0;

	for (; *text; text++) {
		columns = *text == '\n' ? 0 : columns + ((*text & 0xc0) != 0x80);
		if (columns > 80) {
			fail_msg("more than 80 columns before: %.60s", text);
		}
	}
}

static void claims_measurements_and_floors_stand_row_by_row(void **state)
{
	_cleanup_free_ char *text = render(false);

	assert_narrow(text);
	assert_null(strchr(text, '\033'));
	fixture_golden(golden, "report-set.txt", text);
}

static void with_details_every_benchmark_has_its_section(void **state)
{
	_cleanup_free_ char *text = render(true);

	assert_narrow(text);
	assert_non_null(strstr(text, "\nsyscall.null: instructions per call, lower is better\n"));
	assert_non_null(strstr(text, "  effect, C - A"));
	assert_non_null(strstr(text, "better: C (third) saves 29.03 instructions"));
	/* p-values are adjusted over both comparisons of the family. */
	assert_non_null(strstr(text, "among 6 benchmarks"));
}

static void one_plain_comparison_reads_as_it_does_alone(void **state)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_free_ char *alone = NULL;
	size_t len = 0;
	FILE *out;

	f.set.title = NULL;
	f.set.n_reports = 1;
	f.set.n_claims = 0;
	text = render(false);
	out = open_memstream(&alone, &len);
	assert_int_equal(report_text(&f.one.report, out, false), 0);
	fclose(out);
	assert_string_equal(text, alone);
	f.set.n_claims = ARRAY_SIZE(f.said);
}

static void the_worst_comparison_makes_the_exit_status(void **state)
{
	assert_int_equal(report_set_exit_status(&f.set), 0);
	f.two.benches[0].result.verdict = VERDICT_INCONCLUSIVE;
	assert_int_equal(report_set_exit_status(&f.set), 3);
	f.one.benches[0].result.verdict = VERDICT_WORSE;
	assert_int_equal(report_set_exit_status(&f.set), 1);
	f.set.boots_recorded--;
	assert_int_equal(report_set_exit_status(&f.set), 3);
	f.set.boots_recorded++;
}

static void a_full_disk_is_told_of(void **state)
{
	FILE *out = fopen("/dev/full", "we");

	assert_non_null(out);
	assert_int_equal(report_set_text(&f.set, out, false, true), -EIO);
	fclose(out);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(claims_measurements_and_floors_stand_row_by_row),
		TEST(with_details_every_benchmark_has_its_section),
		TEST(one_plain_comparison_reads_as_it_does_alone),
		TEST(the_worst_comparison_makes_the_exit_status),
		TEST(a_full_disk_is_told_of),
	};

	golden = argc > 1 ? argv[1] : ".";
	return cmocka_run_group_tests(tests, NULL, NULL);
}
