/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The benchmark plan of a job becomes the command line of the benchmark program. See agent.h. */
#include "guest/agent/agent.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "guest/initramfs.h"

/**
 * bench_run() - run the benchmarks of a job
 * @l: an open link, gets the result lines
 * @job: a job with benchmarks
 * @ret: set on success: how the benchmark program ended
 * @e: set on failure
 *
 * Return: 0, -ENOMEM, or as task_run().
 * Context: the agent.
 */
int bench_run(struct link *l, const struct job *job, struct task_end *ret, struct err *e)
{
	const struct job_bench *b = &job->bench;
	char batches[16], warmup[16], calls[16], seed[24], fd[16];
	const char *const options[] = {
		GUEST_BENCH_PATH,
		"--batches",
		batches,
		"--warmup",
		warmup,
		"--calls",
		calls,
		"--seed",
		seed,
		"--calltime",
		b->calltime ? "1" : "0",
		"--nopti",
		b->nopti ? "1" : "0",
		"--results-fd",
		fd,
		"--wait-for-reader",
		"--",
	};
	_cleanup_free_ const char **argv = NULL;
	_cleanup_free_ const char **env = NULL;
	struct task t = {.cwd = "/", .results = true};
	size_t names = 0, vars = 0;

	while (b->names[names]) {
		names++;
	}
	while (job->env && job->env[vars]) {
		vars++;
	}
	argv = calloc(ARRAY_SIZE(options) + names + 1, sizeof(*argv));
	env = calloc(vars + 2, sizeof(*env));
	if (!argv || !env) {
		return err_errno(e, -ENOMEM, "agent: benchmarks");
	}
	snprintf(batches, sizeof(batches), "%u", b->batches);
	snprintf(warmup, sizeof(warmup), "%u", b->warmup);
	snprintf(calls, sizeof(calls), "%u", b->calls);
	snprintf(seed, sizeof(seed), "%" PRIu64, b->seed);
	snprintf(fd, sizeof(fd), "%d", TASK_RESULTS_FD);
	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		argv[i] = options[i];
	}
	for (size_t i = 0; i < names; i++) {
		argv[ARRAY_SIZE(options) + i] = b->names[i];
	}
	for (size_t i = 0; i < vars; i++) {
		env[i] = job->env[i];
	}
	env[vars] = "RINGSIDE_GUEST=1"; /* without it the program leaves all ports alone */
	t.argv = argv;
	t.env = env;
	return task_run(l, &t, ret, e);
}
