/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See run_stats.h. Runs on the main thread, which is the machine's owner, before and after the run.
 */
#include "cli/run_stats.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "abi/calltime.h"
#include "base/io.h"
#include "samples/record.h"
#include "vmm/vmm.h"

/**
 * run_stats_open() - open the place for statistics or a trace, while an error still costs no run
 * @option: "stats" or "trace"
 * @path: its value; "-" of stats: the table, on stderr
 * @ret_fd: set on success, the caller's to close; −1 for the table
 * @e: set on failure
 *
 * Return: 0 or the −errno of open(2).
 */
int run_stats_open(const char *option, const char *path, int *ret_fd, struct err *e)
{
	int fd = -1;

	if (strcmp(path, "-") != 0 || strcmp(option, "stats") != 0) {
		fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
		if (fd < 0) {
			return err_errno(e, -errno, "--%s %s", option, path);
		}
	}
	*ret_fd = fd;
	return 0;
}

static json_t *known(uint64_t value)
{
	return value == MACHINE_NO_VALUE ? json_null() : json_integer((json_int_t)value);
}

/* Buckets that have something, by the lowest ticks that fall into them. */
static json_t *histogram(const uint32_t *hist)
{
	json_t *all = json_array();

	for (uint32_t b = 0; b < CALLTIME_HIST_BUCKETS; b++) {
		if (hist[b]) {
			json_array_append_new(all, json_pack("[I, I]",
							     (json_int_t)calltime_bucket_low(b),
							     (json_int_t)hist[b]));
		}
	}
	return all;
}

static void add_exit(void *ctx, const struct machine_exit_stat *s)
{
	json_t *phase =
		json_array_get(json_object_get(json_array_get(ctx, s->vcpu), "phases"), s->phase);
	json_t *x = json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "reason", s->reason,
			      "count", (json_int_t)s->count, "total_ns", (json_int_t)s->total_ns,
			      "min_ns", (json_int_t)s->min_ns, "median_ns",
			      (json_int_t)s->median_ns, "p99_ns", (json_int_t)s->p99_ns, "max_ns",
			      (json_int_t)s->max_ns, "histogram_ticks", histogram(s->hist));
	char address[24];

	if (s->access) {
		snprintf(address, sizeof(address), "0x%" PRIx64, s->address);
		json_object_set_new(x, "access", json_string(s->access));
		json_object_set_new(x, "address", json_string(address));
		json_object_set_new(x, "device", s->device ? json_string(s->device) : json_null());
	}
	json_array_append_new(json_object_get(phase, "exits"), x);
}

static void add_kvm(void *ctx, const struct machine_kvm_stat *s)
{
	json_t *x = json_pack("{s:s, s:s, s:i, s:i}", "type", s->type, "unit", s->unit, "base",
			      (int)s->base, "exponent", s->exponent);

	if (s->count == 1) {
		json_object_set_new(x, "value", json_integer((json_int_t)s->values[0]));
	} else {
		json_t *buckets = json_array();

		for (uint32_t i = 0; i < s->count; i++) {
			json_array_append_new(buckets, json_integer((json_int_t)s->values[i]));
		}
		if (strcmp(s->type, "linear histogram") == 0) {
			json_object_set_new(x, "bucket_size", json_integer(s->bucket_size));
		}
		json_object_set_new(x, "buckets", buckets);
	}
	json_object_set_new(ctx, s->name, x);
}

/* null: this KVM has none. */
static json_t *kvm_of(const struct machine *m, int vcpu)
{
	json_t *all = json_object();

	if (machine_kvm_stats_each(m, vcpu, add_kvm, all) < 0) {
		json_decref(all);
		return json_null();
	}
	return all;
}

static json_t *vcpu_of(const struct machine *m, unsigned int vcpu)
{
	json_t *phases = json_array();

	for (unsigned int p = 0; p < MACHINE_PHASES; p++) {
		struct machine_thread_stat t;

		machine_thread_stat(m, vcpu, p, &t);
		json_array_append_new(phases, json_pack("{s:s, s:{s:o, s:o}, s:[]}", "phase",
							machine_phase_name(p), "thread", "steal_ns",
							known(t.steal_ns), "involuntary_switches",
							known(t.nivcsw), "exits"));
	}
	return json_pack("{s:i, s:o, s:o}", "vcpu", (int)vcpu, "phases", phases, "kvm",
			 kvm_of(m, (int)vcpu));
}

static json_t *document(const struct machine *m)
{
	json_t *phases = json_array(), *vcpus = json_array();

	for (unsigned int p = 0; p < MACHINE_PHASES; p++) {
		json_array_append_new(phases,
				      json_pack("{s:s, s:I}", "phase", machine_phase_name(p), "ns",
						(json_int_t)machine_phase_ns(m, p)));
	}
	for (unsigned int i = 0; i < machine_vcpus(m); i++) {
		json_array_append_new(vcpus, vcpu_of(m, i));
	}
	machine_exit_stats_each(m, add_exit, vcpus);
	return json_pack("{s:s, s:i, s:I, s:o, s:o, s:{s:o}}", "type", "stats", "schema_version",
			 RUN_STATS_SCHEMA_VERSION, "tsc_khz", (json_int_t)machine_tsc_khz(m),
			 "phases", phases, "vcpus", vcpus, "vm", "kvm", kvm_of(m, -1));
}

/**
 * run_stats_write() - write the statistics of a machine that has ended
 * @path: the value of --stats, for messages
 * @fd: what run_stats_open() gave
 * @m: a machine that was built with exit_stats
 * @e: set on failure
 *
 * Return: 0, −ENOMEM or the −errno of write(2).
 */
int run_stats_write(const char *path, int fd, const struct machine *m, struct err *e)
{
	_cleanup_free_ char *text = NULL;
	json_t *all;
	int r;

	if (fd < 0) {
		r = run_stats_table(m, &text);
		if (r == 0) {
			fputs(text, stderr);
		}
	} else {
		all = document(m);
		r = all ? record_json_write_line(fd, all) : -ENOMEM;
		json_decref(all);
	}
	return r < 0 ? err_errno(e, r, "--stats %s", path) : 0;
}
