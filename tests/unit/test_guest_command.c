/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The agent's command runner, which needs neither a guest nor to be PID 1. */
#include "support.h"

#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "guest/agent/agent.h"
#include "guest/channel.h"

#define MANY 10000000

static struct link host_link;
static struct channel_parser parser;
static char *got[CHANNEL_STREAM_LAST + 1];
static size_t got_len[CHANNEL_STREAM_LAST + 1];

static void on_frame(void *ctx, uint8_t stream, const uint8_t *payload, size_t len)
{
	got[stream] = realloc(got[stream], got_len[stream] + len + 1);
	memcpy(got[stream] + got_len[stream], payload, len);
	got_len[stream] += len;
	got[stream][got_len[stream]] = '\0';
}

/* Run it, and take apart what went to the host. */
static struct task_end run(const struct task *t)
{
	_cleanup_free_ char *bytes = NULL;
	struct task_end end = {.status = -1};
	struct err e = ERR_INIT;
	off_t len;

	for (int i = 0; i <= CHANNEL_STREAM_LAST; i++) {
		free(TAKE_PTR(got[i]));
		got_len[i] = 0;
		got[i] = strdup("");
	}
	host_link.fd = memfd_create("host", MFD_CLOEXEC);
	host_link.sent = 0;
	assert_int_equal(task_run(&host_link, t, &end, &e), 0);
	len = lseek(host_link.fd, 0, SEEK_END);
	assert_int_equal(len, host_link.sent);
	bytes = malloc((size_t)len + 1);
	assert_int_equal(io_pread_exact(host_link.fd, bytes, (size_t)len, 0), 0);
	close(host_link.fd);
	channel_parser_init(&parser, on_frame, NULL);
	channel_parser_feed(&parser, bytes, (size_t)len);
	assert_int_equal(channel_parser_finish(&parser), 0);
	assert_int_equal(parser.counts.garbage_bytes, 0);
	return end;
}

static struct task_end sh(const char *script)
{
	const char *const argv[] = {"sh", "-c", script, NULL};
	const struct task t = {.argv = argv, .cwd = "/"};

	return run(&t);
}

static void stdout_stderr_and_status_arrive_apart(void **state)
{
	struct task_end end = sh("echo out; echo err >&2; exit 7");

	assert_int_equal(end.status, 7);
	assert_int_equal(end.signal, 0);
	assert_string_equal(got[CHANNEL_STREAM_STDOUT], "out\n");
	assert_string_equal(got[CHANNEL_STREAM_STDERR], "err\n");
}

static void signs_of_life_come_while_the_command_is_silent(void **state)
{
	const char *const argv[] = {"sleep", "1", NULL};
	const struct task t = {.argv = argv, .cwd = "/", .beat_ms = 100};
	uint64_t took = clock_now_ns(&clock_monotonic);
	size_t beats = 0;

	assert_int_equal(run(&t).status, 0);
	took = clock_now_ns(&clock_monotonic) - took;
	for (const char *p = got[CHANNEL_STREAM_LOG]; (p = strstr(p, "alive\n")); p++) {
		beats++;
	}
	/* One at once, and then at most one in 99 ms; a busy machine may leave some out. */
	assert_in_range(beats, 2, 1 + took / (99 * NS_PER_MSEC));
	assert_int_equal(sh("sleep 0.2").status, 0);
	assert_string_equal(got[CHANNEL_STREAM_LOG], "");
}

static void every_byte_of_much_output_arrives(void **state)
{
	struct task_end end = sh("yes ab | head -c 10000000; printf '\\0\\377' >&2");

	assert_int_equal(end.status, 0);
	assert_int_equal(got_len[CHANNEL_STREAM_STDOUT], MANY);
	for (size_t i = 0; i < MANY; i++) {
		assert_int_equal(got[CHANNEL_STREAM_STDOUT][i], "ab\n"[i % 3]);
	}
	assert_int_equal(got_len[CHANNEL_STREAM_STDERR], 2);
	assert_memory_equal(got[CHANNEL_STREAM_STDERR], "\0\377", 2);
}

