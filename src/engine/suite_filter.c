/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See suite_filter.h. A recursive descent over the text; the tree is as deep as that went. Pure. */
#include "engine/suite_filter.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "engine/suite_priv.h"

#define DEPTH_MAX 64 /* of parentheses and negations */

enum node_kind { NODE_OR, NODE_AND, NODE_NOT, NODE_NAME, NODE_TAG, NODE_AXIS };
enum axis { AXIS_KERNEL, AXIS_CPU, AXIS_CPUS, AXIS_MEMORY, AXIS_APPEND };
enum op { OP_EQ, OP_NE, OP_LT, OP_LE, OP_GT, OP_GE };

static const char *const axis_names[] = {"kernel", "cpu", "cpus", "memory", "append"};
static const char *const op_texts[] = {"=", "!=", "<", "<=", ">", ">="};

struct node {
	struct node *next; /* of all nodes of the filter */
	enum node_kind kind;
	struct node *left, *right;
	size_t column; /* from 1 */
	char *text;    /* a glob */
	enum axis axis;
	enum op op;
	uint64_t number; /* of an axis that is one */
	bool took;       /* a case, once */
};

struct suite_filter {
	struct node *nodes, *root;
};

struct parser {
	const char *text, *at;
	struct suite_filter *filter;
	unsigned int depth;
	struct err *e;
};

__printf(3, 4) static int fail(const struct parser *p, const char *at, const char *fmt, ...)
{
	char text[ERR_TEXT_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return err_set(p->e, -EINVAL, "filter, column %zu: %s", (size_t)(at - p->text) + 1, text);
}

static int add_node(struct parser *p, enum node_kind kind, const char *at, struct node **ret)
{
	struct node *n = calloc(1, sizeof(*n));

	if (!n) {
		return err_set(p->e, -ENOMEM, "out of memory");
	}
	n->kind = kind;
	n->column = (size_t)(at - p->text) + 1;
	n->next = p->filter->nodes;
	p->filter->nodes = n;
	*ret = n;
	return 0;
}

static void skip_space(struct parser *p)
{
	while (isspace((unsigned char)*p->at)) {
		p->at++;
	}
}

static bool ends_word(char c, bool is_value)
{
	return !c || isspace((unsigned char)c) || strchr("()&|\"", c) ||
	       (!is_value && strchr("!<>=", c));
}

/* How long the word is that stands here: what is in brackets belongs to it, blanks too. */
static size_t word_length(const char *s, bool is_value)
{
	size_t n = 0;

	while (!ends_word(s[n], is_value)) {
		const char *end = s[n] == '[' ? strchr(s + n, ']') : NULL;

		n = end ? (size_t)(end - s) + 1 : n + 1;
	}
	return n;
}

/* Takes a word of the language, or its sign. */
static bool take_operator(struct parser *p, char sign, const char *word)
{
	size_t len = strlen(word);

	skip_space(p);
	if (*p->at == sign && !(sign == '!' && p->at[1] == '=')) {
		p->at++;
		return true;
	}
	if (word_length(p->at, false) == len && memcmp(p->at, word, len) == 0) {
		p->at += len;
		return true;
	}
	return false;
}

/* A word, or any text in quotes. */
static int take_text(struct parser *p, bool is_value, const char *what, char **ret)
{
	const char *from = p->at;
	size_t len;

	if (*from == '"') {
		from++;
		len = strcspn(from, "\"");
		if (!from[len]) {
			return fail(p, p->at, "the quotes that begin here do not end");
		}
		p->at = from + len + 1;
	} else {
		len = word_length(from, is_value);
		if (len == 0) {
			return *from ? fail(p, from, "expected %s, got '%c'", what, *from)
				     : fail(p, from, "expected %s, got the end", what);
		}
		p->at = from + len;
	}
	*ret = strndup(from, len);
	return *ret ? 0 : err_set(p->e, -ENOMEM, "out of memory");
}

static bool take_op(struct parser *p, enum op *ret)
{
	skip_space(p);
	/* The longer ones first: "<=" begins with "<". */
	for (size_t i = ARRAY_SIZE(op_texts); i-- > 0;) {
		if (text_starts_with(p->at, op_texts[i])) {
			p->at += strlen(op_texts[i]);
			*ret = (enum op)i;
			return true;
		}
	}
	return false;
}

static int find_axis(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(axis_names); i++) {
		if (strcmp(axis_names[i], name) == 0) {
			return (int)i;
		}
	}
	return -1;
}

