/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See ktap.h. A document is known by what stands before its version line: nothing, spaces, or the
 * "# " that kselftest's runner puts before a test's own output. A line belongs to the innermost
 * open document with whose prefix it begins; one that only an outer document can claim ends the
 * inner ones. Pure; any thread, one at a time for each parser.
 */
#include "engine/ktap_priv.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "engine/console_watch.h"

#define NO_PLAN      UINT64_MAX
#define PREFIX_MAX   64
#define SUBTEST_MAX  128
#define NAME_IN_TEXT 80 /* bytes of a guest's text in one of ours */

struct document {
	char prefix[PREFIX_MAX];
	size_t prefix_len;
	char subtest[SUBTEST_MAX]; /* of "# Subtest: NAME" */
	size_t first;              /* of its results */
	uint64_t plan, last, distinct;
	bool skipped, in_yaml;
	uint8_t *seen; /* bits, by number */
	char message[KTAP_MESSAGE_MAX];
	size_t message_len;
};

struct ktap_parser {
	struct ktap k;
	struct document *docs; /* KTAP_DEPTH_MAX */
	size_t depth;
	size_t room;
	size_t closed_first; /* of the results of a nested document that waits for its own result */
	bool closed;
	char line[KTAP_LINE_MAX + 1];
	size_t line_len;
	size_t lines; /* since the outermost document began */
	bool no_memory, too_many, ending;
	enum ktap_begin begin;
	bool begun; /* a line was seen that says something */
};

static void problem(struct ktap_parser *p, const char *fmt, ...) __printf(2, 3);

static void problem(struct ktap_parser *p, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	if (p->k.problem_count < KTAP_PROBLEMS_MAX) {
		va_start(ap, fmt);
		vsnprintf(text, sizeof(text), fmt, ap);
		va_end(ap);
		p->k.problems[p->k.problem_count] = strdup(text);
		if (!p->k.problems[p->k.problem_count]) {
			p->no_memory = true;
			return;
		}
	}
	p->k.problem_count++;
}

/* What a problem calls a document. */
static const char *doc_name(const struct ktap_parser *p, const struct document *d)
{
	return d->subtest[0] ? d->subtest : d == p->docs ? "the report" : "a nested report";
}

static char *trimmed(char *s)
{
	char *end;

	s += strspn(s, " \t");
	end = s + strlen(s);
	while (end > s && (end[-1] == ' ' || end[-1] == '\t')) {
		*--end = '\0';
	}
	return s;
}

/* Documents. */

static struct document *innermost(struct ktap_parser *p)
{
	return p->depth ? &p->docs[p->depth - 1] : NULL;
}

static bool doc_open(struct ktap_parser *p, const char *prefix, size_t len)
{
	struct document *d;

	if (p->depth == KTAP_DEPTH_MAX || len >= PREFIX_MAX) {
		problem(p, "reports are nested too deeply, more than %d", KTAP_DEPTH_MAX);
		return false;
	}
	d = &p->docs[p->depth++];
	*d = (struct document){.plan = NO_PLAN, .first = p->k.count, .prefix_len = len};
	memcpy(d->prefix, prefix, len);
	if (p->closed) {
		problem(p, "a second nested report before the result of the first one");
		p->closed = false;
	}
	return true;
}

/* The numbers that did not come, the first few of them by name. */
static void tell_missing(struct ktap_parser *p, const struct document *d)
{
	char list[64] = "";
	size_t len = 0, named = 0;

	for (uint64_t i = 1; i <= d->plan && i <= KTAP_NUMBER_MAX && named < 4; i++) {
		if (!d->seen || !(d->seen[i / 8] & 1U << i % 8)) {
			len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%llu",
						named ? ", " : "", (unsigned long long)i);
			named++;
		}
	}
	problem(p, "%s: %llu of %llu planned results are missing: %s%s", doc_name(p, d),
		(unsigned long long)(d->plan - d->distinct), (unsigned long long)d->plan, list,
		d->plan - d->distinct > named ? ", ..." : "");
}

static void doc_close(struct ktap_parser *p)
{
	struct document *d = innermost(p);

	if (p->closed) {
		problem(p, "%s: a nested report without a result behind it", doc_name(p, d));
	}
	/* KUnit has no plan for a test's parameters: there the result behind them is their end. */
	if (d->plan == NO_PLAN) {
		if (p->depth > 1 && !p->ending && d->distinct) {
			goto out;
		}
		problem(p, "%s: there is no plan", doc_name(p, d));
	} else if (!p->k.bailed && d->distinct < d->plan) {
		tell_missing(p, d);
	} else if (d->plan == 0 && !d->skipped && d->distinct == 0) {
		problem(p, "%s: no tests are planned, and no reason is given", doc_name(p, d));
	}
out:
	free(d->seen);
	d->seen = NULL;
	p->depth--;
	p->closed = p->depth > 0;
	p->closed_first = d->first;
}

