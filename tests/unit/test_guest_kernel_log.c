/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records of a kernel's log, each of which a read gives whole, as /dev/kmsg does. */
#include "support.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "guest/agent/agent.h"

static json_t *read_records(const char *const *records, size_t count)
{
	json_t *lines;
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds),
			 0);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(write(fds[1], records[i], strlen(records[i])),
				 (ssize_t)strlen(records[i]));
	}
	lines = kernel_log_read(fds[0]);
	close(fds[0]);
	close(fds[1]);
	return lines;
}

static void warnings_of_the_kernel_are_taken_and_nothing_else(void **state)
{
	static const char *const records[] = {
		"6,1,100,-;random: crng init done\n",
		"4,2,200,-;WARNING: CPU: 0 PID: 7 at zoo.c:7 f+0x1/0x2\n SUBSYSTEM=x\n DEVICE=y\n",
		"12,3,300,-;a program's, as a warning\n",
		"1,4,400,c;BUG: with\\x0aan escape; and a semicolon\n",
		"no record at all",
		"x,1,2,-;neither\n",
		"0,5,500,-;\n",
	};
	json_t *lines = read_records(records, ARRAY_SIZE(records));

	assert_int_equal(json_array_size(lines), 3);
	assert_string_equal(json_string_value(json_array_get(lines, 0)),
			    "WARNING: CPU: 0 PID: 7 at zoo.c:7 f+0x1/0x2");
	assert_string_equal(json_string_value(json_array_get(lines, 1)),
			    "BUG: with\\x0aan escape; and a semicolon");
	assert_string_equal(json_string_value(json_array_get(lines, 2)), "");
	json_decref(lines);
}

static void a_log_without_end_is_bounded(void **state)
{
	char *records[90], text[1001];
	json_t *lines;

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(records); i++) {
		assert_true(asprintf(&records[i], "4,%zu,1,-;%s\n", i, text) > 0);
	}
	lines = read_records((const char *const *)records, ARRAY_SIZE(records));
	assert_int_equal(json_array_size(lines), 65);
	json_decref(lines);
	for (size_t i = 0; i < ARRAY_SIZE(records); i++) {
		free(records[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(warnings_of_the_kernel_are_taken_and_nothing_else),
		cmocka_unit_test(a_log_without_end_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
