/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <signal.h>
#include <string.h>

#include "base/clock.h"
#include "engine/outcome.h"

static struct outcome o;

static void judge(struct outcome_facts f, int status, enum outcome_kind kind)
{
	outcome_decide(&f, &o);
	assert_int_equal(o.status, status);
	assert_int_equal(o.kind, kind);
}

static void a_guests_status_up_to_239_passes_through(void **state)
{
	for (int i = 0; i <= 239; i++) {
		judge((struct outcome_facts){.job = true, .exit_seen = true, .exit_status = i}, i,
		      OUTCOME_KIND_EXIT);
		assert_true(o.has_guest_status);
		assert_int_equal(o.guest_status, i);
		assert_false(o.report);
	}
}

static void a_guests_status_from_240_becomes_239_and_the_true_one_is_kept(void **state)
{
	static const int given[] = {240, 255, 256, 100000, -1};

	for (size_t i = 0; i < ARRAY_SIZE(given); i++) {
		judge((struct outcome_facts){.job = true,
					     .exit_seen = true,
					     .exit_status = given[i]},
		      239, OUTCOME_KIND_EXIT);
		assert_int_equal(o.guest_status, given[i]);
	}
}

static void a_command_ended_by_a_signal_is_told_as_the_shell_tells_it(void **state)
{
	judge((struct outcome_facts){.job = true, .exit_seen = true, .exit_signal = SIGSEGV},
	      128 + SIGSEGV, OUTCOME_KIND_EXIT);
	judge(
		(struct outcome_facts){
			.job = true, .exit_seen = true, .exit_signal = SIGKILL, .exit_status = 137},
		137, OUTCOME_KIND_EXIT);
	assert_non_null(strstr(o.text, "signal 9"));
}

static void a_panic_is_240_however_the_machine_ended(void **state)
{
	static const enum stop_reason stops[] = {STOP_NONE, STOP_RESET, STOP_TRIPLE_FAULT,
						 STOP_HALTED, STOP_SPIN};

	for (size_t i = 0; i < ARRAY_SIZE(stops); i++) {
		judge((struct outcome_facts){.job = true,
					     .panic_seen = true,
					     .stop = stops[i],
					     .console_text = "Kernel panic - not syncing: x"},
		      240, OUTCOME_KIND_PANIC);
		assert_true(o.report);
		assert_non_null(strstr(o.text, "not syncing: x"));
	}
}

static void an_agent_that_gives_up_says_why(void **state)
{
	judge((struct outcome_facts){.job = true,
				     .user_seen = true,
				     .stop = STOP_EXIT_PORT,
				     .agent_error = "root: no file system"},
	      245, OUTCOME_KIND_NO_STATUS);
	assert_string_equal(o.text, "the guest's agent gave up, so there is no status: root: no "
				    "file system");
	judge((struct outcome_facts){.panic_seen = true, .agent_error = "root"}, 240,
	      OUTCOME_KIND_PANIC);
}

static void a_missing_root_or_init_is_242(void **state)
{
	judge((struct outcome_facts){.panic_seen = true, .boot_panic = true}, 242,
	      OUTCOME_KIND_BOOT);
}

static void the_clocks_are_242_and_244(void **state)
{
	judge((struct outcome_facts){.job = true,
				     .boot_timed_out = true,
				     .timeout_ns = NS_PER_SEC / 2},
	      242, OUTCOME_KIND_BOOT);
	assert_non_null(strstr(o.text, "0.5 s of --boot-timeout"));
	judge((struct outcome_facts){.job = true,
				     .user_seen = true,
				     .timed_out = true,
				     .timeout_ns = 5 * NS_PER_SEC},
	      244, OUTCOME_KIND_TIMEOUT);
	assert_string_equal(o.text, "the guest did not end within the 5 s of --timeout");
	assert_true(o.report);
}

