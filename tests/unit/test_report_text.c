/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The report for people, against tests/golden (the folder is the program's argument). */
#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "near.h"
#include "report_fixture.h"

static const char *golden;

static char *render(struct report_fixture *f, bool colour)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	fixture_compute(f);
	assert_int_equal(report_text(&f->report, out, colour), 0);
	assert_int_equal(fclose(out), 0);
	report_fini(&f->report);
	return text;
}

static void assert_narrow(const char *text)
{
	while (*text) {
		size_t len = strcspn(text, "\n");

		if (len > 80) {
			fail_msg("%zu columns: %.*s", len, (int)len, text);
		}
		text += len + (text[len] == '\n');
	}
}

static void check(struct report_fixture *f, const char *name)
{
	_cleanup_free_ char *text = render(f, false);

	assert_narrow(text);
	assert_null(strchr(text, '\033'));
	fixture_golden(golden, name, text);
}

static void an_instruction_count_reads_as_in_the_golden_file(void **state)
{
	struct report_fixture f;

	fixture_icount(&f);
	check(&f, "report-icount.txt");
}

static void cycles_of_two_images_read_as_in_the_golden_file(void **state)
{
	struct report_fixture f;

	fixture_nested(&f);
	check(&f, "report-nested.txt");
}

static bool warns_of_clock(bool cycles, const char *clock)
{
	_cleanup_free_ char *text = NULL;
	struct report_fixture f;

	if (cycles) {
		fixture_nested(&f);
	} else {
		fixture_icount(&f);
	}
	f.report.host_clock = clock;
	text = render(&f, false);
	assert_narrow(text);
	return strstr(text, "cycles are not to be") != NULL;
}

static void cycles_of_a_host_whose_counter_is_not_stable_come_with_a_warning(void **state)
{
	assert_true(warns_of_clock(true, "hpet"));
	assert_true(warns_of_clock(true, "acpi_pm"));
	assert_false(warns_of_clock(true, "kvm-clock"));
	assert_false(warns_of_clock(true, "tsc"));
	assert_false(warns_of_clock(true, NULL));
	assert_false(warns_of_clock(false, "hpet")); /* instructions are counted, not timed */
}

static void ticks_give_no_verdict_on_speed(void **state)
{
	_cleanup_free_ char *text = NULL;
	struct report_fixture f;

	fixture_icount(&f);
	f.report.class = EXEC_TCG;
	f.report.ticks_per_unit = 1;
	text = render(&f, false);
	assert_non_null(strstr(text, "ticks per switch"));
	assert_non_null(strstr(text, "inconclusive: no verdict on speed: class tcg"));
	assert_null(strstr(text, "better:"));
	assert_null(strstr(text, "equivalent"));
	assert_narrow(text);
}

static void work_with_a_known_clock_has_a_rate_too(void **state)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_free_ char *cycles = NULL;
	struct report_fixture f;
	const char *rate;

	fixture_icount(&f);
	f.benches[1].per = "connection";
	f.benches[1].units_hz = 125e6; /* 3917.5 and 3888.5 instructions of 8 ns */
	text = render(&f, false);
	rate = strstr(text, "connections/s ");
	assert_non_null(rate);
	assert_near(strtod(rate + strlen("connections/s "), NULL), 125e6 / 3917.5, 20);
	assert_non_null(strstr(text, "of the guest's time: an instruction is 8 ns there"));
	assert_narrow(text);
	f.report.class = EXEC_NATIVE;
	cycles = render(&f, false);
	assert_non_null(strstr(cycles, "connections/s "));
	assert_null(strstr(cycles, "of the guest's time"));
}

static void only_cycles_are_called_cycles(void **state)
{
	static const enum exec_class without[] = {EXEC_ICOUNT, EXEC_TCG, EXEC_EMULATED};
	struct report_fixture f;

	for (size_t i = 0; i < ARRAY_SIZE(without); i++) {
		_cleanup_free_ char *text = NULL;

		fixture_icount(&f);
		f.report.class = without[i];
		text = render(&f, false);
		assert_null(strstr(text, "cycle"));
	}
}

static void an_arm_with_itself_says_so(void **state)
{
	_cleanup_free_ char *text = NULL;
	struct report_fixture f;

	fixture_icount(&f);
	f.report.arms[STATS_A] = f.report.arms[STATS_B];
	f.report.same_arm = true;
	text = render(&f, false);
	assert_non_null(strstr(text, "arms     one and the same"));
	assert_non_null(strstr(text, "inconclusive: A and B are one and the same"));
	assert_non_null(strstr(text, "identical in 48 of 48 boots"));
	assert_null(strstr(text, "better:"));
	assert_narrow(text);
}

