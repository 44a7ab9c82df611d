/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See filter.h. Any thread. */
#include "report/filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/report_priv.h"

struct report_part {
	struct report_set set;
	struct report *reports;   /* copies, whose rows are copies too */
	struct report **pointers; /* to them: those of the set, then those of its matrix */
	size_t count;             /* of both */
	const struct report_filter *filter; /* while it is made */
	/* The list of groups, or of arms, is one name, with its commas as they are. */
	bool whole_group, whole_arm;
	char shown[ERR_TEXT_MAX]; /* that it is a part, and of what */
};

/* Whether a row is what an item asks for: "ctxsw.pipe" is "ctxsw.pipe.fs" and its probes too. */
static bool is_row(const char *name, const char *item, size_t len)
{
	const char *at = strchr(name, '@');

	return (strncmp(name, item, len) == 0 &&
		(name[len] == '\0' || name[len] == '.' || name[len] == '@')) ||
	       (at && is_row(at + 1, item, len));
}

/* Whether a group or an arm has an item's name, in which a comma and a backslash are written as in
 * an arm. */
static bool is_name(const char *name, const char *item, size_t len)
{
	const char *end = item + len;

	for (; name && *name && item < end; name++, item++) {
		if (*item == '\\' && item + 1 < end && (item[1] == ',' || item[1] == '\\')) {
			item++;
		}
		if (*item != *name) {
			return false;
		}
	}
	return name && !*name && item == end;
}

/* The length of a list's first item. */
static size_t item_len(const char *list)
{
	size_t len = 0;

	while (list[len] && list[len] != ',') {
		len += list[len] == '\\' && (list[len + 1] == ',' || list[len + 1] == '\\') ? 2 : 1;
	}
	return len;
}

/* Whether one of a list's items names it; NULL names everything. */
static bool in_list(const char *list, const char *name,
		    bool (*is)(const char *name, const char *item, size_t len))
{
	if (!list) {
		return true;
	}
	for (;;) {
		size_t len = item_len(list);

		if (is(name, list, len)) {
			return true;
		}
		if (!list[len]) {
			return false;
		}
		list += len + 1;
	}
}

/* Whether a name is the whole list, with its commas as they are. */
static bool is_whole(const char *list, const char *name)
{
	return list && name && strcmp(list, name) == 0;
}

/* What a list may name. */
enum list_kind { LIST_BENCHES, LIST_GROUPS, LIST_ARMS };

static bool names_whole(const struct report_set *s, const char *list, enum list_kind kind)
{
	for (size_t i = 0; i < s->n_reports; i++) {
		const struct report *r = s->reports[i];

		if (kind == LIST_GROUPS ? is_whole(list, r->group)
					: is_whole(list, r->arms[STATS_A].label) ||
						  is_whole(list, r->arms[STATS_B].label)) {
			return true;
		}
	}
	return false;
}

static bool has_name(const char *list, bool whole, const char *name)
{
	return whole ? is_whole(list, name) : in_list(list, name, is_name);
}

/* A comparison is shown where one of its two arms is asked for. */
static bool is_shown(const struct report_part *p, const struct report *r, const char *row)
{
	const struct report_filter *f = p->filter;

	return has_name(f->groups, p->whole_group, r->group) &&
	       (has_name(f->arms, p->whole_arm, r->arms[STATS_A].label) ||
		has_name(f->arms, p->whole_arm, r->arms[STATS_B].label)) &&
	       in_list(f->benches, row, is_row);
}

/* Whether a comparison has what an item asks for. */
static bool is_there(const struct report *r, enum list_kind kind, const char *item, size_t len)
{
	bool found = false;

	switch (kind) {
	case LIST_GROUPS:
		return is_name(r->group, item, len);
	case LIST_ARMS:
		return is_name(r->arms[STATS_A].label, item, len) ||
		       is_name(r->arms[STATS_B].label, item, len);
	case LIST_BENCHES:
		break;
	}
	for (size_t k = 0; k < r->n_benches; k++) {
		found |= is_row(r->benches[k].name, item, len);
	}
	return found;
}

/* An item that names nothing is a mistake, and must not look like a clean result. */
static int check_list(const struct report_set *s, const char *list, enum list_kind kind,
		      struct err *e)
{
	static const char *const options[] = {"--bench", "--group", "--arm"};
	size_t len;

	for (const char *item = list; item; item = item[len] ? item + len + 1 : NULL) {
		bool found = false;

		len = item_len(item);
		for (size_t i = 0; i < s->n_reports; i++) {
			found |= is_there(s->reports[i], kind, item, len);
		}
		if (!found) {
			return err_set(e, -EINVAL, "%s: there is no '%.*s' in these results%s",
				       options[kind], (int)len, item,
				       kind != LIST_BENCHES && strchr(list, ',')
					       ? " (a comma inside a name is written '\\,')"
					       : "");
		}
	}
	return 0;
}

