/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See compare.h. Main thread. What stands between two boots is kept small: it runs on the machine
 * that is measured, and that may be an emulated one.
 */
#include "engine/compare.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "engine/outcome.h"
#include "engine/spawn.h"
#include "guest/job.h"
#include "samples/record.h"

/* The process of a boot keeps its own time; this much later it has failed to. */
#define TIMEOUT_GRACE_NS (15 * NS_PER_SEC)

#define STACKPAD_NAME    "RINGSIDE_STACKPAD"
#define ENVPAD_NAME      "RINGSIDE_ENVPAD"

static int make_job(const struct plan *p, const struct schedule_boot *b, char **ret_text,
		    size_t *ret_len, struct err *e)
{
	const char *names[BENCHMARKS_MAX + 1] = {NULL};
	char stackpad[sizeof(STACKPAD_NAME) + 16];
	char envpad[sizeof(ENVPAD_NAME) + 1024];
	const char *env[] = {stackpad, envpad, NULL};
	struct job job = {
		.env = env,
		.bench =
			{
				.names = names,
				.batches = p->batches,
				.warmup = p->warmup,
				.calltime = true,
				.nopti = plan_boot_arm(p, b)->arm.task == ARM_TASK_NOPTI,
				.seed = b->seed,
			},
	};
	size_t n = 0;
	int len;

	for (size_t i = 0; i < benchmark_count(); i++) {
		if (benchmark_in(plan_boot_group(p, b)->benches, i)) {
			names[n++] = benchmark_name(i);
		}
	}
	snprintf(stackpad, sizeof(stackpad), STACKPAD_NAME "=%" PRIu32, b->stack_bytes);
	len = snprintf(envpad, sizeof(envpad), ENVPAD_NAME "=");
	memset(envpad + len, 'x', b->env_bytes);
	envpad[(size_t)len + b->env_bytes] = '\0';
	return job_write(&job, ret_text, ret_len, e);
}

static void on_tick(void *ctx)
{
	progress_tick(ctx);
}

/* Starts the process of one boot. */
static int start_boot(const struct comparison *c, const struct compare_request *req,
		      struct spawn_pool *pool, size_t slot, const cpu_set_t *cpus, struct err *e)
{
	const struct plan *p = &c->plan;
	struct schedule_boot *b = &p->boots[slot];
	const struct plan_arm *arm = plan_boot_arm(p, b);
	char timeout[32], icount[16], record_fd[8], job_path[32];
	_cleanup_free_ char *job = NULL;
	const char *argv[24];
	struct spawn_request spawn = {
		.program = req->program,
		.argv = (char *const *)argv,
		.timeout_ns = p->timeout_ns + TIMEOUT_GRACE_NS,
		.cpus = cpus,
	};
	size_t n = 0;
	int r = make_job(p, b, &job, &spawn.input_len, e);

	if (r < 0) {
		return r;
	}
	spawn.input = job;
	snprintf(timeout, sizeof(timeout), "%" PRIu64 "ms", p->timeout_ns / NS_PER_MSEC);
	snprintf(record_fd, sizeof(record_fd), "%d", SPAWN_RECORD_FD);
	snprintf(job_path, sizeof(job_path), "/proc/self/fd/%d", SPAWN_INPUT_FD);
	argv[n++] = "ringside";
	argv[n++] = "run";
	argv[n++] = "--kernel";
	argv[n++] = req->kernel_path(req->ctx, b);
	argv[n++] = "--kernel-sha256";
	argv[n++] = arm->sha256;
	if (*arm->arm.append) {
		argv[n++] = "--append";
		argv[n++] = arm->arm.append;
	}
	if (arm->arm.cpu) {
		argv[n++] = "--cpu";
		argv[n++] = arm->arm.cpu;
	}
	argv[n++] = "--backend";
	argv[n++] = p->backend;
	if (p->icount != PLAN_NO_ICOUNT) {
		snprintf(icount, sizeof(icount), "%d", p->icount);
		argv[n++] = "--icount";
		argv[n++] = icount;
	}
	argv[n++] = "--timeout";
	argv[n++] = timeout;
	argv[n++] = "--job";
	argv[n++] = job_path;
	argv[n++] = "--json";
	argv[n++] = record_fd;
	argv[n] = NULL;
	return spawn_pool_start(pool, &spawn, b, e);
}

/* A results line: the boot's place, then the record as it came. */
static int splice(const struct schedule_boot *b, size_t slot, const char *record, size_t len,
		  char **ret, struct err *e)
{
	while (len > 0 && record[len - 1] == '\n') {
		len--;
	}
	if (len < 2 || record[0] != '{' || memchr(record, '\n', len) || memchr(record, '\0', len)) {
		return err_set(e, -EBADMSG, "it is not one line of JSON");
	}
	if (asprintf(ret, "{\"slot\":%zu,\"group\":%u,\"block\":%u,\"arm\":\"%s\",%.*s", slot,
		     b->group, b->block, arm_name(b->arm), (int)(len - 1), record + 1) < 0) {
		*ret = NULL;
		return err_set(e, -ENOMEM, "out of memory");
	}
	return 0;
}