static void a_guest_that_is_silent_hangs_and_one_that_is_heard_is_slow(void **state)
{
	struct outcome_facts f = {.job = true,
				  .user_seen = true,
				  .timed_out = true,
				  .alive = true,
				  .silent_ns = 400 * NS_PER_MSEC,
				  .timeout_ns = 5 * NS_PER_SEC};

	judge(f, 244, OUTCOME_KIND_TIMEOUT);
	assert_string_equal(o.text,
			    "the guest did not end within the 5 s of --timeout; it is slow, and "
			    "does not hang: its agent was heard 0.4 s before");
	f = (struct outcome_facts){
		.job = true, .user_seen = true, .silent = true, .timeout_ns = 2 * NS_PER_SEC};
	judge(f, 243, OUTCOME_KIND_HANG);
	assert_string_equal(o.text, "the guest hangs: its agent was silent for the 2 s of "
				    "--hang-timeout");
	f.has_exits = true;
	f.exits = 12;
	judge(f, 243, OUTCOME_KIND_HANG);
	assert_string_equal(o.text, "the guest hangs: its agent was silent for the 2 s of "
				    "--hang-timeout; exits of its vCPUs meanwhile: 12");
	f.panic_seen = true;
	judge(f, 240, OUTCOME_KIND_PANIC);
}

static void a_status_stands_although_the_clock_ran_out_after_it(void **state)
{
	judge(
		(struct outcome_facts){
			.job = true, .exit_seen = true, .exit_status = 3, .timed_out = true},
		3, OUTCOME_KIND_EXIT);
}

static void an_oops_that_fail_on_names_is_241_whatever_the_command_said(void **state)
{
	judge((struct outcome_facts){.job = true, .oops_seen = true, .exit_seen = true}, 241,
	      OUTCOME_KIND_OOPS);
	judge((struct outcome_facts){.job = true, .oops_seen = true, .panic_seen = true}, 240,
	      OUTCOME_KIND_PANIC);
}

static void an_end_without_the_status_that_is_due_is_245(void **state)
{
	static const enum stop_reason stops[] = {STOP_NONE, STOP_RESET, STOP_POWER_OFF,
						 STOP_EXIT_PORT};

	for (size_t i = 0; i < ARRAY_SIZE(stops); i++) {
		judge((struct outcome_facts){.job = true, .user_seen = true, .stop = stops[i]}, 245,
		      OUTCOME_KIND_NO_STATUS);
		assert_true(o.report);
	}
	judge((struct outcome_facts){.job = true, .stop = STOP_HALTED, .halted_seen = true}, 245,
	      OUTCOME_KIND_NO_STATUS);
}

static void without_a_job_an_end_of_the_guests_own_is_no_failure(void **state)
{
	judge((struct outcome_facts){.stop = STOP_RESET}, 0, OUTCOME_KIND_EXIT);
	judge((struct outcome_facts){.stop = STOP_POWER_OFF}, 0, OUTCOME_KIND_EXIT);
	judge((struct outcome_facts){.stop = STOP_HALTED, .halted_seen = true}, 0,
	      OUTCOME_KIND_EXIT);
	judge((struct outcome_facts){.stop = STOP_EXIT_PORT, .stop_value = 42}, 42,
	      OUTCOME_KIND_EXIT);
	judge((struct outcome_facts){.stop = STOP_EXIT_PORT, .stop_value = 250}, 239,
	      OUTCOME_KIND_EXIT);
	assert_int_equal(o.guest_status, 250);
}

