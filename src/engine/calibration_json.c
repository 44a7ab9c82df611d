/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See calibration.h: the JSON. A file may come from anybody, so every shape, length and count is
 * checked; keys that are not known are passed over, so that it may grow within its schema version.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/io.h"
#include "engine/calibration.h"

#define TYPE           "calibration"
#define TYPE_REPLICATE "calibration.replicate"

static const char *const primitive_names[CALIBRATE_PRIMITIVE_COUNT] = {
#define ROW(id, name, ring, copies, loops, about) [CALIBRATE_##id] = name,
	CALIBRATE_PRIMITIVES(ROW)
#undef ROW
};

static json_t *number(double x)
{
	return isfinite(x) ? json_real(x) : json_null();
}

static json_t *text_or_null(const char *s)
{
	return s[0] ? json_string(s) : json_null();
}

static json_t *number_json(const struct calibration_number *n)
{
	if (!isfinite(n->median)) {
		return json_null();
	}
	return json_pack("{s:o, s:o, s:o, s:o}", "median", number(n->median), "low", number(n->low),
			 "high", number(n->high), "level", number(n->level));
}

static json_t *primitive_json(const struct calibration_primitive *p)
{
	return json_pack(
		"{s:s, s:s, s:i, s:b, s:s, s:s, s:o, s:o, s:o, s:o, s:I, s:I, s:I, s:o, s:o}",
		"name", p->name, "about", p->about, "ring", (int)p->ring, "native", p->native,
		"unit", p->unit, "class", exec_class_name(p->class), "median",
		number(p->number.median), "low", number(p->number.low), "high",
		number(p->number.high), "level", number(p->number.level), "n", (json_int_t)p->n,
		"batches", (json_int_t)p->batches, "dirty", (json_int_t)p->dirty, "core_cycles",
		number_json(&p->core_cycles), "reason", text_or_null(p->reason));
}

static json_t *floor_json(const struct calibration_floor *f)
{
	return json_pack("{s:s, s:s, s:o, s:o, s:o, s:I, s:s, s:o}", "id", f->id, "unit", f->unit,
			 "value", number(f->value), "low", number(f->low), "high", number(f->high),
			 "n", (json_int_t)f->n, "formula", f->formula, "reason",
			 text_or_null(f->reason));
}

/**
 * calibration_json() - a calibration as the object that is written
 * @c: a calibration
 *
 * Return: a new reference, or NULL when memory ran out.
 * Context: any thread.
 */
json_t *calibration_json(const struct calibration *c)
{
	json_t *list = json_array(), *floors = json_array();

	for (size_t i = 0; i < c->primitive_count; i++) {
		json_array_append_new(list, primitive_json(&c->primitives[i]));
	}
	for (size_t i = 0; i < c->floor_count; i++) {
		json_array_append_new(floors, floor_json(&c->floors[i]));
	}
	return json_pack("{s:i, s:s, s:s, s:s, s:I, s:s, s:{s:o, s:o}, s:I, s:o, s:o, s:o}",
			 "schema_version", CALIBRATION_SCHEMA_VERSION, "type", TYPE, "class",
			 exec_class_name(c->class), "unit", exec_class_unit(c->class),
			 "ticks_per_unit",
			 (json_int_t)exec_class_ticks_per_unit(c->class, c->icount_shift),
			 "ringside", RINGSIDE_VERSION, "host", "cpu", text_or_null(c->host_cpu),
			 "kernel", text_or_null(c->host_kernel), "replicates",
			 (json_int_t)c->replicates, "ticks_per_core_cycle",
			 number_json(&c->ticks_per_cycle), "primitives", list, "floors", floors);
}

/* What is being read, for messages: "FILE: primitives[3]". */
struct place {
	const char *source;
	const char *list; /* or NULL: the object itself */
	size_t index;
};

static int complain(const struct place *at, struct err *e, const char *key, const char *what)
{
	if (!at->list) {
		return err_set(e, -EBADMSG, "%s: '%s' %s", at->source, key, what);
	}
	return err_set(e, -EBADMSG, "%s: %s[%zu]: '%s' %s", at->source, at->list, at->index, key,
		       what);
}

static int get_text(const json_t *object, const char *key, bool may_be_null, char *ret, size_t len,
		    const struct place *at, struct err *e)
{
	const json_t *v = json_object_get(object, key);

	ret[0] = '\0';
	if (may_be_null && (!v || json_is_null(v))) {
		return 0;
	}
	if (!json_is_string(v)) {
		return complain(at, e, key, "is not a text");
	}
	if (json_string_length(v) >= len) {
		return complain(at, e, key, "is too long");
	}
	snprintf(ret, len, "%s", json_string_value(v));
	return 0;
}

