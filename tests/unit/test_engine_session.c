/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A session over a scripted backend: what it does when, and that it never waits where it must not.
 */
#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "abi/channel.h"
#include "abi/marks.h"
#include "base/clock.h"
#include "engine/session.h"
#include "guest/channel.h"

#include "session_fixture.h"

static void a_commands_output_and_status_are_passed_on(void **state)
{
	static const struct step steps[] = {
		{1 * MS, FRAME, CHANNEL_STREAM_RESULTS, AGENT},
		{1 * MS, FRAME, CHANNEL_STREAM_STDOUT, "out\n"},
		{1 * MS, FRAME, CHANNEL_STREAM_RESULTS, EXIT},
		{1 * MS, STOP, .reason = STOP_EXIT_PORT},
	};
	char buf[16] = "";

	RUN(steps);
	assert_int_equal(outcome.status, 7);
	assert_int_equal(read(out_pipe[0], buf, sizeof(buf)), 4);
	assert_string_equal(buf, "out\n");
	assert_int_equal(json_array_size(record.guest), 2);
	assert_string_equal(record.kernel_version, "6.12");
	assert_true(record.phase_ns[RECORD_USER_MARK] != RECORD_NEVER);
	assert_null(record.console_tail);
}

static void streams_that_come_apart_need_no_frames(void **state)
{
	static const struct step steps[] = {
		{1 * MS, SAY, BACKEND_RESULTS, "{\"type\":\"agent\",\"uname\":\"6.12\","},
		{1 * MS, SAY, BACKEND_STDOUT, "out\n"},
		{1 * MS, SAY, BACKEND_RESULTS, "\"calltime\":null}\n" EXIT},
		{1 * MS, SAY, BACKEND_LOG, "a line of the agent\n"},
		{1 * MS, SAY, BACKEND_STDOUT, "more\n"},
		{1 * MS, STOP, .reason = STOP_EXIT_PORT},
	};
	char buf[16] = "";

	RUN(steps);
	assert_int_equal(outcome.status, 7);
	assert_int_equal(read(out_pipe[0], buf, sizeof(buf)), 9);
	assert_string_equal(buf, "out\nmore\n");
	assert_int_equal(json_array_size(record.guest), 2);
	assert_string_equal(record.kernel_version, "6.12");
}

static void a_results_line_may_be_split_over_frames(void **state)
{
	static const struct step steps[] = {
		{1 * MS, FRAME, CHANNEL_STREAM_RESULTS, "{\"type\":\"exit\",\"st"},
		{1 * MS, FRAME, CHANNEL_STREAM_RESULTS, "atus\":9}\nnot JSON\n"},
		{1 * MS, STOP, .reason = STOP_RESET},
	};

	RUN(steps);
	assert_int_equal(outcome.status, 9);
	assert_int_equal(json_array_size(record.guest), 1);
}

static void an_agent_that_failed_leaves_no_status(void **state)
{
	static const struct step steps[] = {
		{1 * MS, FRAME, CHANNEL_STREAM_RESULTS, AGENT},
		{1 * MS, FRAME, CHANNEL_STREAM_RESULTS,
		 "{\"type\":\"exit\",\"status\":null,\"signal\":0,\"error\":\"no root\"}\n"},
		{1 * MS, STOP, .reason = STOP_EXIT_PORT},
	};

	RUN(steps);
	assert_int_equal(outcome.status, OUTCOME_NO_STATUS);
}

/* For another run in the same test. */
static void again(void)
{
	record_boot_fini(&record);
	record_boot_init(&record);
	fake.next = 0;
	fake.halted = false;
}

