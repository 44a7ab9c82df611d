/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See job.h: the agent's side, JSON to a struct. Any thread. */
#include "guest/job_priv.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* All that a parsed job points to: the JSON tree holds the strings, these are the vectors. */
struct parsed {
	json_t *root;
	const char **command, **env, **names, **rw, **artifacts;
	struct job_share *shares;
	char *env_text;
};

static void parsed_free(struct parsed *p)
{
	json_decref(p->root);
	free(p->command);
	free(p->env);
	free(p->names);
	free(p->rw);
	free(p->artifacts);
	free(p->shares);
	free(p->env_text);
	free(p);
}
DEFINE_CLEANUP(struct parsed *, parsed_free)

static int strings_from_json(const json_t *a, const char *what, const char ***ret, struct err *e)
{
	_cleanup_free_ const char **v = NULL;
	size_t n = json_array_size(a);

	if (!json_is_array(a) || n > JOB_STRINGS_MAX) {
		return err_set(e, -EINVAL, "job: '%s' is no list of at most %d texts", what,
			       JOB_STRINGS_MAX);
	}
	v = calloc(n + 1, sizeof(*v));
	if (!v) {
		return err_errno(e, -ENOMEM, "job");
	}
	for (size_t i = 0; i < n; i++) {
		v[i] = json_string_value(json_array_get(a, i));
		if (!v[i]) {
			return err_set(e, -EINVAL, "job: '%s' has an entry that is no text", what);
		}
	}
	*ret = TAKE_PTR(v);
	return 0;
}

static int env_from_json(json_t *o, struct parsed *p, struct err *e)
{
	size_t room = 0, used = 0, i = 0;
	const char *name;
	json_t *value;

	if (!json_is_object(o) || json_object_size(o) > JOB_STRINGS_MAX) {
		return err_set(e, -EINVAL, "job: 'env' is no object of at most %d texts",
			       JOB_STRINGS_MAX);
	}
	json_object_foreach (o, name, value) {
		if (!json_is_string(value)) {
			return err_set(e, -EINVAL, "job: 'env' has an entry that is no text");
		}
		room += strlen(name) + json_string_length(value) + 2;
	}
	p->env = calloc(json_object_size(o) + 1, sizeof(*p->env));
	p->env_text = malloc(room + 1);
	if (!p->env || !p->env_text) {
		return err_errno(e, -ENOMEM, "job");
	}
	json_object_foreach (o, name, value) {
		p->env[i++] = p->env_text + used;
		used += (size_t)snprintf(p->env_text + used, room + 1 - used, "%s=%s", name,
					 json_string_value(value)) +
			1;
	}
	return 0;
}

static int uint_from_json(const json_t *o, const char *key, uint64_t min, uint64_t max,
			  uint64_t *ret, struct err *e)
{
	const json_t *v = json_object_get(o, key);

	if (!json_is_integer(v) || json_integer_value(v) < (json_int_t)min ||
	    json_integer_value(v) > (json_int_t)max) {
		return err_set(e, -EINVAL, "job: '%s' is no number from %llu to %llu", key,
			       (unsigned long long)min, (unsigned long long)max);
	}
	*ret = (uint64_t)json_integer_value(v);
	return 0;
}

static int bench_from_json(const json_t *o, struct parsed *p, struct job_bench *b, struct err *e)
{
	uint64_t batches, warmup, calls, seed;
	const json_t *calltime = json_object_get(o, "calltime");
	const json_t *nopti = json_object_get(o, "nopti"); /* may be missing */
	int r = strings_from_json(json_object_get(o, "names"), "bench.names", &p->names, e);

	if (r < 0 || (r = uint_from_json(o, "batches", 1, JOB_BATCHES_MAX, &batches, e)) < 0 ||
	    (r = uint_from_json(o, "warmup", 0, JOB_BATCHES_MAX, &warmup, e)) < 0 ||
	    (r = uint_from_json(o, "calls", 0, JOB_CALLS_MAX, &calls, e)) < 0 ||
	    (r = uint_from_json(o, "seed", 0, INT64_MAX, &seed, e)) < 0) {
		return r;
	}
	if (!json_is_boolean(calltime)) {
		return err_set(e, -EINVAL, "job: 'calltime' is neither true nor false");
	}
	if (nopti && !json_is_boolean(nopti)) {
		return err_set(e, -EINVAL, "job: 'nopti' is neither true nor false");
	}
	*b = (struct job_bench){.names = p->names,
				.batches = (unsigned int)batches,
				.warmup = (unsigned int)warmup,
				.calls = (unsigned int)calls,
				.calltime = json_is_true(calltime),
				.nopti = json_is_true(nopti),
				.seed = seed};
	return 0;
}