static void five_blocks_say_what_is_needed(void **state)
{
	_cleanup_free_ char *text = NULL;
	struct report_fixture f;

	fixture_icount(&f);
	for (size_t i = 0; i < FIXTURE_BENCHES; i++) {
		f.benches[i].n_blocks = 5;
	}
	text = render(&f, false);
	assert_non_null(strstr(text, "inconclusive: 5 complete blocks cannot decide"));
	assert_null(strstr(text, "better:"));
	assert_narrow(text);
}

static void one_block_has_no_spread_and_no_blocks_have_no_numbers(void **state)
{
	_cleanup_free_ char *one = NULL;
	_cleanup_free_ char *none = NULL;
	struct report_fixture f;

	fixture_icount(&f);
	for (size_t i = 0; i < FIXTURE_BENCHES; i++) {
		f.benches[i].n_blocks = 1;
	}
	one = render(&f, false);
	assert_non_null(strstr(one, "unbounded"));
	assert_non_null(strstr(one, "1 complete block cannot decide"));
	assert_narrow(one);
	for (size_t i = 0; i < FIXTURE_BENCHES; i++) {
		f.benches[i].n_blocks = 0;
	}
	none = render(&f, false);
	assert_non_null(strstr(none, "no block is complete"));
	assert_null(strstr(none, "nan"));
	assert_null(strstr(none, "inf"));
	assert_narrow(none);
}

static void a_finding_that_fails_among_many_says_so(void **state)
{
	_cleanup_free_ char *text = NULL;
	struct report_fixture f;

	fixture_icount(&f);
	for (size_t i = 0; i < FIXTURE_BENCHES; i++) {
		f.benches[i].n_blocks = 6; /* p .03125, of three .09375 and .0625 */
	}
	text = render(&f, false);
	assert_non_null(strstr(text, "its p is 0.0625"));
	assert_narrow(text);
}

static void colour_is_asked_for_and_marks_verdicts_only(void **state)
{
	_cleanup_free_ char *text = NULL;
	struct report_fixture f;

	fixture_icount(&f);
	text = render(&f, true);
	assert_non_null(strstr(text, "\033[32mbetter\033[0m: B (fsgsbase) saves"));
	assert_non_null(strstr(text, "\033[36mequivalent\033[0m: no difference"));
}

static void nothing_but_a_terminal_wants_colour(void **state)
{
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	int pty = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);

	assert_true(fd >= 0);
	setenv("TERM", "xterm", 1);
	unsetenv("NO_COLOR");
	assert_false(report_wants_colour(fd));
	assert_false(report_wants_colour(-1));
	if (pty >= 0) {
		assert_true(report_wants_colour(pty));
		setenv("NO_COLOR", "1", 1);
		assert_false(report_wants_colour(pty));
		unsetenv("NO_COLOR");
		setenv("TERM", "dumb", 1);
		assert_false(report_wants_colour(pty));
		close(pty);
	}
	close(fd);
}

static void a_full_disk_is_an_error(void **state)
{
	struct report_fixture f;
	FILE *out = fopen("/dev/full", "we");

	assert_non_null(out);
	fixture_icount(&f);
	fixture_compute(&f);
	assert_int_equal(report_text(&f.report, out, false), -EIO);
	report_fini(&f.report);
	fclose(out);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_instruction_count_reads_as_in_the_golden_file),
		cmocka_unit_test(cycles_of_two_images_read_as_in_the_golden_file),
		cmocka_unit_test(cycles_of_a_host_whose_counter_is_not_stable_come_with_a_warning),
		cmocka_unit_test(ticks_give_no_verdict_on_speed),
		cmocka_unit_test(work_with_a_known_clock_has_a_rate_too),
		cmocka_unit_test(only_cycles_are_called_cycles),
		cmocka_unit_test(an_arm_with_itself_says_so),
		cmocka_unit_test(five_blocks_say_what_is_needed),
		cmocka_unit_test(one_block_has_no_spread_and_no_blocks_have_no_numbers),
		cmocka_unit_test(a_finding_that_fails_among_many_says_so),
		cmocka_unit_test(colour_is_asked_for_and_marks_verdicts_only),
		cmocka_unit_test(nothing_but_a_terminal_wants_colour),
		cmocka_unit_test(a_full_disk_is_an_error),
	};

	if (argc != 2) {
		fprintf(stderr, "usage: %s GOLDEN-FOLDER\n", argv[0]);
		return 2;
	}
	golden = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