/* Null and missing are 'none'. */
static int get_number(const json_t *object, const char *key, double none, double *ret,
		      const struct place *at, struct err *e)
{
	const json_t *v = json_object_get(object, key);

	*ret = none;
	if (!v || json_is_null(v)) {
		return 0;
	}
	if (!json_is_number(v) || !isfinite(json_number_value(v))) {
		return complain(at, e, key, "is not a number");
	}
	*ret = json_number_value(v);
	return 0;
}

static int get_count(const json_t *object, const char *key, uint64_t *ret, const struct place *at,
		     struct err *e)
{
	const json_t *v = json_object_get(object, key);

	*ret = 0;
	if (!v || json_is_null(v)) {
		return 0;
	}
	if (!json_is_integer(v) || json_integer_value(v) < 0) {
		return complain(at, e, key, "is not a whole number of 0 or more");
	}
	*ret = (uint64_t)json_integer_value(v);
	return 0;
}

static int get_class(const json_t *object, enum exec_class *ret, const struct place *at,
		     struct err *e)
{
	const char *name = json_string_value(json_object_get(object, "class"));

	if (!name || exec_class_parse(name, ret) < 0) {
		return complain(at, e, "class", "is no execution class");
	}
	return 0;
}

/* Ends that are null beside a median are infinite: too few replicates. */
static int get_interval(const json_t *object, double median, double *ret_low, double *ret_high,
			const struct place *at, struct err *e)
{
	int r = get_number(object, "low", isnan(median) ? NAN : -INFINITY, ret_low, at, e);

	return r < 0 ? r
		     : get_number(object, "high", isnan(median) ? NAN : INFINITY, ret_high, at, e);
}

static int get_estimate(const json_t *object, struct calibration_number *ret,
			const struct place *at, struct err *e)
{
	int r = get_number(object, "median", NAN, &ret->median, at, e);

	r = r < 0 ? r : get_number(object, "level", NAN, &ret->level, at, e);
	return r < 0 ? r : get_interval(object, ret->median, &ret->low, &ret->high, at, e);
}

static int read_primitive(const json_t *o, struct calibration_primitive *p, const struct place *at,
			  struct err *e)
{
	uint64_t ring = 0;
	int r = get_text(o, "name", false, p->name, sizeof(p->name), at, e);

	r = r < 0 ? r : get_text(o, "about", true, p->about, sizeof(p->about), at, e);
	r = r < 0 ? r : get_text(o, "unit", false, p->unit, sizeof(p->unit), at, e);
	r = r < 0 ? r : get_text(o, "reason", true, p->reason, sizeof(p->reason), at, e);
	r = r < 0 ? r : get_count(o, "ring", &ring, at, e);
	r = r < 0 ? r : get_class(o, &p->class, at, e);
	r = r < 0 ? r : get_estimate(o, &p->number, at, e);
	r = r < 0 ? r : get_estimate(json_object_get(o, "core_cycles"), &p->core_cycles, at, e);
	r = r < 0 ? r : get_count(o, "n", &p->n, at, e);
	r = r < 0 ? r : get_count(o, "batches", &p->batches, at, e);
	r = r < 0 ? r : get_count(o, "dirty", &p->dirty, at, e);
	if (r == 0 && ring > 3) {
		return complain(at, e, "ring", "is above 3");
	}
	p->ring = (unsigned int)ring;
	p->native = json_is_true(json_object_get(o, "native"));
	return r;
}

static int read_floor(const json_t *o, struct calibration_floor *f, const struct place *at,
		      struct err *e)
{
	int r = get_text(o, "id", false, f->id, sizeof(f->id), at, e);

	r = r < 0 ? r : get_text(o, "unit", false, f->unit, sizeof(f->unit), at, e);
	r = r < 0 ? r : get_text(o, "formula", false, f->formula, sizeof(f->formula), at, e);
	r = r < 0 ? r : get_text(o, "reason", true, f->reason, sizeof(f->reason), at, e);
	r = r < 0 ? r : get_number(o, "value", NAN, &f->value, at, e);
	r = r < 0 ? r : get_count(o, "n", &f->n, at, e);
	r = r < 0 ? r : get_interval(o, f->value, &f->low, &f->high, at, e);
	if (r == 0 && isnan(f->value) && !f->reason[0]) {
		return complain(at, e, "value", "is null, and no 'reason' says why");
	}
	return r;
}

