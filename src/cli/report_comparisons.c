/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See report_comparisons.h. Main thread. */
#include "cli/report_comparisons.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "cli/report_tests.h"
#include "cli/status.h"
#include "engine/comparison_merge.h"
#include "engine/summary.h"
#include "samples/record.h"

/* One shard by itself says which others there are to be put to it. */
static void warn_of_other_shards(const struct plan *p)
{
	for (unsigned int shard = 1; shard <= p->shards; shard++) {
		if (shard != p->shard) {
			log_warn("shard %u of %u is missing", shard, p->shards);
		}
	}
}

static int report_one(const struct report_comparisons *o)
{
	struct report_output output = o->output;
	struct comparison c = {0};
	struct err e = ERR_INIT;
	int status = STATUS_ENVIRONMENT;

	output.results = o->paths[0];
	if (comparison_read(&c, o->paths[0], &e) < 0) {
		log_error("%s", e.text);
	} else {
		warn_of_other_shards(&c.plan);
		status = print_report(&c, &output);
	}
	comparison_fini(&c);
	return status;
}

/* Which files are cut off, and which shards have boots to come. */
static void warn_of_files(const struct merge *m)
{
	for (size_t i = 0; i < m->file_count; i++) {
		const struct merge_file *f = &m->files[i];

		if (f->dropped > 0) {
			log_warn("%s: the last record is cut off after %" PRIu64
				 " bytes, and left out",
				 f->path, f->dropped);
		}
		if (f->recorded < f->share && f->shards) {
			log_warn("shard %u of %u is not whole: %zu of its %zu boots are recorded; "
				 "go on with: ringside compare --resume --results %s",
				 f->shard, f->shards, f->recorded, f->share, f->path);
		}
	}
}

/* The shards that no file is of; of several hosts each one's. */
static void warn_of_missing(const struct merge *m, size_t host)
{
	unsigned int shards = m->files[0].shards;

	for (unsigned int shard = 1; shard <= shards; shard++) {
		bool there = false;

		for (size_t i = 0; i < m->file_count; i++) {
			there |= m->files[i].shard == shard &&
				 (m->host_count == 1 || m->files[i].host == host);
		}
		if (!there) {
			log_warn("%s%sshard %u of %u is missing",
				 m->host_count > 1 ? m->hosts[host].name : "",
				 m->host_count > 1 ? ": " : "", shard, shards);
		}
	}
}

static int write_results(const struct merge *m, const char *path, struct err *e)
{
	FILE *f;
	int r;

	if (m->host_count > 1) {
		return err_set(e, -EXDEV,
			       "--results: %s and %s are of machines that make no comparison "
			       "together: a results file is of one",
			       m->hosts[0].name, m->hosts[1].name);
	}
	r = report_begin_results(path, &f, e);
	return r < 0 ? r : report_end_results(path, f, merge_write(m, f, e), e);
}

static int report_merged(const struct report_comparisons *o, const struct merge *m)
{
	struct report_output output = o->output;

	output.results = o->results ? o->results : o->paths[0];
	warn_of_missing(m, 0);
	return print_report(&m->hosts[0].c, &output);
}

/* A host's name, and its files. */
static void put_host(const struct merge *m, size_t host)
{
	const struct merge_host *h = &m->hosts[host];
	const char *before = "";

	printf("%s%s, host %zu of %zu (", host ? "\n" : "", *h->name ? h->name : "a host", host + 1,
	       m->host_count);
	for (size_t i = 0; i < m->file_count; i++) {
		if (m->files[i].host == host) {
			printf("%s%s", before, m->files[i].path);
			before = ", ";
		}
	}
	fputs("):\n\n", stdout);
	fflush(stdout);
}

/* Of exit statuses the one that says most: worse, then what hinders a verdict. */
static int worse_status(int a, int b)
{
	static const int order[] = {STATUS_ENVIRONMENT, STATUS_NO, STATUS_INCONCLUSIVE};

	for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
		if (a == order[i] || b == order[i]) {
			return order[i];
		}
	}
	return STATUS_OK;
}

