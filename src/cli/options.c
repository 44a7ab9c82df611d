/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See options.h. Runs on the main thread before anything else is started. */
#include "cli/options.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/text.h"

static bool takes_value(const struct opt_row *row)
{
	return row->type != OPT_FLAG;
}

/* "--no-x" finds the flag "x". A value behind '=' is no part of the name. */
static const struct opt_row *find_long(const struct opt_command *cmd, const char *word, size_t len,
				       bool *ret_negated)
{
	*ret_negated = false;
	for (const struct opt_row *row = cmd->rows; row->type != OPT_END; row++) {
		if (!row->name) {
			continue;
		}
		if (strlen(row->name) == len && memcmp(row->name, word, len) == 0) {
			return row;
		}
		if (row->type == OPT_FLAG && len > 3 && memcmp(word, "no-", 3) == 0 &&
		    strlen(row->name) == len - 3 && memcmp(row->name, word + 3, len - 3) == 0) {
			*ret_negated = true;
			return row;
		}
	}
	return NULL;
}

static const struct opt_row *find_short(const struct opt_command *cmd, char c)
{
	for (const struct opt_row *row = cmd->rows; row->type != OPT_END; row++) {
		if (row->short_name && row->short_name == c) {
			return row;
		}
	}
	return NULL;
}

static const char *number_text(const struct opt_row *row, uint64_t v, char *buf, size_t len)
{
	switch (row->type) {
	case OPT_BYTES:
		return text_bytes(v, buf, len);
	case OPT_SECONDS:
		return text_seconds(v, buf, len);
	default:
		snprintf(buf, len, "%" PRIu64, v);
		return buf;
	}
}

/* What a number may be: "1 to 9", or "1 or more". */
static const char *range_text(const struct opt_row *row, char *buf, size_t len)
{
	char low[32], high[32];

	number_text(row, row->min, low, sizeof(low));
	if (row->max) {
		snprintf(buf, len, "%s to %s", low, number_text(row, row->max, high, sizeof(high)));
	} else {
		snprintf(buf, len, "%s or more", low);
	}
	return buf;
}

static int set_number(const struct opt_row *row, const char *value, struct err *e)
{
	static const char *const expected[] = {
		[OPT_U64] = "a whole number",
		[OPT_COUNT] = "a whole number",
		[OPT_BYTES] = "a size such as 512M or 2G",
		[OPT_SECONDS] = "a time such as 5, 0.5 or 250ms",
	};
	char range[80];
	uint64_t v = 0;
	int r;

	range_text(row, range, sizeof(range));

	switch (row->type) {
	case OPT_BYTES:
		r = text_parse_bytes(value, &v);
		break;
	case OPT_SECONDS:
		r = text_parse_seconds(value, &v);
		break;
	default:
		r = text_parse_u64(value, &v);
		break;
	}
	if (r == -ERANGE) {
		return err_set(e, -EINVAL, "--%s %s: the number is too large", row->name, value);
	}
	if (r < 0) {
		bool whole = row->type == OPT_U64 || row->type == OPT_COUNT;

		return err_set(e, -EINVAL, "--%s: expected %s%s%s, got '%s'", row->name,
			       expected[row->type], whole ? ", " : "", whole ? range : "", value);
	}
	if (v < row->min || (row->max && v > row->max)) {
		return err_set(e, -EINVAL, "--%s %s: expected %s", row->name, value, range);
	}
	*(uint64_t *)row->value = v;
	return 0;
}

static bool in_choices(const char *choices, const char *value)
{
	size_t len = strlen(value);

	for (const char *p = choices; p; p = strchr(p, '|') ? strchr(p, '|') + 1 : NULL) {
		if (strncmp(p, value, len) == 0 && (p[len] == '|' || p[len] == '\0')) {
			return true;
		}
	}
	return false;
}