static void clocks_stand_still_while_the_guest_does(void **state)
{
	static const struct step steps[] = {
		{1 * MS, STAND, true},
		{1100 * MS, STAND, false},
	};
	uint64_t before = clock_now_ns(&clock_monotonic), took;

	/* A second in which the first step may be late; one that counts on would end with it. */
	cfg.timeout_ns = 1000 * MS;
	RUN(steps);
	took = clock_now_ns(&clock_monotonic) - before;
	assert_int_equal(outcome.status, OUTCOME_TIMEOUT);
	assert_in_range(took, 2100 * MS, 7 * NS_PER_SEC);

	again();
	before = clock_now_ns(&clock_monotonic);
	cfg.timeout_ns = 10 * NS_PER_SEC;
	cfg.boot_timeout_ns = 1000 * MS;
	RUN(steps);
	took = clock_now_ns(&clock_monotonic) - before;
	assert_int_equal(outcome.status, OUTCOME_BOOT);
	assert_in_range(took, 2100 * MS, 7 * NS_PER_SEC);
}

static void an_agent_that_falls_silent_is_a_hang(void **state)
{
	static const struct step steps[] = {
		{1 * MS, FRAME, CHANNEL_STREAM_RESULTS, AGENT},
		{400 * MS, FRAME, CHANNEL_STREAM_LOG, "alive\n"},
		{10 * MS, STAND, true},
		{1100 * MS, STAND, false},
		{400 * MS, FRAME, CHANNEL_STREAM_LOG, "alive\n"},
		{400 * MS, FRAME, CHANNEL_STREAM_STDOUT, "out\n"},
	};
	uint64_t before = clock_now_ns(&clock_monotonic), took;

	/* Each step may be late by more than half a second. */
	cfg.hang_ns = 1000 * MS;
	RUN(steps);
	took = clock_now_ns(&clock_monotonic) - before;
	assert_int_equal(outcome.status, OUTCOME_HANG);
	assert_in_range(took, 3311 * MS, 9 * NS_PER_SEC);
}

static void an_agent_that_is_heard_is_slow(void **state)
{
	static const struct step steps[] = {
		{1 * MS, FRAME, CHANNEL_STREAM_RESULTS, AGENT},
		{700 * MS, FRAME, CHANNEL_STREAM_LOG, "alive\n"},
		{700 * MS, FRAME, CHANNEL_STREAM_LOG, "alive\n"},
	};

	/* Without the last two it would be a hang. */
	cfg.hang_ns = 1450 * MS;
	cfg.timeout_ns = 1500 * MS;
	RUN(steps);
	assert_int_equal(outcome.status, OUTCOME_TIMEOUT);
	assert_non_null(strstr(outcome.text, "its agent was heard 0."));
}

static void a_line_that_is_allowed_ends_nothing(void **state)
{
	static const struct step steps[] = {
		{1 * MS, SAY, BACKEND_CONSOLE, "WARNING: CPU: 0 at mm/x.c:1\n"},
		{100 * MS, SAY, BACKEND_CONSOLE, "WARNING: CPU: 0 at fs/x.c:1\n"},
	};
	_cleanup_(console_allow_destroy_p) struct console_allow *allow = NULL;

	assert_int_equal(console_allow_create(&allow, &e), 0);
	assert_int_equal(console_allow_add(allow, " at mm/", &e), 0);
	cfg.allow = allow;
	cfg.fail_on = SESSION_FAIL_ON_WARN;
	RUN(steps);
	assert_int_equal(outcome.status, OUTCOME_OOPS);
	assert_string_equal(outcome.text, "the guest kernel said: WARNING: CPU: 0 at fs/x.c:1");
}

static void a_panic_is_told_within_100_ms_of_its_last_line(void **state)
{
	static const struct step steps[] = {
		{1 * MS, SAY, BACKEND_CONSOLE, "Kernel panic - not syncing: why\n"},
		{30 * MS, SAY, BACKEND_CONSOLE, "Call Trace:\n"},
		{30 * MS, SAY, BACKEND_CONSOLE, "Kernel Offset: disabled\n"},
	};

	/* A process that has to wait can only be later: one of ten has not to. */
	for (int i = 0; i < 10; i++) {
		again();
		RUN(steps);
		assert_int_equal(outcome.status, OUTCOME_PANIC);
		if (json_array_size(record.console_tail) == 3 &&
		    fake.halt_ns - fake.last_line_ns < 100 * MS) {
			return;
		}
	}
	fail_msg("the last of %zu lines was %" PRIu64 " ns before the end",
		 json_array_size(record.console_tail), fake.halt_ns - fake.last_line_ns);
}