static int copy_rows(struct report *to, const struct report *from, const struct report_part *p)
{
	*to = *from;
	to->n_benches = 0;
	to->benches = calloc(from->n_benches + 1, sizeof(*to->benches));
	if (!to->benches) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < from->n_benches; i++) {
		if (is_shown(p, from, from->benches[i].name)) {
			to->benches[to->n_benches++] = from->benches[i];
		}
	}
	return 0;
}

/* Copies those of a list that have a row; @ret_n says how many that are. */
static int copy_reports(struct report_part *p, struct report *const *from, size_t n, size_t *ret_n)
{
	for (size_t i = 0; i < n; i++) {
		/* Counted at once, so that it is freed. */
		struct report *to = &p->reports[p->count];

		p->pointers[p->count++] = to;
		if (copy_rows(to, from[i], p) < 0) {
			return -ENOMEM;
		}
		to->filtered = p->shown;
		*ret_n += to->n_benches > 0;
		if (to->n_benches == 0) {
			free(to->benches);
			p->count--;
		}
	}
	return 0;
}

static int copy_set(struct report_part *p, const struct report_set *s)
{
	p->set = *s;
	p->set.n_reports = p->set.n_matrix = p->set.n_claims = 0;
	p->reports = calloc(s->n_reports + s->n_matrix, sizeof(*p->reports));
	p->pointers = calloc(s->n_reports + s->n_matrix, sizeof(*p->pointers));
	p->set.claims = calloc(s->n_claims + 1, sizeof(*p->set.claims));
	if (!p->reports || !p->pointers || !p->set.claims ||
	    copy_reports(p, s->reports, s->n_reports, &p->set.n_reports) < 0 ||
	    copy_reports(p, s->matrix, s->n_matrix, &p->set.n_matrix) < 0) {
		return -ENOMEM;
	}
	p->set.reports = p->pointers;
	p->set.matrix = p->pointers + p->set.n_reports;
	for (size_t i = 0; i < s->n_claims; i++) {
		if (is_shown(p, s->claims[i].report, s->claims[i].claim->bench)) {
			p->set.claims[p->set.n_claims++] = s->claims[i];
		}
	}
	return 0;
}

static size_t count_rows(const struct report_set *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_reports; i++) {
		n += s->reports[i]->n_benches;
	}
	return n;
}

/**
 * report_part_create() - choose what is to be shown of a set
 * @s: computed; must outlive the part
 * @f: what is chosen
 * @ret: set on success; end it with report_part_destroy()
 * @e: set on failure
 *
 * Return: 0; -EINVAL where a list names what is not there, or nothing is left; -ENOMEM.
 * Context: any thread.
 */
int report_part_create(const struct report_set *s, const struct report_filter *f,
		       struct report_part **ret, struct err *e)
{
	_cleanup_(report_part_destroy_p) struct report_part *p = calloc(1, sizeof(*p));
	size_t shown, all = count_rows(s);
	bool whole_group = names_whole(s, f->groups, LIST_GROUPS);
	bool whole_arm = names_whole(s, f->arms, LIST_ARMS);
	int r = check_list(s, f->benches, LIST_BENCHES, e);

	if (r == 0 && !whole_group) {
		r = check_list(s, f->groups, LIST_GROUPS, e);
	}
	if (r == 0 && !whole_arm) {
		r = check_list(s, f->arms, LIST_ARMS, e);
	}
	if (r < 0) {
		return r;
	}
	if (p) {
		p->filter = f;
		p->whole_group = whole_group;
		p->whole_arm = whole_arm;
	}
	if (!p || copy_set(p, s) < 0) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	shown = count_rows(&p->set);
	if (shown == 0) {
		return err_set(e, -EINVAL,
			       "--bench, --group and --arm together leave no row to show");
	}
	snprintf(p->shown, sizeof(p->shown),
		 "%zu of %zu rows%s%.150s%s%.150s%s%.150s; p-values, and the exit status, are of "
		 "all",
		 shown, all, f->benches ? ", --bench " : "", f->benches ? f->benches : "",
		 f->groups ? ", --group " : "", f->groups ? f->groups : "",
		 f->arms ? ", --arm " : "", f->arms ? f->arms : "");
	p->filter = NULL;
	*ret = TAKE_PTR(p);
	return 0;
}

/**
 * report_part_set() - the part as a set that can be shown
 * @p: the part
 *
 * Return: it, valid until report_part_destroy(); each of its reports says that it is a part.
 * Context: any thread.
 */
const struct report_set *report_part_set(const struct report_part *p)
{
	return &p->set;
}

/**
 * report_part_destroy() - free a part
 * @p: the part, or NULL, or one that is half built
 *
 * Context: any thread.
 */
void report_part_destroy(struct report_part *p)
{
	if (!p) {
		return;
	}
	for (size_t i = 0; p->reports && i < p->count; i++) {
		free(p->reports[i].benches);
	}
	free(p->reports);
	free(p->pointers);
	free(p->set.claims);
	free(p);
}

/**
 * report_put_shown() - that a report is a part, where it is one
 * @out: where to
 * @r: the report
 *
 * Context: any thread that owns @out.
 */
void report_put_shown(FILE *out, const struct report *r)
{
	if (r->filtered) {
		report_line(out, "shown", r->filtered);
	}
}
