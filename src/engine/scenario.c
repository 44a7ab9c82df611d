/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See scenario.h. Main thread, before anything is started. */
#include "engine/scenario.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "engine/calibration.h"
#include "engine/ymap.h"
#include "samples/class.h"

/* The file as it is read, under the tables below. */

struct file_arm {
	struct ymap_pos pos;
	struct ymap_text name, arm;
};

struct file_claim {
	struct ymap_pos pos;
	struct ymap_text text, source, hardware, unit, of, arm, bench, against, floor, no_floor,
		note;
	struct ymap_number from, to, change, change_to, percent, percent_to;
};

struct file_margin {
	struct ymap_pos pos;
	struct ymap_text margin;
	struct ymap_list benches;
};

struct file_group {
	struct ymap_pos pos;
	struct ymap_text name, margin;
	struct ymap_uint blocks;
	struct ymap_list benches, arms, claims, margins;
};

struct file {
	struct ymap_pos pos;
	struct ymap_text title, backend, margin, runner, aa, matrix;
	struct ymap_uint icount, batches, blocks, seed;
	struct ymap_number timeout;
	struct ymap_list include, groups;
};

#define ANY                  1e300

#define MEMBER(type, member) .key = #member, .at = offsetof(type, member)

static const struct ymap_field arm_fields[] = {
	{MEMBER(struct file_arm, name), .type = YMAP_TEXT},
	{MEMBER(struct file_arm, arm), .type = YMAP_TEXT, .required = true},
};

static const struct ymap arm_map = {"arm", sizeof(struct file_arm), arm_fields,
				    ARRAY_SIZE(arm_fields)};

#define CLAIM_TEXT(member, must)                                                       \
	{                                                                              \
		MEMBER(struct file_claim, member), .type = YMAP_TEXT, .required = must \
	}
#define CLAIM_NUMBER(member)                                                                    \
	{                                                                                       \
		MEMBER(struct file_claim, member), .type = YMAP_NUMBER, .min = -ANY, .max = ANY \
	}

static const struct ymap_field claim_fields[] = {
	CLAIM_TEXT(text, true),      CLAIM_TEXT(source, true),   CLAIM_TEXT(hardware, true),
	CLAIM_NUMBER(from),          CLAIM_NUMBER(to),           CLAIM_NUMBER(change),
	CLAIM_NUMBER(change_to),     CLAIM_NUMBER(percent),      CLAIM_NUMBER(percent_to),
	CLAIM_TEXT(unit, false),     CLAIM_TEXT(of, false),      CLAIM_TEXT(arm, true),
	CLAIM_TEXT(bench, true),     CLAIM_TEXT(against, false), CLAIM_TEXT(floor, false),
	CLAIM_TEXT(no_floor, false), CLAIM_TEXT(note, false),
};

static const struct ymap claim_map = {"claim", sizeof(struct file_claim), claim_fields,
				      ARRAY_SIZE(claim_fields)};

static const struct ymap_field margin_fields[] = {
	{MEMBER(struct file_margin, benches), .type = YMAP_TEXTS, .required = true, .min = 1,
	 .max = BENCHMARKS_MAX},
	{MEMBER(struct file_margin, margin), .type = YMAP_TEXT, .required = true},
};

static const struct ymap margin_map = {"margin", sizeof(struct file_margin), margin_fields,
				       ARRAY_SIZE(margin_fields)};

static const struct ymap_field group_fields[] = {
	{MEMBER(struct file_group, name), .type = YMAP_TEXT},
	{MEMBER(struct file_group, blocks), .type = YMAP_UINT, .min = 1,
	 .max = SCHEDULE_BLOCKS_MAX},
	{MEMBER(struct file_group, benches), .type = YMAP_TEXTS, .required = true, .min = 1,
	 .max = BENCHMARKS_MAX},
	{MEMBER(struct file_group, arms), .type = YMAP_MAPS, .required = true, .min = 2,
	 .max = SCHEDULE_ARMS_MAX, .map = &arm_map},
	{MEMBER(struct file_group, claims), .type = YMAP_MAPS, .max = PLAN_CLAIMS_MAX,
	 .map = &claim_map},
	{MEMBER(struct file_group, margin), .type = YMAP_TEXT},
	{MEMBER(struct file_group, margins), .type = YMAP_MAPS, .min = 1,
	 .max = PLAN_MARGINS_MAX - 1, .map = &margin_map},
};

static const struct ymap group_map = {"group", sizeof(struct file_group), group_fields,
				      ARRAY_SIZE(group_fields)};

