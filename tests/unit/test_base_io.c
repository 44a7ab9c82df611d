/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#include "base/io.h"

static int file_of(const char *text)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	return fd;
}

static void an_exact_read_past_the_end_is_an_error(void **state)
{
	_cleanup_close_ int fd = file_of("hello");
	char buf[8] = "";

	assert_int_equal(io_pread_exact(fd, buf, 3, 2), 0);
	assert_string_equal(buf, "llo");
	assert_int_equal(io_pread_exact(fd, buf, 4, 2), -EIO);
	assert_int_equal(io_pread_exact(-1, buf, 1, 0), -EBADF);
}

static void *drain(void *arg)
{
	int fd = *(int *)arg;
	char buf[4096];
	size_t sum = 0;
	ssize_t n;

	while ((n = read(fd, buf, sizeof(buf))) > 0) {
		sum += (size_t)n;
	}
	return (void *)sum;
}

static void a_write_to_a_full_nonblocking_pipe_waits_for_its_reader(void **state)
{
	_cleanup_free_ char *data = calloc(1, 1 << 20);
	pthread_t thread;
	void *sum;
	int p[2];

	assert_int_equal(pipe2(p, O_CLOEXEC | O_NONBLOCK), 0);
	assert_int_equal(fcntl(p[0], F_SETFL, 0), 0);
	assert_int_equal(pthread_create(&thread, NULL, drain, &p[0]), 0);
	assert_int_equal(io_write_all(p[1], data, 1 << 20), 0);
	close(p[1]);
	pthread_join(thread, &sum);
	assert_int_equal((size_t)sum, 1 << 20);
	close(p[0]);
}

static void a_write_whose_reader_is_gone_says_so(void **state)
{
	int p[2];

	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	close(p[0]);
	assert_int_equal(io_write_all(p[1], "x", 1), -EPIPE);
	close(p[1]);
}

static void a_file_is_read_whole_and_one_too_long_is_refused(void **state)
{
	_cleanup_free_ char *data = NULL;
	struct err e = ERR_INIT;
	size_t len;

	assert_int_equal(io_read_file("/proc/self/stat", 1 << 16, &data, &len, &e), 0);
	assert_int_equal(strlen(data), len);
	assert_int_equal(io_read_file("/proc/self/stat", 3, &data, &len, &e), -EFBIG);
	assert_string_equal(e.text, "/proc/self/stat: longer than the 3 bytes accepted here");
	assert_int_equal(io_read_file("/nonexistent", 3, &data, &len, &e), -ENOENT);
	assert_string_equal(e.text, "/nonexistent: No such file or directory");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_exact_read_past_the_end_is_an_error),
		cmocka_unit_test(a_write_to_a_full_nonblocking_pipe_waits_for_its_reader),
		cmocka_unit_test(a_write_whose_reader_is_gone_says_so),
		cmocka_unit_test(a_file_is_read_whole_and_one_too_long_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