static void the_line_that_ends_a_panic_is_not_waited_behind(void **state)
{
	static const struct step steps[] = {
		{1 * MS, SAY, BACKEND_CONSOLE, "Kernel panic - not syncing: why\n"},
		{1 * MS, SAY, BACKEND_CONSOLE, "---[ end Kernel panic - not syncing: why ]---\n"},
	};

	for (int i = 0; i < 10; i++) {
		again();
		RUN(steps);
		assert_int_equal(outcome.status, OUTCOME_PANIC);
		if (fake.halt_ns - fake.last_line_ns < 20 * MS) {
			return;
		}
	}
	fail_msg("it was waited for %" PRIu64 " ns", fake.halt_ns - fake.last_line_ns);
}

static void a_panic_that_never_falls_silent_ends_too(void **state)
{
	static struct step steps[200] = {
		{1 * MS, SAY, BACKEND_CONSOLE, "Kernel panic - not syncing: why\n"}};

	for (size_t i = 1; i < ARRAY_SIZE(steps); i++) {
		steps[i] = (struct step){30 * MS, SAY, BACKEND_CONSOLE, "more\n"};
	}
	RUN(steps);
	assert_int_equal(outcome.status, OUTCOME_PANIC);
	assert_true(fake.next < fake.count);
}

static void a_halt_that_the_console_tells_is_a_missing_status(void **state)
{
	static const struct step steps[] = {
		{1 * MS, SAY, BACKEND_CONSOLE, "reboot: System halted\n"},
	};

	RUN(steps);
	assert_int_equal(outcome.status, OUTCOME_NO_STATUS);
}

static void the_clocks_run_out(void **state)
{
	static const struct step silent[] = {{10 * NS_PER_SEC, SAY, BACKEND_CONSOLE, "late\n"}};
	static const struct step up[] = {
		{1 * MS, MARK, MARK_KERNEL_START},
		{1 * MS, MARK, MARK_USER_START},
		{10 * NS_PER_SEC, SAY, BACKEND_CONSOLE, "late\n"},
	};

	cfg.boot_timeout_ns = 50 * MS;
	RUN(silent);
	assert_int_equal(outcome.status, OUTCOME_BOOT);
	again();
	cfg.timeout_ns = 1100 * MS;
	cfg.boot_timeout_ns = 1000 * MS;
	RUN(up);
	assert_int_equal(outcome.status, OUTCOME_TIMEOUT);
	assert_int_equal(record.user_mark_ticks, 77);
	assert_true(record.phase_ns[RECORD_KERNEL_MARK] <= record.phase_ns[RECORD_USER_MARK]);
}

static void a_reader_that_does_not_read_stops_the_guest_and_not_the_clock(void **state)
{
	static const struct step steps[] = {{1 * MS, FLOOD}};

	cfg.timeout_ns = 1000 * MS;
	/* Nobody reads the pipe, but it is still open. */
	RUN(steps);
	assert_int_equal(outcome.status, OUTCOME_TIMEOUT);
	assert_true(fake.was_paused);
	assert_true(fake.flooded < (1U << 20));
}

static void a_reader_that_is_gone_ends_the_run(void **state)
{
	static const struct step steps[] = {{1 * MS, FRAME, CHANNEL_STREAM_STDOUT, "out\n"}};

	close(out_pipe[0]);
	out_pipe[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	RUN(steps);
	assert_int_equal(outcome.status, OUTCOME_USAGE);
	assert_int_equal(outcome.kind, OUTCOME_KIND_OUTPUT);
	assert_non_null(strstr(outcome.text, "stdout cannot be written: Broken pipe"));
}

static void a_full_disk_ends_the_run(void **state)
{
	static const struct step steps[] = {{1 * MS, FRAME, CHANNEL_STREAM_STDOUT, "out\n"}};
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC);

	assert_int_equal(run_to(full, steps, 1), 0);
	close(full);
	assert_int_equal(outcome.kind, OUTCOME_KIND_OUTPUT);
	assert_non_null(strstr(outcome.text, "No space left on device"));
}