static int parse_axis_value(struct parser *p, struct node *n)
{
	const char *at;
	int code;

	skip_space(p);
	at = p->at;
	code = take_text(p, true, "a value", &n->text);
	if (code < 0) {
		return code;
	}
	if (n->axis == AXIS_CPUS && text_parse_u64(n->text, &n->number) < 0) {
		return fail(p, at, "'cpus': expected a whole number, got '%s'", n->text);
	}
	if (n->axis == AXIS_MEMORY && text_parse_bytes(n->text, &n->number) < 0) {
		return fail(p, at, "'memory': expected a size such as 512M, got '%s'", n->text);
	}
	if (n->axis != AXIS_CPUS && n->axis != AXIS_MEMORY && n->op != OP_EQ && n->op != OP_NE) {
		return fail(p, at, "'%s' is a text: it is compared by = and != only",
			    axis_names[n->axis]);
	}
	return 0;
}

static int parse_term(struct parser *p, struct node **ret)
{
	_cleanup_free_ char *word = NULL;
	const char *at = p->at;
	bool quoted = *at == '"';
	struct node *n;
	enum op op;
	int code = take_text(p, false, "a test, tag:NAME, an axis or '('", &word);

	if (code == 0 && !quoted && (strcmp(word, "and") == 0 || strcmp(word, "or") == 0)) {
		code = fail(p, at, "expected a test, tag:NAME, an axis or '(', got '%s'", word);
	}
	if (code == 0) {
		code = add_node(p, NODE_NAME, at, &n);
	}
	if (code < 0) {
		return code;
	}
	*ret = n;
	if (!quoted && take_op(p, &op)) {
		int axis = find_axis(word);

		if (axis < 0) {
			return fail(p, at,
				    "'%s' is no axis; they are kernel, cpu, cpus, memory, "
				    "append",
				    word);
		}
		n->kind = NODE_AXIS;
		n->axis = (enum axis)axis;
		n->op = op;
		return parse_axis_value(p, n);
	}
	if (!quoted && text_starts_with(word, "tag:")) {
		n->kind = NODE_TAG;
		n->text = strdup(word + strlen("tag:"));
		if (n->text && !*n->text) {
			return fail(p, at, "'tag:' needs a name or a glob");
		}
	} else {
		n->text = TAKE_PTR(word);
	}
	return n->text ? 0 : err_set(p->e, -ENOMEM, "out of memory");
}

static int parse_or(struct parser *p, struct node **ret);

static int parse_unary(struct parser *p, struct node **ret)
{
	const char *at;
	int code;

	skip_space(p);
	at = p->at;
	if (p->depth == DEPTH_MAX) {
		return fail(p, at, "more than %d deep", DEPTH_MAX);
	}
	p->depth++;
	if (take_operator(p, '!', "not")) {
		code = add_node(p, NODE_NOT, at, ret);
		if (code == 0) {
			code = parse_unary(p, &(*ret)->left);
		}
	} else if (*p->at == '(') {
		p->at++;
		code = parse_or(p, ret);
		if (code == 0 && *p->at != ')') {
			code = *p->at ? fail(p, p->at, "expected '&', '|' or ')', got '%s'", p->at)
				      : fail(p, at, "the '(' here is not closed");
		}
		p->at += code == 0;
	} else {
		code = parse_term(p, ret);
	}
	p->depth--;
	return code;
}

/* A chain of one operator, left to right. */
static int parse_chain(struct parser *p, enum node_kind kind,
		       int (*part)(struct parser *p, struct node **ret), struct node **ret)
{
	char sign = kind == NODE_OR ? '|' : '&';
	const char *word = kind == NODE_OR ? "or" : "and";
	int code = part(p, ret);

	while (code == 0 && take_operator(p, sign, word)) {
		struct node *left = *ret;

		code = add_node(p, kind, p->at, ret);
		if (code == 0) {
			(*ret)->left = left;
			code = part(p, &(*ret)->right);
		}
	}
	return code;
}

static int parse_and(struct parser *p, struct node **ret)
{
	return parse_chain(p, NODE_AND, parse_unary, ret);
}

static int parse_or(struct parser *p, struct node **ret)
{
	return parse_chain(p, NODE_OR, parse_and, ret);
}

/**
 * suite_filter_parse() - read a filter
 * @text: the expression
 * @ret: set on success; end it with suite_filter_destroy()
 * @e: set on failure, with the column
 *
 * Return: 0; -EINVAL for what is none, or is too long; -ENOMEM.
 * Context: any thread.
 */
