/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines of a console that are worth a place in the source, and the program that knows it, on this
 * program's own file and on broken ones. Run with the path of ringside-decode.
 */
#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "engine/backtrace.h"

#define SOON (clock_now_ns(&clock_monotonic) + 30 * NS_PER_SEC)

static const char *decode;
static struct err e;
static struct backtrace b;
static struct console_watch console;

/* What is looked for. It returns a line of its own, plus @x. */
int known_function(int x);

int known_function(int x)
{
	return x + __LINE__;
}

static void nothing(void *ctx, enum console_event event, const char *text)
{
}

static void read_console(const char *text)
{
	console_watch_init(&console, nothing, NULL);
	console_watch_feed(&console, text, strlen(text));
	backtrace_read(&b, NULL, 0, NULL, &console);
	console_watch_fini(&console);
}

static void expect(size_t i, const char *text, const char *query)
{
	assert_true(i < b.count);
	assert_string_equal(b.lines[i].text, text);
	if (query) {
		assert_true(b.lines[i].query >= 0);
		assert_string_equal(b.queries[b.lines[i].query].what, query);
	} else {
		assert_int_equal(b.lines[i].query, -1);
	}
}

static void lines_of_a_trace_are_taken_and_others_are_not(void **state)
{
	read_console("[    1.5] random: crng init done\n"
		     "[   12.345678] RIP: 0010:sysrq_handle_crash+0xc/0x10\n"
		     "Code: 48 8b 3d <c3> cc\n"
		     "Call Trace:\n"
		     " <TASK>\n"
		     " ? panic+0x2eb/0x300\n"
		     " list_add.cold+0x1/0x22 [list_test]\n"
		     "1 + 0x2/0x3 is no code, nor is a+0x/0x1 or b+0x1/0xg\n"
		     "RIP: 0010:0xffffffff81001234\n"
		     " [<ffffffff81004321>] ? nobody\n"
		     "cr3 ffffffff81004321\n");
	assert_int_equal(b.count, 6);
	expect(0, "RIP: 0010:sysrq_handle_crash+0xc/0x10", "=sysrq_handle_crash+0xc/0x10");
	expect(1, "Call Trace:", NULL);
	expect(2, " ? panic+0x2eb/0x300", "-panic+0x2eb/0x300");
	expect(3, " list_add.cold+0x1/0x22 [list_test]", NULL);
	expect(4, "RIP: 0010:0xffffffff81001234", "=0xffffffff81001234");
	expect(5, " [<ffffffff81004321>] ? nobody", "-0xffffffff81004321");
}

static void calls_on_a_stack_come_behind_their_vcpu(void **state)
{
	const struct backend_cpu_state cpus[] = {{.rip = 0x1000}, {.rip = 0x2000}};
	const struct stack_scan stacks[] = {{.calls = {0x1111, 0x1222}, .count = 2}, {.count = 0}};

	console_watch_init(&console, nothing, NULL);
	backtrace_read(&b, cpus, 2, stacks, &console);
	console_watch_fini(&console);
	assert_true(b.scanned);
	assert_int_equal(b.count, 4);
	expect(0, "vCPU 0: RIP 0x0000000000001000", "=0x1000");
	expect(1, " ? 0x0000000000001111", "-0x1111");
	expect(2, " ? 0x0000000000001222", "-0x1222");
	expect(3, "vCPU 1: RIP 0x0000000000002000", "=0x2000");
}

static void a_console_without_end_is_bounded_and_bytes_are_made_text(void **state)
{
	char text[64 * 200], *at = text;

	for (int i = 0; i < 200; i++) {
		at += sprintf(at, "\377 f%d+0x1/0x2\n", i);
	}
	read_console(text);
	assert_int_equal(b.count, BACKTRACE_LINES_MAX);
	assert_string_equal(b.lines[0].text, "? f0+0x1/0x2");
	assert_true(strlen(b.lines[0].text) > 0);
}

static void ask(const char *program, int fd, const char *console_text, uint64_t deadline_ns)
{
	struct decoder d;

	assert_int_equal(decoder_start(program, fd, &d, &e), 0);
	read_console(console_text);
	backtrace_decode(&b, &d, deadline_ns);
	decoder_end(&d);
	decoder_end(&d);
}