/* The record of a boot that left none. */
static int make_failure(const struct schedule_boot *b, size_t slot, const char *text, char **ret,
			struct err *e)
{
	json_t *root =
		json_pack("{s:i, s:s, s:{s:i, s:s, s:o}}", "schema_version", RECORD_SCHEMA_VERSION,
			  "type", "boot", "outcome", "status", OUTCOME_VMM_FAULT, "kind",
			  outcome_kind_name(OUTCOME_KIND_INTERNAL), "text",
			  record_text_to_json(text));
	_cleanup_free_ char *record = root ? json_dumps(root, JSON_COMPACT) : NULL;

	json_decref(root);
	return record ? splice(b, slot, record, strlen(record), ret, e)
		      : err_set(e, -ENOMEM, "out of memory");
}

/* Why a process left no record that can be used; "" when it should have left one. */
static void explain(const struct spawn_result *res, char *ret_text, size_t len)
{
	const char *said = res->said;
	char *last;
	int n = 0;

	ret_text[0] = '\0';
	switch (res->end) {
	case SPAWN_EXITED:
		if (!res->record) {
			n = snprintf(ret_text, len, "'ringside run' left no record and status %d",
				     res->status);
		}
		break;
	case SPAWN_KILLED:
		n = snprintf(ret_text, len, "'ringside run' was ended by signal %d (%s)",
			     res->status, strsignal(res->status));
		break;
	case SPAWN_TIMED_OUT:
		n = snprintf(ret_text, len,
			     "'ringside run' did not end when its --timeout ran out");
		break;
	case SPAWN_TOO_LONG:
		n = snprintf(ret_text, len, "'ringside run' wrote a record of more than %u bytes",
			     SPAWN_RECORD_MAX);
		break;
	case SPAWN_INTERRUPTED:
		break;
	}
	if (n > 0 && *said) {
		snprintf(ret_text + n, len - (size_t)n, "; it said: %s", said);
		last = ret_text + strlen(ret_text);
		while (last > ret_text && last[-1] == '\n') {
			*--last = '\0';
		}
	}
}

/* Records a boot. A record that cannot be read is a failed boot, and recorded as one. */
static int take_record(struct comparison *c, struct results *results, size_t slot,
		       const struct spawn_result *res, struct err *e)
{
	const struct schedule_boot *b = &c->plan.boots[slot];
	_cleanup_free_ char *line = NULL;
	char text[ERR_TEXT_MAX + 64];
	size_t done = c->done;
	int r = 0;

	explain(res, text, sizeof(text));
	if (!*text) {
		r = splice(b, slot, res->record, res->record_len, &line, e);
		if (r == 0) {
			r = comparison_add_line(c, line, strlen(line), e);
		}
		if (r == -EBADMSG || r == -EPROTO) {
			snprintf(text, sizeof(text), "its record cannot be used: %s", e->text);
		} else if (r < 0) {
			return r;
		}
	}
	if (*text) {
		free(TAKE_PTR(line));
		r = make_failure(b, slot, text, &line, e);
		if (r == 0) {
			r = comparison_add_line(c, line, strlen(line), e);
		}
	}
	if (r == 0) {
		r = results_append(results, line, strlen(line), e);
		c->done = r < 0 ? done : c->done; /* recorded is what is in the file */
	}
	return r;
}

static void say_boot(const struct comparison *c, size_t slot, char *buf, size_t len)
{
	const struct schedule_boot *b = &c->plan.boots[slot];
	const struct plan_group *g = plan_boot_group(&c->plan, b);

	snprintf(buf, len, "%s%sblock %u of %u, arm %c", g->name ? g->name : "",
		 g->name ? ", " : "", b->block + 1, g->blocks, arm_letter(b->arm));
}

static bool has_failed(const struct comparison *c, size_t group)
{
	return c->failed[group] >= COMPARE_FAILED_MAX;
}

/* The boots of one run, of which several may run at a time. */
struct runner {
	struct comparison *c;
	const struct compare_request *req;
	struct spawn_pool *pool;
	size_t next; /* the slot to look at next */
	size_t running;
	size_t at[COMPARE_JOBS_MAX]; /* one more than the slot that runs on each core; 0: none */
	bool stopping;               /* nothing more is begun */
	enum compare_end end;
	int signal;
};

