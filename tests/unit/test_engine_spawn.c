/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"
#include "temp_file.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/spawn.h"

static struct err e;

static void sleep_ms(long ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

/* An orphan is ours to wait for, see main(). */
static void assert_gone(int pid)
{
	for (int i = 0; i < 250 && kill(pid, 0) == 0; i++) {
		waitpid(pid, NULL, WNOHANG);
		sleep_ms(20);
	}
	assert_int_equal(kill(pid, 0), -1);
}

static struct spawn_result run_shell(const char *script, uint64_t timeout_ns)
{
	char *argv[] = {"sh", "-c", (char *)script, NULL};
	struct spawn_request req = {
		.program = "/bin/sh",
		.argv = argv,
		.input = "the job",
		.input_len = 7,
		.timeout_ns = timeout_ns,
	};
	struct spawn_result res;

	assert_int_equal(spawn_run(&req, &res, &e), 0);
	return res;
}

static void the_record_the_status_and_what_was_said_come_back(void **state)
{
	struct spawn_result r = run_shell("cat <&4 >&3; echo lost; echo oh >&2; exit 7", 0);

	assert_int_equal(r.end, SPAWN_EXITED);
	assert_int_equal(r.status, 7);
	assert_string_equal(r.record, "the job");
	assert_int_equal(r.record_len, 7);
	assert_string_equal(r.said, "oh\n");
	spawn_result_fini(&r);
}

static void the_input_can_be_opened_by_its_path_again_and_again(void **state)
{
	struct spawn_result r = run_shell("cat /proc/self/fd/4 /proc/self/fd/4 >&3", 0);

	assert_string_equal(r.record, "the jobthe job");
	spawn_result_fini(&r);
}

static void a_record_larger_than_any_pipe_arrives_whole(void **state)
{
	struct spawn_result r = run_shell("head -c 3000000 /dev/zero | tr '\\0' x >&3", 0);

	assert_int_equal(r.record_len, 3000000);
	assert_int_equal(strspn(r.record, "x"), 3000000);
	spawn_result_fini(&r);
}

static void a_record_without_end_is_cut_and_its_writer_ended(void **state)
{
	struct spawn_result r = run_shell("cat /dev/zero >&3", 0);

	assert_int_equal(r.end, SPAWN_TOO_LONG);
	spawn_result_fini(&r);
}

static void no_record_is_no_error(void **state)
{
	struct spawn_result r = run_shell("kill -SEGV $$", 0);

	assert_int_equal(r.end, SPAWN_KILLED);
	assert_int_equal(r.status, SIGSEGV);
	assert_null(r.record);
	spawn_result_fini(&r);
}

static void only_the_end_of_what_is_said_is_kept(void **state)
{
	struct spawn_result r = run_shell("yes | head -c 9999 >&2; printf end >&2", 0);

	assert_int_equal(strlen(r.said), SPAWN_SAID_MAX);
	assert_string_equal(r.said + SPAWN_SAID_MAX - 5, "\nyend");
	spawn_result_fini(&r);
}

static void a_program_that_hangs_is_ended_with_all_that_it_started(void **state)
{
	struct spawn_result r =
		run_shell("trap '' TERM; echo part >&3; sleep 100 & echo $! >&3; wait; sleep 100",
			  2 * NS_PER_SEC);
	int pid;

	assert_int_equal(r.end, SPAWN_TIMED_OUT);
	assert_int_equal(sscanf(r.record, "part\n%d", &pid), 1);
	/* It hangs on SIGTERM, so only SIGKILL after the grace can have ended the rest. */
	assert_gone(pid);
	spawn_result_fini(&r);
}

static void what_it_leaves_behind_is_ended_with_it(void **state)
{
	struct spawn_result r = run_shell("sleep 100 & echo $! >&3", 0);
	int pid = atoi(r.record);

	assert_int_equal(r.end, SPAWN_EXITED);
	assert_true(r.wall_ns < 50 * NS_PER_SEC);
	assert_gone(pid);
	spawn_result_fini(&r);
}

static void a_signal_to_us_ends_it_in_good_order(void **state)
{
	struct spawn_result r = run_shell("trap 'echo tidy >&3; exit 0' TERM; kill -INT $PPID; "
					  "while :; do sleep 0.05; done",
					  0);

	assert_int_equal(r.end, SPAWN_INTERRUPTED);
	assert_int_equal(r.signal, SIGINT);
	assert_string_equal(r.record, "tidy\n");
	spawn_result_fini(&r);
}

static void a_signal_held_back_before_ends_what_runs_next(void **state)
{
	struct spawn_result r;
	sigset_t held, before, now;

	spawn_hold_signals(&held, &before);
	assert_int_equal(raise(SIGTERM), 0);
	r = run_shell("while :; do sleep 0.05; done", 0);
	sigpending(&now);
	sigprocmask(SIG_SETMASK, &before, NULL);
	assert_true(sigismember(&held, SIGINT) && sigismember(&held, SIGHUP));
	assert_false(sigismember(&now, SIGTERM));
	assert_int_equal(r.end, SPAWN_INTERRUPTED);
	assert_int_equal(r.signal, SIGTERM);
	spawn_result_fini(&r);
}

static void a_program_that_is_not_there_says_so(void **state)
{
	char *argv[] = {"x", NULL};
	struct spawn_request req = {.program = "/nonexistent/x", .argv = argv, .input = ""};
	struct spawn_result r;

	assert_int_equal(spawn_run(&req, &r, &e), 0);
	assert_int_equal(r.end, SPAWN_EXITED);
	assert_int_equal(r.status, 127);
	assert_string_equal(r.said, "/nonexistent/x: No such file or directory\n");
	spawn_result_fini(&r);
}

static void start_shell(struct spawn_pool *pool, const char *script, void *tag)
{
	char *argv[] = {"sh", "-c", (char *)script, NULL};
	const struct spawn_request req = {.program = "/bin/sh", .argv = argv, .input = ""};

	assert_int_equal(spawn_pool_start(pool, &req, tag, &e), 0);
}

static void several_run_at_once_and_come_back_as_they_end(void **state)
{
	struct spawn_pool *pool;
	struct spawn_result r;
	int fds[2], seen[2];
	char script[128];
	void *tag;

	/* The first waits for the second: they end only if they run at the same time. */
	assert_int_equal(pipe(fds), 0);
	/* And the second until it was seen that the first has ended. */
	assert_int_equal(pipe(seen), 0);
	assert_int_equal(spawn_pool_create(NULL, NULL, &pool, &e), 0);
	snprintf(script, sizeof(script), "read x </proc/%d/fd/%d; echo got $x >&3", getpid(),
		 fds[0]);
	start_shell(pool, script, "first");
	snprintf(script, sizeof(script),
		 "echo word >/proc/%d/fd/%d; read x </proc/%d/fd/%d; exit 4", getpid(), fds[1],
		 getpid(), seen[0]);
	start_shell(pool, script, "second");
	assert_int_equal(spawn_pool_wait(pool, &r, &tag, &e), 0);
	assert_string_equal(tag, "first");
	assert_string_equal(r.record, "got word\n");
	spawn_result_fini(&r);
	assert_int_equal(write(seen[1], "x\n", 2), 2);
	assert_int_equal(spawn_pool_wait(pool, &r, &tag, &e), 0);
	assert_string_equal(tag, "second");
	assert_int_equal(r.status, 4);
	assert_null(r.record);
	spawn_result_fini(&r);
	spawn_pool_destroy(pool);
	close(fds[0]);
	close(fds[1]);
	close(seen[0]);
	close(seen[1]);
}

static void a_signal_to_us_ends_all_of_them(void **state)
{
	struct spawn_pool *pool;
	struct spawn_result r;
	char script[160];
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	assert_int_equal(spawn_pool_create(NULL, NULL, &pool, &e), 0);
	snprintf(script, sizeof(script),
		 "trap 'echo tidy >&3; exit' TERM; echo up >/proc/%d/fd/%d; "
		 "while :; do sleep 0.05; done",
		 getpid(), fds[1]);
	start_shell(pool, script, NULL);
	snprintf(script, sizeof(script),
		 "trap 'echo tidy >&3; exit' TERM; read x </proc/%d/fd/%d; kill -HUP $PPID; "
		 "while :; do sleep 0.05; done",
		 getpid(), fds[0]);
	start_shell(pool, script, NULL);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(spawn_pool_wait(pool, &r, NULL, &e), 0);
		assert_int_equal(r.end, SPAWN_INTERRUPTED);
		assert_int_equal(r.signal, SIGHUP);
		assert_string_equal(r.record, "tidy\n");
		spawn_result_fini(&r);
	}
	spawn_pool_destroy(pool);
	close(fds[0]);
	close(fds[1]);
}

