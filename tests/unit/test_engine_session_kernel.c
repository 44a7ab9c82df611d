/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reports of a kernel that its log has and its console has not. */
#include "session_fixture.h"

#include <string.h>

#define AGENT    "{\"type\":\"agent\",\"uname\":\"6.12\",\"calltime\":null}\n"
#define GOOD_END "{\"type\":\"exit\",\"status\":0,\"signal\":0}\n"
#define WARN     "WARNING: CPU: 0 PID: 7 at zoo.c:7 f+0x1/0x2"
#define LOG(lines) \
	"{\"type\":\"kernel\",\"tainted_before\":1,\"tainted\":1,\"lines\":[" lines "]}\n"
#define TAINT(n) "{\"type\":\"kernel\",\"tainted_before\":1,\"tainted\":" #n ",\"lines\":[]}\n"

/* A command that passed, and what came before its status. */
static void run(const char *console, const char *kernel)
{
	const struct step steps[] = {
		{1 * MS, FRAME, CHANNEL_STREAM_RESULTS, AGENT},
		{1 * MS, SAY, BACKEND_CONSOLE, console},
		{1 * MS, FRAME, CHANNEL_STREAM_RESULTS, kernel},
		{1 * MS, FRAME, CHANNEL_STREAM_RESULTS, GOOD_END},
		{1 * MS, STOP, .reason = STOP_EXIT_PORT},
	};

	assert_int_equal(run_to(out_pipe[1], steps, ARRAY_SIZE(steps)), 0);
}

static void a_report_in_the_log_alone_fails_and_is_in_the_tail(void **state)
{
	cfg.fail_on = SESSION_FAIL_ON_WARN;
	run("quiet\n", LOG("\"other\",\"" WARN "\",\"Call Trace:\",\" ? g+0x3/0x4\""));
	assert_int_equal(outcome.status, OUTCOME_OOPS);
	assert_string_equal(outcome.text, "the guest kernel said: " WARN);
	assert_int_equal(json_array_size(record.console_tail), 5);
	assert_int_equal(json_array_size(record.backtrace), 4); /* a vCPU, and lines of the log */
}

static void what_fail_on_does_not_name_fails_nothing(void **state)
{
	cfg.fail_on = SESSION_FAIL_ON_OOPS;
	run("quiet\n", LOG("\"" WARN "\""));
	assert_int_equal(outcome.status, 0);
}

static void what_is_allowed_fails_nothing_nor_does_its_taint(void **state)
{
	struct console_allow *allow;

	assert_int_equal(console_allow_create(&allow, &e), 0);
	assert_int_equal(console_allow_add(allow, "at zoo\\.c", &e), 0);
	cfg.allow = allow;
	cfg.fail_on = SESSION_FAIL_ON_WARN;
	run("quiet\n",
	    "{\"type\":\"kernel\",\"tainted_before\":0,\"tainted\":512,\"lines\":[\"" WARN
	    "\"]}\n");
	assert_int_equal(outcome.status, 0);
	console_allow_destroy(allow);
}

static void a_taint_without_any_report_fails(void **state)
{
	cfg.fail_on = SESSION_FAIL_ON_WARN | SESSION_FAIL_ON_OOPS;
	run("quiet\n", TAINT(513));
	assert_int_equal(outcome.status, OUTCOME_OOPS);
	assert_string_equal(outcome.text, "the guest kernel said: it is tainted W by a warning, "
					  "which neither its console nor its log has");
}

static void a_taint_that_was_there_or_is_of_another_kind_fails_nothing(void **state)
{
	cfg.fail_on = SESSION_FAIL_ON_WARN | SESSION_FAIL_ON_OOPS;
	run("quiet\n", TAINT(4097)); /* a module from out of the tree */
	assert_int_equal(outcome.status, 0);
}

static void any_new_taint_fails_where_that_is_asked_for(void **state)
{
	cfg.fail_on = SESSION_FAIL_ON_TAINT;
	run("quiet\n", TAINT(4097));
	assert_int_equal(outcome.status, OUTCOME_OOPS);
	assert_string_equal(outcome.text, "the guest kernel said: it became tainted: 0x1000");
}

static void nonsense_is_nothing(void **state)
{
	cfg.fail_on = SESSION_FAIL_ON_WARN;
	run("quiet\n", "{\"type\":\"kernel\",\"tainted\":\"x\",\"lines\":[1,null,{\"a\":2}]}\n");
	assert_int_equal(outcome.status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(t) cmocka_unit_test_setup_teardown(t, session_setup, session_teardown)
		TEST(a_report_in_the_log_alone_fails_and_is_in_the_tail),
		TEST(what_fail_on_does_not_name_fails_nothing),
		TEST(what_is_allowed_fails_nothing_nor_does_its_taint),
		TEST(a_taint_without_any_report_fails),
		TEST(a_taint_that_was_there_or_is_of_another_kind_fails_nothing),
		TEST(any_new_taint_fails_where_that_is_asked_for),
		TEST(nonsense_is_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
