/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One case for each way in which a case can end: what test_reporting.py reads. */
#include <signal.h>
#include <unistd.h>

#include "ktap.h"

static void passes(void)
{
	ktap_check(1 + 1 == 2, "arithmetic");
}

static void fails(void)
{
	ktap_check(1 + 1 == 3, "one and one is %d\nand no more", 1 + 1);
}

static void fails_in_a_child(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		ktap_check(0, "in the child");
	}
	ktap_reap(pid, "the child");
}

static void is_skipped(void)
{
	ktap_skip("no %s", "reason");
}

static void crashes(void)
{
	raise(SIGSEGV);
}

static void hangs(void)
{
	if (fork() == 0) {
		for (;;) {
			pause();
		}
	}
	for (;;) {
		pause();
	}
}

static void leaves_a_child_behind(void)
{
	if (fork() == 0) {
		usleep(1000);
		_exit(1);
	}
}

int main(void)
{
	static const struct ktap_case cases[] = {
		{"passes", passes},
		{"fails", fails},
		{"fails in a child", fails_in_a_child},
		{"is skipped", is_skipped},
		{"crashes", crashes},
		{"hangs", hangs, 1},
		{"leaves a child behind", leaves_a_child_behind},
	};

	return ktap_run(cases, sizeof(cases) / sizeof(cases[0]));
}