static int get_list(const json_t *root, const char *key, size_t max, const json_t **ret,
		    const struct place *at, struct err *e)
{
	*ret = json_object_get(root, key);
	if (!json_is_array(*ret)) {
		return complain(at, e, key, "is not a list");
	}
	return json_array_size(*ret) > max ? complain(at, e, key, "is too long") : 0;
}

static int read_lists(const json_t *root, struct calibration *c, const char *source, struct err *e)
{
	struct place at = {source, NULL, 0};
	const json_t *list, *floors;
	int r = get_list(root, "primitives", CALIBRATION_PRIMITIVES_MAX, &list, &at, e);

	r = r < 0 ? r : get_list(root, "floors", CALIBRATION_FLOORS_MAX, &floors, &at, e);
	at.list = "primitives";
	for (at.index = 0; r == 0 && at.index < json_array_size(list); at.index++) {
		r = read_primitive(json_array_get(list, at.index), &c->primitives[at.index], &at,
				   e);
		c->primitive_count++;
	}
	if (r < 0) {
		return r;
	}
	at.list = "floors";
	for (at.index = 0; r == 0 && at.index < json_array_size(floors); at.index++) {
		r = read_floor(json_array_get(floors, at.index), &c->floors[at.index], &at, e);
		c->floor_count++;
	}
	return r;
}

static int read_root(const json_t *root, struct calibration *c, const char *source, struct err *e)
{
	const struct place at = {source, NULL, 0};
	const json_t *host = json_object_get(root, "host");
	const char *type = json_string_value(json_object_get(root, "type"));
	uint64_t version, ticks;
	int r;

	if (!type || strcmp(type, TYPE) != 0) {
		return complain(&at, e, "type", "is not \"" TYPE "\"");
	}
	r = get_count(root, "schema_version", &version, &at, e);
	if (r == 0 && version != CALIBRATION_SCHEMA_VERSION) {
		return err_set(e, -EBADMSG, "%s: schema version %llu, this ringside reads %d",
			       source, (unsigned long long)version, CALIBRATION_SCHEMA_VERSION);
	}
	r = r < 0 ? r : get_class(root, &c->class, &at, e);
	r = r < 0 ? r : get_count(root, "ticks_per_unit", &ticks, &at, e);
	r = r < 0 ? r : get_count(root, "replicates", &c->replicates, &at, e);
	r = r < 0 ? r : get_text(host, "cpu", true, c->host_cpu, sizeof(c->host_cpu), &at, e);
	r = r < 0 ? r
		  : get_text(host, "kernel", true, c->host_kernel, sizeof(c->host_kernel), &at, e);
	r = r < 0 ? r
		  : get_estimate(json_object_get(root, "ticks_per_core_cycle"), &c->ticks_per_cycle,
				 &at, e);
	if (r < 0) {
		return r;
	}
	while (c->class == EXEC_ICOUNT && c->icount_shift < EXEC_ICOUNT_SHIFT_MAX &&
	       exec_class_ticks_per_unit(c->class, c->icount_shift) < ticks) {
		c->icount_shift++;
	}
	return read_lists(root, c, source, e);
}

static json_t *parse(const char *text, size_t len, const char *source, struct err *e)
{
	json_error_t why;
	json_t *root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &why);

	if (!root) {
		err_set(e, -EBADMSG, "%s:%d:%d: %s", source, why.line, why.column, why.text);
	}
	return root;
}

/**
 * calibration_parse() - read what calibration_json() wrote
 * @text: JSON
 * @len: its bytes
 * @source: what messages call it: a file, "ringside calibrate"
 * @ret: set on success; the caller frees it
 * @e: set on failure
 *
 * Return: 0, -EBADMSG for what is no calibration, -ENOMEM.
 * Context: any thread.
 */
int calibration_parse(const char *text, size_t len, const char *source, struct calibration **ret,
		      struct err *e)
{
	_cleanup_free_ struct calibration *c = calloc(1, sizeof(*c));
	json_t *root;
	int r;

	if (!c) {
		return err_errno(e, -ENOMEM, "%s", source);
	}
	root = parse(text, len, source, e);
	if (!root) {
		return -EBADMSG;
	}
	r = read_root(root, c, source, e);
	json_decref(root);
	if (r < 0) {
		return r;
	}
	*ret = TAKE_PTR(c);
	return 0;
}

