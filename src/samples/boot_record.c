/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See boot_record.h. Parts of a record come from the guest, so every shape and count is checked;
 * keys that are not known are passed over, so that a record may grow within its schema version.
 */
#include "samples/boot_record.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "samples/boot_clock.h"
#include "samples/record.h"
#include "samples/windows.h"

/* The probe that times nothing: it calibrates the others. */
#define EMPTY_PROBE "calltime.empty"

/**
 * disturbance_name() - the short name of a cause
 * @c: the cause
 *
 * Return: a constant text, such as "irq".
 * Context: any thread.
 */
const char *disturbance_name(enum disturbance c)
{
	static const char *const names[] = {
		[DISTURBED_EXIT] = "exit",       [DISTURBED_KVM] = "kvm",
		[DISTURBED_IRQ] = "irq",         [DISTURBED_STEAL] = "steal",
		[DISTURBED_PREEMPT] = "preempt", [DISTURBED_SWITCH] = "switch",
		[DISTURBED_CLOCK] = "clock",
	};

	return names[c];
}

/* The text under a key, or an empty one. NULL only when memory is short. */
static char *copy_text(const json_t *object, const char *key)
{
	const char *s = json_string_value(json_object_get(object, key));

	return strdup(s ? s : "");
}

/* A count: missing and null are 0, as where a backend cannot know. */
static int get_count(const json_t *object, const char *key, uint64_t *ret, struct err *e)
{
	const json_t *v = json_object_get(object, key);

	*ret = 0;
	if (!v || json_is_null(v)) {
		return 0;
	}
	if (!json_is_integer(v) || json_integer_value(v) < 0) {
		return err_set(e, -EBADMSG, "'%s' is not a whole number of 0 or more", key);
	}
	*ret = (uint64_t)json_integer_value(v);
	return 0;
}

/* Reads element i of an array of numbers, or the one number that stands for all. */
static int get_element(const json_t *v, const char *key, size_t i, double *ret, struct err *e)
{
	const json_t *x = json_is_array(v) ? json_array_get(v, i) : v;

	if (!json_is_number(x) || !(json_number_value(x) >= 0)) {
		return err_set(e, -EBADMSG, "'%s'[%zu] is not a number of 0 or more", key, i);
	}
	*ret = json_number_value(x);
	return 0;
}

static int check_length(const json_t *v, const char *key, size_t count, struct err *e)
{
	if (v && json_is_array(v) && json_array_size(v) != count) {
		return err_set(e, -EBADMSG, "'%s' has %zu numbers for %zu batches", key,
			       json_array_size(v), count);
	}
	return 0;
}

/*
 * Which causes the windows of a benchmark show. What an undisturbed window costs in exits to the
 * kernel (its own closing mark, for one) is the same in all of them, so the calmest one is the
 * measure.
 */
static int mark_windows(struct boot_bench *b, const struct windows *w, size_t window0,
			struct err *e)
{
	static const struct {
		enum window_count count;
		enum disturbance cause;
	} columns[] = {
		{WINDOW_EXITS, DISTURBED_EXIT},
		{WINDOW_IRQS, DISTURBED_IRQ},
		{WINDOW_STEAL_NS, DISTURBED_STEAL},
		{WINDOW_NIVCSW, DISTURBED_PREEMPT},
	};
	uint64_t calmest = UINT64_MAX;

	if (w->count == 0) {
		return 0;
	}
	if (window0 > w->count || w->count - window0 < b->batch_count) {
		return err_set(e, -EBADMSG, "windows %zu to %zu are named, the record has %zu",
			       window0, window0 + b->batch_count - 1, w->count);
	}
	for (size_t i = 0; i < b->batch_count; i++) {
		const uint64_t *v = w->rows[window0 + i].v;

		calmest = v[WINDOW_KVM_EXITS] < calmest ? v[WINDOW_KVM_EXITS] : calmest;
		for (size_t c = 0; c < ARRAY_SIZE(columns); c++) {
			b->dirty[i] |= v[columns[c].count] > 0 ? 1u << columns[c].cause : 0;
		}
	}
	for (size_t i = 0; i < b->batch_count; i++) {
		bool calm = w->rows[window0 + i].v[WINDOW_KVM_EXITS] <= calmest;

		b->dirty[i] |= calm ? 0 : 1u << DISTURBED_KVM;
	}
	return 0;
}