static void add_message(struct document *d, const char *text)
{
	size_t room = sizeof(d->message) - d->message_len;
	int n = snprintf(d->message + d->message_len, room, "%s%s", d->message_len ? "\n" : "",
			 text);

	if (n > 0) {
		d->message_len += (size_t)n < room ? (size_t)n : room - 1;
	}
}

/* Results. */

static char *copy(struct ktap_parser *p, const char *s)
{
	char *c = strdup(s);

	if (!c) {
		p->no_memory = true;
	} else {
		text_make_utf8(c);
	}
	return c;
}

static void put_before(struct ktap_parser *p, size_t first, const char *name)
{
	for (size_t i = first; i < p->k.count; i++) {
		struct ktap_result *r = &p->k.results[i];
		char path[KTAP_NAME_MAX];
		char *joined;

		snprintf(path, sizeof(path), "%s/%s", name, r->name ? r->name : "");
		joined = copy(p, path);
		if (joined) {
			free(r->name);
			r->name = joined;
		}
	}
}

static struct ktap_result *add_result(struct ktap_parser *p)
{
	if (p->k.count == KTAP_RESULTS_MAX) {
		if (!p->too_many) {
			problem(p, "more than %d results", KTAP_RESULTS_MAX);
		}
		p->too_many = true;
		return NULL;
	}
	if (p->k.count == p->room) {
		size_t room = p->room ? 2 * p->room : 64;
		struct ktap_result *bigger = reallocarray(p->k.results, room, sizeof(*bigger));

		if (!bigger) {
			p->no_memory = true;
			return NULL;
		}
		p->k.results = bigger;
		p->room = room;
	}
	p->k.results[p->k.count] = (struct ktap_result){.name = NULL};
	return &p->k.results[p->k.count++];
}

static void count_number(struct ktap_parser *p, struct document *d, uint64_t n)
{
	if (n == 0 || n > KTAP_NUMBER_MAX) {
		problem(p, "%s: a result with the number %llu", doc_name(p, d),
			(unsigned long long)n);
		return;
	}
	if (!d->seen) {
		d->seen = calloc(1, KTAP_NUMBER_MAX / 8 + 1);
		if (!d->seen) {
			p->no_memory = true;
			return;
		}
	}
	if (d->seen[n / 8] & 1U << n % 8) {
		problem(p, "%s: result %llu comes twice", doc_name(p, d), (unsigned long long)n);
	} else {
		d->seen[n / 8] |= (uint8_t)(1U << n % 8);
		d->distinct++;
		if (n != d->last + 1) {
			problem(p, "%s: result %llu where %llu is due", doc_name(p, d),
				(unsigned long long)n, (unsigned long long)d->last + 1);
		}
	}
	d->last = n;
	if (d->plan != NO_PLAN && n > d->plan) {
		problem(p, "%s: result %llu of %llu planned", doc_name(p, d), (unsigned long long)n,
			(unsigned long long)d->plan);
	}
}

static bool any_failed(const struct ktap_parser *p, size_t first)
{
	for (size_t i = first; i < p->k.count; i++) {
		if (ktap_result_failed(&p->k.results[i])) {
			return true;
		}
	}
	return false;
}

static void take_result(struct ktap_parser *p, struct document *d, const struct ktap_line *l)
{
	struct ktap_result made = {.ok = l->ok};
	uint64_t number = l->has_number ? l->number : d->last + 1;
	char text[KTAP_LINE_MAX + 1], name[KTAP_NAME_MAX];
	const char *reason;
	char *said;
	struct ktap_result *r;
	bool nested = p->closed;

	snprintf(text, sizeof(text), "%s", l->text);
	made.directive = ktap_take_directive(text, &reason);
	said = trimmed(text);
	if (text_starts_with(said, "- ")) {
		said = trimmed(said + 2);
	}
	/* kselftest writes "ok 3 # SKIP name of it". */
	snprintf(name, sizeof(name), "%s", *said ? said : reason && *reason ? reason : "");
	if (!name[0]) {
		snprintf(name, sizeof(name), "%llu", (unsigned long long)number);
	}
	count_number(p, d, number);
	p->closed = false;
	if (nested) {
		put_before(p, p->closed_first, name);
	}
	/* One with tests in it is told by them, unless it knows of a failure that they do not. */
	if (nested && (!ktap_result_failed(&made) || any_failed(p, p->closed_first)) &&
	    p->closed_first < p->k.count) {
		d->message_len = 0;
		return;
	}
	r = add_result(p);
	if (r) {
		*r = made;
		r->name = copy(p, name);
		r->reason = reason && *reason ? copy(p, reason) : NULL;
		if (!made.ok && d->message_len) {
			r->message = copy(p, d->message);
		}
	}
	d->message_len = 0;
}