static int set_value(const struct opt_row *row, const char *value, struct err *e)
{
	switch (row->type) {
	case OPT_U64:
	case OPT_COUNT:
	case OPT_BYTES:
	case OPT_SECONDS:
		return set_number(row, value, e);
	case OPT_CHOICE:
		if (!in_choices(row->choices, value)) {
			return err_set(e, -EINVAL, "--%s: expected one of %s, got '%s'", row->name,
				       row->choices, value);
		}
		*(const char **)row->value = value;
		return 0;
	case OPT_STRING:
		*(const char **)row->value = value;
		return 0;
	case OPT_LIST: {
		struct opt_list *list = row->value;

		if (list->count == OPT_LIST_MAX) {
			return err_set(e, -EINVAL, "--%s: given more than %d times", row->name,
				       OPT_LIST_MAX);
		}
		list->items[list->count++] = value;
		return 0;
	}
	default:
		assert(!"a row without a value");
		return -EINVAL;
	}
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Handles argv[*i], which begins with '-', and its value. */
static int parse_option(const struct opt_command *cmd, int argc, char **argv, int *i, struct err *e)
{
	const char *word = argv[*i];
	const char *value = NULL;
	const struct opt_row *row;
	bool negated = false;

	if (word[1] == '-') {
		size_t len = strcspn(word + 2, "=");

		row = find_long(cmd, word + 2, len, &negated);
		if (row && word[2 + len] == '=') {
			value = word + 2 + len + 1;
		}
	} else {
		row = find_short(cmd, word[1]);
		if (row && word[2]) {
			value = word + 2;
		}
	}
	if (!row) {
		return err_set(e, -EINVAL, "%s: no such option; 'ringside %s --help' lists them",
			       word, cmd->name);
	}
	if (!takes_value(row)) {
		if (value) {
			return err_set(e, -EINVAL, "--%s takes no value, got '%s'", row->name,
				       value);
		}
		*(bool *)row->value = !negated;
		return 0;
	}
	if (!value && row->type == OPT_COUNT && !(*i + 1 < argc && is_digit(argv[*i + 1][0]))) {
		*(uint64_t *)row->value = row->bare;
		return 0;
	}
	if (!value && row->alone) {
		const char *next = *i + 1 < argc ? argv[*i + 1] : NULL;

		/* A word behind it that is none of its own is for the command, if that takes any.
		 */
		if (!next || *next == '-' ||
		    (cmd->max_words != 0 && !in_choices(row->choices, next))) {
			value = row->alone;
		}
	}
	if (!value) {
		if (*i + 1 >= argc) {
			return err_set(e, -EINVAL, "--%s: a value (%s) is missing", row->name,
				       row->arg);
		}
		value = argv[++*i];
	}
	if (row->once && *(const char **)row->value) {
		return err_set(e, -EINVAL, "--%s: given twice, '%s' and '%s'", row->name,
			       *(const char **)row->value, value);
	}
	return set_value(row, value, e);
}

/**
 * opt_parse() - parse a command's arguments into the variables of its table
 * @cmd: the command
 * @argc: number of @argv
 * @argv: argv[0] is the command's name; reordered so that plain words come first
 * @ret_rest: set on success
 * @e: set on failure
 *
 * "--help" prints the help to stdout. "--" ends the options.
 *
 * Return: 0, OPT_SHOWN_HELP, or -EINVAL.
 * Context: main thread, at start.
 */
int opt_parse(const struct opt_command *cmd, int argc, char **argv, struct opt_rest *ret_rest,
	      struct err *e)
{
	struct opt_rest rest = {.words = argv + 1};

	for (int i = 1; i < argc; i++) {
		int r;

		if (strcmp(argv[i], "--") == 0) {
			rest.has_dashdash = true;
			rest.command = argv + i + 1;
			rest.command_count = argc - i - 1;
			break;
		}
		if (argv[i][0] != '-' || !argv[i][1]) {
			rest.words[rest.word_count++] = argv[i];
			continue;
		}
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
			opt_print_help(cmd, stdout);
			return OPT_SHOWN_HELP;
		}
		r = parse_option(cmd, argc, argv, &i, e);
		if (r < 0) {
			return r;
		}
	}
	if (rest.has_dashdash && (!cmd->takes_command || rest.command_count == 0)) {
		return err_set(e, -EINVAL,
			       cmd->takes_command ? "a command is missing behind '--'"
						  : "'--' and words behind it are not taken here");
	}
	if (cmd->max_words >= 0 && rest.word_count > cmd->max_words) {
		return err_set(e, -EINVAL, "unexpected '%s'%s", rest.words[cmd->max_words],
			       cmd->takes_command ? "; a command for the guest stands behind '--'"
						  : "");
	}
	*ret_rest = rest;
	return 0;
}

/* "--memory SIZE", "--[no-]flag", "--backend kvm|qemu", "--gate [worse|changed]" */
static void option_text(const struct opt_row *row, char *buf, size_t len)
{
	const char *arg = row->type == OPT_CHOICE ? row->choices : row->arg;
	char first[8] = "";

	if (row->short_name) {
		snprintf(first, sizeof(first), "-%c, ", row->short_name);
	}
	if (row->type == OPT_COUNT || row->alone) {
		snprintf(buf, len, "%s--%s [%s]", first, row->name, arg);
	} else if (takes_value(row)) {
		snprintf(buf, len, "%s--%s %s", first, row->name, arg);
	} else {
		snprintf(buf, len, "%s--%s", first, row->name);
	}
}

/* The help text, folded to the width of a terminal; a newline in it begins a new line. */
static void print_folded(FILE *out, const char *text, int indent, int column)
{
	const int width = 80;

	while (*text) {
		size_t n = strcspn(text, " \n");

		if (column > indent && column + 1 + (int)n > width) {
			fprintf(out, "\n%*s", indent, "");
			column = indent;
		} else if (column > indent) {
			fputc(' ', out);
			column++;
		}
		fprintf(out, "%.*s", (int)n, text);
		column += (int)n;
		text += n;
		if (*text == '\n') {
			fprintf(out, "\n%*s", indent, "");
			column = indent;
			text++;
		}
		text += strspn(text, " ");
	}
	fputc('\n', out);
}

/**
 * opt_print_help() - print what --help shows
 * @cmd: the command
 * @out: where to
 *
 * Context: main thread.
 */
void opt_print_help(const struct opt_command *cmd, FILE *out)
{
	const int indent = 28;

	fprintf(out, "usage: ringside %s %s\n\n", cmd->name, cmd->usage);
	print_folded(out, cmd->about, 0, 0);
	for (const struct opt_row *row = cmd->rows; row->type != OPT_END; row++) {
		char left[96];
		int n;

		if (row->type == OPT_GROUP) {
			fprintf(out, "\n%s\n", row->help);
			continue;
		}
		option_text(row, left, sizeof(left));
		n = fprintf(out, "  %-24s", left);
		if (n >= indent) {
			fprintf(out, "\n%*s", indent, "");
		} else {
			fprintf(out, "%*s", indent - n, "");
		}
		print_folded(out, row->help, indent, indent);
	}
}