int suite_filter_parse(const char *text, struct suite_filter **ret, struct err *e)
{
	_cleanup_(suite_filter_destroy_p) struct suite_filter *f = calloc(1, sizeof(*f));
	struct parser p = {.text = text, .at = text, .filter = f, .e = e};
	int code;

	if (!f) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	if (strlen(text) > SUITE_FILTER_MAX) {
		return err_set(e, -EINVAL, "filter: longer than %u bytes", SUITE_FILTER_MAX);
	}
	code = parse_or(&p, &f->root);
	if (code == 0 && *p.at) {
		code = fail(&p, p.at, "expected '&', '|' or the end, got '%s'", p.at);
	}
	if (code == 0) {
		*ret = TAKE_PTR(f);
	}
	return code;
}

static bool glob(const char *pattern, const char *s)
{
	return strcmp(pattern, s) == 0 || fnmatch(pattern, s, 0) == 0;
}

static bool takes_tag(const struct node *n, char *const *tags)
{
	for (size_t i = 0; tags && tags[i]; i++) {
		if (glob(n->text, tags[i])) {
			return true;
		}
	}
	return false;
}

static bool compare(enum op op, uint64_t v, uint64_t with)
{
	switch (op) {
	case OP_EQ:
		return v == with;
	case OP_NE:
		return v != with;
	case OP_LT:
		return v < with;
	case OP_LE:
		return v <= with;
	case OP_GT:
		return v > with;
	case OP_GE:
		break;
	}
	return v >= with;
}

static bool takes_axis(const struct node *n, const struct suite_case *c)
{
	const char *text;

	switch (n->axis) {
	case AXIS_CPUS:
		return compare(n->op, c->cpus, n->number);
	case AXIS_MEMORY:
		return compare(n->op, c->memory_bytes, n->number);
	case AXIS_KERNEL:
		text = c->kernel;
		break;
	case AXIS_CPU:
		text = c->cpu;
		break;
	case AXIS_APPEND:
	default:
		text = c->append;
		break;
	}
	return glob(n->text, text ? text : "") == (n->op == OP_EQ);
}

static bool takes(struct node *n, const struct suite_case *c)
{
	bool left, right;

	switch (n->kind) {
	case NODE_NOT:
		return !takes(n->left, c);
	case NODE_OR:
	case NODE_AND:
		/* Both, always: each name is to find its tests. */
		left = takes(n->left, c);
		right = takes(n->right, c);
		return n->kind == NODE_OR ? left || right : left && right;
	case NODE_TAG:
		return takes_tag(n, c->test->tags);
	case NODE_AXIS:
		return takes_axis(n, c);
	case NODE_NAME:
		break;
	}
	if (glob(n->text, c->test->name) || strcmp(n->text, c->id) == 0) {
		n->took = true;
		return true;
	}
	return false;
}

/**
 * suite_filter_takes() - whether a case is one of those
 * @f: the filter, which remembers what its names have found
 * @c: the case, with its id
 *
 * Return: true when it is.
 * Context: one thread at a time for a filter.
 */
bool suite_filter_takes(struct suite_filter *f, const struct suite_case *c)
{
	return takes(f->root, c);
}

/**
 * suite_filter_check() - refuse a name that no case has, when all were asked about
 * @f: the filter
 * @s: the suite whose cases they were
 * @e: set on failure
 *
 * A glob may find nothing.
 *
 * Return: 0 or -EINVAL.
 * Context: any thread.
 */
int suite_filter_check(const struct suite_filter *f, const struct suite *s, struct err *e)
{
	char names[ERR_TEXT_MAX] = "";
	size_t len = 0;

	for (const struct node *n = f->nodes; n; n = n->next) {
		if (n->kind != NODE_NAME || n->took || strpbrk(n->text, "*?")) {
			continue;
		}
		for (size_t i = 0; i < s->count && len < sizeof(names); i++) {
			len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s",
						i ? ", " : "", s->entries[i].test.name);
		}
		return err_set(e, -EINVAL,
			       "filter, column %zu: there is no test and no case '%s'; the tests "
			       "are: %s",
			       n->column, n->text, names);
	}
	return 0;
}

/**
 * suite_filter_destroy() - free a filter
 * @f: the filter; half built is fine
 *
 * Context: any thread.
 */
void suite_filter_destroy(struct suite_filter *f)
{
	struct node *next;

	for (struct node *n = f->nodes; n; n = next) {
		next = n->next;
		free(n->text);
		free(n);
	}
	free(f);
}
