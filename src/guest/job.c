/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See job.h: the host's side, a struct to JSON. Any thread. */
#include "guest/job.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

static json_t *strings_to_json(const char *const *v)
{
	json_t *a = json_array();

	for (size_t i = 0; v && v[i]; i++) {
		if (json_array_append_new(a, json_string(v[i])) < 0) {
			json_decref(a);
			return NULL;
		}
	}
	return a;
}

/* NAME=value: -EINVAL without a name, or for text that is not UTF-8 (JSON could not carry it). */
static int env_to_json(const char *const *env, json_t **ret, struct err *e)
{
	json_t *o = json_object();

	for (size_t i = 0; env && env[i]; i++) {
		const char *eq = strchr(env[i], '=');
		_cleanup_free_ char *name = eq ? strndup(env[i], (size_t)(eq - env[i])) : NULL;

		if (!name || !*name) {
			json_decref(o);
			return err_set(e, -EINVAL, "environment: '%s': expected NAME=value",
				       env[i]);
		}
		if (json_object_set_new(o, name, json_string(eq + 1)) < 0) {
			json_decref(o);
			return err_set(e, -EINVAL, "environment: %s: not UTF-8 text", name);
		}
	}
	*ret = o;
	return 0;
}

static json_t *bench_to_json(const struct job_bench *b)
{
	json_t *names;

	if (!b->names) {
		return json_null();
	}
	names = strings_to_json(b->names);
	return names ? json_pack("{s:o, s:I, s:I, s:I, s:b, s:b, s:I}", "names", names, "batches",
				 (json_int_t)b->batches, "warmup", (json_int_t)b->warmup, "calls",
				 (json_int_t)b->calls, "calltime", (int)b->calltime, "nopti",
				 (int)b->nopti, "seed", (json_int_t)b->seed)
		     : NULL;
}

static json_t *lab_to_json(const struct job_lab *l)
{
	json_t *rw;

	if (!l->cwd) {
		return json_null();
	}
	rw = strings_to_json(l->rw);
	return rw ? json_pack("{s:s, s:o}", "cwd", l->cwd, "rw", rw) : NULL;
}

static json_t *shares_to_json(const struct job *job)
{
	json_t *a = json_array();

	for (size_t i = 0; i < job->share_count; i++) {
		const struct job_share *s = &job->shares[i];

		if (json_array_append_new(a, json_pack("{s:s, s:s, s:b}", "tag", s->tag, "at",
						       s->at, "ro", (int)s->read_only)) < 0) {
			json_decref(a);
			return NULL;
		}
	}
	return a;
}

static json_t *nets_to_json(const struct job *job)
{
	json_t *a = json_array();

	for (size_t i = 0; i < job->net_count; i++) {
		const struct job_net *n = &job->nets[i];

		if (json_array_append_new(a, json_pack("{s:s, s:s, s:s?, s:s?}", "mac", n->mac,
						       "address", n->address, "gateway", n->gateway,
						       "dns", n->dns)) < 0) {
			json_decref(a);
			return NULL;
		}
	}
	return a;
}

static json_t *root_to_json(const struct job_root *r)
{
	return json_pack("{s:s, s:b, s:b}", r->share ? "share" : "disk",
			 r->share ? r->share : r->disk, "ro", (int)r->read_only, "init",
			 (int)r->init);
}