static const struct ymap_field file_fields[] = {
	{MEMBER(struct file, title), .type = YMAP_TEXT},
	{MEMBER(struct file, backend), .type = YMAP_TEXT, .choices = "auto|kvm|qemu"},
	{MEMBER(struct file, icount), .type = YMAP_UINT, .max = EXEC_ICOUNT_SHIFT_MAX},
	{MEMBER(struct file, batches), .type = YMAP_UINT, .min = 1, .max = PLAN_BATCHES_MAX},
	{MEMBER(struct file, blocks), .type = YMAP_UINT, .min = 1, .max = SCHEDULE_BLOCKS_MAX},
	{MEMBER(struct file, seed), .type = YMAP_UINT, .max = 1e15},
	{MEMBER(struct file, timeout), .type = YMAP_NUMBER, .min = 1, .max = 86400},
	{MEMBER(struct file, runner), .type = YMAP_TEXT},
	{MEMBER(struct file, aa), .type = YMAP_TEXT, .choices = "no|yes"},
	{MEMBER(struct file, matrix), .type = YMAP_TEXT, .choices = "no|yes"},
	{MEMBER(struct file, margin), .type = YMAP_TEXT},
	{MEMBER(struct file, include), .type = YMAP_TEXTS, .min = 1, .max = SCENARIO_INCLUDES_MAX},
	{MEMBER(struct file, groups), .type = YMAP_MAPS, .min = 1, .max = SCHEDULE_GROUPS_MAX,
	 .map = &group_map},
};

static const struct ymap file_map = {"scenario", sizeof(struct file), file_fields,
				     ARRAY_SIZE(file_fields)};

/* One file that is turned into groups. */
struct reading {
	const char *path;
	struct scenario *to;
	unsigned int blocks;            /* of groups that do not say; 0: left open */
	const struct ymap_text *margin; /* the same, not given: left open */
	bool plain; /* one comparison of two arms and nothing else: it needs no names */
	struct err *e;
};

__printf(3, 4) static int fail(const struct reading *r, struct ymap_pos pos, const char *fmt, ...)
{
	va_list ap;
	int code;

	va_start(ap, fmt);
	code = ymap_fail(r->path, pos, r->e, fmt, ap);
	va_end(ap);
	return code;
}

static int no_memory(const struct reading *r)
{
	return err_set(r->e, -ENOMEM, "out of memory");
}

static int find_arm(const struct plan_group *g, const char *name)
{
	for (size_t i = 0; i < g->arm_count; i++) {
		if (g->arms[i].name && strcmp(g->arms[i].name, name) == 0) {
			return (int)i;
		}
	}
	return -1;
}

/* A group's name for messages. */
static const char *name_of(const struct plan_group *g)
{
	return g->name ? g->name : "";
}

static int take_arm(const struct reading *r, struct file_arm *f, struct plan_group *g)
{
	struct plan_arm *arm = &g->arms[g->arm_count];
	char where[PATH_MAX + 64];
	int code;

	if (f->name.s && find_arm(g, f->name.s) >= 0) {
		return fail(r, f->name.pos, "group '%s' has two arms of the name '%s'", name_of(g),
			    f->name.s);
	}
	snprintf(where, sizeof(where), "%s:%u:%u: arm", r->path, f->arm.pos.line,
		 f->arm.pos.column);
	code = arm_parse(where, f->arm.s, &arm->arm, r->e);
	if (code == 0) {
		arm->name = TAKE_PTR(f->name.s);
		g->arm_count++;
	}
	return code;
}

/* A comparison of an arm with itself has nothing else in its arms, whatever their names. */
static int check_aa(const struct reading *r, const struct file_arm *last,
		    const struct plan_group *g)
{
	_cleanup_free_ char *first = arm_text(&g->arms[ARM_A].arm);
	_cleanup_free_ char *text = arm_text(&g->arms[g->arm_count - 1].arm);

	if (!first || !text) {
		return no_memory(r);
	}
	if (r->to->aa && strcmp(first, text) != 0) {
		return fail(r, last->arm.pos,
			    "arm: 'aa: yes' compares an arm with itself, and this is not the "
			    "first arm of group '%s'",
			    name_of(g));
	}
	return 0;
}

static int take_benches(const struct reading *r, const struct ymap_list *list, benchmark_set *to)
{
	const struct ymap_text *texts = list->items;

	for (size_t i = 0; i < list->n; i++) {
		benchmark_set set;
		int code = benchmarks_parse(texts[i].s, &set, r->e);

		if (code < 0) {
			err_prefix(r->e, "%s:%u:%u: benches", r->path, texts[i].pos.line,
				   texts[i].pos.column);
			return code;
		}
		*to |= set;
	}
	return 0;
}