static int lab_from_json(const json_t *o, struct parsed *p, struct job_lab *l, struct err *e)
{
	int r = strings_from_json(json_object_get(o, "rw"), "lab.rw", &p->rw, e);

	if (r < 0) {
		return r;
	}
	l->cwd = json_string_value(json_object_get(o, "cwd"));
	l->rw = p->rw;
	if (!l->cwd || l->cwd[0] != '/') {
		return err_set(e, -EINVAL, "job: 'lab.cwd' is no absolute path");
	}
	for (size_t i = 0; l->rw[i]; i++) {
		if (l->rw[i][0] != '/') {
			return err_set(e, -EINVAL, "job: 'lab.rw' has '%s', no absolute path",
				       l->rw[i]);
		}
	}
	return 0;
}

static bool is_absolute(const char *path)
{
	return path && path[0] == '/';
}

static int shares_from_json(const json_t *a, struct parsed *p, struct job *job, struct err *e)
{
	size_t n = json_array_size(a);

	if (!json_is_array(a) || n > JOB_SHARES_MAX) {
		return err_set(e, -EINVAL, "job: 'shares' is no list of at most %d",
			       JOB_SHARES_MAX);
	}
	p->shares = calloc(n + 1, sizeof(*p->shares));
	if (!p->shares) {
		return err_errno(e, -ENOMEM, "job");
	}
	for (size_t i = 0; i < n; i++) {
		const json_t *o = json_array_get(a, i);
		const json_t *ro = json_object_get(o, "ro");
		struct job_share s = {.tag = json_string_value(json_object_get(o, "tag")),
				      .at = json_string_value(json_object_get(o, "at")),
				      .read_only = json_is_true(ro)};

		if (!s.tag || !is_absolute(s.at) || !json_is_boolean(ro)) {
			return err_set(e, -EINVAL,
				       "job: 'shares' has an entry without 'tag', 'ro' or an "
				       "absolute path 'at'");
		}
		p->shares[i] = s;
	}
	job->shares = p->shares;
	job->share_count = n;
	return 0;
}

static int root_from_json(const json_t *o, struct job_root *ret, struct err *e)
{
	const json_t *ro = json_object_get(o, "ro"), *init = json_object_get(o, "init");
	struct job_root r = {.share = json_string_value(json_object_get(o, "share")),
			     .disk = json_string_value(json_object_get(o, "disk")),
			     .read_only = json_is_true(ro),
			     .init = json_is_true(init)};

	if (!r.share == !r.disk || !json_is_boolean(ro) || !json_is_boolean(init)) {
		return err_set(e, -EINVAL,
			       "job: 'root' has not one of 'share' and 'disk', or no 'ro' or "
			       "'init'");
	}
	*ret = r;
	return 0;
}

/* How often the agent gives a sign of life, and whether it looks into the kernel's log. */
static int watch_from_json(const json_t *root, struct job *job, struct err *e)
{
	const json_t *v = json_object_get(root, "beat_ms");

	if (v) {
		if (!json_is_integer(v) || json_integer_value(v) < 0 ||
		    json_integer_value(v) > JOB_BEAT_MAX_MS) {
			return err_set(e, -EINVAL, "job: 'beat_ms' is no number from 0 to %d",
				       JOB_BEAT_MAX_MS);
		}
		job->beat_ms = (unsigned int)json_integer_value(v);
	}
	v = json_object_get(root, "kernel_log");
	if (v && !json_is_boolean(v)) {
		return err_set(e, -EINVAL, "job: 'kernel_log' is neither true nor false");
	}
	job->kernel_log = json_is_true(v);
	return 0;
}