/* Where a slot runs, or (0) a place that is free: fewer run than there are places. */
static size_t place_of(const struct runner *x, size_t slot_and_one)
{
	size_t i = 0;

	while (x->at[i] != slot_and_one) {
		i++;
	}
	return i;
}

/* Begins boots that are not recorded yet, as many as may run at a time. */
static int begin_boots(struct runner *x, struct err *e)
{
	const struct comparison *c = x->c;
	int r = 0;

	for (; r == 0 && !x->stopping && x->running < x->req->jobs; x->next++) {
		const cpu_set_t *cores = x->req->cores;
		char what[PROGRESS_WHAT_MAX];
		size_t place;

		if (x->next == c->plan.boot_count) {
			break;
		}
		if (c->boots[x->next] || !plan_is_ours(&c->plan, x->next) ||
		    has_failed(c, c->plan.boots[x->next].group)) {
			continue;
		}
		say_boot(c, x->next, what, sizeof(what));
		progress_begin(x->req->progress, what);
		place = place_of(x, 0);
		r = start_boot(c, x->req, x->pool, x->next, cores ? &cores[place] : NULL, e);
		if (r == 0) {
			x->at[place] = x->next + 1;
			x->running++;
		}
	}
	return r;
}

/* Takes in a boot that has ended in one way or another. */
static int end_boot(struct runner *x, size_t slot, const struct spawn_result *res, struct err *e)
{
	struct comparison *c = x->c;
	char what[PROGRESS_WHAT_MAX];
	struct err why = ERR_INIT;
	int r;

	say_boot(c, slot, what, sizeof(what));
	if (res->end == SPAWN_INTERRUPTED) {
		progress_end(x->req->progress, false);
		x->stopping = true;
		x->end = COMPARE_INTERRUPTED;
		x->signal = res->signal;
		return 0;
	}
	r = take_record(c, x->req->results, slot, res, &why);
	progress_end(x->req->progress, r == 0 && c->last_use != BOOT_NOT_THERE);
	if (r == 0 && c->last_use == BOOT_WHOLE) {
		return 0;
	}
	progress_clear(x->req->progress);
	if (r < 0) {
		*e = why;
		err_prefix(e, "boot %zu (%s)", slot + 1, what);
		return r;
	}
	if (c->last_use == BOOT_NOT_THERE) {
		/* Of several that run side by side the first one tells why. */
		if (!x->stopping) {
			err_set(e, -EIO, "boot %zu (%s): %s", slot + 1, what, c->last_why);
			x->end = COMPARE_NO_BOOT;
		}
		x->stopping = true;
		return 0;
	}
	log_warn("boot %zu (%s) failed: %s", slot + 1, what, c->last_why);
	return 0;
}

/* Boots the slots that are not recorded yet, until something ends it. */
static int run_slots(struct runner *x, struct err *e)
{
	int r = begin_boots(x, e);

	while (r == 0 && x->running > 0) {
		struct spawn_result res;
		size_t slot;
		void *tag;

		r = spawn_pool_wait(x->pool, &res, &tag, e);
		if (r < 0) {
			break;
		}
		x->running--;
		slot = (size_t)((struct schedule_boot *)tag - x->c->plan.boots);
		x->at[place_of(x, slot + 1)] = 0;
		r = end_boot(x, slot, &res, e);
		spawn_result_fini(&res);
		if (r == 0) {
			r = begin_boots(x, e);
		}
	}
	progress_clear(x->req->progress);
	for (size_t group = 0; x->end == COMPARE_COMPLETE && group < x->c->plan.group_count;
	     group++) {
		x->end = has_failed(x->c, group) ? COMPARE_GUEST_FAILED : x->end;
	}
	return r;
}

/**
 * compare_boots() - boot what is not recorded yet
 * @c: the comparison, with its plan and what is recorded of it
 * @req: how and where to
 * @ret_end: set on success: how it ended
 * @ret_signal: set for COMPARE_INTERRUPTED: by which signal
 * @e: set on failure, and for COMPARE_NO_BOOT
 *
 * Signals that ask us to end are held back here: they end the boots that run, and then us.
 *
 * Return: 0; -EXDEV when a boot does not fit to the others; the errno of starting a process or of
 * writing the results.
 * Context: main thread.
 */
int compare_boots(struct comparison *c, const struct compare_request *req,
		  enum compare_end *ret_end, int *ret_signal, struct err *e)
{
	struct runner x = {.c = c, .req = req, .end = COMPARE_COMPLETE};
	int r = spawn_pool_create(on_tick, req->progress, &x.pool, e);

	if (r < 0) {
		return r;
	}
	r = run_slots(&x, e);
	spawn_pool_destroy(x.pool);
	if (r < 0) {
		return r;
	}
	*ret_end = x.end;
	*ret_signal = x.signal;
	return 0;
}
