/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See test_run.h. Main thread: the processes die with the thread that forked them. */
#include "engine/test_run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/io.h"
#include "engine/test_judge.h"
#include "engine/test_run_priv.h"

/*
 * "ringside run" keeps the timeout itself, and has this long to tell of it. Together with the grace
 * it is less than the second that nothing may outlive its timeout by.
 */
#define LATE_NS  (500 * NS_PER_MSEC)
#define GRACE_NS (300 * NS_PER_MSEC)

/* And this long for a core, which is guest memory on a disk that may be slow. */
#define CORE_NS (60 * NS_PER_SEC)

/* How often silence is looked for. */
#define LOOK_NS (100 * NS_PER_MSEC)

/* Of what the outputs of one boot may come to: a guest that never stops talking is stopped. */
#define OUTPUT_MAX   (UINT64_C(1) << 30)

#define SCRATCH_NAME "TMPDIR"

/* What a guest takes beside its memory. */
#define GUEST_EXTRA_BYTES   (UINT64_C(64) << 20)
#define GUEST_DEFAULT_BYTES (UINT64_C(512) << 20)

/* A case under way. */
struct active {
	struct active *next;
	const struct suite_case *c;
	char *id;
	unsigned int attempt;
	struct test_dir dir;
	uint64_t started_unix_ns, started_ns;
	uint64_t seen_bytes, seen_ns; /* the last time that it said something */
	char ended[128];              /* why we end it for what it says or does not; empty: not */
	bool silent;                  /* for what it does not */
	char *first;                  /* why its first try was not ok */
};

struct run {
	const struct test_run_config *cfg;
	struct spawn_pool *pool;
	struct active *active;
	unsigned int running;
	uint64_t cpus, memory_bytes; /* of what runs */
	size_t next;                 /* the case to look at next */
	unsigned int round;          /* of the plan, from 1 */
	bool begun;                  /* something was started in this round */
	bool stopping;
	char today[16];
	char **env;
	struct test_run_end end;
};

static uint64_t memory_of(const struct suite_case *c)
{
	return GUEST_EXTRA_BYTES + (c->memory_bytes ? c->memory_bytes : GUEST_DEFAULT_BYTES);
}

static uint64_t cpus_of(const struct suite_case *c)
{
	return c->cpus ? c->cpus : 1;
}

/* One alone may always run: it is for it to fail if it is too large. */
static bool fits(const struct run *x, const struct suite_case *c)
{
	const struct test_run_config *cfg = x->cfg;

	return x->running == 0 ||
	       (x->running < cfg->jobs &&
		(!cfg->memory_bytes || x->memory_bytes + memory_of(c) <= cfg->memory_bytes) &&
		(!cfg->cpus || x->cpus + cpus_of(c) <= cfg->cpus));
}

static void active_free(struct active *a)
{
	free(a->id);
	free(a->first);
	test_dir_fini(&a->dir);
	free(a);
}
DEFINE_CLEANUP(struct active *, active_free)

static uint64_t unix_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * NS_PER_SEC + (uint64_t)t.tv_nsec;
}

/* Our environment, with a place for the one variable that each process has for itself. */
static int make_env(char ***ret)
{
	size_t n = 0, kept = 1;
	char **env;

	while (environ[n]) {
		n++;
	}
	env = calloc(n + 2, sizeof(*env));
	for (size_t i = 0; env && i < n; i++) {
		if (strncmp(environ[i], SCRATCH_NAME "=", sizeof(SCRATCH_NAME)) != 0) {
			env[kept++] = environ[i];
		}
	}
	*ret = env;
	return env ? 0 : -ENOMEM;
}