static void a_signal_ends_the_run_in_order(void **state)
{
	static const struct step steps[] = {{1 * MS, SIGNAL, SIGTERM}};
	struct sigaction after;

	RUN(steps);
	assert_int_equal(outcome.kind, OUTCOME_KIND_SIGNAL);
	assert_int_equal(outcome.status, 128 + SIGTERM);
	assert_true(fake.halted);
	assert_true(fake.destroyed);
	sigaction(SIGPIPE, NULL, &after);
	assert_ptr_equal(after.sa_handler, SIG_DFL);
}

static void what_fail_on_names_ends_the_run(void **state)
{
	static const struct step steps[] = {
		{1 * MS, SAY, BACKEND_CONSOLE, "WARNING: CPU: 0 PID: 1 at x.c:1\n"},
	};

	cfg.fail_on = SESSION_FAIL_ON_WARN;
	RUN(steps);
	assert_int_equal(outcome.status, OUTCOME_OOPS);
	again();
	cfg.fail_on = SESSION_FAIL_ON_OOPS;
	cfg.timeout_ns = 200 * MS;
	RUN(steps);
	assert_int_equal(outcome.status, OUTCOME_TIMEOUT);
}

static void a_file_on_stdin_is_typed_and_its_end_changes_nothing(void **state)
{
	static const struct step steps[] = {{50 * MS, STOP, .reason = STOP_RESET}};
	char path[] = "/tmp/session-XXXXXX";
	int fd = mkstemp(path);

	unlink(path);
	assert_int_equal(write(fd, "ls\001x\n", 5), 5);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	cfg.job = false;
	cfg.input_fd = fd;
	RUN(steps);
	close(fd);
	assert_int_equal(outcome.status, 0);
	/* The escape is one of terminals only. */
	assert_int_equal(fake.typed_len, 5);
	assert_memory_equal(fake.typed, "ls\001x\n", 5);
}

static void a_guest_that_takes_no_input_makes_nothing_spin(void **state)
{
	static const struct step steps[] = {{300 * MS, STOP, .reason = STOP_RESET}};
	struct timespec before, after;
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	cfg.job = false;
	cfg.input_fd = fd;
	fake.room = 1;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
	RUN(steps);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
	close(fd);
	assert_true((after.tv_sec - before.tv_sec) * 1000 +
			    (after.tv_nsec - before.tv_nsec) / 1000000 <
		    100);
}

#define TEST(t) cmocka_unit_test_setup_teardown(t, session_setup, session_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_commands_output_and_status_are_passed_on),
		TEST(streams_that_come_apart_need_no_frames),
		TEST(a_results_line_may_be_split_over_frames),
		TEST(an_agent_that_failed_leaves_no_status),
		TEST(clocks_stand_still_while_the_guest_does),
		TEST(an_agent_that_falls_silent_is_a_hang),
		TEST(an_agent_that_is_heard_is_slow),
		TEST(a_line_that_is_allowed_ends_nothing),
		TEST(a_panic_is_told_within_100_ms_of_its_last_line),
		TEST(the_line_that_ends_a_panic_is_not_waited_behind),
		TEST(a_panic_that_never_falls_silent_ends_too),
		TEST(a_halt_that_the_console_tells_is_a_missing_status),
		TEST(the_clocks_run_out),
		TEST(a_reader_that_does_not_read_stops_the_guest_and_not_the_clock),
		TEST(a_reader_that_is_gone_ends_the_run),
		TEST(a_full_disk_ends_the_run),
		TEST(a_signal_ends_the_run_in_order),
		TEST(what_fail_on_names_ends_the_run),
		TEST(a_file_on_stdin_is_typed_and_its_end_changes_nothing),
		TEST(a_guest_that_takes_no_input_makes_nothing_spin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