static void a_pool_that_is_destroyed_takes_its_programs_along(void **state)
{
	struct spawn_pool *pool;
	char text[16] = "";
	char script[64];
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	assert_int_equal(spawn_pool_create(NULL, NULL, &pool, &e), 0);
	snprintf(script, sizeof(script), "echo $$ >/proc/%d/fd/%d; exec sleep 100", getpid(),
		 fds[1]);
	start_shell(pool, script, NULL);
	assert_true(read(fds[0], text, sizeof(text) - 1) > 0);
	spawn_pool_destroy(pool);
	assert_int_equal(kill(atoi(text), 0), -1);
	close(fds[0]);
	close(fds[1]);
}

static void a_record_may_be_what_any_program_prints(void **state)
{
	char *argv[] = {"sh", "-c", "echo printed", NULL};
	const struct spawn_request req = {
		.program = "/bin/sh", .argv = argv, .input = "", .record_is_stdout = true};
	struct spawn_result r;

	assert_int_equal(spawn_run(&req, &r, &e), 0);
	assert_string_equal(r.record, "printed\n");
	spawn_result_fini(&r);
}

static void its_output_may_go_to_files_and_its_environment_be_given(void **state)
{
	char *argv[] = {"sh", "-c", "echo $WORD; echo oh >&2; echo record >&3", NULL};
	char *env[] = {"WORD=given", NULL};
	struct temp_file out, err;
	struct spawn_request req = {.program = "/bin/sh", .argv = argv, .input = "", .env = env};
	struct spawn_result r;
	char text[16] = "";

	temp_file_init(&out, 0);
	temp_file_init(&err, 0);
	req.out_fd = out.fd;
	req.err_fd = err.fd;
	assert_int_equal(spawn_run(&req, &r, &e), 0);
	assert_string_equal(r.record, "record\n");
	assert_string_equal(r.said, "");
	assert_int_equal(pread(out.fd, text, sizeof(text), 0), 6);
	assert_memory_equal(text, "given\n", 6);
	assert_int_equal(pread(err.fd, text, sizeof(text), 0), 3);
	assert_memory_equal(text, "oh\n", 3);
	spawn_result_fini(&r);
	temp_file_fini(&out);
	temp_file_fini(&err);
}