/* One host of several as JSON, and the exit status that it comes to. */
static json_t *host_json(const struct report_comparisons *o, const struct merge *m, size_t host,
			 int *ret_status)
{
	const struct merge_host *h = &m->hosts[host];
	struct report_output output = o->output;
	json_t *report = NULL, *files = json_array();

	output.results = o->paths[0];
	output.json_to = &report;
	*ret_status = print_report(&h->c, &output);
	for (size_t i = 0; i < m->file_count; i++) {
		if (m->files[i].host == host) {
			json_array_append_new(files, record_text_to_json(m->files[i].path));
		}
	}
	return json_pack("{s:s, s:o, s:i, s:o}", "name", h->name, "files", files, "exit_status",
			 *ret_status, "report", report ? report : json_null());
}

static int hosts_json(const struct report_comparisons *o, const struct merge *m)
{
	json_t *hosts = json_array(), *root;
	int status = STATUS_OK, r;

	for (size_t i = 0; i < m->host_count; i++) {
		int one;

		warn_of_missing(m, i);
		json_array_append_new(hosts, host_json(o, m, i, &one));
		status = worse_status(status, one);
	}
	root = json_pack("{s:i, s:s, s:o, s:i}", "schema_version", REPORT_SCHEMA_VERSION, "type",
			 "hosts", "hosts", hosts, "exit_status", status);
	r = root ? json_dumpf(root, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII) : -1;
	json_decref(root);
	if (r < 0 || putchar('\n') == EOF || fflush(stdout) == EOF) {
		log_error("stdout: the report cannot be written");
		return STATUS_ENVIRONMENT;
	}
	return status;
}

/* Hosts that make no comparison together, one by one. */
static int report_hosts(const struct report_comparisons *o, const struct merge *m)
{
	int status = STATUS_OK;

	if (o->output.json) {
		return hosts_json(o, m);
	}
	for (size_t i = 0; i < m->host_count; i++) {
		struct report_output output = o->output;

		if (!output.form) {
			put_host(m, i);
		}
		output.results = o->paths[0];
		output.host = *m->hosts[i].name ? m->hosts[i].name : "a host";
		output.host_before = i > 0;
		output.host_behind = i + 1 < m->host_count;
		warn_of_missing(m, i);
		status = worse_status(status, print_report(&m->hosts[i].c, &output));
	}
	return status;
}

/* A document of several hosts is begun only where each of them has something to say. */
static int check_hosts(const struct merge *m, struct err *e)
{
	for (size_t i = 0; i < m->host_count; i++) {
		_cleanup_(summary_destroy_p) struct summary *s = NULL;
		int r = m->hosts[i].c.plan.pilot ? 0 : summary_create(&m->hosts[i].c, &s, e);

		if (r < 0) {
			err_prefix(e, "%s", m->hosts[i].name);
			return r;
		}
	}
	return 0;
}

static int check_forms(const struct report_comparisons *o, const struct merge *m, struct err *e)
{
	if (o->output.html && m->host_count > 1) {
		return err_set(e, -EINVAL,
			       "--html: %s and %s are of machines that make no comparison "
			       "together: a page is of one; the other forms show both",
			       m->hosts[0].name, m->hosts[1].name);
	}
	if (o->output.html && o->count > 1 && !o->results) {
		return err_set(e, -EINVAL,
			       "--html: a page is of one results file, whose hash it has: write "
			       "the files into one with --results");
	}
	return 0;
}

static int report_several(const struct report_comparisons *o)
{
	struct err e = ERR_INIT;
	struct merge m = {0};
	int status = STATUS_ENVIRONMENT;
	int r = merge_read(&m, o->paths, o->count, &e);

	if (r == 0) {
		r = check_forms(o, &m, &e);
		status = r < 0 ? STATUS_USAGE : status;
	}
	if (r == 0 && o->output.form && m.host_count > 1) {
		r = check_hosts(&m, &e);
		status = r == -ENODATA ? STATUS_INCONCLUSIVE : status;
	}
	if (r == 0) {
		warn_of_files(&m);
	}
	if (r == 0 && o->results) {
		r = write_results(&m, o->results, &e);
	}
	if (r < 0) {
		log_error("%s", e.text);
	} else {
		status = m.host_count > 1 ? report_hosts(o, &m) : report_merged(o, &m);
	}
	merge_fini(&m);
	return status;
}

/**
 * report_comparisons() - "ringside report" of one or more comparisons' files
 * @o: what was asked for
 *
 * Return: the exit status.
 * Context: main thread.
 */
int report_comparisons(const struct report_comparisons *o)
{
	return o->merge || o->results ? report_several(o) : report_one(o);
}