/* A row that a claim names must come about: its benchmark is one of the group. */
static int check_row(const struct reading *r, const char *key, const struct ymap_text *row,
		     const struct plan_group *g)
{
	const char *at = strchr(row->s, '@');
	const char *name = at ? at + 1 : row->s;

	for (size_t i = 0; i < benchmark_count(); i++) {
		if (benchmark_in(g->benches, i) && strcmp(benchmark_name(i), name) == 0) {
			return 0;
		}
	}
	return fail(r, row->pos, "claim: '%s': group '%s' does not run the benchmark '%s'", key,
		    name_of(g), name);
}

static double number_or(const struct ymap_number *n, double otherwise)
{
	return n->given ? n->v : otherwise;
}

/* What a claim says must be complete: an end without a beginning, a percentage of nothing. */
static int check_numbers(const struct reading *r, const struct file_claim *f)
{
	const struct {
		const struct ymap_number *has;
		bool needed;
		const char *key, *needs;
	} rules[] = {
		{&f->from, f->to.given, "from", "'to'"},
		{&f->from, f->of.s, "from", "'of' (what it was before)"},
		{&f->from, f->unit.s, "from", "'unit'"},
		{&f->to, f->from.given, "to", "'from'"},
		{&f->change_to, f->change.given, "change_to", "'change'"},
		{&f->percent_to, f->percent.given, "percent_to", "'percent'"},
		{&f->percent, f->of.s, "percent", "'of' (a percentage says of what)"},
		{&f->change, f->unit.s, "change", "'unit'"},
	};
	char needs[80] = "";
	size_t len = 0, first = 0;

	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		if (rules[i].has->given && !rules[i].needed &&
		    (len == 0 || rules[i].has == rules[first].has)) {
			first = len ? first : i;
			len += (size_t)snprintf(needs + len, sizeof(needs) - len, "%s%s",
						len ? " and " : "", rules[i].needs);
		}
	}
	if (len > 0) {
		return fail(r, rules[first].has->pos, "claim: '%s' needs %s", rules[first].key,
			    needs);
	}
	if (f->from.given && f->from.v == 0) {
		return fail(r, f->from.pos, "claim: 'from' is 0: there is no percentage of it");
	}
	if (f->percent.given && f->change.given) {
		return fail(r, f->percent.pos,
			    "claim: 'percent' beside 'change': these are two claims, of which "
			    "each can be right without the other; give one");
	}
	return 0;
}

static int check_floor(const struct reading *r, const struct file_claim *f)
{
	int code = f->floor.s ? calibration_check_floor(f->floor.s, r->e) : 0;

	if (f->floor.s && f->no_floor.s) {
		return fail(r, f->no_floor.pos,
			    "claim: 'no_floor' says why there is no 'floor': give one of them");
	}
	if (code < 0) {
		err_prefix(r->e, "%s:%u:%u: claim: 'floor'", r->path, f->floor.pos.line,
			   f->floor.pos.column);
	}
	return code;
}

static int take_claim(const struct reading *r, struct file_claim *f, struct plan_group *g)
{
	struct claim *c = &g->claims[g->claim_count];
	int arm = find_arm(g, f->arm.s);
	int code;

	if (arm < 0) {
		return fail(r, f->arm.pos, "claim: 'arm': group '%s' has no arm '%s'", name_of(g),
			    f->arm.s);
	}
	if (arm == ARM_A && !f->against.s) {
		return fail(r, f->arm.pos,
			    "claim: 'arm': '%s' is the first arm of its group: what the others "
			    "are compared with",
			    f->arm.s);
	}
	code = check_row(r, "bench", &f->bench, g);
	if (code == 0 && f->against.s) {
		code = check_row(r, "against", &f->against, g);
	}
	if (code == 0) {
		code = check_numbers(r, f);
	}
	if (code == 0) {
		code = check_floor(r, f);
	}
	if (code < 0) {
		return code;
	}
	claim_init(c);
	c->text = TAKE_PTR(f->text.s);
	c->source = TAKE_PTR(f->source.s);
	c->hardware = TAKE_PTR(f->hardware.s);
	c->unit = TAKE_PTR(f->unit.s);
	c->of = TAKE_PTR(f->of.s);
	c->bench = TAKE_PTR(f->bench.s);
	c->against = TAKE_PTR(f->against.s);
	c->floor = TAKE_PTR(f->floor.s);
	c->no_floor = TAKE_PTR(f->no_floor.s);
	c->note = TAKE_PTR(f->note.s);
	c->arm = (unsigned int)arm;
	c->from = number_or(&f->from, NAN);
	c->to = number_or(&f->to, NAN);
	c->change_low = number_or(&f->change, NAN);
	c->change_high = number_or(&f->change_to, c->change_low);
	c->percent_low = number_or(&f->percent, NAN);
	c->percent_high = number_or(&f->percent_to, c->percent_low);
	g->claim_count++;
	return 0;
}

