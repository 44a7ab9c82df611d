/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Single lines of KTAP, see ktap.h. Pure; any thread. */
#include "engine/ktap_priv.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"

static const char *const directives[] = {
	[KTAP_PLAIN] = "",      [KTAP_SKIP] = "SKIP",       [KTAP_TODO] = "TODO",
	[KTAP_XFAIL] = "XFAIL", [KTAP_TIMEOUT] = "TIMEOUT", [KTAP_ERROR] = "ERROR",
};

/* Digits only, and no more than can be counted. */
static const char *read_number(const char *s, uint64_t *ret)
{
	uint64_t n = 0;
	const char *begin = s;

	while (isdigit((unsigned char)*s)) {
		n = n < UINT32_MAX ? n * 10 + (uint64_t)(*s - '0') : n;
		s++;
	}
	*ret = n;
	return s > begin ? s : NULL;
}

/**
 * ktap_is_version() - does a document begin here?
 * @s: a line without its indentation
 *
 * Return: true for "KTAP version N" and "TAP version N".
 */
bool ktap_is_version(const char *s)
{
	uint64_t n;
	const char *end = NULL;

	if (text_starts_with(s, "KTAP version ")) {
		end = read_number(s + 13, &n);
	} else if (text_starts_with(s, "TAP version ")) {
		end = read_number(s + 12, &n);
	}
	return end && (*end == '\0' || *end == ' ');
}

/**
 * ktap_skip_output() - pass over lines in which no document begins
 * @s: bytes from the start of a line on, without a NUL
 * @len: how many
 *
 * Programs print gigabytes that are no report, and to read those line by line takes a minute.
 *
 * Return: the bytes of the whole lines before one that may have a version, or of all whole lines.
 */
size_t ktap_skip_output(const char *s, size_t len)
{
	static const char version[] = "TAP version ";
	const char *at = memmem(s, len, version, sizeof(version) - 1);
	const char *end = memrchr(s, '\n', at ? (size_t)(at - s) : len);

	return end ? (size_t)(end + 1 - s) : 0;
}

/**
 * ktap_line_read() - what a line is
 * @s: it, without its document's indentation; the result points into it
 *
 * Return: its kind and parts.
 */
struct ktap_line ktap_line_read(const char *s)
{
	struct ktap_line l = {.kind = KTAP_LINE_OTHER, .text = s};
	const char *end;

	if (text_starts_with(s, "1..") && (end = read_number(s + 3, &l.number)) != NULL &&
	    (*end == '\0' || isspace((unsigned char)*end))) {
		l.kind = KTAP_LINE_PLAN;
		l.text = end;
	} else if (text_starts_with(s, "Bail out!")) {
		l.kind = KTAP_LINE_BAIL;
		l.text = s + 9;
	} else if (text_starts_with(s, "# Subtest:")) {
		l.kind = KTAP_LINE_SUBTEST;
		l.text = s + 10;
	} else if (*s == '#') {
		l.kind = KTAP_LINE_NOTE;
		l.text = s + 1;
	} else if (text_starts_with(s, "ok") || text_starts_with(s, "not ok")) {
		l.ok = *s == 'o';
		s += l.ok ? 2 : 6;
		if (*s != '\0' && *s != ' ') {
			return l;
		}
		l.kind = KTAP_LINE_RESULT;
		s += strspn(s, " ");
		end = read_number(s, &l.number);
		l.has_number = end && (*end == '\0' || *end == ' ');
		l.text = l.has_number ? end : s;
	}
	return l;
}

/**
 * ktap_take_directive() - the directive of a result or plan
 * @text: what stands behind the number; the directive is cut off
 * @ret_reason: set: what stands behind the directive, into @text; NULL: there is none
 *
 * Return: the directive.
 */
enum ktap_directive ktap_take_directive(char *text, const char **ret_reason)
{
	*ret_reason = NULL;
	for (char *h = strchr(text, '#'); h; h = strchr(h + 1, '#')) {
		const char *word = h + 1 + strspn(h + 1, " ");

		if (h > text && h[-1] != ' ') {
			continue; /* "\#", or in a word */
		}
		for (size_t i = KTAP_SKIP; i < ARRAY_SIZE(directives); i++) {
			size_t n = strlen(directives[i]);

			/* "# SKIPPED" is as good as "# SKIP"; Perl's are written small. */
			if (strncasecmp(word, directives[i], n) == 0 &&
			    (i == KTAP_SKIP || !isalnum((unsigned char)word[n]))) {
				word += n;
				while (isalpha((unsigned char)*word)) {
					word++;
				}
				*ret_reason = word + strspn(word, " :-");
				*h = '\0';
				return (enum ktap_directive)i;
			}
		}
	}
	return KTAP_PLAIN;
}

/**
 * ktap_directive_name() - the word for it
 * @d: a directive
 *
 * Return: a static text, empty for KTAP_PLAIN.
 */
const char *ktap_directive_name(enum ktap_directive d)
{
	return directives[d];
}

/**
 * ktap_result_failed() - does it make the whole not ok?
 * @r: the result
 *
 * One that is said to be ok though it ran into its time limit or an error is not.
 *
 * Return: true for a failure that nothing excuses.
 */
bool ktap_result_failed(const struct ktap_result *r)
{
	return r->directive == KTAP_TIMEOUT || r->directive == KTAP_ERROR ||
	       (r->directive == KTAP_PLAIN && !r->ok);
}

/**
 * ktap_says_nothing() - whether a line is empty or a note
 * @s: it
 *
 * Return: whether.
 */
bool ktap_says_nothing(const char *s)
{
	s += strspn(s, " \t");
	return *s == '#' || *s == '\0';
}

/**
 * ktap_may_begin() - whether a line that is no version line begins a document
 * @s: it
 * @begin: where one may begin
 * @first: it is the first line that says something
 *
 * TAP before version 13 has no version line, and what is written for version 14 may leave it out. A
 * plan says that results follow, so it may take its place where it is the first that is said;
 * results alone never may, unless it is known that there is nothing else.
 *
 * Return: whether.
 */
bool ktap_may_begin(const char *s, enum ktap_begin begin, bool first)
{
	const struct ktap_line l = ktap_line_read(s);
	const char *rest = l.text + strspn(l.text, " \t");

	switch (begin) {
	case KTAP_AT_ANY:
		return l.kind == KTAP_LINE_PLAN || l.kind == KTAP_LINE_RESULT ||
		       l.kind == KTAP_LINE_BAIL;
	case KTAP_AT_PLAN:
		return first && l.kind == KTAP_LINE_PLAN && (*rest == '\0' || *rest == '#');
	default:
		return false;
	}
}