static void one_that_does_not_end_when_asked_gets_no_more_than_its_grace(void **state)
{
	char *argv[] = {"sh", "-c", "trap '' TERM; while :; do sleep 0.05; done", NULL};
	const struct spawn_request req = {.program = "/bin/sh",
					  .argv = argv,
					  .input = "",
					  .timeout_ns = 1500 * NS_PER_MSEC,
					  .grace_ns = 200 * NS_PER_MSEC};
	struct spawn_result r;

	assert_int_equal(spawn_run(&req, &r, &e), 0);
	assert_int_equal(r.end, SPAWN_TIMED_OUT);
	assert_true(r.wall_ns >= 1700 * NS_PER_MSEC);
	assert_true(r.wall_ns < 4400 * NS_PER_MSEC); /* of the grace that is usual */
	spawn_result_fini(&r);
}

struct ender {
	struct spawn_pool *pool;
	unsigned int ticks;
};

static void end_the_first(void *ctx)
{
	struct ender *x = ctx;

	if (++x->ticks == 5) {
		spawn_pool_end(x->pool, "first");
	}
}

static void one_of_them_can_be_ended_from_the_tick(void **state)
{
	struct ender x = {0};
	struct spawn_result r;
	void *tag;

	assert_int_equal(spawn_pool_create(end_the_first, &x, &x.pool, &e), 0);
	assert_int_equal(spawn_pool_tick_every(x.pool, 20 * NS_PER_MSEC), 0);
	start_shell(x.pool, "sleep 100", "first");
	start_shell(x.pool, "sleep 3; exit 5", "second");
	assert_int_equal(spawn_pool_wait(x.pool, &r, &tag, &e), 0);
	assert_string_equal(tag, "first");
	assert_int_equal(r.end, SPAWN_TIMED_OUT);
	spawn_result_fini(&r);
	assert_int_equal(spawn_pool_wait(x.pool, &r, &tag, &e), 0);
	assert_string_equal(tag, "second");
	assert_int_equal(r.end, SPAWN_EXITED);
	assert_int_equal(r.status, 5);
	spawn_result_fini(&r);
	spawn_pool_destroy(x.pool);
}