static int take_margin(const struct reading *r, const struct ymap_text *text, struct plan_group *g)
{
	int code = margin_parse(text->s, &g->margins[g->margin_count], r->e);

	if (code < 0) {
		err_prefix(r->e, "%s:%u:%u: 'margin'", r->path, text->pos.line, text->pos.column);
		return code;
	}
	g->margin_count++;
	return 0;
}

/* Of the file, of the group, and of its benchmarks: each counts instead of the one before. */
static int take_margins(const struct reading *r, const struct file_group *f, struct plan_group *g)
{
	const struct ymap_text *own = f->margin.s ? &f->margin : r->margin;
	const struct file_margin *list = f->margins.items;
	int code = 0;

	if (!own->s && f->margins.n == 0) {
		return 0;
	}
	g->margins = calloc(f->margins.n + 1, sizeof(*g->margins));
	if (!g->margins) {
		return no_memory(r);
	}
	if (own->s) {
		code = take_margin(r, own, g);
	}
	for (size_t i = 0; code == 0 && i < f->margins.n; i++) {
		benchmark_set set = 0;

		code = take_margin(r, &list[i].margin, g);
		if (code == 0) {
			code = take_benches(r, &list[i].benches, &set);
			g->margins[g->margin_count - 1].benches = set;
		}
		if (code == 0 && (set & ~g->benches)) {
			code = fail(r, list[i].benches.pos,
				    "'margins': group '%s' does not run all of these benchmarks",
				    name_of(g));
		}
	}
	return code;
}

static int take_group(const struct reading *r, struct file_group *f)
{
	struct plan_group *g = &r->to->groups[r->to->group_count];
	struct file_arm *arms = f->arms.items;
	struct file_claim *claims = f->claims.items;
	int code;

	if (!f->name.s && !r->plain) {
		return fail(r, f->pos,
			    "group: 'name' is missing: a file of one group of two arms and "
			    "no title does without");
	}
	for (size_t i = 0; i < r->to->group_count; i++) {
		if (strcmp(r->to->groups[i].name, f->name.s) == 0) {
			return fail(r, f->name.pos, "there are two groups of the name '%s'",
				    f->name.s);
		}
	}
	r->to->group_count++;
	g->name = TAKE_PTR(f->name.s);
	g->blocks = f->blocks.given ? (unsigned int)f->blocks.v : r->blocks;
	g->arms = calloc(f->arms.n, sizeof(*g->arms));
	g->claims = calloc(f->claims.n + 1, sizeof(*g->claims));
	if (!g->arms || !g->claims) {
		return no_memory(r);
	}
	code = take_benches(r, &f->benches, &g->benches);
	for (size_t i = 0; code == 0 && i < f->arms.n; i++) {
		code = take_arm(r, &arms[i], g);
		if (code == 0) {
			code = check_aa(r, &arms[i], g);
		}
	}
	for (size_t i = 0; code == 0 && i < f->claims.n; i++) {
		code = take_claim(r, &claims[i], g);
	}
	return code < 0 ? code : take_margins(r, f, g);
}

static int take_groups(const struct reading *r, struct file *f)
{
	struct file_group *groups = f->groups.items;
	size_t n = r->to->group_count + f->groups.n;
	struct plan_group *more = realloc(r->to->groups, (n + 1) * sizeof(*more));
	int code = 0;

	if (!more) {
		return no_memory(r);
	}
	memset(more + r->to->group_count, 0, (f->groups.n + 1) * sizeof(*more));
	r->to->groups = more;
	if (n > SCHEDULE_GROUPS_MAX) {
		return fail(r, f->groups.pos, "%zu groups in all: at most %u are taken", n,
			    SCHEDULE_GROUPS_MAX);
	}
	for (size_t i = 0; code == 0 && i < f->groups.n; i++) {
		code = take_group(r, &groups[i]);
	}
	return code;
}