/* Starts a try of a case whose directory is there. */
static int start(struct run *x, struct active *a, struct err *e)
{
	const struct suite_test *t = a->c->test;
	const uint64_t late_ns = LATE_NS + (test_words_have_core(x->cfg, a->c) ? CORE_NS : 0);
	_cleanup_free_ char *job = NULL, *scratch = NULL;
	_cleanup_close_ int out = -1, err = -1;
	struct test_words words = {0};
	struct spawn_request req = {
		.program = x->cfg->program,
		.timeout_ns = t->timeout_ns ? t->timeout_ns + late_ns : 0,
		.grace_ns = GRACE_NS,
		.env = x->env,
	};
	int r = test_dir_open(&a->dir, TEST_FILE_STDOUT, &out, e);

	if (r == 0) {
		r = test_dir_open(&a->dir, TEST_FILE_STDERR, &err, e);
	}
	if (r == 0) {
		r = test_job_make(a->c, &job, &req.input_len, e);
	}
	if (r == 0 && asprintf(&scratch, SCRATCH_NAME "=%s", a->dir.scratch) < 0) {
		scratch = NULL;
		r = err_set(e, -ENOMEM, "out of memory");
	}
	if (r == 0) {
		r = test_words_make(x->cfg, a->c, &a->dir, &words, e);
	}
	if (r < 0) {
		return r;
	}
	req.argv = words.v;
	req.input = job ? job : "";
	req.out_fd = out;
	req.err_fd = err;
	x->env[0] = scratch;
	a->ended[0] = '\0';
	a->silent = false;
	a->seen_bytes = 0;
	a->seen_ns = clock_now_ns(&clock_monotonic);
	if (x->cfg->begun) {
		x->cfg->begun(x->cfg->ctx, a->id, a->attempt);
	}
	r = spawn_pool_start(x->pool, &req, a, e);
	test_words_fini(&words);
	return r;
}

/* Hands on a result that is final. */
static int hand_on(struct run *x, const struct test_result *r, struct err *e)
{
	const struct test_run_config *cfg = x->cfg;

	x->end.by_verdict[r->verdict]++;
	x->end.environment += r->verdict == TEST_NOT_OK && test_outcome_is_environment(r->outcome);
	if (r->verdict == TEST_NOT_OK && (cfg->fail_fast || cfg->until_failure)) {
		x->stopping = true;
	}
	return cfg->done(cfg->ctx, r, e);
}

static int make_id(const struct run *x, const struct suite_case *c, char **ret, struct err *e)
{
	if (x->round == 1 ? asprintf(ret, "%s", c->id) < 0
			  : asprintf(ret, "%s#%u", c->id, x->round) < 0) {
		*ret = NULL;
		return err_set(e, -ENOMEM, "out of memory");
	}
	return 0;
}

static int skip_case(struct run *x, const struct suite_case *c, const char *id, const char *why,
		     struct err *e)
{
	_cleanup_(test_result_destroy_p) struct test_result *res = NULL;
	int r = test_result_begin(x->cfg, c, id, &res, e);

	if (r < 0) {
		return r;
	}
	res->outcome = TEST_SKIP;
	res->verdict = TEST_SKIPPED;
	res->started_unix_ns = unix_ns();
	test_result_say(res, strdup(why));
	return hand_on(x, res, e);
}

static int begin_case(struct run *x, const struct suite_case *c, struct err *e)
{
	_cleanup_(active_free_p) struct active *a = calloc(1, sizeof(*a));
	char why[ERR_TEXT_MAX];
	int r;

	if (!a) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	r = make_id(x, c, &a->id, e);
	if (r == 0 && x->cfg->skip && x->cfg->skip(x->cfg->ctx, c, why, sizeof(why))) {
		return skip_case(x, c, a->id, why, e);
	}
	if (r == 0) {
		r = test_dir_create(x->cfg->dir, a->id, &a->dir, e);
	}
	if (r < 0) {
		return r;
	}
	a->c = c;
	a->attempt = 1;
	a->started_unix_ns = unix_ns();
	a->started_ns = clock_now_ns(&clock_monotonic);
	x->begun = true;
	r = start(x, a, e);
	if (r < 0) {
		return r;
	}
	x->running++;
	x->memory_bytes += memory_of(c);
	x->cpus += cpus_of(c);
	a->next = x->active;
	x->active = TAKE_PTR(a);
	return 0;
}

