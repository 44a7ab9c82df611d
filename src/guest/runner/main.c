/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See runner.h. */
#include "guest/runner/runner.h"

#include <stdlib.h>
#include <string.h>

static int usage(void)
{
	fputs("usage: ringside-runner [--timeout SECONDS] [--skip STATUS]... [--insmod] DIR "
	      "[NAME]...\n",
	      stderr);
	return 2;
}

int main(int argc, char **argv)
{
	struct runner_options o = {.dir = NULL};
	int i;

	for (i = 1; i < argc && strncmp(argv[i], "--", 2) == 0; i++) {
		if (strcmp(argv[i], "--insmod") == 0) {
			o.insmod = true;
		} else if (i + 1 < argc && strcmp(argv[i], "--timeout") == 0) {
			o.timeout_s = (unsigned int)atoi(argv[++i]);
		} else if (i + 1 < argc && strcmp(argv[i], "--skip") == 0 &&
			   o.skip_count < RUNNER_SKIPS_MAX) {
			o.skips[o.skip_count++] = atoi(argv[++i]);
		} else {
			return usage();
		}
	}
	if (i >= argc) {
		return usage();
	}
	o.dir = argv[i];
	o.names = &argv[i + 1];
	return runner_run(&o, stdout);
}
