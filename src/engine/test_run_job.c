/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a case to the job of its guest's agent. See test_run_priv.h. Main thread. */
#include "engine/test_run_priv.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/io.h"
#include "guest/job.h"

/* What programs say by their status: kselftest.h's KSFT_SKIP, and LTP's TCONF. */
#define KSELFTEST_SKIP "4"
#define SCRIPTS_SKIP   "32"

/* Of a self-test where its directory's "settings" does not say, as kselftest's runner has it. */
#define KSELFTEST_TIMEOUT_S 45

#define SETTINGS_MAX        (1 << 16)

/* Words of the guest's command; those of the test and constants are borrowed. */
struct command {
	const char **v;
	size_t count;
	char timeout[16];
};

/**
 * test_job_has_runner() - whether a test's programs are run by ringside-runner
 * @t: the test
 *
 * Return: true for directories of programs and modules.
 * Context: any thread.
 */
bool test_job_has_runner(const struct suite_test *t)
{
	return t->kind == SUITE_KSELFTEST || t->kind == SUITE_SCRIPTS ||
	       (t->kind == SUITE_KUNIT && t->path);
}

static size_t list_count(char *const *list)
{
	size_t n = 0;

	while (list && list[n]) {
		n++;
	}
	return n;
}

static void add(struct command *c, const char *word)
{
	c->v[c->count++] = word;
}

/* "timeout=N" of the directory's settings; 0: none, as there. */
static unsigned int kselftest_timeout(const char *dir)
{
	_cleanup_free_ char *path = NULL, *text = NULL;
	struct err e = ERR_INIT;
	unsigned int s = KSELFTEST_TIMEOUT_S;
	size_t len;

	if (asprintf(&path, "%s/settings", dir) < 0) {
		path = NULL;
		return s;
	}
	if (io_read_file(path, SETTINGS_MAX, &text, &len, &e) < 0) {
		return s;
	}
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		(void)!sscanf(line, "timeout=%u", &s);
	}
	return s;
}

static void fill(struct command *c, const struct suite_test *t)
{
	if (t->kind == SUITE_SCRIPT) {
		add(c, "sh");
		add(c, TEST_GUEST_SCRIPT);
	} else if (t->kind == SUITE_KUNIT && !t->path) {
		add(c, "true"); /* they have run when there is a user space */
	}
	if (!test_job_has_runner(t)) {
		for (size_t i = 0; t->argv && t->argv[i]; i++) {
			add(c, t->argv[i]);
		}
		return;
	}
	add(c, TEST_GUEST_RUNNER);
	if (t->kind == SUITE_KUNIT) {
		add(c, "--insmod");
	} else {
		add(c, "--skip");
		add(c, t->kind == SUITE_KSELFTEST ? KSELFTEST_SKIP : SCRIPTS_SKIP);
	}
	if (t->kind == SUITE_KSELFTEST) {
		snprintf(c->timeout, sizeof(c->timeout), "%u", kselftest_timeout(t->path));
		add(c, "--timeout");
		add(c, c->timeout);
	}
	add(c, TEST_GUEST_TESTS);
	for (size_t i = 0; t->list && t->list[i]; i++) {
		add(c, t->list[i]);
	}
}

/**
 * test_job_make() - what the agent of a case's guest is to do
 * @c: the case
 * @ret_text: set on success: JSON, or NULL for a case without an agent; the caller frees it
 * @ret_len: set on success, bytes
 * @e: set on failure
 *
 * Return: 0, -ENOMEM, or as job_write().
 * Context: main thread.
 */
int test_job_make(const struct suite_case *c, char **ret_text, size_t *ret_len, struct err *e)
{
	const struct suite_test *t = c->test;
	/* The words before the lists are fewer than these. */
	struct command command = {
		.v = calloc(list_count(t->argv) + list_count(t->list) + 12, sizeof(char *)),
	};
	struct job job = {
		.command = command.v,
		.env = (const char **)t->env,
		.artifacts = (const char **)t->artifacts,
	};
	int r;

	if (t->kind == SUITE_FIRMWARE) {
		free(command.v);
		*ret_text = NULL;
		*ret_len = 0;
		return 0;
	}
	if (!command.v) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	fill(&command, t);
	r = job_write(&job, ret_text, ret_len, e);
	free(command.v);
	return r;
}