/**
 * job_read() - take a job from its JSON text
 * @text: the text, not necessarily NUL-terminated
 * @len: bytes
 * @ret: set on success; the caller ends it with job_fini()
 * @e: set on failure, says what was expected
 *
 * Return: 0, -EINVAL for text that is no job, -EPROTONOSUPPORT for one of another version, -E2BIG
 * past JOB_BYTES_MAX, -ENOMEM.
 * Context: any thread.
 */
int job_read(const char *text, size_t len, struct job *ret, struct err *e)
{
	_cleanup_(parsed_free_p) struct parsed *p = calloc(1, sizeof(*p));
	struct job job = {0};
	json_error_t je;
	json_t *v;
	int r = 0;

	if (!p) {
		return err_errno(e, -ENOMEM, "job");
	}
	if (len > JOB_BYTES_MAX) {
		return err_set(e, -E2BIG, "job: %zu bytes, at most %d are taken", len,
			       JOB_BYTES_MAX);
	}
	p->root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &je);
	if (!json_is_object(p->root)) {
		return err_set(e, -EINVAL, "job: no JSON object: %s (byte %d)",
			       p->root ? "something else" : je.text, p->root ? 0 : je.position);
	}
	v = json_object_get(p->root, "version");
	if (!json_is_integer(v) || json_integer_value(v) != JOB_VERSION) {
		return err_set(e, -EPROTONOSUPPORT, "job: version %lld, this agent knows %d",
			       (long long)json_integer_value(v), JOB_VERSION);
	}
	v = json_object_get(p->root, "command");
	if (v && !json_is_null(v)) {
		r = strings_from_json(v, "command", &p->command, e);
		job.command = p->command;
	}
	v = json_object_get(p->root, "env");
	if (r == 0 && v && !json_is_null(v)) {
		r = env_from_json(v, p, e);
		job.env = p->env;
	}
	v = json_object_get(p->root, "cwd");
	job.cwd = json_is_string(v) ? json_string_value(v) : "/";
	if (r == 0) {
		r = watch_from_json(p->root, &job, e);
	}
	v = json_object_get(p->root, "artifacts");
	if (r == 0 && v) {
		r = strings_from_json(v, "artifacts", &p->artifacts, e);
		job.artifacts = p->artifacts;
	}
	v = json_object_get(p->root, "bench");
	if (r == 0 && v && !json_is_null(v)) {
		r = bench_from_json(v, p, &job.bench, e);
	}
	v = json_object_get(p->root, "lab");
	if (r == 0 && v && !json_is_null(v)) {
		r = lab_from_json(v, p, &job.lab, e);
	}
	v = json_object_get(p->root, "shares");
	if (r == 0 && v && !json_is_null(v)) {
		r = shares_from_json(v, p, &job, e);
	}
	v = json_object_get(p->root, "root");
	if (r == 0 && v && !json_is_null(v)) {
		r = root_from_json(v, &job.root, e);
	}
	if (r == 0) {
		r = job_nets_from_json(json_object_get(p->root, "net"), &job, e);
	}
	if (r < 0) {
		return r;
	}
	if ((job.command && !job.command[0]) || (!job.command && !job.bench.names)) {
		return err_set(e, -EINVAL, "job: neither a command nor a benchmark");
	}
	job.parsed = TAKE_PTR(p);
	*ret = job;
	return 0;
}

/**
 * job_fini() - free what job_read() allocated
 * @job: a job; one that was not read, or is all zero, is fine
 *
 * Context: the thread that owns @job.
 */
void job_fini(struct job *job)
{
	if (job->parsed) {
		parsed_free(job->parsed);
	}
	*job = (struct job){0};
}