static void a_guest_with_another_number_of_cpus_than_asked_has_not_booted(void **state)
{
	judge(
		(struct outcome_facts){
			.job = true, .cpus_asked = 4, .cpus_seen = 3, .exit_seen = true},
		242, OUTCOME_KIND_BOOT);
	assert_string_equal(o.text, "the guest brought up 3 of 4 vCPUs");
	judge(
		(struct outcome_facts){
			.job = true, .cpus_asked = 1, .cpus_seen = 2, .exit_seen = true},
		242, OUTCOME_KIND_BOOT);
	assert_string_equal(o.text, "the guest brought up 2 of 1 vCPUs");
	judge(
		(struct outcome_facts){
			.job = true, .cpus_asked = 4, .cpus_seen = 4, .exit_seen = true},
		0, OUTCOME_KIND_EXIT);
	/* Nobody asked, or nobody said. */
	judge((struct outcome_facts){.job = true, .cpus_seen = 2, .exit_seen = true}, 0,
	      OUTCOME_KIND_EXIT);
	judge((struct outcome_facts){.job = true, .cpus_asked = 2, .exit_seen = true}, 0,
	      OUTCOME_KIND_EXIT);
}

static void a_silent_halt_or_a_spin_is_243(void **state)
{
	judge((struct outcome_facts){.job = true, .stop = STOP_HALTED}, 243, OUTCOME_KIND_HANG);
	judge((struct outcome_facts){.job = true, .stop = STOP_SPIN}, 243, OUTCOME_KIND_HANG);
}

static void the_machines_own_errors_are_246_and_248(void **state)
{
	judge((struct outcome_facts){.job = true, .stop = STOP_TRIPLE_FAULT}, 246,
	      OUTCOME_KIND_KVM_ERROR);
	judge((struct outcome_facts){.job = true,
				     .stop = STOP_KVM_ERROR,
				     .stop_text = "suberror 1"},
	      246, OUTCOME_KIND_KVM_ERROR);
	assert_non_null(strstr(o.text, "suberror 1"));
	judge((struct outcome_facts){.job = true, .stop = STOP_BACKEND_DIED}, 248,
	      OUTCOME_KIND_INTERNAL);
	judge((struct outcome_facts){.job = true, .stop = STOP_NOT_STARTED}, 249,
	      OUTCOME_KIND_USAGE);
	judge((struct outcome_facts){.internal_error = "x"}, 248, OUTCOME_KIND_INTERNAL);
}

static void our_own_end_by_a_signal_comes_before_all(void **state)
{
	judge(
		(struct outcome_facts){
			.job = true, .signal = SIGTERM, .panic_seen = true, .exit_seen = true},
		128 + SIGTERM, OUTCOME_KIND_SIGNAL);
	assert_false(o.report);
}

static void a_lost_reader_is_told_and_not_taken_for_the_guests_fault(void **state)
{
	judge((struct outcome_facts){.job = true, .output_error = "stdout: Broken pipe"}, 249,
	      OUTCOME_KIND_OUTPUT);
	assert_string_equal(o.text, "stdout: Broken pipe");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_guests_status_up_to_239_passes_through),
		cmocka_unit_test(a_guests_status_from_240_becomes_239_and_the_true_one_is_kept),
		cmocka_unit_test(a_command_ended_by_a_signal_is_told_as_the_shell_tells_it),
		cmocka_unit_test(a_panic_is_240_however_the_machine_ended),
		cmocka_unit_test(a_missing_root_or_init_is_242),
		cmocka_unit_test(an_agent_that_gives_up_says_why),
		cmocka_unit_test(the_clocks_are_242_and_244),
		cmocka_unit_test(a_guest_that_is_silent_hangs_and_one_that_is_heard_is_slow),
		cmocka_unit_test(a_status_stands_although_the_clock_ran_out_after_it),
		cmocka_unit_test(an_oops_that_fail_on_names_is_241_whatever_the_command_said),
		cmocka_unit_test(an_end_without_the_status_that_is_due_is_245),
		cmocka_unit_test(without_a_job_an_end_of_the_guests_own_is_no_failure),
		cmocka_unit_test(a_guest_with_another_number_of_cpus_than_asked_has_not_booted),
		cmocka_unit_test(a_silent_halt_or_a_spin_is_243),
		cmocka_unit_test(the_machines_own_errors_are_246_and_248),
		cmocka_unit_test(our_own_end_by_a_signal_comes_before_all),
		cmocka_unit_test(a_lost_reader_is_told_and_not_taken_for_the_guests_fault),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