static void a_function_is_found_in_this_programs_own_source(void **state)
{
	_cleanup_close_ int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	const char *place;

	assert_true(decoder_pays(fd));
	ask(decode, fd, "RIP: 0010:known_function+0x0/0x0\n ? nobody_of_that_name+0x1/0x2\n", SOON);
	assert_true(b.decoded);
	place = strstr(b.lines[0].text, "tests/unit/test_engine_backtrace.c:");
	assert_non_null(place);
	/* Its first instruction is of its first line, or of the last: compilers differ. */
	assert_in_range(atoi(strchr(place, ':') + 1), known_function(-2), known_function(0));
	assert_string_equal(b.lines[1].text, " ? nobody_of_that_name+0x1/0x2");
}

static void a_file_without_lines_is_not_worth_asking(void **state)
{
	_cleanup_close_ int fd = memfd_create("file", MFD_CLOEXEC);

	assert_false(decoder_pays(-1));
	assert_false(decoder_pays(fd));
	assert_int_equal(write(fd, "\177ELF\2\1\1", 7), 7);
	assert_false(decoder_pays(fd));
}

static int copy_of_this_program(off_t *ret_bytes)
{
	_cleanup_close_ int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int fd = memfd_create("file", MFD_CLOEXEC);
	struct stat st;
	off_t at = 0;

	assert_int_equal(fstat(from, &st), 0);
	while (at < st.st_size) {
		assert_true(sendfile(fd, from, &at, (size_t)(st.st_size - at)) > 0);
	}
	*ret_bytes = st.st_size;
	return fd;
}

/* The decoder may say nothing, or nonsense; it may not take us along, nor keep us. */
static void a_broken_file_costs_lines_and_nothing_else(void **state)
{
	uint64_t random = 88172645463325252;

	for (int i = 0; i < 24; i++) {
		off_t bytes;
		_cleanup_close_ int fd = copy_of_this_program(&bytes);

		for (int k = 0; k < 400; k++) {
			uint8_t byte = (uint8_t)(random >> 32);

			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			assert_int_equal(pwrite(fd, &byte, 1, (off_t)(random % (uint64_t)bytes)),
					 1);
		}
		if (i % 3 == 0) {
			assert_int_equal(ftruncate(fd, (off_t)(random % (uint64_t)bytes)), 0);
		}
		ask(decode, fd, "RIP: 0010:known_function+0x0/0x0\n ? main+0x9/0x0\n", SOON);
		assert_int_equal(b.count, 2);
	}
}

static int script_dir(char *path)
{
	strcpy(path, "/tmp/test_decoder.XXXXXX");
	return mkdtemp(path) ? 0 : -1;
}

static void a_stranger_in_its_place_is_not_believed_nor_waited_for(void **state)
{
	static const char *const bodies[] = {
		"exit 3",
		"exec sleep 60",
		"head -c 9000 /dev/zero | tr '\\0' x",
		"while :; do printf '\\033[31m\\tx\\001y\\n'; done",
	};
	_cleanup_close_ int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	char dir[64], path[80];

	assert_int_equal(script_dir(dir), 0);
	snprintf(path, sizeof(path), "%s/script", dir);
	for (size_t i = 0; i < ARRAY_SIZE(bodies); i++) {
		FILE *f = fopen(path, "we");

		fprintf(f, "#!/bin/sh\n%s\n", bodies[i]);
		fclose(f);
		chmod(path, 0755);
		ask(path, file, " ? f+0x1/0x2\n",
		    clock_now_ns(&clock_monotonic) + 200 * NS_PER_MSEC);
		expect(0, " ? f+0x1/0x2", "-f+0x1/0x2");
		assert_false(b.decoded);
	}
	unlink(path);
	ask(path, file, " ? f+0x1/0x2\n", SOON); /* it is not even there */
	assert_false(b.decoded);
	rmdir(dir);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_of_a_trace_are_taken_and_others_are_not),
		cmocka_unit_test(calls_on_a_stack_come_behind_their_vcpu),
		cmocka_unit_test(a_console_without_end_is_bounded_and_bytes_are_made_text),
		cmocka_unit_test(a_function_is_found_in_this_programs_own_source),
		cmocka_unit_test(a_file_without_lines_is_not_worth_asking),
		cmocka_unit_test(a_broken_file_costs_lines_and_nothing_else),
		cmocka_unit_test(a_stranger_in_its_place_is_not_believed_nor_waited_for),
	};

	decode = argc > 1 ? argv[1] : "ringside-decode";
	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