static void a_killed_command_has_its_signal_and_128_more_as_status(void **state)
{
	struct task_end end = sh("kill -9 $$");

	assert_int_equal(end.status, 128 + SIGKILL);
	assert_int_equal(end.signal, SIGKILL);
	assert_int_equal(sh("exit 255").status, 255);
}

static void a_command_that_cannot_start_ends_as_in_a_shell(void **state)
{
	const char *const missing[] = {"/nonexistent/command", NULL};
	const char *const directory[] = {"/etc", NULL};
	const char *const here[] = {"true", NULL};
	struct task t = {.argv = missing, .cwd = "/"};

	assert_int_equal(run(&t).status, 127);
	assert_string_equal(got[CHANNEL_STREAM_STDERR],
			    "ringside-agent: /nonexistent/command: No such file or directory\n");
	t.argv = directory;
	assert_int_equal(run(&t).status, 126);
	assert_string_equal(got[CHANNEL_STREAM_STDERR],
			    "ringside-agent: /etc: Permission denied\n");
	t = (struct task){.argv = here, .cwd = "/nonexistent"};
	assert_int_equal(run(&t).status, 126);
	assert_string_equal(got[CHANNEL_STREAM_STDERR],
			    "ringside-agent: /nonexistent: No such file or directory\n");
}

static void it_has_an_empty_stdin_its_own_session_and_only_the_jobs_environment(void **state)
{
	static const char *const argv[] = {
		"sh", "-c",
		"cat; env | sort | grep -v -e ^PWD -e ^SHLVL -e ^_=; "
		"test $(cut -d' ' -f6 /proc/$$/stat) = $$ || echo shared; pwd",
		NULL};
	static const char *const env[] = {"TERM=xterm", "A=b c", NULL};
	const struct task t = {.argv = argv, .cwd = "/tmp", .env = env};

	setenv("NOT_FOR_THE_GUEST", "1", 1);
	assert_int_equal(run(&t).status, 0);
	assert_string_equal(got[CHANNEL_STREAM_STDOUT],
			    "A=b c\nHOME=/root\n"
			    "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n"
			    "TERM=xterm\n/tmp\n");
	assert_string_equal(got[CHANNEL_STREAM_STDERR], "");
}

static void its_end_is_not_delayed_by_a_child_that_goes_on_writing(void **state)
{
	struct task_end end = sh("(while :; do echo noise 2>/dev/null || exit; done) & "
				 "echo last >&2; exit 3");

	assert_int_equal(end.status, 3);
	assert_string_equal(got[CHANNEL_STREAM_STDERR], "last\n");
}

static void a_writer_of_results_is_answered_once_its_line_is_sent(void **state)
{
	static const char *const argv[] = {
		"sh", "-c", "echo '{\"a\":1}' >&3; head -c 1 <&3 | od -An -tu1; echo '{}' >&3",
		NULL};
	const struct task t = {.argv = argv, .cwd = "/", .results = true};

	assert_int_equal(run(&t).status, 0);
	assert_string_equal(got[CHANNEL_STREAM_RESULTS], "{\"a\":1}\n{}\n");
	assert_string_equal(got[CHANNEL_STREAM_STDOUT], "   0\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stdout_stderr_and_status_arrive_apart),
		cmocka_unit_test(signs_of_life_come_while_the_command_is_silent),
		cmocka_unit_test(every_byte_of_much_output_arrives),
		cmocka_unit_test(a_killed_command_has_its_signal_and_128_more_as_status),
		cmocka_unit_test(a_command_that_cannot_start_ends_as_in_a_shell),
		cmocka_unit_test(
			it_has_an_empty_stdin_its_own_session_and_only_the_jobs_environment),
		cmocka_unit_test(its_end_is_not_delayed_by_a_child_that_goes_on_writing),
		cmocka_unit_test(a_writer_of_results_is_answered_once_its_line_is_sent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