static int check(const struct job *job, struct err *e)
{
	const struct job_bench *b = &job->bench;

	if (!job->command && !b->names) {
		return err_set(e, -EINVAL, "job: neither a command nor a benchmark");
	}
	if (job->command && (!job->command[0] || !*job->command[0])) {
		return err_set(e, -EINVAL, "job: the command is empty");
	}
	if (job->beat_ms > JOB_BEAT_MAX_MS) {
		return err_set(e, -EINVAL, "job: %u ms between signs of life, at most %d",
			       job->beat_ms, JOB_BEAT_MAX_MS);
	}
	if (b->names && (b->batches < 1 || b->batches > JOB_BATCHES_MAX)) {
		return err_set(e, -EINVAL, "job: %u batches, expected 1 to %d", b->batches,
			       JOB_BATCHES_MAX);
	}
	if (b->names && b->warmup > JOB_BATCHES_MAX) {
		return err_set(e, -EINVAL, "job: %u warm-up batches, expected 0 to %d", b->warmup,
			       JOB_BATCHES_MAX);
	}
	if (b->names && b->calls > JOB_CALLS_MAX) {
		return err_set(e, -EINVAL, "job: %u calls a batch, expected at most %d", b->calls,
			       JOB_CALLS_MAX);
	}
	if (b->names && b->seed > INT64_MAX) {
		return err_set(e, -EINVAL, "job: seed %llu, expected less than 2^63",
			       (unsigned long long)b->seed);
	}
	if (job->cwd && job->cwd[0] != '/') {
		return err_set(e, -EINVAL, "job: working directory '%s', expected an absolute path",
			       job->cwd);
	}
	for (size_t i = 0; job->artifacts && job->artifacts[i]; i++) {
		if (job->artifacts[i][0] != '/') {
			return err_set(e, -EINVAL, "job: artifact '%s', expected an absolute path",
				       job->artifacts[i]);
		}
	}
	if (job->lab.cwd && job->lab.cwd[0] != '/') {
		return err_set(e, -EINVAL, "job: lab directory '%s', expected an absolute path",
			       job->lab.cwd);
	}
	for (size_t i = 0; job->lab.cwd && job->lab.rw && job->lab.rw[i]; i++) {
		if (job->lab.rw[i][0] != '/') {
			return err_set(e, -EINVAL, "job: share '%s', expected an absolute path",
				       job->lab.rw[i]);
		}
	}
	for (size_t i = 0; i < job->share_count; i++) {
		if (job->shares[i].at[0] != '/') {
			return err_set(e, -EINVAL, "job: share at '%s', expected an absolute path",
				       job->shares[i].at);
		}
	}
	if (job->share_count > JOB_SHARES_MAX) {
		return err_set(e, -E2BIG, "job: %zu shares, at most %d", job->share_count,
			       JOB_SHARES_MAX);
	}
	return 0;
}

/**
 * job_write() - a job as the JSON text that the agent reads
 * @job: the job
 * @ret_text: set on success, not NUL-counted, keys always in the same order; the caller frees it
 * @ret_len: set on success, bytes
 * @e: set on failure
 *
 * Return: 0, -EINVAL for a job that makes no sense or holds text that is not UTF-8, -E2BIG for one
 * of more than JOB_BYTES_MAX bytes, -ENOMEM.
 * Context: any thread.
 */
int job_write(const struct job *job, char **ret_text, size_t *ret_len, struct err *e)
{
	json_t *command, *bench, *lab, *env = NULL;
	json_t *o;
	char *text;
	size_t len;
	int r;

	r = check(job, e);
	if (r == 0) {
		r = env_to_json(job->env, &env, e);
	}
	if (r < 0) {
		return r;
	}
	command = job->command ? strings_to_json(job->command) : json_null();
	bench = bench_to_json(&job->bench);
	lab = lab_to_json(&job->lab);
	/* json_pack() takes over or frees each 'o', and fails when one is NULL. */
	o = json_pack("{s:i, s:o, s:o, s:s, s:o, s:o}", "version", JOB_VERSION, "command", command,
		      "env", env, "cwd", job->cwd ? job->cwd : "/", "bench", bench, "lab", lab);
	if (o && ((job->share_count && json_object_set_new(o, "shares", shares_to_json(job)) < 0) ||
		  ((job->root.share || job->root.disk) &&
		   json_object_set_new(o, "root", root_to_json(&job->root)) < 0))) {
		json_decref(o);
		o = NULL;
	}
	if (o && job->beat_ms &&
	    json_object_set_new(o, "beat_ms", json_integer((json_int_t)job->beat_ms)) < 0) {
		json_decref(o);
		o = NULL;
	}
	if (o && job->kernel_log && json_object_set_new(o, "kernel_log", json_true()) < 0) {
		json_decref(o);
		o = NULL;
	}
	if (o && job->artifacts && job->artifacts[0] &&
	    json_object_set_new(o, "artifacts", strings_to_json(job->artifacts)) < 0) {
		json_decref(o);
		o = NULL;
	}
	if (o && job->net_count && json_object_set_new(o, "net", nets_to_json(job)) < 0) {
		json_decref(o);
		o = NULL;
	}
	text = o ? json_dumps(o, JSON_COMPACT) : NULL;
	json_decref(o);
	if (!text) {
		return err_set(e, -EINVAL, "job: a word or path in it is not UTF-8 text");
	}
	len = strlen(text);
	if (len > JOB_BYTES_MAX) {
		free(text);
		return err_set(e, -E2BIG, "job: %zu bytes of JSON, at most %d are taken", len,
			       JOB_BYTES_MAX);
	}
	*ret_text = text;
	*ret_len = len;
	return 0;
}