/* Begins as many as may run now. */
static int begin_cases(struct run *x, struct err *e)
{
	const struct suite_plan *p = x->cfg->plan;
	int r = 0;

	while (r == 0 && !x->stopping) {
		if (x->next == p->count) {
			/* A round in which nothing ran would be repeated for ever. */
			if (!x->cfg->until_failure || !x->begun) {
				break;
			}
			x->next = 0;
			x->round++;
			x->begun = false;
		}
		if (!fits(x, &p->cases[x->next])) {
			break;
		}
		r = begin_case(x, &p->cases[x->next++], e);
	}
	return r;
}

static void forget(struct run *x, struct active *a)
{
	for (struct active **at = &x->active; *at; at = &(*at)->next) {
		if (*at == a) {
			*at = a->next;
			break;
		}
	}
	x->running--;
	x->memory_bytes -= memory_of(a->c);
	x->cpus -= cpus_of(a->c);
	test_dir_clean(&a->dir);
	active_free(a);
}

static int keep_record(const struct active *a, const struct spawn_result *s, struct err *e)
{
	_cleanup_close_ int fd = -1;
	int r;

	if (!s->record) {
		return 0;
	}
	r = test_dir_open(&a->dir, TEST_FILE_RECORD, &fd, e);
	if (r < 0) {
		return r;
	}
	r = io_write_all(fd, s->record, s->record_len);
	return r < 0 ? err_errno(e, r, "%s", a->dir.files[TEST_FILE_RECORD]) : 0;
}

/* The result of the case as its last try has it. */
static int judge(const struct run *x, struct active *a, const struct spawn_result *s,
		 struct test_result **ret, struct err *e)
{
	_cleanup_(test_result_destroy_p) struct test_result *res = NULL;
	const struct test_attempt attempt = {
		.spawn = s,
		.ended = *a->ended ? a->ended : NULL,
		.silent = a->silent,
		.stdout_path = a->dir.files[TEST_FILE_STDOUT],
		.stderr_path = a->dir.files[TEST_FILE_STDERR],
		.console_path = a->dir.files[TEST_FILE_CONSOLE],
		.wall_ns = s->wall_ns,
	};
	int r = test_result_begin(x->cfg, a->c, a->id, &res, e);

	if (r < 0) {
		return r;
	}
	free(res->dir);
	res->dir = strdup(a->dir.name);
	res->started_unix_ns = a->started_unix_ns;
	res->attempts = a->attempt;
	if (!res->dir) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	r = test_judge(a->c, &attempt, x->today, res, e);
	if (r < 0) {
		return err_prefix(e, "%s", a->id);
	}
	*ret = TAKE_PTR(res);
	return 0;
}

/* A later try never hides that an earlier one was not ok. */
static void mark_flaky(struct active *a, struct test_result *r)
{
	char *text;

	if (r->verdict != TEST_OK || a->attempt == 1) {
		return;
	}
	r->verdict = TEST_FLAKY;
	if (asprintf(&text, "ok in try %u only; the first one: %s", a->attempt, a->first) >= 0) {
		test_result_say(r, text);
	}
}

/* Takes in a try that has ended. */
static int end_try(struct run *x, struct active *a, struct spawn_result *s, struct err *e)
{
	_cleanup_(test_result_destroy_p) struct test_result *res = NULL;
	_cleanup_free_ char *missing = NULL;
	int r = test_artifacts_take(&a->dir, s, &missing, e);

	if (r == 0) {
		r = keep_record(a, s, e);
	}
	if (r == 0 && s->end == SPAWN_INTERRUPTED) {
		x->stopping = true;
		x->end.signal = s->signal;
		x->end.not_run++;
		forget(x, a);
		return 0;
	}
	if (r == 0) {
		r = judge(x, a, s, &res, e);
	}
	if (r == 0) {
		r = test_result_warn(res, missing, e);
	}
	if (r < 0) {
		return r;
	}
	if (res->verdict == TEST_NOT_OK && a->attempt <= a->c->test->retries && !x->stopping) {
		if (!a->first) {
			a->first = TAKE_PTR(res->message);
		}
		r = test_dir_put_aside(&a->dir, a->attempt++, e);
		return r < 0 ? r : start(x, a, e);
	}
	mark_flaky(a, res);
	res->duration_ns = clock_now_ns(&clock_monotonic) - a->started_ns;
	forget(x, a);
	return hand_on(x, res, e);
}

