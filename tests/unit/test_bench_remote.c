/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "abi/nopti.h"
#include "remote.h"

/* A child that waits for a byte, and ends with the status that the byte is. */
static pid_t start(int *ret_fd)
{
	int fd[2];
	pid_t pid;

	assert_int_equal(pipe(fd), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		char c = 99;
		ssize_t n;

		close(fd[1]); /* else there would be no end of it */
		n = read(fd[0], &c, 1);

		_exit(n == 1 ? c : 100);
	}
	close(fd[0]);
	*ret_fd = fd[1];
	return pid;
}

static int ask(pid_t pid, unsigned long *bits, struct err *e)
{
	const struct timespec step = {.tv_nsec = 10 * 1000 * 1000};
	int r = -EAGAIN;

	for (int i = 0; r == -EAGAIN && i < 200; i++) {
		nanosleep(&step, NULL); /* until it waits */
		r = remote_nopti_get(pid, bits, e);
	}
	return r;
}

static void a_process_answers_as_it_would_itself_and_its_wait_goes_on(void **state)
{
	unsigned long own = 7, theirs = 7;
	struct err e = ERR_INIT;
	int fd, status, r;
	pid_t pid = start(&fd);

	r = ask(pid, &theirs, &e);
	if (r == -EPERM) {
		print_message("skipped: no ptrace here: %s\n", e.text);
		skip();
	}
	if (syscall(SYS_arch_prctl, NOPTI_ARCH_GET, &own) == 0) {
		assert_int_equal(r, 0);
		assert_int_equal(own, theirs);
	} else {
		assert_int_equal(r, -errno);
		assert_non_null(strstr(e.text, "arch_prctl(ARCH_GET_NOPTI) in process"));
		assert_int_equal(theirs, 7);
	}
	assert_int_equal(write(fd, "\x2a", 1), 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 42);
	close(fd);
}

static void a_process_that_is_not_there_is_an_error(void **state)
{
	unsigned long bits;
	struct err e = ERR_INIT;
	int fd, status;
	pid_t pid = start(&fd);

	close(fd);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WEXITSTATUS(status), 100);
	assert_int_equal(remote_nopti_get(pid, &bits, &e), -ESRCH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_answers_as_it_would_itself_and_its_wait_goes_on),
		cmocka_unit_test(a_process_that_is_not_there_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