static void take_plan(struct ktap_parser *p, struct document *d, const struct ktap_line *l)
{
	char text[KTAP_LINE_MAX + 1];
	const char *reason;

	if (d->plan != NO_PLAN) {
		problem(p, "%s: a second plan", doc_name(p, d));
		return;
	}
	d->plan = l->number;
	if (d->last > d->plan) {
		problem(p, "%s: result %llu of %llu planned", doc_name(p, d),
			(unsigned long long)d->last, (unsigned long long)d->plan);
	}
	snprintf(text, sizeof(text), "%s", l->text);
	if (d->plan == 0 && ktap_take_directive(text, &reason) == KTAP_SKIP) {
		d->skipped = true;
		if (p->depth == 1 && p->k.count == 0) {
			p->k.skipped = true;
			free(p->k.say);
			p->k.say = *reason ? copy(p, reason) : NULL;
		}
	}
}

static void take_bail(struct ktap_parser *p, const struct ktap_line *l)
{
	char text[KTAP_LINE_MAX + 1];
	const char *said;

	p->k.bailed = true;
	free(p->k.say);
	snprintf(text, sizeof(text), "%s", l->text);
	said = trimmed(text);
	p->k.say = *said ? copy(p, said) : NULL;
}

/* What a test says in the middle of its report, for the message of a result that is not ok. */
static void take_note(struct ktap_parser *p, struct document *d, const char *body)
{
	if (d->in_yaml) {
		d->in_yaml = strcmp(body, "  ...") != 0;
	} else if (strcmp(body, "  ---") == 0) {
		d->in_yaml = true; /* TAP's block of YAML stands behind its result */
	} else if (*body == '#') {
		add_message(d, body + 1 + (body[1] == ' '));
	} else if (d->message_len && (d->prefix_len || *body == ' ' || *body == '\t')) {
		add_message(d, body);
	}
}

static void take_in(struct ktap_parser *p, const struct ktap_line *l, const char *body)
{
	struct document *d = innermost(p);
	char text[KTAP_LINE_MAX + 1];

	switch (l->kind) {
	case KTAP_LINE_PLAN:
		take_plan(p, d, l);
		break;
	case KTAP_LINE_RESULT:
		take_result(p, d, l);
		break;
	case KTAP_LINE_BAIL:
		take_bail(p, l);
		break;
	case KTAP_LINE_SUBTEST:
		snprintf(text, sizeof(text), "%s", l->text);
		snprintf(d->subtest, sizeof(d->subtest), "%.*s", NAME_IN_TEXT, trimmed(text));
		text_make_utf8(d->subtest);
		break;
	default:
		take_note(p, d, body);
		break;
	}
}

static bool begins_with(const char *s, const struct document *d)
{
	return strncmp(s, d->prefix, d->prefix_len) == 0;
}

/* A version line: where does its document stand? Anything may be before the outermost one. */
static void take_version(struct ktap_parser *p, const char *s, size_t indent)
{
	while (p->depth && (!begins_with(s, innermost(p)) || innermost(p)->prefix_len >= indent)) {
		doc_close(p);
	}
	if (!p->depth && p->k.found && indent > 0) {
		problem(p, "a nested report in no other");
	}
	p->k.found = true;
	doc_open(p, s, indent);
}

static void take_line(struct ktap_parser *p)
{
	const char *s = console_watch_text(p->line);
	size_t indent = strspn(s, " \t");
	const char *text = s + indent;
	struct ktap_line l;
	size_t depth;

	if (text[0] == '#' && text[1] == ' ' &&
	    ktap_is_version(text + 2 + strspn(text + 2, " #"))) {
		indent += 2 + strspn(text + 2, " #");
	}
	if (p->k.bailed) {
		return;
	}
	if (ktap_is_version(s + indent)) {
		if (p->depth || indent == 0) {
			take_version(p, s, indent);
		}
		return;
	}
	if (!p->k.found && !ktap_says_nothing(p->line)) {
		p->k.found = ktap_may_begin(p->line, p->begin, !p->begun) && doc_open(p, "", 0);
		p->begun = true;
	}
	/* The innermost document that this line can be of; those in it end with it. */
	for (depth = p->depth; depth; depth--) {
		const struct document *d = &p->docs[depth - 1];

		if (!begins_with(s, d)) {
			continue;
		}
		l = ktap_line_read(s + d->prefix_len);
		if (depth == p->depth || (l.kind != KTAP_LINE_OTHER && l.kind != KTAP_LINE_NOTE)) {
			break;
		}
	}
	if (!depth) {
		return;
	}
	while (p->depth > depth) {
		doc_close(p);
	}
	/* TAP 14 nests by four spaces, without a version line. */
	if (l.kind == KTAP_LINE_OTHER && indent >= p->docs[depth - 1].prefix_len + 4) {
		struct ktap_line inner = ktap_line_read(text);

		if (inner.kind == KTAP_LINE_SUBTEST || inner.kind == KTAP_LINE_PLAN) {
			if (doc_open(p, s, indent)) {
				take_in(p, &inner, text);
			}
			return;
		}
	}
	take_in(p, &l, s + innermost(p)->prefix_len);
}

