/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A guest that does not end, and is asked where it is. */
#include "session_fixture.h"

#include <string.h>

static void a_guest_that_does_not_end_is_asked_and_its_answer_changes_nothing(void **state)
{
	static const struct step steps[] = {
		{1 * MS, SAY, BACKEND_CONSOLE, "before\n"},
		/* It is past the timeout: too late to have an exit status. */
		{110 * MS, FRAME, CHANNEL_STREAM_RESULTS, EXIT},
		{1 * MS, STOP, .reason = STOP_RESET},
	};

	cfg.nmi = true;
	cfg.timeout_ns = 100 * MS;
	fake.answer = "Kernel panic - not syncing: NMI: Not continuing\nCall Trace:\n";
	RUN(steps);
	assert_int_equal(outcome.status, OUTCOME_TIMEOUT);
	assert_int_equal(fake.nmis, 1);
	assert_int_equal(fake.registers_at_nmi, 1);
	assert_int_equal(fake.registers, 1);
	assert_int_equal(json_array_size(record.console_tail), 3);
}

static void a_guest_that_does_not_answer_is_not_waited_for_long(void **state)
{
	static const struct step steps[] = {
		{1 * MS, STOP, .reason = STOP_SPIN, .text = "interrupts off"},
		/* The look at it comes again and again. */
		{50 * MS, STOP, .reason = STOP_SPIN, .text = "interrupts off"},
	};
	uint64_t start_ns = clock_now_ns(&clock_monotonic);

	cfg.nmi = true;
	cfg.timeout_ns = 100 * MS; /* it would have three seconds, but for this */
	RUN(steps);
	assert_int_equal(outcome.status, OUTCOME_HANG);
	assert_int_equal(fake.nmis, 1);
	assert_true(fake.halt_ns - start_ns > 200 * MS); /* it had the time */
	assert_true(fake.halt_ns - start_ns < 5 * NS_PER_SEC);
}

static void a_guest_that_ends_by_itself_is_not_asked(void **state)
{
	static const struct step reset[] = {{1 * MS, STOP, .reason = STOP_RESET}};

	cfg.nmi = true;
	RUN(reset);
	assert_int_equal(outcome.status, OUTCOME_NO_STATUS);
	assert_int_equal(fake.nmis, 0);
}

static void a_guest_that_is_not_to_be_asked_is_not(void **state)
{
	static const struct step spin[] = {{1 * MS, STOP, .reason = STOP_SPIN}};

	RUN(spin);
	assert_int_equal(outcome.status, OUTCOME_HANG);
	assert_int_equal(fake.nmis, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(t) cmocka_unit_test_setup_teardown(t, session_setup, session_teardown)
		TEST(a_guest_that_does_not_end_is_asked_and_its_answer_changes_nothing),
		TEST(a_guest_that_does_not_answer_is_not_waited_for_long),
		TEST(a_guest_that_ends_by_itself_is_not_asked),
		TEST(a_guest_that_is_not_to_be_asked_is_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