/* What the guest itself saw; of context switches only those that the benchmark did not make. */
static int mark_guest(struct boot_bench *b, const json_t *line, struct err *e)
{
	static const struct {
		const char *key;
		enum disturbance cause;
	} columns[] = {
		{"irqs", DISTURBED_IRQ},
		{"nivcsw", DISTURBED_SWITCH},
	};

	for (size_t c = 0; c < ARRAY_SIZE(columns); c++) {
		const json_t *v = json_object_get(line, columns[c].key);
		int r = check_length(v, columns[c].key, b->batch_count, e);

		if (r < 0) {
			return r;
		}
		for (size_t i = 0; json_is_array(v) && i < b->batch_count; i++) {
			double x;

			r = get_element(v, columns[c].key, i, &x, e);
			if (r < 0) {
				return r;
			}
			b->dirty[i] |= x > 0 ? 1u << columns[c].cause : 0;
		}
	}
	return 0;
}

static int parse_batches(struct boot_bench *b, const json_t *line, const struct windows *w,
			 uint64_t ticks_per_unit, struct err *e)
{
	const json_t *ticks = json_object_get(line, "ticks");
	const json_t *empty = json_object_get(line, "empty");
	uint64_t window0 = 0, ticks_hz = 0;
	int r;

	if (!json_is_array(ticks) || json_array_size(ticks) == 0) {
		return err_set(e, -EBADMSG, "'ticks' is not an array of numbers");
	}
	if (json_array_size(ticks) > BOOT_BATCHES_MAX) {
		return err_set(e, -EBADMSG, "%zu batches: at most %u are accepted",
			       json_array_size(ticks), BOOT_BATCHES_MAX);
	}
	r = get_count(line, "calls", &b->calls, e);
	if (r == 0 && b->calls == 0) {
		r = err_set(e, -EBADMSG, "'calls' is missing or 0");
	}
	if (r == 0) {
		r = get_count(line, "window0", &window0, e);
	}
	if (r == 0) {
		r = get_count(line, "ticks_hz", &ticks_hz, e);
	}
	if (r < 0) {
		return r;
	}
	b->units_hz = (double)ticks_hz / (double)ticks_per_unit;
	b->batch_count = json_array_size(ticks);
	b->units = calloc(b->batch_count, sizeof(*b->units));
	b->dirty = calloc(b->batch_count, sizeof(*b->dirty));
	if (!b->units || !b->dirty) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	r = check_length(empty, "empty", b->batch_count, e);
	for (size_t i = 0; r == 0 && i < b->batch_count; i++) {
		double t, off = 0;

		r = get_element(ticks, "ticks", i, &t, e);
		if (r == 0 && empty && !json_is_null(empty)) {
			r = get_element(empty, "empty", i, &off, e);
		}
		if (r == 0) {
			b->units[i] = (t - off) / (double)b->calls / (double)ticks_per_unit;
		}
	}
	if (r == 0) {
		r = mark_windows(b, w, window0, e);
	}
	if (r == 0) {
		r = mark_guest(b, line, e);
	}
	return r;
}

static int bench_init(struct boot_bench *b, const char *name, const char *per_call)
{
	*b = (struct boot_bench){.name = strdup(name), .per_call = strdup(per_call)};
	return b->name && b->per_call ? 0 : -ENOMEM;
}