/* Ends what has been silent for too long, or says too much. */
static void look(struct run *x, struct active *a, uint64_t now)
{
	uint64_t bytes = test_dir_bytes(&a->dir);
	uint64_t idle_ns = a->c->test->idle_timeout_ns;

	if (*a->ended) {
		return;
	}
	if (bytes != a->seen_bytes) {
		a->seen_bytes = bytes;
		a->seen_ns = now;
	}
	if (idle_ns && now - a->seen_ns >= idle_ns) {
		a->silent = true;
		snprintf(a->ended, sizeof(a->ended), "nothing came out of the guest for %.3g s",
			 (double)(now - a->seen_ns) / (double)NS_PER_SEC);
	} else if (bytes > OUTPUT_MAX) {
		snprintf(a->ended, sizeof(a->ended),
			 "the guest wrote more than %" PRIu64 " MiB of output", OUTPUT_MAX >> 20);
	}
	if (*a->ended) {
		spawn_pool_end(x->pool, a);
	}
}

static void on_tick(void *ctx)
{
	struct run *x = ctx;
	uint64_t now = clock_now_ns(&clock_monotonic);

	for (struct active *a = x->active; a; a = a->next) {
		look(x, a, now);
	}
	if (x->cfg->tick) {
		x->cfg->tick(x->cfg->ctx);
	}
}

static int run_cases(struct run *x, struct err *e)
{
	int r = begin_cases(x, e);

	while (r == 0 && x->running > 0) {
		struct spawn_result s;
		void *tag;

		r = spawn_pool_wait(x->pool, &s, &tag, e);
		if (r < 0) {
			break;
		}
		r = end_try(x, tag, &s, e);
		spawn_result_fini(&s);
		if (r == 0) {
			r = begin_cases(x, e);
		}
	}
	return r;
}

/* For what an error leaves; in good order there is nothing. */
static void run_fini(struct run *x)
{
	spawn_pool_destroy(x->pool);
	while (x->active) {
		forget(x, x->active);
	}
	free(x->env);
}

static void set_today(char *ret, size_t len)
{
	time_t now = time(NULL);
	struct tm tm;

	gmtime_r(&now, &tm);
	strftime(ret, len, "%Y-%m-%d", &tm);
}

/**
 * test_run() - run the cases of a plan
 * @cfg: which, where, and who is told
 * @ret: set on success: what they came to
 * @e: set on failure
 *
 * SIGINT, SIGTERM and SIGHUP are held back here: they end what runs, and then us; the cases that
 * had not ended are @ret's not_run.
 *
 * Return: 0; what @cfg's done returned; -ENOMEM; the errno of making a directory, of starting a
 * process, or of reading what a case left.
 * Context: main thread.
 */
int test_run(const struct test_run_config *cfg, struct test_run_end *ret, struct err *e)
{
	struct run x = {.cfg = cfg, .round = 1};
	int r = make_env(&x.env);

	if (r < 0) {
		return err_set(e, r, "out of memory");
	}
	set_today(x.today, sizeof(x.today));
	r = spawn_pool_create(on_tick, &x, &x.pool, e);
	if (r == 0) {
		r = spawn_pool_tick_every(x.pool, LOOK_NS);
		r = r < 0 ? err_errno(e, r, "a timer") : run_cases(&x, e);
	}
	run_fini(&x);
	if (r < 0) {
		return r;
	}
	if (!cfg->until_failure) {
		x.end.not_run += cfg->plan->count - x.next;
	}
	*ret = x.end;
	return 0;
}