static void it_dies_with_us(void **state)
{
	int fds[2];
	char text[16] = "";
	pid_t us;
	int child;

	assert_int_equal(pipe(fds), 0);
	us = fork();
	if (us == 0) {
		char script[64];

		snprintf(script, sizeof(script), "echo $$ >/proc/%d/fd/%d; exec sleep 100",
			 getpid(), fds[1]);
		run_shell(script, 0);
		_exit(0);
	}
	assert_true(read(fds[0], text, sizeof(text) - 1) > 0);
	child = atoi(text);
	assert_int_equal(kill(child, 0), 0);
	kill(us, SIGKILL);
	assert_int_equal(waitpid(us, NULL, 0), us);
	assert_gone(child);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_record_the_status_and_what_was_said_come_back),
		cmocka_unit_test(the_input_can_be_opened_by_its_path_again_and_again),
		cmocka_unit_test(a_record_larger_than_any_pipe_arrives_whole),
		cmocka_unit_test(a_record_without_end_is_cut_and_its_writer_ended),
		cmocka_unit_test(no_record_is_no_error),
		cmocka_unit_test(only_the_end_of_what_is_said_is_kept),
		cmocka_unit_test(a_program_that_hangs_is_ended_with_all_that_it_started),
		cmocka_unit_test(what_it_leaves_behind_is_ended_with_it),
		cmocka_unit_test(a_signal_to_us_ends_it_in_good_order),
		cmocka_unit_test(a_signal_held_back_before_ends_what_runs_next),
		cmocka_unit_test(a_program_that_is_not_there_says_so),
		cmocka_unit_test(several_run_at_once_and_come_back_as_they_end),
		cmocka_unit_test(a_signal_to_us_ends_all_of_them),
		cmocka_unit_test(a_pool_that_is_destroyed_takes_its_programs_along),
		cmocka_unit_test(a_record_may_be_what_any_program_prints),
		cmocka_unit_test(its_output_may_go_to_files_and_its_environment_be_given),
		cmocka_unit_test(one_that_does_not_end_when_asked_gets_no_more_than_its_grace),
		cmocka_unit_test(one_of_them_can_be_ended_from_the_tick),
		cmocka_unit_test(it_dies_with_us),
	};

	/* Orphans come to us, so that the tests see them end in a container without an init. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	signal(SIGCHLD, SIG_DFL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