/* The groups of another file, which is named from the folder of this one. */
static int take_include(const struct reading *r, const struct ymap_text *name)
{
	const char *slash = strrchr(r->path, '/');
	char path[PATH_MAX];
	struct reading inner = *r;
	struct file f = {0};
	int n = *name->s == '/' || !slash ? snprintf(path, sizeof(path), "%s", name->s)
					  : snprintf(path, sizeof(path), "%.*s/%s",
						     (int)(slash - r->path), r->path, name->s);
	int code;

	inner.path = path;
	inner.plain = false;
	if (n >= (int)sizeof(path)) {
		return fail(r, name->pos, "'include': the path is too long");
	}
	/* No more than the list's own limit. */
	r->to->includes[r->to->include_count] = strdup(path);
	code = r->to->includes[r->to->include_count++] ? ymap_read(path, &file_map, &f, r->e)
						       : err_set(r->e, -ENOMEM, "out of memory");
	if (code < 0) {
		err_prefix(r->e, "%s:%u:%u: 'include'", r->path, name->pos.line, name->pos.column);
	} else if (f.include.n > 0) {
		code = fail(&inner, f.include.pos,
			    "'include' in a file that is itself included (by %s)", r->path);
	} else {
		inner.blocks = r->blocks ? r->blocks : (unsigned int)f.blocks.v;
		inner.margin = r->margin->s ? r->margin : &f.margin;
		code = take_groups(&inner, &f);
	}
	ymap_fini(&file_map, &f);
	return code;
}

static int take_file(const struct reading *r, struct file *f)
{
	const struct ymap_text *includes = f->include.items;
	struct scenario *s = r->to;
	int code = 0;

	if (!f->title.s && !r->plain) {
		return fail(r, f->pos,
			    "scenario: 'title' is missing: a file of one group of two arms "
			    "does without");
	}
	s->title = TAKE_PTR(f->title.s);
	s->backend = TAKE_PTR(f->backend.s);
	s->runner = TAKE_PTR(f->runner.s);
	s->matrix = f->matrix.s && strcmp(f->matrix.s, "yes") == 0;
	s->aa = f->aa.s && strcmp(f->aa.s, "yes") == 0;
	s->has_icount = f->icount.given;
	s->icount = f->icount.v;
	s->has_batches = f->batches.given;
	s->batches = f->batches.v;
	s->has_seed = f->seed.given;
	s->seed = f->seed.v;
	s->has_timeout = f->timeout.given;
	s->timeout_ns = (uint64_t)llround(f->timeout.v * (double)NS_PER_SEC);
	if (s->has_icount && s->backend && strcmp(s->backend, "kvm") == 0) {
		return fail(r, f->icount.pos, "'icount' is QEMU's, and 'backend' is kvm");
	}
	for (size_t i = 0; code == 0 && i < f->include.n; i++) {
		code = take_include(r, &includes[i]);
	}
	if (code == 0) {
		code = take_groups(r, f);
	}
	if (code == 0 && s->group_count == 0) {
		code = fail(r, f->pos, "scenario: there are no 'groups' in it, and no 'include'");
	}
	return code;
}

static bool is_plain(const struct file *f)
{
	const struct file_group *groups = f->groups.items;

	return !f->title.s && f->include.n == 0 && f->groups.n == 1 && groups[0].arms.n == 2;
}

/**
 * scenario_read() - read a scenario and the files that it includes
 * @path: the file
 * @ret: set on success; end it with scenario_fini()
 * @e: set on failure, with file, line and column
 *
 * Return: 0; -EINVAL for what is wrong in a file; -ENOMEM; the errno of opening or reading one.
 * Context: main thread.
 */
int scenario_read(const char *path, struct scenario *ret, struct err *e)
{
	struct scenario s = {0};
	struct reading r = {.path = path, .to = &s, .e = e};
	struct file f = {0};
	int code = ymap_read(path, &file_map, &f, e);

	if (code == 0) {
		r.blocks = (unsigned int)f.blocks.v;
		r.margin = &f.margin;
		r.plain = is_plain(&f);
		code = take_file(&r, &f);
	}
	ymap_fini(&file_map, &f);
	if (code < 0) {
		scenario_fini(&s);
		return code;
	}
	*ret = s;
	return 0;
}

/**
 * scenario_fini() - free what a scenario holds
 * @s: the scenario; all zero or half built is fine
 *
 * Context: any thread.
 */
void scenario_fini(struct scenario *s)
{
	struct plan groups = {.group_count = s->group_count, .groups = s->groups};

	plan_fini(&groups);
	free(s->title);
	free(s->backend);
	free(s->runner);
	for (size_t i = 0; i < s->include_count; i++) {
		free(s->includes[i]);
	}
	*s = (struct scenario){0};
}