/**
 * calibration_read() - calibration_parse() of a file
 * @path: its path
 * @ret: set on success; the caller frees it
 * @e: set on failure
 *
 * Return: 0, -EBADMSG, -EFBIG, -ENOMEM, or the errno of open(2) or read(2).
 * Context: a thread that may block.
 */
int calibration_read(const char *path, struct calibration **ret, struct err *e)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r = io_read_file(path, CALIBRATION_FILE_MAX, &text, &len, e);

	return r < 0 ? r : calibration_parse(text, len, path, ret, e);
}

static json_t *point_json(const struct calibration_point *p)
{
	json_t *causes = json_object();

	for (int k = 0; k < DISTURBANCE_COUNT; k++) {
		json_object_set_new(causes, disturbance_name((enum disturbance)k),
				    json_integer((json_int_t)p->by_cause[k]));
	}
	return json_pack("{s:o, s:o, s:o, s:I, s:I, s:o, s:o}", "ticks",
			 number(p->measured ? p->ticks : NAN), "core_cycles",
			 number(p->core_cycles), "ticks_per_core_cycle", number(p->ticks_per_cycle),
			 "batches", (json_int_t)p->batches, "dirty", (json_int_t)p->dirty,
			 "dirty_by_cause", causes, "reason", text_or_null(p->reason));
}

/**
 * calibration_replicate_json() - what one process measured, for the one that started it
 * @r: a replicate
 *
 * Return: a new reference, or NULL when memory ran out.
 * Context: any thread.
 */
json_t *calibration_replicate_json(const struct calibration_replicate *r)
{
	json_t *points = json_object();

	for (unsigned int i = 0; i < CALIBRATE_PRIMITIVE_COUNT; i++) {
		json_object_set_new(points, primitive_names[i], point_json(&r->points[i]));
	}
	return json_pack("{s:i, s:s, s:o}", "schema_version", CALIBRATION_SCHEMA_VERSION, "type",
			 TYPE_REPLICATE, "points", points);
}

static int read_point(const json_t *o, struct calibration_point *p, const struct place *at,
		      struct err *e)
{
	const json_t *causes = json_object_get(o, "dirty_by_cause");
	int r = get_number(o, "ticks", NAN, &p->ticks, at, e);

	r = r < 0 ? r : get_number(o, "core_cycles", NAN, &p->core_cycles, at, e);
	r = r < 0 ? r : get_number(o, "ticks_per_core_cycle", NAN, &p->ticks_per_cycle, at, e);
	r = r < 0 ? r : get_count(o, "batches", &p->batches, at, e);
	r = r < 0 ? r : get_count(o, "dirty", &p->dirty, at, e);
	r = r < 0 ? r : get_text(o, "reason", true, p->reason, sizeof(p->reason), at, e);
	for (int k = 0; k < DISTURBANCE_COUNT && r == 0; k++) {
		r = get_count(causes, disturbance_name((enum disturbance)k), &p->by_cause[k], at,
			      e);
	}
	p->measured = isfinite(p->ticks);
	if (r == 0 && !p->measured && !p->reason[0]) {
		return complain(at, e, "ticks", "is null, and no 'reason' says why");
	}
	return r;
}

/**
 * calibration_replicate_parse() - read what calibration_replicate_json() wrote
 * @text: JSON
 * @len: its bytes
 * @ret: set on success
 * @e: set on failure
 *
 * Return: 0, -EBADMSG for what is no replicate or lacks a primitive.
 * Context: any thread.
 */
int calibration_replicate_parse(const char *text, size_t len, struct calibration_replicate *ret,
				struct err *e)
{
	struct place at = {"replicate", NULL, 0};
	struct calibration_replicate rep = {0};
	json_t *root = parse(text, len, at.source, e);
	const json_t *points = json_object_get(root, "points");
	int r = 0;

	if (!root) {
		return -EBADMSG;
	}
	for (unsigned int i = 0; i < CALIBRATE_PRIMITIVE_COUNT && r == 0; i++) {
		const json_t *o = json_object_get(points, primitive_names[i]);

		at.source = primitive_names[i];
		r = json_is_object(o) ? read_point(o, &rep.points[i], &at, e)
				      : complain(&at, e, primitive_names[i], "is missing");
	}
	json_decref(root);
	if (r == 0) {
		*ret = rep;
	}
	return r;
}