/**
 * ktap_parser_create() - begin with nothing read
 * @ret: set on success
 *
 * Return: 0 or -ENOMEM.
 */
int ktap_parser_create(struct ktap_parser **ret)
{
	struct ktap_parser *p = calloc(1, sizeof(*p));

	if (p) {
		p->docs = calloc(KTAP_DEPTH_MAX, sizeof(*p->docs));
	}
	if (!p || !p->docs) {
		free(p);
		return -ENOMEM;
	}
	*ret = p;
	return 0;
}

/**
 * ktap_parser_begin_at() - say where the outermost document may begin
 * @p: a parser that was fed nothing yet
 * @begin: where; KTAP_AT_VERSION without this call
 */
void ktap_parser_begin_at(struct ktap_parser *p, enum ktap_begin begin)
{
	p->begin = begin;
}

static void line_end(struct ktap_parser *p)
{
	while (p->line_len && p->line[p->line_len - 1] == '\r') {
		p->line_len--;
	}
	p->line[p->line_len] = '\0';
	p->line_len = 0;
	p->lines += p->k.found;
	if (p->lines <= KTAP_LINES_MAX) {
		take_line(p);
	} else if (p->lines == KTAP_LINES_MAX + 1) {
		problem(p, "more than %d lines", KTAP_LINES_MAX);
	}
}

/**
 * ktap_parser_feed() - take more of what was written
 * @p: a parser that is not finished
 * @data: the bytes; lines may be split over calls anywhere
 * @len: how many
 */
void ktap_parser_feed(struct ktap_parser *p, const void *data, size_t len)
{
	const char *s = data;
	/* A NUL may stand inside the words that are looked for. */
	bool may_skip = p->begin != KTAP_AT_ANY && !memchr(s, '\0', len);

	for (size_t i = 0; i < len && p->lines <= KTAP_LINES_MAX; i++) {
		if (may_skip && !p->k.found && p->begun && !p->line_len) {
			i += ktap_skip_output(s + i, len - i);
			if (i == len) {
				break;
			}
		}
		if (s[i] == '\n') {
			line_end(p);
		} else if (p->line_len < KTAP_LINE_MAX && s[i] != '\0') {
			p->line[p->line_len++] = s[i];
		}
	}
}

/**
 * ktap_parser_finish() - there is no more
 * @p: the parser
 *
 * Return: what was reported; lives as long as the parser.
 */
const struct ktap *ktap_parser_finish(struct ktap_parser *p)
{
	if (p->line_len) {
		struct document *d = innermost(p);

		p->line[p->line_len] = '\0';
		if (d && begins_with(p->line, d) && !p->k.bailed) {
			enum ktap_line_kind kind = ktap_line_read(p->line + d->prefix_len).kind;

			if (kind == KTAP_LINE_RESULT || kind == KTAP_LINE_PLAN) {
				problem(p, "%s: cut off in the middle of a line", doc_name(p, d));
			}
		}
		line_end(p);
	}
	p->ending = true;
	while (p->depth) {
		size_t first = innermost(p)->first;
		char name[SUBTEST_MAX];

		snprintf(name, sizeof(name), "%s", innermost(p)->subtest);
		doc_close(p);
		if (p->depth && name[0]) {
			put_before(p, first, name);
		}
	}
	if (p->no_memory) {
		problem(p, "out of memory");
	}
	return &p->k;
}

/**
 * ktap_parser_destroy() - free it with what it found
 * @p: the parser
 */
void ktap_parser_destroy(struct ktap_parser *p)
{
	for (size_t i = 0; i < p->k.count; i++) {
		free(p->k.results[i].name);
		free(p->k.results[i].reason);
		free(p->k.results[i].message);
	}
	for (size_t i = 0; i < KTAP_PROBLEMS_MAX; i++) {
		free(p->k.problems[i]);
	}
	for (size_t i = 0; i < KTAP_DEPTH_MAX; i++) {
		free(p->docs[i].seen);
	}
	free(p->k.results);
	free(p->k.say);
	free(p->docs);
	free(p);
}
