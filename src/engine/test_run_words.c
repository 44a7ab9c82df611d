/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a case to the words of its "ringside run". See test_run_priv.h. Main thread. */
#include "engine/test_run_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/clock.h"

#define KIB UINT64_C(1024)

/* Without a sign of the agent's life: far above what it may be kept from running for. */
#define HANG_TIMEOUT_NS (60 * NS_PER_SEC)

static void add(struct test_words *w, const char *fmt, ...) __printf(2, 3);

static void add(struct test_words *w, const char *fmt, ...)
{
	char **v = realloc(w->v, (w->count + 2) * sizeof(*v));
	va_list ap;
	int n = -1;

	if (v) {
		w->v = v;
		va_start(ap, fmt);
		n = vasprintf(&v[w->count], fmt, ap);
		va_end(ap);
		w->count += n >= 0;
		v[w->count] = NULL;
	}
	w->failed |= n < 0;
}

static void add_option(struct test_words *w, const char *name, const char *value)
{
	if (value && *value) {
		add(w, "--%s", name);
		add(w, "%s", value);
	}
}

static void add_each(struct test_words *w, const char *name, char *const *values)
{
	for (size_t i = 0; values && values[i]; i++) {
		add_option(w, name, values[i]);
	}
}

static void add_time(struct test_words *w, const char *name, uint64_t ns)
{
	if (ns) {
		add(w, "--%s", name);
		add(w, "%" PRIu64 "ms", (ns + NS_PER_MSEC - 1) / NS_PER_MSEC);
	}
}

static void add_machine(struct test_words *w, const struct test_run_config *cfg,
			const struct suite_case *c)
{
	const struct test_run_boot boot = cfg->boot(cfg->ctx, c);

	add_option(w, "backend", boot.backend);
	if (boot.force) {
		add(w, "--force");
	}
	if (cfg->icount != TEST_RUN_NO_ICOUNT) {
		add(w, "--icount");
		add(w, "%d", cfg->icount);
	}
	add_option(w, "kernel", boot.kernel);
	add_option(w, "kernel-sha256", boot.sha256);
	add_option(w, "cpu", c->cpu);
	add_option(w, "append", c->append);
	if (c->cpus) {
		add(w, "--cpus");
		add(w, "%" PRIu64, c->cpus);
	}
	if (c->memory_bytes) {
		add(w, "--memory");
		add(w, "%" PRIu64 "K", (c->memory_bytes + KIB - 1) / KIB);
	}
}

/* KUnit tells the kernel's log, which is to come out in full; its own words come before "quiet". */
static void add_kunit(struct test_words *w, const struct suite_test *t)
{
	add(w, "--append");
	add(w, "loglevel=7 kunit.enable=1");
	if (!t->path && t->list && t->list[0]) {
		add(w, "--append");
		add(w, "kunit.filter_glob=%s", t->list[0]);
	}
}

static void add_files(struct test_words *w, const struct test_run_config *cfg,
		      const struct suite_test *t)
{
	add_each(w, "file", t->files);
	if (t->kind != SUITE_FIRMWARE && t->path) {
		add(w, "--file");
		add(w, "%s:%s", t->path,
		    t->kind == SUITE_SCRIPT ? TEST_GUEST_SCRIPT : TEST_GUEST_TESTS);
	}
	if (test_job_has_runner(t)) {
		add(w, "--file");
		add(w, "%s:%s", cfg->runner, TEST_GUEST_RUNNER);
	}
}

/**
 * test_words_have_core() - whether a case leaves a core of its guest
 * @cfg: the run
 * @c: the case
 *
 * Return: true when the run wants cores, and the case is not expected to fail.
 * Context: any thread.
 */
bool test_words_have_core(const struct test_run_config *cfg, const struct suite_case *c)
{
	return cfg->cores &&
	       (c->test->expect == SUITE_EXPECT_PASS || c->test->expect == SUITE_EXPECT_SKIP);
}

/**
 * test_words_make() - the words that boot a case
 * @cfg: the run
 * @c: the case
 * @d: its directory
 * @ret: set on success; end it with test_words_fini()
 * @e: set on failure
 *
 * Return: 0 or -ENOMEM.
 * Context: main thread.
 */
int test_words_make(const struct test_run_config *cfg, const struct suite_case *c,
		    const struct test_dir *d, struct test_words *ret, struct err *e)
{
	const struct suite_test *t = c->test;
	struct test_words w = {0};

	add(&w, "ringside");
	add(&w, "run");
	add_machine(&w, cfg, c);
	if (t->kind == SUITE_KUNIT) {
		add_kunit(&w, t);
	}
	add_each(&w, "initrd", t->initrds);
	add_files(&w, cfg, t);
	add_option(&w, "root", t->root);
	add_each(&w, "share", t->shares);
	add_time(&w, "timeout", t->timeout_ns);
	add_option(&w, "fail-on", t->fail_on);
	for (size_t i = 0; i < t->allow_count; i++) {
		add_option(&w, "allow", t->allows[i].pattern);
	}
	add_option(&w, "console", d->files[TEST_FILE_CONSOLE]);
	add(&w, "--console-stamps");
	if (test_words_have_core(cfg, c)) {
		add_option(&w, "core", d->core);
	}
	add(&w, "--json");
	add(&w, "%d", SPAWN_RECORD_FD);
	if (t->kind != SUITE_FIRMWARE) {
		/* A payload has no user space to be waited for. */
		add_time(&w, "boot-timeout", t->boot_timeout_ns);
		add_time(&w, "hang-timeout", HANG_TIMEOUT_NS);
		add(&w, "--nmi");
		add(&w, "--job");
		add(&w, "/proc/self/fd/%d", SPAWN_INPUT_FD);
	}
	if (w.failed) {
		test_words_fini(&w);
		return err_set(e, -ENOMEM, "out of memory");
	}
	*ret = w;
	return 0;
}

/**
 * test_words_fini() - free words
 * @w: from test_words_make(), or all zero
 *
 * Context: any thread.
 */
void test_words_fini(struct test_words *w)
{
	for (size_t i = 0; i < w->count; i++) {
		free(w->v[i]);
	}
	free(w->v);
	*w = (struct test_words){0};
}

/**
 * test_run_check() - have the words judged that the cases of a plan will be booted with
 * @cfg: the run; its boot is called
 * @check: judges them; its first failure is the last call
 * @ctx: handed to @check
 * @e: set on failure
 *
 * Files of the case's directory, whose name is not yet known, are such of the current folder in
 * them.
 *
 * Return: 0, -ENOMEM, or what @check returned.
 * Context: main thread.
 */
int test_run_check(const struct test_run_config *cfg, test_run_check_fn check, void *ctx,
		   struct err *e)
{
	char console[] = "console", core[] = "core";
	const struct test_dir dir = {.files = {[TEST_FILE_CONSOLE] = console}, .core = core};
	int r = 0;

	for (size_t i = 0; r == 0 && i < cfg->plan->count; i++) {
		const struct suite_case *c = &cfg->plan->cases[i];
		struct test_words words = {0};

		r = test_words_make(cfg, c, &dir, &words, e);
		if (r == 0) {
			/* Without the program's name. */
			r = check(ctx, c, (int)words.count - 1, words.v + 1, e);
		}
		test_words_fini(&words);
	}
	return r;
}