/* What a sample of a probe is, which the record does not say. */
static const char *unit_of_probe(const char *probe)
{
	static const struct {
		const char *probe, *unit;
	} known[] = {
		{"switch_to.fsgs", "switch"},
		{"kvm.pte_read", "read"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		if (strcmp(known[i].probe, probe) == 0) {
			return known[i].unit;
		}
	}
	return "sample";
}

/* Makes "probe@benchmark" of each probe that counted in the benchmark's bank. */
static int add_probes(struct boot_record *rec, const json_t *calltime, const char *bench,
		      const json_t *bank, struct err *e)
{
	const json_t *row;
	size_t i;

	json_array_foreach (calltime, i, row) {
		const char *probe = json_string_value(json_object_get(row, "probe"));
		const json_t *empty = json_object_get(row, "empty_min");
		struct boot_bench *b = &rec->benches[rec->bench_count];
		double sum, off;
		char name[160];

		if (!json_equal(json_object_get(row, "bank"), bank) ||
		    (probe && strcmp(probe, EMPTY_PROBE) == 0)) {
			continue;
		}
		if (!probe || snprintf(name, sizeof(name), "%s@%s", probe, bench) >= 128) {
			return err_set(e, -EBADMSG, "'calltime'[%zu] names no probe", i);
		}
		if (bench_init(b, name, unit_of_probe(probe)) < 0) {
			return err_set(e, -ENOMEM, "out of memory");
		}
		rec->bench_count++;
		b->is_probe = true;
		if (get_count(row, "count", &b->samples, e) < 0) {
			return -EBADMSG;
		}
		if (b->samples == 0 || !json_is_number(empty)) {
			b->error = strdup(b->samples ? "the cost of an empty pair was not measured"
						     : "the probe counted nothing");
			continue;
		}
		if (get_element(json_object_get(row, "sum"), "sum", 0, &sum, e) < 0 ||
		    get_element(empty, "empty_min", 0, &off, e) < 0) {
			return -EBADMSG;
		}
		b->units = calloc(1, sizeof(*b->units));
		b->dirty = calloc(1, sizeof(*b->dirty));
		if (!b->units || !b->dirty) {
			return err_set(e, -ENOMEM, "out of memory");
		}
		b->batch_count = 1;
		b->units[0] = (sum / (double)b->samples - off) / (double)rec->ticks_per_unit;
		if (histogram_from_json(row, off, (double)rec->ticks_per_unit, &b->histogram, e) <
		    0) {
			return -EBADMSG;
		}
	}
	return 0;
}

static int parse_bench(struct boot_record *rec, const json_t *line, const struct windows *w,
		       const json_t *calltime, struct err *e)
{
	struct boot_bench *b = &rec->benches[rec->bench_count];
	const char *name = json_string_value(json_object_get(line, "name"));
	const char *per_call = json_string_value(json_object_get(line, "per_call"));
	const char *error = json_string_value(json_object_get(line, "error"));
	const json_t *bank = json_object_get(line, "calltime_bank");
	int r;

	if (!name || !*name || strlen(name) >= 64) {
		return err_set(e, -EBADMSG, "a benchmark without a name");
	}
	if (boot_record_find(rec, name)) {
		return err_set(e, -EBADMSG, "benchmark %s stands twice in it", name);
	}
	if (bench_init(b, name, per_call ? per_call : "call") < 0) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	rec->bench_count++;
	if (error) {
		b->error = strdup(error);
		return b->error ? 0 : err_set(e, -ENOMEM, "out of memory");
	}
	r = parse_batches(b, line, w, rec->ticks_per_unit, e);
	/* Where ticks are time the empty loop tells of the processor's clock. */
	if (r == 0 && (rec->exec_class == EXEC_NATIVE || rec->exec_class == EXEC_NESTED) &&
	    boot_clock_mark(b, json_object_get(line, "empty")) < 0) {
		r = err_set(e, -ENOMEM, "out of memory");
	}
	if (r == 0 && json_is_integer(bank)) {
		r = add_probes(rec, calltime, name, bank, e);
	}
	if (r < 0) {
		err_prefix(e, "benchmark %s", name);
	}
	return r;
}

static int parse_benches(struct boot_record *rec, const json_t *root, const struct windows *w,
			 struct err *e)
{
	const json_t *guest = json_object_get(root, "guest");
	const json_t *calltime = json_object_get(root, "calltime");
	const json_t *line;
	size_t i;

	/* Each guest line makes at most one benchmark and one of each row of the counters. */
	rec->benches = calloc(json_array_size(guest) * (1 + json_array_size(calltime)) + 1,
			      sizeof(*rec->benches));
	if (!rec->benches) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	json_array_foreach (guest, i, line) {
		const char *type = json_string_value(json_object_get(line, "type"));
		int r;

		if (!type || strcmp(type, "bench") != 0) {
			continue;
		}
		r = parse_bench(rec, line, w, calltime, e);
		if (r < 0) {
			return r;
		}
	}
	return 0;
}

static char *join_lines(const json_t *lines)
{
	_cleanup_free_ char *text = NULL;
	const json_t *line;
	size_t len = 0;
	size_t i;

	if (json_is_string(lines)) {
		return strdup(json_string_value(lines));
	}
	json_array_foreach (lines, i, line) {
		len += json_string_length(line) + 1;
	}
	text = calloc(1, len + 1);
	if (!text) {
		return NULL;
	}
	len = 0;
	json_array_foreach (lines, i, line) {
		if (json_is_string(line)) {
			len += (size_t)sprintf(text + len, "%s%s", len ? "\n" : "",
					       json_string_value(line));
		}
	}
	return TAKE_PTR(text);
}

static int parse_provenance(struct boot_record *rec, const json_t *p, struct err *e)
{
	const json_t *kernel = json_object_get(p, "kernel");
	const json_t *host = json_object_get(p, "host");
	const char *name = json_string_value(json_object_get(p, "class"));
	int r;

	rec->ringside_version = copy_text(p, "ringside");
	rec->kernel_sha256 = copy_text(kernel, "sha256");
	rec->kernel_version = copy_text(kernel, "version");
	rec->host_name = copy_text(host, "name");
	rec->host_cpu = copy_text(host, "cpu");
	rec->host_kernel = copy_text(host, "kernel");
	rec->host_clock = copy_text(host, "clocksource");
	rec->host_microcode = copy_text(host, "microcode");
	rec->append = copy_text(p, "append");
	rec->backend = copy_text(p, "backend");
	rec->cpu_print = copy_text(json_object_get(p, "cpu"), "fingerprint");
	rec->qemu_version = copy_text(json_object_get(p, "qemu"), "version");
	if (!rec->ringside_version || !rec->kernel_sha256 || !rec->kernel_version ||
	    !rec->host_name || !rec->host_cpu || !rec->host_kernel || !rec->host_clock ||
	    !rec->host_microcode || !rec->append || !rec->backend || !rec->cpu_print ||
	    !rec->qemu_version) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	if (name) {
		if (exec_class_parse(name, &rec->exec_class) < 0) {
			return err_set(e, -EBADMSG, "'%s' is no execution class", name);
		}
		rec->has_class = true;
	}
	r = get_count(p, "ticks_per_unit", &rec->ticks_per_unit, e);
	if (r == 0 && rec->ticks_per_unit == 0) {
		rec->ticks_per_unit = 1;
	}
	return r;
}

/* What a comparison puts before the keys of a record. */
static int parse_place(struct boot_record *rec, const json_t *root, struct err *e)
{
	const char *arm = json_string_value(json_object_get(root, "arm"));
	uint64_t slot, group, block;
	int r = get_count(root, "slot", &slot, e);

	if (r == 0) {
		r = get_count(root, "group", &group, e);
	}
	if (r == 0) {
		r = get_count(root, "block", &block, e);
	}
	if (r < 0) {
		return r;
	}
	rec->slot = json_object_get(root, "slot") ? (int64_t)slot : BOOT_NO_SLOT;
	rec->group = (int64_t)group;
	rec->block = (int64_t)block;
	rec->arm = arm ? *arm : '\0';
	return 0;
}

static int parse_root(struct boot_record *rec, const json_t *root, const struct windows *w,
		      struct err *e)
{
	const json_t *outcome = json_object_get(root, "outcome");
	const json_t *version = json_object_get(root, "schema_version");
	const json_t *phases = json_object_get(root, "phases_ns");
	const char *type = json_string_value(json_object_get(root, "type"));
	uint64_t status;
	int r;

	if (!json_is_integer(version)) {
		return err_set(e, -EBADMSG, "no 'schema_version': this is no record of ringside");
	}
	if (!type || strcmp(type, "boot") != 0) {
		return err_set(e, -EBADMSG, "a record of type '%.32s', expected 'boot'",
			       type ? type : "");
	}
	if (json_integer_value(version) > RECORD_SCHEMA_VERSION) {
		return err_set(e, -EPROTO,
			       "schema version %" JSON_INTEGER_FORMAT " is newer than the %d this "
			       "ringside reads: use the one that wrote it",
			       json_integer_value(version), RECORD_SCHEMA_VERSION);
	}
	if (!json_is_object(outcome) || !json_is_integer(json_object_get(outcome, "status"))) {
		return err_set(e, -EBADMSG, "the record has no 'outcome' with a 'status'");
	}
	r = get_count(outcome, "status", &status, e);
	if (r < 0 || status > 255) {
		return err_set(e, -EBADMSG, "'status' is not a number from 0 to 255");
	}
	rec->status = (int64_t)status;
	r = get_count(phases, "user_mark", &rec->user_ns, e);
	if (r == 0) {
		r = get_count(phases, "exit", &rec->exit_ns, e);
	}
	if (r < 0) {
		return r;
	}
	rec->outcome_kind = copy_text(outcome, "kind");
	rec->outcome_text = copy_text(outcome, "text");
	rec->console_tail = join_lines(json_object_get(root, "console_tail"));
	rec->backtrace = join_lines(json_object_get(root, "backtrace"));
	if (!rec->outcome_kind || !rec->outcome_text || !rec->console_tail || !rec->backtrace) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	r = parse_place(rec, root, e);
	if (r == 0) {
		r = parse_provenance(rec, json_object_get(root, "provenance"), e);
	}
	return r < 0 ? r : parse_benches(rec, root, w, e);
}

/**
 * boot_record_parse() - read one boot's record
 * @line: one line of NDJSON
 * @len: its length, bytes
 * @ret: set on success; end it with boot_record_destroy()
 * @e: set on failure
 *
 * Return: 0, -EBADMSG for what is no record, -EPROTO for one of a newer schema, -ENOMEM.
 * Context: any thread.
 */
int boot_record_parse(const char *line, size_t len, struct boot_record **ret, struct err *e)
{
	_cleanup_(boot_record_destroy_p) struct boot_record *rec = calloc(1, sizeof(*rec));
	struct windows w;
	json_t *root;
	int r;

	if (!rec) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	r = windows_load(line, len, &root, &w, e);
	if (r < 0) {
		return r;
	}
	r = parse_root(rec, root, &w, e);
	json_decref(root);
	windows_fini(&w);
	if (r < 0) {
		return r;
	}
	*ret = TAKE_PTR(rec);
	return 0;
}

/**
 * boot_record_destroy() - free a record
 * @r: the record, or NULL, or one that is half built
 *
 * Context: any thread.
 */
void boot_record_destroy(struct boot_record *r)
{
	if (!r) {
		return;
	}
	for (size_t i = 0; i < r->bench_count; i++) {
		struct boot_bench *b = &r->benches[i];

		free(b->name);
		free(b->per_call);
		free(b->error);
		free(b->units);
		free(b->dirty);
		histogram_fini(&b->histogram);
	}
	free(r->benches);
	free(r->outcome_kind);
	free(r->outcome_text);
	free(r->console_tail);
	free(r->backtrace);
	free(r->ringside_version);
	free(r->kernel_sha256);
	free(r->kernel_version);
	free(r->host_name);
	free(r->host_cpu);
	free(r->host_kernel);
	free(r->host_clock);
	free(r->host_microcode);
	free(r->append);
	free(r->cpu_print);
	free(r->backend);
	free(r->qemu_version);
	free(r);
}

/**
 * boot_record_find() - a benchmark of a record
 * @r: the record
 * @name: the benchmark's name
 *
 * Return: it, owned by @r, or NULL.
 * Context: any thread.
 */
const struct boot_bench *boot_record_find(const struct boot_record *r, const char *name)
{
	for (size_t i = 0; i < r->bench_count; i++) {
		if (strcmp(r->benches[i].name, name) == 0) {
			return &r->benches[i];
		}
	}
	return NULL;
}
