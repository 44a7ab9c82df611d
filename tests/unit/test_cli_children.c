/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What "ringside run" starts is gone when it is, whatever ended it: here SIGKILL, at any moment. */
#include "support.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/rng.h"
#include "cli/helpers.h"
#include "cli/passt.h"
#include "cli/run_provenance.h"

#define TIMES 20

static void sleep_ns(uint64_t ns)
{
	nanosleep(&(struct timespec){.tv_nsec = (long)ns}, NULL);
}

static void busy_for_ever(const void *ctx)
{
	for (;;) {
		pause();
	}
}

/* Each tells its child's number, and goes on for ever. */
static void have_helper(int fd)
{
	const struct provenance_wish wish = {.look = busy_for_ever};
	struct provenance_helper h;
	struct err e = ERR_INIT;

	if (provenance_start(&h, &wish, &e) == 0 &&
	    write(fd, &h.pid, sizeof(h.pid)) == sizeof(h.pid)) {
		(void)!provenance_look(&h);
	}
}

static void have_passt(int fd)
{
	const struct backend_net net = {.kind = BACKEND_NET_USER,
					.address = "10.0.2.15/24",
					.gateway = "10.0.2.2",
					.dns = "10.0.2.3"};
	struct passt p;
	struct err e = ERR_INIT;

	if (passt_start(&p, &net, &e) == 0 && write(fd, &p.pid, sizeof(p.pid)) == sizeof(p.pid)) {
		busy_for_ever(NULL);
	}
}

static void kill_the_parent(void (*have)(int fd), struct rng *rng)
{
	pid_t parent, child = 0;
	int fds[2], status;

	assert_int_equal(pipe(fds), 0);
	parent = fork();
	if (parent == 0) {
		have(fds[1]);
		_exit(1);
	}
	close(fds[1]);
	assert_int_equal(read(fds[0], &child, sizeof(child)), sizeof(child));
	close(fds[0]);
	sleep_ns(rng_below(rng, 30 * NS_PER_MSEC));
	kill(parent, SIGKILL);
	assert_int_equal(waitpid(parent, &status, 0), parent);
	assert_true(WIFSIGNALED(status));
	/* Ours now: it ends by itself, or this waits until the test's time is over. */
	assert_int_equal(waitpid(child, &status, 0), child);
}

static void the_records_helper_ends_with_its_run_also_when_it_is_busy(void **state)
{
	struct rng rng;

	rng_init(&rng, 1);
	for (int i = 0; i < TIMES; i++) {
		kill_the_parent(have_helper, &rng);
	}
}

static void passt_ends_with_its_run(void **state)
{
	struct rng rng;

	if (!cli_in_path("passt")) {
		printf("passt is not installed\n");
		skip();
	}
	rng_init(&rng, 2);
	for (int i = 0; i < TIMES; i++) {
		kill_the_parent(have_passt, &rng);
	}
}

static void a_program_is_found_as_the_shell_finds_it(void **state)
{
	_cleanup_free_ char *path = strdup(getenv("PATH"));

	assert_true(cli_in_path("sh"));
	assert_false(cli_in_path("no-such-program"));
	setenv("PATH", "/nowhere::/usr", 1);
	assert_false(cli_in_path("bin")); /* a folder is no program */
	setenv("PATH", "/nowhere:/bin", 1);
	assert_true(cli_in_path("sh"));
	unsetenv("PATH");
	assert_false(cli_in_path("sh"));
	setenv("PATH", path, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_program_is_found_as_the_shell_finds_it),
		cmocka_unit_test(the_records_helper_ends_with_its_run_also_when_it_is_busy),
		cmocka_unit_test(passt_ends_with_its_run),
	};

	/* Children of a process that is gone become ours. */
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
