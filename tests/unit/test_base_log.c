/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"

static char said[4096];
static unsigned int asked;

static const char *ask(void)
{
	asked++;
	return "answer";
}

/* What fn() says on stderr, in said. */
static void listen(void (*fn)(void))
{
	int fd = memfd_create("said", MFD_CLOEXEC), before = dup(STDERR_FILENO);
	ssize_t n;

	assert_true(fd >= 0 && before >= 0);
	assert_true(dup2(fd, STDERR_FILENO) >= 0);
	fn();
	assert_true(dup2(before, STDERR_FILENO) >= 0);
	n = pread(fd, said, sizeof(said) - 1, 0);
	assert_true(n >= 0);
	said[n] = '\0';
	close(fd);
	close(before);
}

static void tell(void)
{
	log_debug("bus", "one %s", ask());
	log_debug("virtio", "two %s", ask());
}

static void nothing_is_said_and_no_argument_is_evaluated_unless_asked_for(void **state)
{
	listen(tell);
	assert_string_equal(said, "");
	assert_int_equal(asked, 0);
	assert_false(log_debugging);
}

static void no_area_and_an_empty_list_change_nothing(void **state)
{
	assert_int_equal(log_debug_setup(NULL, "--debug", NULL), 0);
	assert_int_equal(log_debug_setup("", "--debug", NULL), 0);
	assert_false(log_debugging);
}

static void an_area_that_there_is_not_is_named(void **state)
{
	static const char *const bad[] = {"nonsense", "bus,nonsense", "bus,", ",bus", "bu", "busy"};
	struct err e = ERR_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(log_debug_setup(bad[i], "--debug", &e), -EINVAL);
	}
	assert_string_equal(e.text, "--debug: there is no area 'busy'; --debug help lists them");
	assert_false(log_debugging);
}

static void lines_of_the_area_come_with_time_and_name(void **state)
{
	unsigned int seconds, micros;
	char rest[64];

	assert_int_equal(log_debug_setup("kvm,bus", "--debug", NULL), 0);
	assert_true(log_debugging);
	listen(tell);
	assert_int_equal(asked, 1);
	assert_int_equal(sscanf(said, "ringside: [%5u.%6u] %63[^\n]", &seconds, &micros, rest), 3);
	assert_string_equal(rest, "bus: one answer");
	assert_ptr_equal(strchr(said, '\n'), said + strlen(said) - 1);
}

static unsigned int told;

static void tell_many(void)
{
	for (int i = 0; i < 10 * LOG_DEBUG_FEW; i++) {
		log_debug_few(&told, "bus", "%d", i);
	}
}

static void what_comes_without_end_is_told_a_few_times(void **state)
{
	unsigned int lines = 0;

	listen(tell_many);
	for (const char *p = said; (p = strchr(p, '\n')); p++) {
		lines++;
	}
	assert_int_equal(lines, LOG_DEBUG_FEW);
	assert_int_equal(told, LOG_DEBUG_FEW);
}

static void all_is_all_areas(void **state)
{
	assert_int_equal(log_debug_setup("all", "--debug", NULL), 0);
	listen(tell);
	assert_non_null(strstr(said, "bus: one answer\n"));
	assert_non_null(strstr(said, "virtio: two answer\n"));
}

int main(void)
{
	/* In this order: what is logged is set once in the life of a program. */
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_said_and_no_argument_is_evaluated_unless_asked_for),
		cmocka_unit_test(no_area_and_an_empty_list_change_nothing),
		cmocka_unit_test(an_area_that_there_is_not_is_named),
		cmocka_unit_test(lines_of_the_area_come_with_time_and_name),
		cmocka_unit_test(what_comes_without_end_is_told_a_few_times),
		cmocka_unit_test(all_is_all_areas),
	};

	return cmocka_run_group_tests_name("base_log", tests, NULL, NULL);
}
